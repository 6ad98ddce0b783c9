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

The box is fixed for a geometry: the first of `TURNS` and, for it, of `WIDTHS` with which the proof
succeeds over what is in reach. That is a choice of size, and nothing that the proof relies on.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
import itertools
import math

import numpy as np
from numpy.typing import NDArray
from stewart_kinematics.errors import GeometryError, StewartError
from stewart_kinematics.kernels import newton as newton_kernels
from stewart_kinematics.kernels import rods as kernels
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array, Pose, read_only
from stewart_kinematics.solvers.uniqueness import dual_quaternion, HOME, length_forms
from stewart_kinematics.spatial import compose_quaternions, exp_quaternion, matrix_from_quaternion

WIDTHS = (0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.125, 0.1, 0.075, 0.05, 0.025)
"""Half-widths of the box that are tried for positions [lengths of a rod]."""

TURNS = tuple(math.radians(angle) for angle in (30.0, 20.0, 10.0, 5.0))
"""Half-widths of the box about each axis that are tried [rad]."""

TRIALS = 64  # poses in reach with which the box's size is chosen
BLOCK = 256  # samples whose cones are in memory at a time

PAST_DEAD_CENTRE = 6  # a status beside those of `kernels.newton`
GRAZING = 1e-6  # part of its rod's length by which a joint at its dead centre may miss it

SIGNS = np.array(list(itertools.product((-1.0, 1.0), repeat=7)))
OTHERS = np.array([0, 1, 2, 4, 5, 6, 7])  # coordinates but e_w, which is 1 in the box


