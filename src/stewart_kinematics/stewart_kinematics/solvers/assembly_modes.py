# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every pose with six given lengths: the assembly modes of a platform.

In dual quaternions six lengths are six quadratic equations, and that it is a pose a seventh, see
`stewart_kinematics.solvers.uniqueness`. A general platform has 40 solutions, complex ones
included; one whose joints lie on two circles has 28, the others having gone to infinity [1]; one
whose legs meet in pairs at the platform, or at the base, has 16 [3].
All are found by continuation: once, forty of a random complex platform, by leading one of them
around loops of coefficients until no new one turns up; once for a geometry, its solutions for
random complex lengths; then for each six lengths, from there. Real ones are poses. Where a path is
lost, that is repeated from another random platform.

A pose is certified if Smale's test holds there: Newton's method started at it converges to a
solution that exists, is real and is the only one near [2]. Poses next to a singularity are not.
That none is missing has probability one, not certainty. What would betray a lost or a confused
path is counted: paths that end neither in a solution nor at infinity, two that end in one
regular solution, solutions whose complex conjugate is not among the others.

References:
    [1] P. Dietmaier, "The Stewart-Gough platform of general geometry can have 40 real postures",
       Advances in Robot Kinematics, 1998, pp. 7-16.
    [2] J. D. Hauenstein and F. Sottile, "Algorithm 921: alphaCertified", ACM Transactions on
       Mathematical Software 38 (4), 2012, article 28.
    [3] P. Nanua, K. J. Waldron and V. Murthy, "Direct kinematic solution of a Stewart platform",
       IEEE Transactions on Robotics and Automation 6 (4), 1990, pp. 438-444.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from stewart_kinematics.errors import ShapeError, StewartError
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.continuation import Complex, follow
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.solvers.jacobian import condition_number
from stewart_kinematics.solvers.uniqueness import HOME, leg_forms, relative_joints
from stewart_kinematics.spatial import (
    compose_quaternions,
    invert_quaternion,
    matrix_from_quaternion,
)

MOST = 40  # solutions of a general platform

TOLERANCES = (1e-5, 1e-6, 1e-7)
"""How near the paths are followed, at first and where one was lost [-]."""

LOOPS = 100  # most loops to find the forty solutions; about ten are enough
SAME = 1e-6  # distance of two solutions |x| = 1 that are one [-]

REAL, NEARLY_REAL = 1e-7, 1e-2
"""Largest imaginary part of a pose's dual quaternion, and of what rounding may have moved [-]."""

NEARLY, AT_INFINITY, FARTHEST, NO_TURN = 0.99, 1e-2, 1e-3, 1e-10
"""A path goes to infinity if it comes this far and |e . e| / |e|² is below the second number [-];
if it ends in a solution, rounding is to blame where |e| is below the third. Where legs share
joints, the equations have more solutions without e . e, which turn nothing: below the fourth."""

ALPHA, ERROR = 0.157, 1e-14
"""Bound of Smale's test, and the rounding of a form that is added to its residual [-]."""

