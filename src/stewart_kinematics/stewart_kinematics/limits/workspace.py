# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the platform can be at rest: reach along each axis, slices and the volume.

Displacements count from a given pose: x, y, z along the axes of ``base_link`` [m], roll, pitch
and yaw added to those of the pose [rad]. What is reachable is what the motion guard accepts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ConfigurationError, MotionRefused, Violation
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.spatial import rpy_from_quaternion
from stewart_tables.progress import Progress, silent

AXES = ('x', 'y', 'z', 'roll', 'pitch', 'yaw')

MARCH = 720  # steps in which an axis is searched for the first refused pose before bisection
BISECTIONS = 45  # halvings of a step; 45 leave less than rounding of any machine's size
COARSE = 24  # cells along each edge of the first, coarse look at the volume
COARSE_PLANE = 81  # samples along each axis of the first, coarse look at a plane
RAYS = 48  # directions in which a section looks for its edge
MOST_CELLS = 400  # cells along each edge of the volume that fit into the memory of a usual machine


@dataclass(frozen=True)
class Reach:
    """How far the platform can go along one axis with the others kept.

    Attributes:
        axis: One of `AXES`.
        lower, upper: Furthest displacements on the connected stretch about the pose [m] or [rad].
        below, above: What stops it at either end; None where nothing does, as for a full turn.
    """

    axis: str
    lower: float
    upper: float
    below: Violation | None
    above: Violation | None


@dataclass(frozen=True, eq=False)
class Slice:
    """Margins over a plane of two displacements.

    Attributes:
        axes: First and second axis, of `AXES`.
        first, second (n,): Displacements [m] or [rad].
        margin (n, n): Least margin of the motion guard at (first, second), not negative where
            reachable.
        limiting (n, n): Index into `quantities` of the quantity with the least margin.
        quantities: Guarded quantities.
    """

    axes: tuple[str, str]
    first: Array
    second: Array
    margin: Array
    limiting: NDArray[np.intp]
    quantities: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Volume:
    """Positions that can be reached with one attitude.

    Attributes:
        quaternion_xyzw (4,): The attitude.
        positions (n, 3): Centres of the reachable cells, in ``base_link`` [m].
        margin (n,): Least margin of the motion guard at each.
        boundary (n,): Whether a neighbour of the cell cannot be reached.
        cell (3,): Edges of a cell [m].
    """

    quaternion_xyzw: Array
    positions: Array
    margin: Array
    boundary: NDArray[np.bool_]
    cell: Array

    @property
    def volume(self) -> float:
        """Sum of the cells [m³]."""
        return len(self.positions) * float(np.prod(self.cell))


def display_unit(axis: str) -> tuple[float, str]:
    """Return the unit in which people read an axis, and the factor from m or rad to it."""
    return (1e3, 'mm') if axis in 'xyz' else (180.0 / np.pi, 'deg')


def displaced(pose: Pose, displacement: Array) -> Motion:
    """Return rest (...) at displacements (..., 6) from a pose, in the order of `AXES` [m, rad]."""
    angles = displacement[..., 3:] + rpy_from_quaternion(pose.quaternion_xyzw)
    turns = Rotation.from_euler('ZYX', angles[..., ::-1].reshape(-1, 3)).as_quat()
    attitude = turns.reshape(*angles.shape[:-1], 4)
    return Motion(pose.position + displacement[..., :3], attitude)


def reach(guard: MotionGuard, pose: Pose) -> tuple[Reach, ...]:
    """Find how far the platform can go from a pose along each of `AXES`, both ways.

    Exact to rounding; gaps narrower than 1/720 of the greatest conceivable displacement may be
    stepped over.

    Raises:
        MotionRefused: If the platform cannot even rest at the pose.
    """
    guard.check(Motion.at_rest(pose))
    spans = _spans(guard.platform, pose)
    directions = np.concatenate([np.diag(spans[0]), np.diag(spans[1])])
    inner, outer = _ends(guard, pose, directions, MARCH, BISECTIONS)
    ends = (directions * inner[:, None]).sum(axis=1)
    stops = [_stop(guard, displaced(pose, far)) for far in directions * outer[:, None]]
    return tuple(
        Reach(axis, float(ends[k]), float(ends[6 + k]), stops[k], stops[6 + k])
        for k, axis in enumerate(AXES)
    )