class RodSolver:
    """Forward kinematics of a geometry on rods, with what is computed once for it."""

    def __init__(self, geometry: Geometry) -> None:
        assert geometry.rods is not None
        self.geometry, self.rods, self._neutral = geometry, geometry.rods, geometry.neutral_pose
        home = self._neutral.position[None], self._neutral.quaternion_xyzw[None]
        self._begin = self.rods.begin_at(self._neutral)
        self._lengths = np.ascontiguousarray(self.rods.lengths).reshape(1, 6)
        determinant = float(np.linalg.det(self._lines(*home)[0]))
        # The kernel's own region holds every pose.
        known = geometry.length_scale, math.inf, determinant, self.rods.lengths.mean()
        self._constants = read_only(newton_kernels.constants_of(np.hstack(home)[0], *known))
        self._least = newton_kernels.SMALLEST_DETERMINANT * abs(determinant)

    @staticmethod
    @lru_cache(maxsize=64)
    def of(geometry: Geometry) -> RodSolver:
        """Return the solver of a geometry, made once."""
        return RodSolver(geometry)

    def from_positions(
        self, positions: Array, start: Array | None = None
    ) -> tuple[Array, Array, NDArray[np.int64]]:
        """Find the poses (n, 7) for joint positions (n, 6), figures (n, 3) and status (n,).

        What fails from a start (7,) is tried again from the centre of the box. A pose that is
        found is CONVERGED in the box if that is proved to hold one only, else OUTSIDE_REGION. It
        is PAST_DEAD_CENTRE if the inverse kinematics gives it another position of a joint: rates
        would have the wrong sign.

        Raises:
            StewartError: If a position is not finite; sample and leg are named.
        """
        bad = np.argwhere(~np.isfinite(positions))
        if bad.size:
            sample, leg = bad[0]
            place = f' at sample {sample}' if len(positions) > 1 else ''
            raise StewartError(
                f'{self.rods.kind.quantity}{place}: leg {leg + 1} must be finite, '
                f'got {positions[sample, leg]}'
            )
        bases, centres = self._boxes(positions)
        turns = np.tile(self._neutral.quaternion_xyzw, (len(positions), 1))
        home = np.concatenate([centres, turns], axis=1)
        first = home if start is None else np.tile(start, (len(positions), 1))
        poses, figures, status, sure = self._attempt(bases, centres, first)
        again = np.flatnonzero(~sure) if start is not None else np.empty(0, int)
        if again.size:
            spent = figures[again, 0]
            poses[again], figures[again], status[again], sure[again] = self._attempt(
                np.ascontiguousarray(bases[again]), centres[again], home[again]
            )
            figures[again, 0] += spent
        reached = status == newton_kernels.CONVERGED
        found = reached & ~sure
        other_side = figures[:, 2] * self._constants[newton_kernels.DETERMINANT] < 0.0
        status[found] = newton_kernels.OUTSIDE_REGION
        status[found & other_side] = newton_kernels.WRONG_ASSEMBLY
        status[found & ~(np.abs(figures[:, 2]) > self._least)] = newton_kernels.SINGULAR
        past = np.flatnonzero(reached)
        status[past[self._past_dead_centre(positions[past], poses[past])]] = PAST_DEAD_CENTRE
        poses.setflags(write=False)
        return poses, figures, status

    def _past_dead_centre(self, positions: Array, poses: Array) -> NDArray[np.bool_]:
        """Tell of which poses (n, 7) a joint moves its rod against its branch, (n,)."""
        turns = matrix_from_quaternion(poses[:, 3:])
        ends = poses[:, None, :3] + self.geometry.platform_joints @ turns.swapaxes(1, 2)
        along = np.sum((ends - self.rods.begin(positions)) * self.rods.slopes(positions), axis=2)
        least = -GRAZING * self.rods.lengths * self.rods.radii
        return np.any(along * self.rods.table[:, kernels.BRANCH] < least, axis=1)

    def twist(self, position: Array, quaternion_xyzw: Array, rates: Array) -> Array:
        """Return the twist (6,) that gives the joints' rates (6,); NaN at a singularity."""
        lines, gears = self._lines(position.reshape(1, 3), quaternion_xyzw.reshape(1, 4))
        if not abs(np.linalg.det(lines)) > self._least:
            return np.full(6, np.nan)
        twist = np.linalg.solve(lines, gears * rates)
        twist[3:] /= self.geometry.length_scale
        return np.asarray(twist)

    @cached_property
    def half_widths(self) -> Array:
        """Half-widths (7,) of the geometry's box in the coordinates but e_w [-]."""
        scale, length = self.geometry.length_scale, float(self.rods.lengths.mean())
        parts = np.random.default_rng(0).uniform(-1.0, 1.0, (40 * TRIALS, 6))
        parts[0] = 0.0
        for turn, width in itertools.product(TURNS, WIDTHS):
            turns = exp_quaternion(turn * parts[:, 3:])
            turns = compose_quaternions(turns, self._neutral.quaternion_xyzw)
            slope, shift = math.tan(0.5 * turn), width * length
            # Of the last coordinate, t . e_v / 2, a third of what all at their ends would give is
            # enough.
            sizes = [slope] * 3 + [0.5 * shift / scale] * 3 + [0.5 * slope * shift / scale]
            half = np.array(sizes)
            place = self._neutral.position + shift * parts[:, :3]
            values, poses = self.rods.positions(place, turns), np.hstack([place, turns])
            found = np.flatnonzero(np.all(np.isfinite(values), axis=1))[:TRIALS]
            bases, centres = self._boxes(values[found])
            x, inside = self._coordinates(centres, poses[found], half)
            if np.all(self._proved(bases[inside], centres[inside], x[inside], half)):
                return read_only(half)
        raise GeometryError(
            f'{self.geometry.name}: forward kinematics is ambiguous next to the neutral pose: no '
            f'box of {WIDTHS[-1] * length:.3g} m and {math.degrees(TURNS[-1]):g}° about it is '
            'proved to hold one pose only; choose another neutral pose'
        )

    def _lines(self, position: Array, quaternion: Array) -> tuple[Array, Array]:
        """Return the rods' lines (6, 6), moments in length scales, and transmissions (6,)."""
        matrix, _, gears = self.rods.jacobians(position, quaternion, np.zeros((1, 6)))
        scales = np.repeat([1.0, self.geometry.length_scale], 3)
        return matrix[0] * gears[0][:, None] / scales, gears[0]

    def _boxes(self, positions: Array) -> tuple[Array, Array]:
        """Return where the rods begin (n, 6, 3), and the centres of the boxes (n, 3) [m]."""
        bases = self.rods.begin(positions)
        return bases, self._neutral.position + np.mean(bases - self._begin, axis=1)

    def _attempt(
        self, bases: Array, centres: Array, first: Array
    ) -> tuple[Array, Array, NDArray[np.int64], NDArray[np.bool_]]:
        """Return poses, figures and status from first poses (n, 7), and which are proved."""
        count = len(bases)
        result = np.empty((count, 7)), np.zeros((count, 3)), np.zeros(count, np.int64)
        joints = self.geometry.platform_joints, self._constants, self._lengths
        kernels.newton(bases, *joints, first, *result)
        poses, _, status = result
        sure, half = np.zeros(count, dtype=bool), self.half_widths
        found = np.flatnonzero(status == newton_kernels.CONVERGED)
        x, inside = self._coordinates(centres[found], poses[found], half)
        blocks = max(1, math.ceil(inside.sum() / BLOCK))
        for some in np.array_split(np.flatnonzero(inside), blocks):
            at = found[some]
            sure[at] = self._proved(bases[at], centres[at], x[some], half)
        return *result, sure

    def _coordinates(
        self, centres: Array, poses: Array, half: Array
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Return poses (n, 7) as dual quaternions (n, 8) about centres; which are inside."""
        centred = Pose(np.zeros(3), self._neutral.quaternion_xyzw)
        scale = self.geometry.length_scale
        x = dual_quaternion(centred, scale, poses[:, :3] - centres, poses[:, 3:])
        return x, np.all(np.abs(x[:, OTHERS]) <= half * x[:, [HOME]], axis=1)

    def _proved(self, bases: Array, centres: Array, x: Array, half: Array) -> NDArray[np.bool_]:
        """Tell of which poses x (n, 8) it is proved that they are the only ones in the box."""
        if not len(bases):
            return np.zeros(0, dtype=bool)
        scale, turn = self.geometry.length_scale, self._neutral.rotation
        platform = self.geometry.platform_joints @ turn.T / scale
        forms = length_forms((bases - centres[:, None]) / scale, platform)
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
