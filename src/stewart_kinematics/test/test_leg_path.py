# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A motion from points of the legs: the legs go through them, and what cannot be is refused."""

from __future__ import annotations

import numpy as np
import pytest
from stewart_kinematics.errors import MotionRefused, TrajectoryError
from stewart_kinematics.limits import leg_path as module
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.leg_path import leg_path, LegPath, LegPoints
from stewart_kinematics.limits.planning import plan_stop
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.solvers.inverse import inverse, leg_positions

GUARD = MotionGuard(load_platform('vigo'))
GEOMETRY = GUARD.platform.geometry
START = GEOMETRY.neutral_pose


def strokes(x: float = 0.0, z: float = 0.0, yaw: float = 0.0) -> np.ndarray:
    pose = Pose.from_rpy(START.position + np.array([x, 0.0, z]), [0.0, 0.0, yaw])
    return leg_positions(GEOMETRY, pose.position, pose.quaternion_xyzw)


HERE, THERE, TURNED = strokes(), strokes(x=0.02, z=0.05), strokes(yaw=0.1)


def planned(points: LegPoints, guard: MotionGuard = GUARD) -> LegPath:
    planning = leg_path(points, guard.platform.geometry.neutral_pose, guard)
    while True:
        try:
            next(planning)
        except StopIteration as done:
            found = done.value
            assert isinstance(found, LegPath)
            return found


def test_the_legs_go_through_the_points_and_as_they_do_between_them() -> None:
    way = planned(LegPoints(np.array([2.0, 4.0, 7.0]), np.array([THERE, TURNED, HERE])))
    time = np.linspace(0.0, 7.0, 701)
    legs = inverse(GEOMETRY, way.sequence.sample(time))
    wanted = np.array([way.at(moment) for moment in time])
    reached = legs.length - GEOMETRY.retracted_length
    np.testing.assert_allclose(reached[[200, 400, 700]], [THERE, TURNED, HERE], atol=1e-9)
    np.testing.assert_allclose(reached, wanted[:, 0], atol=1e-9)
    np.testing.assert_allclose(legs.rate, wanted[:, 1], atol=1e-6)
    np.testing.assert_allclose(legs.acceleration, wanted[:, 2], atol=1e-3)
    # The positions' derivatives are what it says they are.
    step = np.gradient(wanted[:, 0], time, axis=0)[5:-5]
    np.testing.assert_allclose(step, wanted[5:-5, 1], atol=1e-4)
    for end in (0.0, 7.0):
        motion = way.sequence.sample(end)
        assert np.abs([*motion.twist, *motion.acceleration]).max() < 1e-8


def test_given_rates_and_accelerations_are_met() -> None:
    rates = np.array([0.004 * (THERE - HERE) / np.abs(THERE - HERE).max(), np.zeros(6)])
    points = LegPoints(np.array([2.0, 4.0]), np.array([THERE, HERE]), rates, 0.5 * rates)
    way = planned(points)
    np.testing.assert_allclose(way.at(2.0), [THERE, rates[0], 0.5 * rates[0]], atol=1e-12)
    free = planned(LegPoints(points.time, points.position, rates))
    np.testing.assert_allclose(free.at(2.0)[:2], [THERE, rates[0]], atol=1e-12)


def test_a_point_at_time_zero_is_where_the_platform_is() -> None:
    times = np.array([0.0, 3.0])
    way = planned(LegPoints(times, np.array([HERE + 5e-4, THERE])))
    np.testing.assert_array_equal(way.sequence.sample(0.0).position, START.position)
    with pytest.raises(TrajectoryError, match=r'the first point, at time 0, is 0\.0015 from'):
        planned(LegPoints(times, np.array([HERE + 1.5e-3, THERE])))


def test_a_way_waits_and_stops_on_its_own_path() -> None:
    way = planned(LegPoints(np.array([3.0]), np.array([THERE]))).after(1.0)
    assert way.sequence.duration == pytest.approx(4.0)
    np.testing.assert_array_equal(way.sequence.sample(0.9).position, START.position)
    np.testing.assert_allclose(way.at(4.0)[0], THERE, atol=1e-12)
    part, begun = way.sequence.part(2.5)
    assert begun == 1.0
    stop = plan_stop(part, 1.5, GUARD)
    assert 0.0 < stop.sample(stop.duration).position[2] - START.position[2] < 0.05


def test_a_servo_hexapod_is_given_angles() -> None:
    guard = MotionGuard(load_platform('sg90_rotary'))
    pose = guard.platform.geometry.neutral_pose
    lifted = leg_positions(
        guard.platform.geometry, pose.position + np.array([0.0, 0.0, 0.003]), pose.quaternion_xyzw
    )
    way = planned(LegPoints(np.array([4.0]), np.array([lifted])), guard)
    end = way.sequence.sample(4.0)
    assert end.position[2] - pose.position[2] == pytest.approx(0.003, abs=1e-9)


@pytest.mark.parametrize(
    ('points', 'reason'),
    [
        (LegPoints(np.array([0.0]), np.array([HERE])), 'nothing would move'),
        (LegPoints(np.empty(0), np.empty((0, 6))), 'expected 1 to 10000 points, got 0'),
        (LegPoints(np.array([2.0, 1.0]), np.array([THERE, HERE])), 'point 2 comes -1 s after'),
        (LegPoints(np.array([601.0]), np.array([THERE])), '0 to 600 s at most'),
        (LegPoints(np.array([np.nan]), np.array([THERE])), 'got nan'),
        (LegPoints(np.array([2.0]), np.array([THERE * np.nan])), 'finite numbers as its position'),
        (LegPoints(np.array([2.0]), THERE[None, :5]), 'six finite numbers'),
        # There "the pose found may not be the only one with these lengths" is no help.
        (
            LegPoints(np.array([5.0]), np.array([HERE + 5.0])),
            r'after its beginning: leg 1 is at 1\.\d+, allowed are 0 to 0\.6',
        ),
        (
            LegPoints(np.array([2.0]), np.array([THERE]), np.full((1, 6), 0.1)),
            'the last point has a rate of 0.1',
        ),
        (
            LegPoints(np.array([2.0]), np.array([THERE]), None, np.zeros((1, 6))),
            'need velocities, too',
        ),
        (LegPoints(np.array([9.0]), np.array([HERE + 9.0 * np.eye(6)[0]])), 'after its beginning'),
    ],
)
def test_points_that_cannot_be_used_are_refused(points: LegPoints, reason: str) -> None:
    with pytest.raises(TrajectoryError, match=reason):
        planned(points)


def test_a_way_that_breaks_a_limit_is_refused() -> None:
    with pytest.raises(MotionRefused, match=r'leg acceleration of leg \d'):
        planned(LegPoints(np.array([0.05]), np.array([THERE])))
    with pytest.raises(MotionRefused, match='stroke of leg'):
        planned(LegPoints(np.array([9.0]), np.array([strokes(z=0.4)])))


def test_planning_gives_others_their_turn() -> None:
    planning = leg_path(LegPoints(np.array([20.0]), np.array([THERE])), START, GUARD)
    turns = sum(1 for _ in planning)
    assert turns >= 20.0 * module.RATE / module.AT_ONCE
