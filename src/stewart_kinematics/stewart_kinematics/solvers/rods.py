# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""Forward kinematics of rods on cranks or carriages.

Given the joints' positions q, the rods begin at known points: a platform with fixed legs, for
which Newton's method finds a pose as for linear ones (`stewart_kinematics.solvers.forward`). That
the pose is the only one is proved anew every time. The centre of what is looked at is the neutral
pose, moved by the mean of what q moves the rods' beginnings; poses are dual quaternions relative
to it. As `stewart_kinematics.solvers.uniqueness` has it, another pose y with the same q as the
pose x that was found makes :math:`B_q(m) (x - y) = 0` with the middle m of both, where B_q belongs
to the moved beginnings. So x is the only one in a box of the coordinates divided by e_w if B_q is
regular at all that lies between x and the box. B_q is in the convex cone

.. math:: K(q) = \{m : C B_q(m) + (C B_q(m))^T \succ 0\},

where C is the inverse of B_q half way from the centre to x. What lies between has x with the share
:math:`x_w / (x_w + y_w)`, which is near one half; K(q) holds it if it holds the 256 corners of the
least and the greatest share.

The box is fixed for a geometry: as wide as the first of `WIDTHS` with which the proof succeeds
over what is in reach. That is a choice of size, and nothing that the proof relies on.
"""

from __future__ import annotations

from functools import lru_cache
import itertools
import math

import numpy as np
from numpy.typing import NDArray
from stewart_kinematics.errors import GeometryError, StewartError
from stewart_kinematics.kernels import newton as newton_kernels
from stewart_kinematics.kernels import rods as kernels
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.rods import Rods
from stewart_kinematics.motion import Array, Pose, read_only
from stewart_kinematics.solvers.uniqueness import dual_quaternion, HOME, leg_forms
from stewart_kinematics.spatial import compose_quaternions, exp_quaternion

WIDTHS = (0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.125, 0.1, 0.075, 0.05, 0.025)
"""Half-widths of the box that are tried for positions [lengths of a rod]."""

TURN = math.radians(30.0)
"""Half-width of the box about each axis [rad]."""

SIGNS = np.array(list(itertools.product((-1.0, 1.0), repeat=7)))
OTHERS = np.array([0, 1, 2, 4, 5, 6, 7])
"""Coordinates but e_w, which is 1 in the box."""

TRIALS = 64
"""Poses in reach with which the box's size is chosen."""

BLOCK = 256
"""Samples whose cones are in memory at a time."""


def rods_forward(
    geometry: Geometry, positions: Array, start: Array | None = None
) -> tuple[Array, Array, NDArray[np.int64]]:
    """Find the poses (n, 7) for joint positions (n, 6), figures (n, 3) and status (n,).

    What fails from a start (7,) is tried again from the centre of the box. A pose that is found is
    CONVERGED in the box if that is proved to hold one only, else OUTSIDE_REGION.

    Raises:
        StewartError: If a position is not finite; sample and leg are named.
    """
    rods = _rods(geometry)
    bad = np.argwhere(~np.isfinite(positions))
    if bad.size:
        sample, leg = bad[0]
        place = f' at sample {sample}' if len(positions) > 1 else ''
        raise StewartError(
            f'{rods.kind.quantity}{place}: leg {leg + 1} must be finite, '
            f'got {positions[sample, leg]}'
        )
    bases, centres = _bases(geometry, rods, positions)
    count = len(positions)
    home = np.concatenate(
        [centres, np.tile(geometry.neutral_pose.quaternion_xyzw, (count, 1))], axis=1
    )
    poses, figures = np.empty((count, 7)), np.zeros((count, 3))
    status = np.zeros(count, np.int64)
    constants, lengths = _constants(geometry), np.ascontiguousarray(rods.lengths).reshape(1, 6)
    first = home
    if start is not None:
        first = np.tile(start, (count, 1))
    joints = geometry.platform_joints, constants, lengths
    kernels.newton(bases, *joints, first, poses, figures, status)
    sure = _assured(geometry, rods, bases, centres, poses, status)
    again = np.flatnonzero(~sure) if start is not None else np.empty(0, int)
    if again.size:
        some = np.empty((again.size, 7)), np.zeros((again.size, 3)), np.zeros(again.size, np.int64)
        kernels.newton(np.ascontiguousarray(bases[again]), *joints, home[again], *some)
        poses[again], status[again] = some[0], some[2]
        some[1][:, 0] += figures[again, 0]
        figures[again] = some[1]
        sure[again] = _assured(
            geometry, rods, bases[again], centres[again], poses[again], status[again]
        )
    _judge(constants, figures, sure, status)
    poses.setflags(write=False)
    return poses, figures, status


