# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""FollowJointTrajectory for the six legs: through the guard, with what its clients rely on.

The ROS wheels have no control_msgs; what needs its messages runs where ROS 2 is installed, or
where that one package was built beside the workspace.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from builtin_interfaces.msg import Duration
from kinematic_rig import motions, neutral_plus, require_continuous, Rig, strokes_at
from rclpy.time import Time
from stewart_interfaces.msg import DriverState
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.nodes import leg_goals
from stewart_kinematics.nodes.cycloidal_trajectory import CycloidalTrajectory
from stewart_node_support.legs import LEG_NAMES
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

HERE, THERE = strokes_at(neutral_plus()), strokes_at(neutral_plus(x=0.02, z=0.04))
ORDER = [3, 0, 5, 1, 4, 2]

needs_control_msgs = pytest.mark.skipif(
    find_spec('control_msgs') is None, reason='control_msgs is not installed: no goals for legs'
)


def seconds(value: float) -> Duration:
    return Duration(sec=int(value), nanosec=round(1e9 * (value % 1.0)))


def trajectory(*points: tuple[float, np.ndarray], **parts: Any) -> JointTrajectory:
    """Points in seconds and strokes, with the legs in another order."""
    message = JointTrajectory(joint_names=[LEG_NAMES[leg] for leg in ORDER])
    for time, positions in points:
        message.points.append(
            JointTrajectoryPoint(
                time_from_start=seconds(time), positions=positions[ORDER].tolist(), **parts
            )
        )
    return message


def test_points_come_in_the_legs_order() -> None:
    rates = {'velocities': [0.0] * 6, 'accelerations': [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]}
    found = leg_goals._points(trajectory((1.25, THERE), (2.5, HERE), **rates))
    np.testing.assert_allclose(found.time, [1.25, 2.5])
    np.testing.assert_array_equal(found.position, [THERE, HERE])
    np.testing.assert_array_equal(found.velocity, np.zeros((2, 6)))
    np.testing.assert_array_equal(np.array(found.acceleration)[:, ORDER], [np.arange(6.0)] * 2)


@pytest.mark.parametrize(
    ('spoil', 'reason'),
    [
        (lambda m: m.joint_names.pop(), 'joint_names: expected leg_1, leg_2'),
        (lambda m: m.points[0].positions.pop(), 'positions: expected six in every point'),
        (lambda m: m.points[0].effort.extend([1.0] * 6), 'effort of points: expected none'),
        (lambda m: m.points[0].velocities.extend([0.0] * 6), 'velocities: expected six in every'),
    ],
)
def test_points_of_another_machine_are_refused(spoil: Any, reason: str) -> None:
    message = trajectory((1.0, THERE), (2.0, HERE))
    spoil(message)
    with pytest.raises(ConfigurationError, match=reason):
        leg_goals._points(message)


def test_tolerances_are_of_positions() -> None:
    def item(name: str, position: float, velocity: float = 0.0) -> Any:
        return SimpleNamespace(name=name, position=position, velocity=velocity, acceleration=0.0)

    found = leg_goals._tolerance('path_tolerance', [item('leg_2', 0.01), item('leg_3', -1.0)])
    np.testing.assert_array_equal(found, [np.inf, 0.01, *[np.inf] * 4])
    for wrong, reason in (
        (item('arm', 0.01), 'path_tolerance: expected leg_1 to leg_6, got'),
        (item('leg_1', 0.0, 0.1), 'path_tolerance: expected positions alone'),
        (item('leg_1', np.nan), 'path_tolerance: expected a number for leg_1'),
    ):
        with pytest.raises(ConfigurationError, match=reason):
            leg_goals._tolerance('path_tolerance', [wrong])


class LegRig(Rig):
    """A rig with the action."""

    def __init__(self) -> None:
        super().__init__(measured=0.02)
        self.node = self.active(CycloidalTrajectory, rate=100.0)
        self.feedback: list[Any] = []
        self.drive(DriverState.ENABLED)

    def goal(self, *points: tuple[float, np.ndarray], stamp: float = 0.0, **parts: Any) -> Any:
        from control_msgs.action import FollowJointTrajectory

        goal = FollowJointTrajectory.Goal(trajectory=trajectory(*points), **parts)
        if stamp:
            now = self.probe.get_clock().now().nanoseconds
            goal.trajectory.header.stamp = Time(nanoseconds=now + round(1e9 * stamp)).to_msg()
        return self.send_goal(FollowJointTrajectory, leg_goals.NAME, goal, self.feedback)

    def ended(self, handle: Any) -> Any:
        return self.result(handle.get_result_async()).result


@pytest.fixture
def rig() -> Iterator[LegRig]:
    with LegRig() as running:
        yield running