Instance = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""Base joints (6, 3), platform joints (6, 3) and squared lengths (6,)."""


@dataclass(frozen=True, eq=False)
class AssemblyModes:
    """Poses with six given lengths, from the connected one to the farthest.

    Attributes:
        position (n, 3): Origin of ``platform_link`` in ``base_link`` [m].
        quaternion_xyzw (n, 4): Unit quaternions, scalar last.
        connected (n,): The one that the neutral pose becomes when all squared lengths change
            evenly to those given; none is marked where the platform would meet a singularity on
            that way.
        mirrored (n,): The platform's joints have their centroid on the other side of the base.
        certified (n,): Smale's test holds.
        residual (n,): Largest difference between a length asked for and one of the pose [m].
        condition_number (n,): Condition number of the Jacobian, moments divided by the length
            scale.
        solutions: Distinct solutions, those that are no poses included.
        lost: Paths that were lost, and solutions that rounding hides whether they are real: as
            many modes may be missing, at most.
    """

    position: Array
    quaternion_xyzw: Array
    connected: NDArray[np.bool_]
    mirrored: NDArray[np.bool_]
    certified: NDArray[np.bool_]
    residual: Array
    condition_number: Array
    solutions: int
    lost: int


def assembly_modes(geometry: Geometry, lengths: ArrayLike) -> AssemblyModes:
    """Find every pose that has six joint-to-joint lengths (6,) [m].

    Returns:
        The poses; none if the legs cannot have these lengths.

    Raises:
        ShapeError: If there are not six lengths.
        StewartError: If a length is not a positive, finite number.
    """
    wanted = np.asarray(lengths, dtype=np.float64)
    if wanted.shape != (6,):
        raise ShapeError('lengths', '(6,)', wanted.shape)
    if not np.all((wanted > 0.0) & np.isfinite(wanted)):
        raise StewartError(f'lengths must be finite numbers above 0 m, got {wanted.tolist()}')
    squares = (wanted / geometry.length_scale) ** 2
    base, platform = relative_joints(geometry)
    forms = _system((base, platform, squares))
    points, lost = _solutions(geometry, squares)
    plain = points / np.sqrt(np.sum(points[:, :4] ** 2, axis=1, keepdims=True))
    certain, imaginary = _certified(forms, plain), np.abs(plain.imag).max(axis=1, initial=0.0)
    chosen = imaginary < REAL
    doubtful = int(np.sum(~chosen & ~certain & (imaginary < NEARLY_REAL)))
    real = plain[chosen].real
    real = real * np.where(real[:, [HOME]] < 0.0, -1.0, 1.0)
    connected = _connected(geometry, squares, real)
    position, quaternion = _poses(geometry, real)
    order = np.argsort(_away(geometry, position, quaternion, connected))
    p, q = position[order], quaternion[order]
    return AssemblyModes(
        position=p,
        quaternion_xyzw=q,
        connected=connected[order],
        mirrored=_mirrored(geometry, p, q),
        certified=certain[chosen][order],
        residual=np.abs(leg_lengths(geometry, p, q) - wanted).max(axis=1, initial=0.0),
        condition_number=condition_number(geometry, p, q),
        solutions=len(points),
        lost=lost + doubtful,
    )


def _solutions(geometry: Geometry, squares: Array) -> tuple[Complex, int]:
    """Return the distinct solutions for squared lengths, (n, 8), and how many paths were lost."""
    target: Instance = (*relative_joints(geometry), squares)
    forms, found, most = _system(target), [], 0
    for attempt, tolerance in enumerate(TOLERANCES):
        start, begin, gone = _generic_lengths(geometry, attempt)
        points, s = follow(_path(start, target), begin, tolerance)
        arrived = s == 1.0
        distinct = _distinct(points[arrived])
        unpaired = sum(_distances(distinct, point.conj()).min() > SAME for point in distinct)
        # Two paths end in one solution only where it is multiple.
        simple = np.all(_least_slope(forms, distinct) > SAME)
        multiple = len(distinct) < arrived.sum() and not simple
        doubled = 0 if multiple else int(arrived.sum()) - len(distinct)
        # One attempt may take for infinite what another one has found.
        most = max(most, len(begin))
        lost = gone + most - int(arrived.sum()) + doubled
        found.append((max(lost, unpaired), distinct))
        if found[-1][0] == 0:
            break
    lost, best = min(found, key=lambda item: item[0])
    return best, lost


@lru_cache(maxsize=64)
def _generic_lengths(geometry: Geometry, attempt: int) -> tuple[Instance, Complex, int]:
    """Return a geometry with random complex lengths, its solutions, and paths lost on the way."""
    start, begin = _generic_platform(attempt)
    squares = _random(np.random.default_rng(attempt), 6) * np.mean(np.abs(_neutral(geometry)))
    target = (*relative_joints(geometry), squares)
    points, s = follow(_path(start, target), begin, TOLERANCES[attempt])
    e = points[:, :4]
    size = np.sum(np.abs(e) ** 2, axis=1)
    square = np.abs(np.sum(e**2, axis=1))
    far = (square < AT_INFINITY * size) & (s > NEARLY)
    far &= (s < 1.0) | (size < FARTHEST**2) | (square < NO_TURN * size)
    distinct = _distinct(points[(s == 1.0) & ~far])
    return target, distinct, MOST - int(np.sum(far)) - len(distinct)


@lru_cache(maxsize=len(TOLERANCES))
def _generic_platform(attempt: int) -> tuple[Instance, Complex]:
    """Return a random complex platform and its forty solutions, found from one of them."""
    rng = np.random.default_rng(attempt)
    e, g = _random(rng, 2, 4)
    x = np.concatenate([e, g - e * (e @ g) / (e @ e)])
    base, platform, _ = _random_instance(rng)
    squares = np.einsum('i,kij,j->k', x, leg_forms(base, platform), x) / (e @ e)
    start = base, platform, squares
    points = x[None] / np.linalg.norm(x)
    for _ in range(LOOPS):
        if len(points) == MOST:
            break
        corners = [start, _random_instance(rng), _random_instance(rng), start]
        ends = points
        for first, last in itertools.pairwise(corners):
            ends, s = follow(_path(first, last), ends, TOLERANCES[0])
            ends = ends[s == 1.0]
        points = _distinct(np.concatenate([points, ends]))
    return start, points


def _random(rng: np.random.Generator, *shape: int) -> Complex:
    return np.asarray((rng.normal(size=shape) + 1j * rng.normal(size=shape)) / math.sqrt(2.0))


def _random_instance(rng: np.random.Generator) -> Instance:
    return _random(rng, 6, 3), _random(rng, 6, 3), _random(rng, 6)


def _neutral(geometry: Geometry) -> Array:
    """Return the squared lengths of the neutral pose [squared length scales]."""
    base, platform = relative_joints(geometry)
    return np.asarray(np.sum((platform - base) ** 2, axis=1))


def _system(instance: Instance) -> NDArray[Any]:
    """Return the forms that are 0 at a pose, (7, 8, 8): those of the legs and 2 e . g."""
    base, platform, squares = instance
    forms = np.zeros((7, 8, 8), dtype=complex)
    forms[:6] = leg_forms(base, platform)
    forms[:6, :4, :4] -= np.asarray(squares)[:, None, None] * np.eye(4)
    forms[6, :4, 4:] = forms[6, 4:, :4] = np.eye(4)
    return forms


def _path(first: Instance, last: Instance) -> Complex:
    """Return N_0, N_1, N_2 of the forms between two instances: products of joints are squares."""
    base, platform, squares = (0.5 * (a + b) for a, b in zip(first, last, strict=True))
    begin, half, end = _system(first), _system((base, platform, squares)), _system(last)
    square = 2.0 * (begin + end - 2.0 * half)
    return np.stack([begin, end - begin - square, square])


def _distances(points: Complex, point: Complex) -> Array:
    """Return how far solutions |x| = 1 are from one of them, whatever their factors, (n,)."""
    across = points - np.outer(points @ point.conj(), point)
    return np.asarray(np.linalg.norm(across, axis=1))


def _distinct(points: Complex) -> Complex:
    """Return solutions |x| = 1 without those that were there before."""
    kept = np.empty_like(points[:0])
    for point in points:
        if np.all(_distances(kept, point) > SAME):
            kept = np.concatenate([kept, point[None]])
    return kept


def _least_slope(forms: NDArray[Any], x: NDArray[Any]) -> Array:
    """Return the smallest singular value at points (n,) of the slopes of forms and of |x|.

    The forms have norm 1; at multiple solutions |x| = 1 it is 0.
    """
    forms = forms / np.linalg.norm(forms, axis=(1, 2))[:, None, None]
    rows = 2.0 * np.moveaxis(np.tensordot(forms, x, (2, 1)), 2, 0)
    slopes = np.concatenate([rows, x.conj()[:, None]], axis=1)
    return np.asarray(np.linalg.svd(slopes, compute_uv=False)[:, -1])


def _certified(forms: NDArray[Any], x: Complex) -> NDArray[np.bool_]:
    """Tell at which points Smale's test holds, (n,)."""
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    forms = forms / np.linalg.norm(forms, axis=(1, 2))[:, None, None]
    values = np.linalg.norm(np.einsum('pi,kij,pj->pk', x, forms, x), axis=1)
    least = _least_slope(forms, x)
    # beta <= |f| / least and gamma <= |D²f| / (2 least), where |D²f| <= 2 sqrt(7).
    return np.asarray(math.sqrt(7.0) * (values + ERROR) <= ALPHA * least**2)