def rods_twist(geometry: Geometry, position: Array, quaternion: Array, rates: Array) -> Array:
    """Return the twist (6,) that gives the joints' rates (6,); NaN at a singularity."""
    rods = _rods(geometry)
    row = np.reshape(position, (1, 3)), np.reshape(quaternion, (1, 4))
    matrix, _, transmission = rods.jacobians(*row, np.zeros((1, 6)))
    gear = transmission[0]
    lines = matrix[0] * gear[:, None] / np.repeat([1.0, geometry.length_scale], 3)
    home = abs(_constants(geometry)[newton_kernels.DETERMINANT])
    if not abs(np.linalg.det(lines)) > newton_kernels.SMALLEST_DETERMINANT * home:
        return np.full(6, np.nan)
    twist = np.linalg.solve(lines, gear * rates)
    twist[3:] /= geometry.length_scale
    return np.asarray(twist)


def _rods(geometry: Geometry) -> Rods:
    assert geometry.rods is not None
    return geometry.rods


def _bases(geometry: Geometry, rods: Rods, positions: Array) -> tuple[Array, Array]:
    """Return where the rods begin (n, 6, 3), and the centres of the boxes (n, 3) [m]."""
    bases, at_home = rods.begin(positions), rods.begin(_neutral_values(geometry))
    return bases, geometry.neutral_pose.position + np.mean(bases - at_home, axis=1)


def _judge(
    constants: Array, figures: Array, sure: NDArray[np.bool_], status: NDArray[np.int64]
) -> None:
    """Say of poses that have been found, and are not assured, why."""
    home = constants[newton_kernels.DETERMINANT]
    found = (status == newton_kernels.CONVERGED) & ~sure
    regular = np.abs(figures[:, 2]) > newton_kernels.SMALLEST_DETERMINANT * abs(home)
    status[found] = newton_kernels.OUTSIDE_REGION
    status[found & (figures[:, 2] * home < 0.0)] = newton_kernels.WRONG_ASSEMBLY
    status[found & ~regular] = newton_kernels.SINGULAR