@needs_control_msgs
def test_the_legs_follow_a_goal_and_its_client_sees_them(rig: LegRig) -> None:
    answer = rig.ended(rig.goal((2.0, THERE), (4.0, HERE)))
    assert (answer.error_code, answer.error_string) == (0, 'the target is reached')
    require_continuous(rig.setpoints)
    _, motion = motions(rig.setpoints)
    assert motion.position[:, 2].max() == pytest.approx(neutral_plus(z=0.04).position[2], abs=1e-3)
    assert 35 <= len(rig.feedback) <= 42
    for said in rig.feedback[2:]:
        assert said.joint_names == list(LEG_NAMES)
        error = np.subtract(said.desired.positions, said.actual.positions)
        np.testing.assert_allclose(said.error.positions, error, atol=1e-12)
        # The driver that is played is late by its delay, which the desired positions account for.
        assert np.abs(error).max() < 2e-3
    highest = max(np.max(said.desired.positions - HERE) for said in rig.feedback)
    assert highest == pytest.approx((THERE - HERE).max(), abs=1e-3)


@needs_control_msgs
def test_a_goal_for_later_waits_and_an_old_one_is_refused(rig: LegRig) -> None:
    handle = rig.goal((2.0, THERE), stamp=1.0)
    rig.spin(0.9)
    np.testing.assert_allclose(rig.strokes, HERE, atol=1e-9)
    assert rig.ended(handle).error_code == 0
    np.testing.assert_allclose(rig.strokes, THERE, atol=1e-9)
    assert not rig.goal((2.0, HERE), stamp=-2.0).accepted
    assert "60 s from now, got '-2.0" in rig.node.refusal


@needs_control_msgs
def test_a_goal_that_waits_is_cancelled_where_it_is(rig: LegRig) -> None:
    handle = rig.goal((2.0, THERE), stamp=3.0)
    rig.spin(0.5)
    rig.result(handle.cancel_goal_async())
    assert rig.ended(handle).error_code == 0
    np.testing.assert_allclose(rig.strokes, HERE, atol=1e-9)


@needs_control_msgs
def test_a_cancelled_goal_comes_to_rest_on_its_path(rig: LegRig) -> None:
    handle = rig.goal((4.0, THERE))
    rig.spin(2.0)
    rig.result(handle.cancel_goal_async())
    assert rig.ended(handle).error_code == 0
    share = (rig.strokes - HERE) / (THERE - HERE)
    assert 0.3 < share.min() <= share.max() < 0.9
    assert np.ptp(share) < 0.02


@needs_control_msgs
def test_legs_that_do_not_follow_are_told_with_the_tolerance(rig: LegRig) -> None:
    from control_msgs.msg import JointTolerance

    allowed = [JointTolerance(name='leg_3', position=0.005)]
    handle = rig.goal((4.0, THERE), path_tolerance=allowed)
    rig.spin(1.0)
    rig.follow = False
    answer = rig.ended(handle)
    assert answer.error_code == -4
    assert 'leg_3 is 0.005' in answer.error_string
    assert 'allowed are 0.005' in answer.error_string


@needs_control_msgs
def test_legs_that_do_not_arrive_are_told(rig: LegRig) -> None:
    from control_msgs.msg import JointTolerance

    inside = 0.5e-3 * (HERE - THERE) / np.abs(HERE - THERE).max()
    rig.follow = False
    handle = rig.goal(
        (2.0, THERE),
        goal_tolerance=[JointTolerance(name='leg_1', position=1e-5)],
        goal_time_tolerance=seconds(0.5),
    )
    rig.spin(1.0)
    rig.strokes = THERE + inside
    answer = rig.ended(handle)
    assert answer.error_code == -5
    assert 'allowed are 1e-05' in answer.error_string


@needs_control_msgs
def test_what_breaks_a_limit_is_refused_before_it_begins(rig: LegRig) -> None:
    assert not rig.goal((0.05, THERE)).accepted
    assert 'leg acceleration of leg' in rig.node.refusal
    assert not rig.goal().accepted
    assert 'expected 1 to 10000 points, got 0' in rig.node.refusal
    assert not rig.goal((2.0, THERE), goal_time_tolerance=seconds(-1.0)).accepted
    assert 'goal_time_tolerance: expected a time of at least 0 s' in rig.node.refusal
    assert not rig.setpoints


@needs_control_msgs
def test_a_driver_that_leaves_ends_the_goal(rig: LegRig) -> None:
    handle = rig.goal((4.0, THERE))
    rig.spin(1.0)
    rig.drive(DriverState.STOPPING, 'somebody pressed stop')
    answer = rig.ended(handle)
    assert answer.error_code == -1
    assert 'somebody pressed stop' in answer.error_string