def _connected(geometry: Geometry, squares: Array, real: Array) -> NDArray[np.bool_]:
    """Tell which of the dual quaternions (n, 8) the neutral pose becomes."""
    joints, marked = relative_joints(geometry), np.zeros(len(real), dtype=bool)
    path = _path((*joints, _neutral(geometry)), (*joints, squares))
    end, s = follow(path, np.eye(8, dtype=complex)[[HOME]], TOLERANCES[-1])
    if s[0] == 1.0 and len(real):
        away = _distances(real / np.linalg.norm(real, axis=1, keepdims=True), end[0])
        marked[np.argmin(away)] = away.min() < SAME
    return marked


def _poses(geometry: Geometry, real: Array) -> tuple[Array, Array]:
    """Return positions (n, 3) [m] and quaternions (n, 4) of dual quaternions (n, 8), |e| = 1."""
    neutral, turn = geometry.neutral_pose, real[:, :4]
    shift = 2.0 * compose_quaternions(real[:, 4:], invert_quaternion(turn))[:, :3]
    position = neutral.position + geometry.length_scale * shift
    return position, compose_quaternions(turn, neutral.quaternion_xyzw)


def _away(
    geometry: Geometry, position: Array, quaternion_xyzw: Array, connected: NDArray[np.bool_]
) -> Array:
    """Return how far poses are from the connected one, or from neutral if there is none [m]."""
    neutral = geometry.neutral_pose
    centre, home = neutral.position, neutral.quaternion_xyzw
    if np.any(connected):
        centre, home = position[connected][0], quaternion_xyzw[connected][0]
    angle = 2.0 * np.arccos(np.clip(np.abs(quaternion_xyzw @ home), 0.0, 1.0))
    shift = np.linalg.norm(position - centre, axis=1)
    return np.where(connected, -1.0, np.hypot(shift, geometry.length_scale * angle))


def _mirrored(geometry: Geometry, position: Array, quaternion_xyzw: Array) -> NDArray[np.bool_]:
    """Tell which poses have the platform on the other side of the base than at neutral, (n,)."""
    middle = geometry.base_joints.mean(axis=0)
    up = np.linalg.svd(geometry.base_joints - middle)[2][-1]
    centre = geometry.platform_joints.mean(axis=0)
    turned = matrix_from_quaternion(quaternion_xyzw) @ centre
    neutral = geometry.neutral_pose
    side = (neutral.position + neutral.rotation @ centre - middle) @ up
    return np.asarray((position + turned - middle) @ up * side < 0.0)