def _assured(
    geometry: Geometry,
    rods: Rods,
    bases: Array,
    centres: Array,
    poses: Array,
    status: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Tell which poses are proved to be the only ones in their box, (n,)."""
    half = half_widths(geometry)
    sure = np.zeros(len(poses), dtype=bool)
    found = np.flatnonzero(status == newton_kernels.CONVERGED)
    x = _coordinates(geometry, centres[found], poses[found])
    inside = np.all(np.abs(x[:, OTHERS]) <= half * x[:, [HOME]], axis=1)
    for some in np.array_split(np.flatnonzero(inside), max(1, math.ceil(inside.sum() / BLOCK))):
        at = found[some]
        sure[at] = _proved(geometry, bases[at], centres[at], x[some], half)
    return sure


def _coordinates(geometry: Geometry, centres: Array, poses: Array) -> Array:
    """Return poses (n, 7) as dual quaternions (n, 8) relative to their centres (n, 3) [m]."""
    centred = Pose(np.zeros(3), geometry.neutral_pose.quaternion_xyzw)
    return dual_quaternion(centred, geometry.length_scale, poses[:, :3] - centres, poses[:, 3:])


def _proved(
    geometry: Geometry, bases: Array, centres: Array, x: Array, half: Array
) -> NDArray[np.bool_]:
    """Tell of which poses x (n, 8) it is proved that they are the only ones in the box.

    Beginnings of the rods are (n, 6, 3), centres (n, 3) [m].
    """
    if not len(bases):
        return np.zeros(0, dtype=bool)
    forms = _forms(geometry, bases, centres)
    found = x / x[:, [HOME]]
    middle = 0.5 * found
    middle[:, HOME] += 0.5
    start = np.einsum('nbij,nj->nbi', forms, middle)
    regular = np.abs(np.linalg.det(start)) > 0.0
    inverse = np.linalg.inv(np.where(regular[:, None, None], start, np.eye(8)))
    product = (inverse @ forms.reshape(-1, 8, 64)).reshape(-1, 8, 8, 8)
    cone = product.transpose(0, 3, 1, 2)
    cone = 0.5 * (cone + cone.swapaxes(2, 3))
    size = np.trace(np.einsum('nj,njab->nab', middle, cone), axis1=1, axis2=2) / 8.0
    cone = cone / size[:, None, None, None]
    packed = np.moveaxis(cone, 1, 3)[(slice(None), *np.tril_indices(8))]
    corners = np.ones((len(SIGNS), 8))
    corners[:, OTHERS] = SIGNS * half
    least = 1.0 / math.sqrt(1.0 + float(half[:3] @ half[:3]))
    own = x[:, HOME]
    shares = np.stack([own / (own + 1.0), own / (own + least)], axis=1)
    held = np.zeros(len(bases), np.int64)
    kernels.covered(corners, found, shares, np.ascontiguousarray(packed), held)
    return (held == 1) & regular


def _forms(geometry: Geometry, bases: Array, centres: Array) -> Array:
    """Return the quadratic forms (n, 8, 8, 8), as `uniqueness.length_forms` for each centre."""
    scale, turn = geometry.length_scale, geometry.neutral_pose.rotation
    platform = geometry.platform_joints @ turn.T / scale
    forms = np.zeros((len(bases), 8, 8, 8))
    for n, (base, centre) in enumerate(zip(bases, centres, strict=True)):
        forms[n, :6] = leg_forms((base - centre) / scale, platform)
    forms[:, 6, :4, :4] = forms[:, 7, :4, 4:] = forms[:, 7, 4:, :4] = np.eye(4)
    return forms


@lru_cache(maxsize=64)
def half_widths(geometry: Geometry) -> Array:
    """Return the half-widths (7,) of a geometry's box in the coordinates but e_w [-]."""
    rods, neutral = _rods(geometry), geometry.neutral_pose
    scale, length = geometry.length_scale, float(rods.lengths.mean())
    # Of the last coordinate, t . e_v / 2, a third of what all at their ends would give is enough.
    slope = math.tan(0.5 * TURN)
    parts = np.random.default_rng(0).uniform(-1.0, 1.0, (40 * TRIALS, 6))
    parts[0] = 0.0
    turns = compose_quaternions(exp_quaternion(TURN * parts[:, 3:]), neutral.quaternion_xyzw)
    for width in WIDTHS:
        shift = width * length
        sizes = [slope] * 3 + [0.5 * shift / scale] * 3 + [0.5 * slope * shift / scale]
        half = np.array(sizes)
        place = neutral.position + shift * parts[:, :3]
        values, poses = rods.positions(place, turns), np.concatenate([place, turns], axis=1)
        found = np.flatnonzero(np.all(np.isfinite(values), axis=1))[:TRIALS]
        bases, centres = _bases(geometry, rods, values[found])
        x = _coordinates(geometry, centres, poses[found])
        inside = np.all(np.abs(x[:, OTHERS]) <= half * x[:, [HOME]], axis=1)
        if np.all(_proved(geometry, bases[inside], centres[inside], x[inside], half)):
            return read_only(half)
    raise GeometryError(
        f'{geometry.name}: forward kinematics is ambiguous next to the neutral pose: no box of '
        f'{WIDTHS[-1] * length:.3g} m and {math.degrees(TURN):g}° about it is proved to hold one '
        'pose only; choose another neutral pose'
    )


def _home(geometry: Geometry) -> tuple[Array, Array]:
    """Return the neutral pose as (1, 3) and (1, 4)."""
    pose = geometry.neutral_pose
    return pose.position.reshape(1, 3), pose.quaternion_xyzw.reshape(1, 4)


def _neutral_values(geometry: Geometry) -> Array:
    return _rods(geometry).positions(*_home(geometry))


@lru_cache(maxsize=64)
def _constants(geometry: Geometry) -> Array:
    """Return what Newton's kernel wants to know; its own region holds every pose."""
    rods, pose = _rods(geometry), geometry.neutral_pose
    matrix, _, transmission = rods.jacobians(*_home(geometry), np.zeros((1, 6)))
    lines = matrix[0] * transmission[0][:, None]
    lines[:, 3:] /= geometry.length_scale
    constants = np.concatenate([pose.position, pose.quaternion_xyzw, np.zeros(4)])
    constants[newton_kernels.SCALE] = geometry.length_scale
    constants[newton_kernels.CERTAIN] = math.inf
    constants[newton_kernels.DETERMINANT] = np.linalg.det(lines)
    constants[newton_kernels.TOLERANCE] = newton_kernels.RELATIVE_TOLERANCE * rods.lengths.mean()
    return read_only(constants)