def section(guard: MotionGuard, pose: Pose) -> Array | None:
    """Return the border of what can be reached from a pose at its height and with its attitude.

    Returns:
        A closed line in ``base_link``, shape (`RAYS` + 1, 3) [m], good to a thousandth of the
        reach; None where the platform may not even rest at the pose.
    """
    if not guard.allowed(Motion.at_rest(pose)):
        return None
    lower, upper = _spans(guard.platform, pose)
    far = float(np.abs([lower[:2], upper[:2]]).max())
    angles = np.linspace(0.0, 2.0 * np.pi, RAYS, endpoint=False)
    directions = np.zeros((RAYS, 6))
    directions[:, 0], directions[:, 1] = far * np.cos(angles), far * np.sin(angles)
    inner, _ = _ends(guard, pose, directions, march=24, bisections=6)
    border = pose.position + directions[:, :3] * inner[:, None]
    return np.vstack([border, border[:1]])


def _ends(
    guard: MotionGuard, pose: Pose, directions: Array, march: int, bisections: int
) -> tuple[Array, Array]:
    """Return which parts of displacements (n, 6) are the last allowed and the first refused."""
    steps = np.linspace(0.0, 1.0, march + 1)
    marched = guard.allowed(displaced(pose, directions[:, None] * steps[:, None]))
    outside = np.where(marched.all(axis=1), march, np.argmin(marched, axis=1))
    inner, outer = steps[outside - 1], steps[outside]
    for _ in range(bisections):
        middle = 0.5 * (inner + outer)
        allowed = guard.allowed(displaced(pose, directions * middle[:, None]))
        inner, outer = np.where(allowed, middle, inner), np.where(allowed, outer, middle)
    return inner, outer


def plane(guard: MotionGuard, pose: Pose, axes: tuple[str, str], count: int) -> Slice:
    """Evaluate the margins over a plane of two displacements, a little wider than the reachable.

    Displacements count from the pose along two different ones of `AXES`, with `count` samples
    each.

    Raises:
        ConfigurationError: If the axes or the count are wrong.
    """
    if len(set(axes)) != 2 or not set(axes) <= set(AXES):
        raise ConfigurationError('axes', axes, f'two different ones of {", ".join(AXES)}')
    if count < 2:
        raise ConfigurationError('count', count, 'at least 2')
    places = [AXES.index(axis) for axis in axes]
    lower, upper = (span[places] for span in _spans(guard.platform, pose))
    coarse = np.linspace(lower, upper, COARSE_PLANE)
    inside = np.min(list(_plane_margins(guard, pose, places, coarse).values()), axis=0) >= 0.0
    if inside.any():
        lower, upper = _framed(coarse, inside)
    samples = np.linspace(lower, upper, count)
    margins = _plane_margins(guard, pose, places, samples)
    stacked = np.stack(list(margins.values()))
    # A rod that does not reach makes every other margin NaN.
    least, limiting = np.fmin.reduce(stacked), np.nan_to_num(stacked, nan=np.inf).argmin(0)
    return Slice(axes, samples[:, 0], samples[:, 1], least, limiting, tuple(margins))


def _plane_margins(
    guard: MotionGuard, pose: Pose, places: list[int], samples: Array
) -> dict[str, Array]:
    """Return the margins (n, n) over all pairs of two displacements, `samples` (n, 2)."""
    count = len(samples)
    displacement = np.zeros((count, count, 6))
    displacement[..., places[0]] = samples[:, 0, None]
    displacement[..., places[1]] = samples[:, 1]
    return guard.margins(displaced(pose, displacement))


