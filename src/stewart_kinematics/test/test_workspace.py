# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Reach, slices and volume agree with the guard and with what can be computed by hand."""

from __future__ import annotations

from dataclasses import replace
import math

import numpy as np
from numpy.typing import NDArray
import pytest
from stewart_kinematics.errors import ConfigurationError, MotionRefused
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.workspace import AXES, displaced, plane, Reach, reach, volume
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.solvers.inverse import inverse, LegKinematics

NAMES = ('ex800', 'ps6tl_1500', 'srs', 'vigo')


def by_axis(guard: MotionGuard, pose: Pose) -> dict[str, Reach]:
    """Return the ranges by name of the axis."""
    return {item.axis: item for item in reach(guard, pose)}


def heave(geometry: Geometry, length: float) -> float:
    """Return the height at which all legs of a symmetric platform have a length."""
    level = geometry.platform_joints[0] - geometry.base_joints[0]
    across = math.hypot(level[0], level[1])
    return math.sqrt(length**2 - across**2) - level[2]


@pytest.mark.parametrize('name', NAMES)
def test_heave_ends_where_pythagoras_says(name: str) -> None:
    """All legs reach a stroke limit at once; nothing else stops pure heave."""
    platform = load_platform(name)
    geometry, pose = platform.geometry, platform.geometry.neutral_pose
    z = by_axis(MotionGuard(platform), pose)['z']
    lower, upper = platform.limits.stroke[0] + geometry.retracted_length[0]

    # The guard allows a billionth of the stroke for rounding.
    assert z.lower == pytest.approx(heave(geometry, lower) - pose.position[2], abs=1e-8)
    assert z.upper == pytest.approx(heave(geometry, upper) - pose.position[2], abs=1e-8)
    assert z.below is not None
    assert z.below.quantity == 'stroke'


def test_vigo_has_the_heave_of_its_paper() -> None:
    """Machines 2022, 10, 711: about 600 mm up and down; stroke zero is 10.33 mm below z = 0."""
    geometry = load_platform('vigo').geometry
    z = by_axis(MotionGuard(load_platform('vigo')), geometry.zero_pose)['z']

    assert z.lower == pytest.approx(-10.33e-3, abs=5e-6)
    assert z.upper - z.lower == pytest.approx(0.6, abs=0.02)


@pytest.mark.parametrize('name', NAMES)
def test_ends_are_the_last_allowed_displacements(name: str) -> None:
    """A micrometre or microradian inside passes, one outside is refused for the named reason."""
    platform = load_platform(name)
    guard, pose = MotionGuard(platform), platform.geometry.neutral_pose
    for k, item in enumerate(reach(guard, pose)):
        for end, sign, stop in ((item.lower, -1.0, item.below), (item.upper, 1.0, item.above)):
            displacement = np.zeros((2, 6))
            displacement[:, k] = end - sign * 1e-6, end + sign * 1e-6
            assert guard.allowed(displaced(pose, displacement)).tolist() == [True, False]
            with pytest.raises(MotionRefused) as caught:
                guard.check(displaced(pose, displacement[1]))
            assert stop is not None
            assert caught.value.violation.quantity == stop.quantity


def test_attitude_limits_stop_the_turns() -> None:
    """PS-6TL: the printed angles, not the legs, bound roll, pitch and yaw at neutral."""
    platform = load_platform('ps6tl_1500')
    ranges = by_axis(MotionGuard(platform), platform.geometry.neutral_pose)

    for axis, printed in (
        ('roll', (-21.2, 21.2)),
        ('pitch', (-20.2, 20.7)),
        ('yaw', (-24.8, 24.8)),
    ):
        item = ranges[axis]
        assert (item.lower, item.upper) == pytest.approx(np.radians(printed), abs=1e-8)
        assert item.above is not None
        assert item.above.quantity == axis


def test_turns_count_from_the_attitude_of_the_pose() -> None:
    """From 10 degrees of yaw there are 20 left to a limit of 30."""
    platform = load_platform('vigo')
    pose = Pose.from_rpy(platform.geometry.neutral_pose.position, (0.0, 0.0, math.radians(10.0)))
    yaw = by_axis(MotionGuard(platform), pose)['yaw']

    assert (yaw.lower, yaw.upper) == pytest.approx(np.radians([-40.0, 20.0]), abs=1e-8)


def test_pose_at_a_limit_has_no_reach_beyond_it() -> None:
    """The search starts at the limit itself."""
    platform = load_platform('vigo')
    position = platform.geometry.neutral_pose.position
    pose = Pose.from_rpy(position, (0.0, 0.0, platform.limits.yaw[1]))
    yaw = by_axis(MotionGuard(platform), pose)['yaw']

    assert yaw.upper == pytest.approx(0.0, abs=1e-8)


def test_pose_outside_is_refused() -> None:
    """There is no range about a pose that cannot be."""
    platform = load_platform('vigo')
    with pytest.raises(MotionRefused, match='stroke'):
        reach(MotionGuard(platform), Pose.identity())


def test_displacements_turn_about_the_rpy_of_the_pose() -> None:
    """R = R_z(yaw) R_y(pitch) R_x(roll), each angle being the sum of both."""
    pose = Pose.from_rpy([0.1, 0.2, 0.3], (0.1, -0.2, 0.3))
    moved = displaced(pose, np.array([1.0, 2.0, 3.0, 0.01, 0.02, 0.03]))
    expected = Pose.from_rpy([1.1, 2.2, 3.3], (0.11, -0.18, 0.33))

    np.testing.assert_allclose(moved.position, expected.position, atol=1e-15)
    np.testing.assert_allclose(moved.pose.rotation, expected.rotation, atol=1e-15)


@pytest.mark.parametrize('axes', [('x', 'z'), ('roll', 'y')])
def test_slice_equals_the_guard_sample_by_sample(axes: tuple[str, str]) -> None:
    """Reachable is exactly what the guard accepts, and the reach lies inside the frame."""
    platform = load_platform('ex800')
    guard, pose = MotionGuard(platform), platform.geometry.neutral_pose
    part = plane(guard, pose, axes, 21)
    for i, first in enumerate(part.first):
        displacement = np.zeros((21, 6))
        displacement[:, AXES.index(axes[0])] = first
        displacement[:, AXES.index(axes[1])] = part.second
        allowed = guard.allowed(displaced(pose, displacement))
        np.testing.assert_array_equal(part.margin[i] >= 0.0, allowed)
    ranges = by_axis(guard, pose)
    for values, axis in ((part.first, axes[0]), (part.second, axes[1])):
        assert values[0] < ranges[axis].lower < ranges[axis].upper < values[-1]
    assert {part.quantities[k] for k in np.unique(part.limiting[part.margin < 0.0])} >= {'stroke'}


def test_rods_that_do_not_reach_stop_a_platform_as_such() -> None:
    platform = load_platform('sg90_rotary')
    guard, pose = MotionGuard(platform), platform.geometry.neutral_pose
    part = plane(guard, pose, ('x', 'y'), 21)

    stops = {part.quantities[k] for k in np.unique(part.limiting[~(part.margin >= 0.0)])}
    assert 'reach' in stops
    assert 'quaternion norm' not in stops
    displacement = np.zeros((21, 21, 6))
    displacement[..., 0], displacement[..., 1] = part.first[:, None], part.second
    allowed = guard.allowed(displaced(pose, displacement))
    np.testing.assert_array_equal(part.margin >= 0.0, allowed)


@pytest.mark.parametrize(
    ('axes', 'count', 'key'),
    [(('x', 'x'), 5, 'axes'), (('x', 'w'), 5, 'axes'), (('x', 'y'), 1, 'count')],
)
def test_slice_refuses_what_makes_no_plane(axes: tuple[str, str], count: int, key: str) -> None:
    """Two different known axes, and more than one sample."""
    platform = load_platform('ex800')
    with pytest.raises(ConfigurationError, match=key):
        plane(MotionGuard(platform), platform.geometry.neutral_pose, axes, count)