def _framed(samples: Array, inside: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return what is reachable on a coarse plane, and a frame about it, within the plane."""
    found = np.argwhere(inside)
    corners = np.take_along_axis(samples, np.stack([found.min(0), found.max(0)]), axis=0)
    step = samples[1] - samples[0]
    frame = 0.2 * (corners[1] - corners[0]) + step
    return np.maximum(corners[0] - frame, samples[0]), np.minimum(corners[1] + frame, samples[-1])


def volume(guard: MotionGuard, pose: Pose, count: int, progress: Progress = silent) -> Volume:
    """Find the positions that can be reached with the attitude of a pose; none is no error.

    `count` is the number of cells along each edge of the box about what is reachable, 2 to
    `MOST_CELLS`; `progress` is told the part done, 0 to 1.

    Raises:
        ConfigurationError: If the count is too small or too large.
    """
    if not 2 <= count <= MOST_CELLS:
        raise ConfigurationError('cells', count, f'2 to {MOST_CELLS} along each edge')
    box = _box(guard.platform, pose)
    coarse, _, edges = _cells(guard, pose, box, COARSE, silent)
    if np.any(coarse >= 0.0):
        # The reachable cells and one more all around.
        places = np.argwhere(coarse >= 0.0)
        lower = box[0] + (places.min(axis=0) - 1) * edges
        upper = box[0] + (places.max(axis=0) + 2) * edges
        box = np.maximum(lower, box[0]), np.minimum(upper, box[1])
    margin, centres, cell = _cells(guard, pose, box, count, progress)
    inside = margin >= 0.0
    # Late: most who ask for reach or a slice have no volume.
    from scipy.ndimage import binary_erosion

    border = ~binary_erosion(inside)[inside]
    return Volume(pose.quaternion_xyzw, centres[inside], margin[inside], border, cell)


def _cells(
    guard: MotionGuard, pose: Pose, box: tuple[Array, Array], count: int, report: Progress
) -> tuple[Array, Array, Array]:
    """Return margins (n, n, n) and centres (n, n, n, 3) of the cells of a box, and their edges."""
    lower, upper = box
    cell = (upper - lower) / count
    steps = (np.arange(count) + 0.5)[:, None] * cell + lower
    centres = np.stack(np.meshgrid(*steps.T, indexing='ij'), axis=-1)
    margin = np.empty((count, count, count))
    for slab in range(count):
        displacement = np.zeros((count, count, 6))
        displacement[..., :3] = centres[slab] - pose.position
        margins = guard.margins(displaced(pose, displacement))
        margin[slab] = np.min(list(margins.values()), axis=0)
        report((slab + 1) / count)
    return margin, centres, cell


def _box(platform: Platform, pose: Pose) -> tuple[Array, Array]:
    """Return a box that holds every position the longest legs allow with the pose's attitude.

    Leg i keeps the platform within its greatest length of B_i - R b_i: six spheres. A rod begins
    within half of its joint's way of the point from where the joint is in the middle, at most.
    """
    geometry, stroke = platform.geometry, platform.limits.stroke
    if geometry.rods is None:
        base, longest = geometry.base_joints, (geometry.retracted_length + stroke[:, 1])[:, None]
    else:
        base = geometry.rods.begin(stroke.mean(axis=1))
        way = 0.5 * np.ptp(stroke, axis=1) * geometry.rods.radii
        longest = (geometry.rods.lengths + way)[:, None]
    centres = base - geometry.platform_joints @ pose.rotation.T
    return (centres - longest).max(axis=0), (centres + longest).min(axis=0)


def _spans(platform: Platform, pose: Pose) -> tuple[Array, Array]:
    """Return displacements, lower and upper, shape (6,), just beyond anything reachable."""
    lower, upper = _box(platform, pose)
    limits = platform.limits
    rpy = limits.nearest_turn(rpy_from_quaternion(pose.quaternion_xyzw))
    bounds = limits.angles - rpy[:, None]
    least = np.concatenate([lower - pose.position, bounds[:, 0]])
    greatest = np.concatenate([upper - pose.position, bounds[:, 1]])
    slack = 0.01 * (greatest - least)
    return least - slack, greatest + slack


def _stop(guard: MotionGuard, motion: Motion) -> Violation | None:
    """Return what refuses a pose, if anything does."""
    try:
        guard.check(motion)
    except MotionRefused as refused:
        return refused.violation
    return None