def inside_by_lengths(platform: Platform, positions: Array) -> Array:
    """Tell where all strokes are allowed with the neutral attitude, by Pythagoras."""
    geometry = platform.geometry
    legs = positions[:, None] + geometry.platform_joints - geometry.base_joints
    strokes = np.linalg.norm(legs, axis=2) - geometry.retracted_length
    low, high = platform.limits.stroke.T
    return np.all((low <= strokes) & (strokes <= high), axis=1)


def test_volume_equals_a_monte_carlo_estimate() -> None:
    """With the stroke as the only limit, above the base: a set anybody can test for."""
    platform = load_platform('ex800')
    limits = replace(
        platform.limits, base_joint_angle=math.pi / 2.0, platform_joint_angle=math.pi / 2.0
    )
    limits = replace(limits, condition_number=1e6, leg_distance=0.0)
    platform = replace(platform, limits=limits)
    seen: list[float] = []
    cloud = volume(MotionGuard(platform), platform.geometry.neutral_pose, 40, seen.append)
    rng = np.random.default_rng(21)
    box = np.array([[-0.3, -0.3, 0.0], [0.3, 0.3, 0.42]])
    hits = inside_by_lengths(platform, rng.uniform(*box, (200_000, 3))).mean()

    # Monte Carlo is good to 0.9 %, the cells to about their surface's rounding, 1 %.
    assert cloud.volume == pytest.approx(hits * np.prod(box[1] - box[0]), rel=0.03)
    assert inside_by_lengths(platform, cloud.positions).all()
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_every_cell_of_the_volume_is_allowed_and_the_shell_is_its_outside() -> None:
    """The boundary is a true part, and a cell within has all its neighbours in the volume."""
    platform = load_platform('srs')
    guard = MotionGuard(platform)
    cloud = volume(guard, platform.geometry.neutral_pose, 20)
    rest = Motion.at_rest(platform.geometry.neutral_pose, (len(cloud.positions),))

    assert guard.allowed(replace(rest, position=cloud.positions)).all()
    assert np.all(cloud.margin >= 0.0)
    assert 0 < cloud.boundary.sum() < len(cloud.positions)
    places = {tuple(p) for p in np.rint(cloud.positions / cloud.cell).astype(int)}
    steps = np.vstack([np.eye(3), -np.eye(3)]).astype(int)
    for cell in np.rint(cloud.positions[~cloud.boundary] / cloud.cell).astype(int)[::50]:
        assert all(tuple(cell + step) in places for step in steps)


def test_attitude_that_cannot_be_has_no_volume() -> None:
    """Beyond the yaw limit nothing is reachable, and that is no error."""
    platform = load_platform('vigo')
    pose = Pose.from_rpy(platform.geometry.neutral_pose.position, (0.0, 0.0, 1.0))
    cloud = volume(MotionGuard(platform), pose, 8)

    assert cloud.positions.shape == (0, 3)
    assert cloud.volume == 0.0
    with pytest.raises(ConfigurationError, match='cells'):
        volume(MotionGuard(platform), pose, 1)


def test_turn_through_a_singularity_is_stopped_there() -> None:
    """With every other limit wide open the sign of the determinant still ends the roll."""
    platform = load_platform('ex800')
    open_limits = replace(
        platform.limits,
        stroke=np.tile([-0.2, 5.0], (6, 1)),
        base_joint_angle=4.0,
        platform_joint_angle=4.0,
        leg_distance=0.0,
        condition_number=np.inf,
        roll=np.array([-4.0, 4.0]),
    )
    guard = MotionGuard(replace(platform, limits=open_limits))
    roll = by_axis(guard, platform.geometry.neutral_pose)['roll']

    assert roll.below is not None
    assert roll.below.quantity == 'determinant'


class Lenient(MotionGuard):
    """A guard that lets everything pass."""

    def check(self, motion: Motion) -> LegKinematics:
        return inverse(self.platform.geometry, motion)

    def allowed(self, motion: Motion) -> NDArray[np.bool_]:
        return np.ones(motion.shape, dtype=bool)


def test_what_nothing_stops_says_so() -> None:
    """The whole search range, and no violation at its ends."""
    platform = load_platform('ex800')
    for item in reach(Lenient(platform), platform.geometry.neutral_pose):
        assert (item.below, item.above) == (None, None)
        assert item.lower < 0.0 < item.upper
