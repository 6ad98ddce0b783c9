# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from action_msgs.msg import GoalStatus
from diagnostic_msgs.msg import DiagnosticArray
from kinematic_rig import (
    motions,
    NEUTRAL,
    neutral_plus,
    require_at_rest,
    require_continuous,
    Rig,
    strokes_at,
)
from stewart_interfaces.action import FollowWaypoints, MovePlatform
from stewart_interfaces.msg import DriverState, Jog, Waypoint
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.nodes.cycloidal_trajectory import CycloidalTrajectory
from stewart_kinematics.nodes.following import Following
from stewart_kinematics.nodes.goals import Tours
from stewart_node_support.conversions import header_msg, pose_from_msg, pose_msg
from stewart_node_support.errors import MessageError

Result = MovePlatform.Result
TARGET = neutral_plus(x=0.03, y=-0.02, z=0.05, rpy=(0.05, -0.03, 0.1))


class MoveRig(Rig):
    """A rig with the action."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.node = self.active(CycloidalTrajectory, rate=100.0)
        self.feedback: list[Any] = []

    def goal(self, target: Pose = TARGET, duration: float = 0.0, speed_scale: float = 0.0) -> Any:
        message = MovePlatform.Goal(
            target=pose_msg(target.position, target.quaternion_xyzw),
            duration=duration,
            speed_scale=speed_scale,
        )
        return self.send_goal(MovePlatform, 'move_platform', message, self.feedback)

    def ended(self, handle: Any) -> Any:
        return self.result(handle.get_result_async()).result

    def first_position(self) -> np.ndarray:
        return motions(self.setpoints)[1].position[0]


@pytest.fixture
def rig() -> Iterator[MoveRig]:
    with MoveRig() as running:
        running.drive(DriverState.ENABLED)
        yield running


def test_move_reaches_its_target_without_a_jump_and_falls_silent(rig: MoveRig) -> None:
    handle = rig.goal(duration=1.0)
    assert handle.accepted
    answer = rig.result(handle.get_result_async())
    time, motion = motions(rig.setpoints)

    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert answer.result.code == Result.REACHED
    np.testing.assert_allclose(pose_from_msg(answer.result.pose)[0], TARGET.position, atol=1e-12)
    require_continuous(rig.setpoints)
    require_at_rest(rig.setpoints[0])
    require_at_rest(rig.setpoints[-1])
    np.testing.assert_allclose(motion.position[0], NEUTRAL.position, atol=1e-8)
    np.testing.assert_allclose(motion.position[-1], TARGET.position, atol=1e-12)
    assert {message.source for message in rig.setpoints} == {'cycloidal_trajectory'}
    assert time[-1] == pytest.approx(1.0, abs=0.1)
    assert 100 < len(rig.setpoints) <= 104
    assert np.diff(time).min() == pytest.approx(0.01)
    assert rig.node.published['setpoint'].count == len(rig.setpoints)
    assert rig.inverse.refusals.refused == 0
    rig.setpoints.clear()
    rig.spin(0.2)
    assert not rig.setpoints


def test_feedback_counts_progress_up_and_the_time_down(rig: MoveRig) -> None:
    rig.ended(rig.goal(duration=1.0))
    progress = [message.progress for message in rig.feedback]
    remaining = [message.time_remaining for message in rig.feedback]

    assert 5 <= len(progress) <= 12
    assert progress == sorted(progress)
    assert 0.0 <= progress[0] < 0.2
    assert 0.8 < progress[-1] <= 1.0
    np.testing.assert_allclose(np.add(progress, remaining), 1.0, atol=1e-9)


def test_cancelled_move_comes_to_rest_on_its_own_path(rig: MoveRig) -> None:
    handle = rig.goal(duration=2.0)
    rig.spin(0.9)
    rig.result(handle.cancel_goal_async())
    answer = rig.result(handle.get_result_async())
    _, motion = motions(rig.setpoints)
    way = TARGET.position - NEUTRAL.position
    share = (motion.position - NEUTRAL.position) @ way / (way @ way)

    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.code == Result.CANCELED
    assert 0.3 < share[-1] < 0.95
    np.testing.assert_allclose(
        motion.position, NEUTRAL.position + share[:, None] * way, rtol=0, atol=1e-8
    )
    assert np.all(np.diff(share) >= -1e-12)
    require_continuous(rig.setpoints)
    require_at_rest(rig.setpoints[-1])
    np.testing.assert_allclose(pose_from_msg(answer.result.pose)[0], motion.position[-1])
    # The next move begins where this one ended.
    rig.setpoints.clear()
    assert rig.ended(rig.goal(NEUTRAL)).code == Result.REACHED
    np.testing.assert_allclose(rig.first_position(), motion.position[-1], atol=1e-9)


@pytest.mark.parametrize(
    ('keywords', 'reason'),
    [
        ({'target': neutral_plus(z=0.9)}, 'stroke of leg'),
        ({'duration': 0.05}, 'a duration of 0.05 s is too short: this move needs at least'),
        ({'duration': -1.0}, 'duration: expected a time from 0 to 3600 s, got -1.0'),
        (
            {'speed_scale': 1.5},
            'speed_scale: expected a number from 0.001 to 1, or 0 for the default of the node, '
            'got 1.5',
        ),
    ],
)
def test_impossible_goal_is_refused_with_the_reason(
    rig: MoveRig, keywords: dict[str, Any], reason: str
) -> None:
    assert not rig.goal(**keywords).accepted
    assert reason in rig.node.refusal
    assert not rig.setpoints


def test_why_a_goal_is_refused_is_told_until_a_motion_is_played(
    rig: MoveRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = rig.listen(DiagnosticArray, '/diagnostics')

    def told() -> str:
        heard.clear()
        rig.spin(1.1)
        every = (status for message in heard for status in message.status)
        of_motion = (item for item in every if item.name == 'cycloidal_trajectory: motion')
        return str(next(of_motion).message)

    assert not rig.goal(speed_scale=1.5).accepted
    assert told().startswith('silent; what was asked last is refused: speed_scale: expected')
    rig.ended(rig.goal(duration=1.0))
    assert told() == 'silent'

    def unreadable(_: Following) -> None:
        raise MessageError('a pose without a number')

    # It ends no motion, and nobody has asked for it.
    monkeypatch.setattr(Following, 'require', unreadable)
    handle = rig.goal(NEUTRAL, duration=1.0)
    assert not rig.goal().accepted
    assert rig.ended(handle).code == Result.REACHED
    assert rig.node.refusal == 'a pose without a number'
    assert told() == 'silent; what was asked last is refused: another goal is running'


def test_goal_that_is_no_pose_is_refused(rig: MoveRig) -> None:
    goal = MovePlatform.Goal()
    goal.target.orientation.w = 0.0

    assert not rig.send_goal(MovePlatform, 'move_platform', goal).accepted
    assert 'norm 1, got 0' in rig.node.refusal


def test_second_goal_is_refused_while_the_first_runs(rig: MoveRig) -> None:
    first = rig.goal(duration=1.0)
    assert not rig.goal(NEUTRAL).accepted
    assert 'another goal is running' in rig.node.refusal
    assert rig.ended(first).code == Result.REACHED
    assert rig.goal(NEUTRAL).accepted


def test_goal_is_refused_while_the_node_is_not_active(rig: MoveRig) -> None:
    rig.node.trigger_deactivate()

    assert not rig.goal().accepted
    assert 'cycloidal_trajectory is inactive, not active' in rig.node.refusal


def test_goal_is_refused_until_the_driver_is_enabled() -> None:
    with MoveRig() as rig:
        assert not rig.goal().accepted
        assert rig.node.refusal == 'not yet: no driver/state has been received'
        rig.drive(DriverState.DISABLED, 'never enabled')
        assert not rig.goal().accepted
        assert rig.node.refusal == 'not yet: the driver is DISABLED, not ENABLED: never enabled'


def test_goal_is_refused_without_a_fresh_measured_pose(rig: MoveRig) -> None:
    rig.measure = lambda: None
    rig.probe.destroy_timer(next(iter(rig.probe.timers)))
    rig.spin(0.7)

    assert not rig.goal().accepted
    assert 'the last platform/pose is' in rig.node.refusal


def test_a_jog_from_the_future_does_not_make_every_pose_old(rig: MoveRig) -> None:
    """The driver refuses it, and nothing has moved."""
    jogs = rig.probe.create_publisher(Jog, 'driver/jog', 10)
    message = Jog()
    message.header.stamp.sec = 2_000_000_000
    rig.until(lambda: jogs.get_subscription_count() > 0)
    jogs.publish(message)
    rig.spin(0.2)

    assert rig.goal().accepted


@pytest.mark.parametrize('jogged', [False, True])
def test_noise_while_the_way_is_planned_is_no_motion_and_a_jog_is_one(
    jogged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first tour after the drives had come on was refused for a micrometre."""
    usual = Tours.plan

    def planned(self: Any, *arguments: Any) -> Any:
        rig.strokes = rig.strokes + 1e-6
        rig.measure()
        if jogged:
            jogs.publish(Jog(header=header_msg(rig.probe.get_clock().now().to_msg(), '')))
        for _ in range(50):
            yield
        return (yield from usual(self, *arguments))

    monkeypatch.setattr(Tours, 'plan', planned)
    goal = FollowWaypoints.Goal(
        waypoints=[Waypoint(pose=pose_msg(TARGET.position, TARGET.quaternion_xyzw))]
    )
    # The planning takes so many steps of the clock.
    with MoveRig(measured=0.02) as rig:
        rig.drive(DriverState.ENABLED)
        jogs = rig.probe.create_publisher(Jog, 'driver/jog', 10)
        rig.until(lambda: jogs.get_subscription_count() > 0)
        handle = rig.send_goal(FollowWaypoints, 'follow_waypoints', goal)
        assert handle.accepted is not jogged
        if jogged:
            assert 'the platform is being jogged' in rig.node.refusal
        else:
            assert rig.ended(handle).code == Result.REACHED


@pytest.mark.parametrize('state', [DriverState.STOPPING, DriverState.DISABLED, DriverState.FAULT])
def test_driver_that_leaves_enabled_aborts_the_move_at_once(rig: MoveRig, state: int) -> None:
    handle = rig.goal(duration=2.0)
    rig.spin(0.5)
    rig.drive(state, 'somebody pressed the button')
    answer = rig.result(handle.get_result_async())
    count = len(rig.setpoints)
    rig.spin(0.2)

    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.code == Result.ABORTED
    assert 'somebody pressed the button' in answer.result.message
    assert len(rig.setpoints) == count
    assert rig.setpoints[-1].twist.linear.z > 0.0


def test_deactivation_aborts_the_move_at_once(rig: MoveRig) -> None:
    handle = rig.goal(duration=2.0)
    rig.spin(0.3)
    rig.node.trigger_deactivate()
    result = rig.ended(handle)
    count = len(rig.setpoints)
    rig.spin(0.2)

    assert result.code == Result.ABORTED
    assert result.message == 'the node was deactivated'
    assert len(rig.setpoints) == count


def test_start_is_measured_after_enabling_and_the_last_setpoint_afterwards(rig: MoveRig) -> None:
    measured = neutral_plus(z=0.014)
    assert rig.ended(rig.goal(neutral_plus(z=0.01))).code == Result.REACHED
    rig.follow = False
    rig.strokes = strokes_at(measured)
    rig.setpoints.clear()
    # Drives never stand exactly where they were sent; the next path still begins at the setpoint.
    assert rig.ended(rig.goal(neutral_plus(z=0.016))).code == Result.REACHED
    np.testing.assert_allclose(rig.first_position(), neutral_plus(z=0.01).position, atol=1e-12)
    rig.drive(DriverState.STOPPING)
    rig.drive(DriverState.ENABLED)
    rig.setpoints.clear()
    rig.ended(rig.goal(NEUTRAL))
    np.testing.assert_allclose(rig.first_position(), measured.position, atol=1e-9)


def test_nothing_starts_where_the_platform_was_sent_and_is_not(rig: MoveRig) -> None:
    rig.follow = False
    # Every setpoint is executed, and the driver moves nothing.
    result = rig.ended(rig.goal(neutral_plus(z=0.05), duration=1.0))
    assert result.code == Result.ABORTED
    assert 'the platform rests 50 mm and 0.0° from the target' in result.message
    assert not rig.goal(neutral_plus(z=0.01)).accepted
    assert 'the platform is 50 mm and 0.0° from where it was sent' in rig.node.refusal
    rig.drive(DriverState.DISABLED)
    rig.drive(DriverState.ENABLED)
    rig.follow = True
    rig.setpoints.clear()
    assert rig.ended(rig.goal(neutral_plus(z=0.01))).code == Result.REACHED
    np.testing.assert_allclose(rig.first_position(), NEUTRAL.position, atol=1e-9)


def test_a_goal_ends_when_the_platform_is_there(rig: MoveRig) -> None:
    rig.follow = False
    target = neutral_plus(z=0.05)
    goal = rig.goal(target, duration=0.5)
    rig.spin(1.0)
    # Like a driver that plays the path at a tenth of its speed.
    rig.drive(DriverState.ENABLED, speed_scaling=0.1)
    ended = goal.get_result_async()
    for share in np.linspace(0.0, 0.9, 20):
        rig.strokes = strokes_at(neutral_plus(z=0.05 * share))
        rig.spin(0.1)
        assert not ended.done()
    # At full speed again, it is behind, and may rest between two moves.
    rig.drive(DriverState.ENABLED)
    rig.spin(3.0)
    assert not ended.done()
    rig.strokes = strokes_at(target)

    assert rig.result(ended).result.code == Result.REACHED


def test_what_has_all_been_said_may_be_cancelled_and_goes_on(rig: MoveRig) -> None:
    rig.drive(DriverState.ENABLED, speed_scaling=0.1)
    rig.follow = False
    goal = rig.goal(neutral_plus(z=0.05), duration=0.5)
    rig.spin(1.5)
    rig.result(goal.cancel_goal_async())
    result = rig.ended(goal)

    assert result.code == Result.CANCELED
    assert result.message == (
        'no more is sent, but the driver goes on with what it has, at 10 % of its speed: '
        'driver/quick_stop ends that'
    )
    assert rig.ended(rig.goal(NEUTRAL, duration=0.5)).code == Result.REACHED


@pytest.mark.parametrize(
    ('end', 'reason'),
    [
        (lambda rig: rig.drive(DriverState.FAULT, 'a leg is hot'), 'a leg is hot'),
        (lambda rig: rig.node.trigger_deactivate(), 'the node was deactivated'),
        (lambda rig: rig.forward.destroy_node(), 'no platform/pose tells where the platform is'),
    ],
)
def test_a_goal_that_is_arriving_ends_with_what_keeps_it_from_it(
    rig: MoveRig, end: Any, reason: str
) -> None:
    rig.follow = False
    goal = rig.goal(neutral_plus(z=0.05), duration=0.5)
    rig.until(lambda: rig.node.playback is None)
    end(rig)
    result = rig.ended(goal)

    assert result.code == Result.ABORTED
    assert reason in result.message


def test_last_setpoint_of_another_source_is_where_the_next_move_starts(rig: MoveRig) -> None:
    elsewhere = neutral_plus(z=0.002)
    rig.say('ocean_trajectory', Motion.at_rest(elsewhere))
    rig.follow = False
    rig.strokes = strokes_at(neutral_plus(z=0.003))
    rig.spin(0.05)
    assert not rig.goal().accepted
    assert 'ocean_trajectory gave a setpoint' in rig.node.refusal
    rig.spin(0.4)
    rig.setpoints.clear()

    rig.ended(rig.goal(duration=1.0))
    np.testing.assert_allclose(rig.first_position(), elsewhere.position, atol=1e-12)


def test_node_that_comes_late_starts_at_the_last_setpoint_executed_since_enabling() -> None:
    elsewhere = neutral_plus(z=0.002)
    with Rig() as rig:
        rig.drive(DriverState.ENABLED)
        rig.say('ocean_trajectory', Motion.at_rest(elsewhere))
        node = rig.active(CycloidalTrajectory)
        rig.follow = False
        rig.strokes = strokes_at(neutral_plus(z=0.003))
        rig.spin(0.4)
        assert node.start_pose.require().position[2] == pytest.approx(elsewhere.position[2])
        # The same message is there for one that comes later still, but the driver was off since.
        rig.drive(DriverState.DISABLED)
        rig.drive(DriverState.ENABLED)
        other = rig.active(partial(CycloidalTrajectory, namespace=''))
        for starter in (node, other):
            found = starter.start_pose.require().position[2]
            assert found == pytest.approx(neutral_plus(z=0.003).position[2], abs=1e-9)


def test_idle_node_is_not_called_for_poses_and_commands(rig: MoveRig) -> None:
    waited_for = {
        subscription.topic_name
        for subscription in rig.node.subscriptions
        if subscription.callback_group.can_execute(subscription)
    }

    assert {'/driver/state'} <= waited_for
    assert not {'/platform/pose', '/platform/commanded', '/setpoint'} & waited_for


def test_goal_is_refused_while_another_source_moves_the_platform(rig: MoveRig) -> None:
    moving = Motion.at_rest(NEUTRAL).replaced(linear_velocity=np.array([0.0, 0.0, 0.01]))
    rig.say('ocean_trajectory', moving)
    rig.spin(0.1)

    assert not rig.goal().accepted
    assert rig.node.refusal == 'ocean_trajectory is moving the platform'
    # It died, and the driver has long stopped the platform.
    rig.spin(1.1)
    assert rig.ended(rig.goal(duration=1.0)).code == Result.REACHED


def test_refused_setpoint_of_another_source_does_not_count(rig: MoveRig) -> None:
    rig.say('rogue', Motion.at_rest(neutral_plus(z=0.9)))
    rig.spin(0.1)

    assert rig.ended(rig.goal()).code == Result.REACHED
    np.testing.assert_allclose(rig.setpoints[1].pose.position.z, NEUTRAL.position[2], atol=1e-8)


def test_move_that_nobody_executes_is_aborted() -> None:
    with MoveRig(inverse=False) as rig:
        rig.drive(DriverState.ENABLED)
        result = rig.ended(rig.goal(duration=0.5))

        assert result.code == Result.ABORTED
        assert 'inverse_kinematics executes nothing' in result.message


def test_move_goes_on_after_a_time_without_a_processor(rig: MoveRig) -> None:
    goal = rig.goal(neutral_plus(z=0.2))
    rig.spin(0.2)
    rig.stall(0.8)

    assert rig.ended(goal).code == Result.REACHED
    assert rig.inverse.refusals.refused == 0
    require_continuous(rig.setpoints)


ROUND = (neutral_plus(z=0.02), neutral_plus(x=0.01, rpy=(0.0, 0.02, 0.0)))


def follow(rig: MoveRig, poses: Any = ROUND, *, dwell: float = 0.2, repeat: int = 2) -> Any:
    """Send a goal of waypoints."""
    goal = FollowWaypoints.Goal(repeat=repeat)
    for number, pose in enumerate(poses, 1):
        place = pose_msg(pose.position, pose.quaternion_xyzw)
        goal.waypoints.append(Waypoint(name=f'w{number}', pose=place, dwell=dwell))
    return rig.send_goal(FollowWaypoints, 'follow_waypoints', goal, rig.feedback)


def test_waypoints_are_visited_one_after_the_other_round_by_round(rig: MoveRig) -> None:
    result = rig.ended(follow(rig))
    _, motion = motions(rig.setpoints)
    require_continuous(rig.setpoints)
    require_at_rest(rig.setpoints[-1])

    assert (result.code, result.visited) == (FollowWaypoints.Result.REACHED, 4)
    place = [(message.round, message.waypoint) for message in rig.feedback]
    assert sorted(set(place)) == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert place == sorted(place)
    for pose in ROUND:
        away = np.abs(motion.position - pose.position).max(axis=1)
        assert np.sum(away < 1e-9) > 20
    assert rig.inverse.refusals.refused == 0
    # The node is free for the next goal.
    assert rig.ended(rig.goal(NEUTRAL)).code == Result.REACHED


@pytest.mark.parametrize('after', [0.3, 0.75])
def test_waypoints_that_are_cancelled_end_at_rest_before_the_next_one(
    rig: MoveRig, after: float
) -> None:
    handle = follow(rig, dwell=1.0)
    rig.spin(after)
    rig.result(handle.cancel_goal_async())
    answer = rig.result(handle.get_result_async())
    require_continuous(rig.setpoints)
    require_at_rest(rig.setpoints[-1])

    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.visited <= 1
    height = motions(rig.setpoints)[1].position[-1, 2]
    assert NEUTRAL.position[2] < height <= ROUND[0].position[2] + 1e-9


def test_waypoints_out_of_reach_are_refused_before_anything_moves(rig: MoveRig) -> None:
    assert not follow(rig, (ROUND[0], neutral_plus(z=0.9))).accepted
    assert rig.node.refusal.startswith('waypoint 2 (w2) is out of reach: stroke of leg')
    assert not follow(rig, ()).accepted
    assert 'expected 1 to 200 waypoints, got 0' in rig.node.refusal
    assert not follow(rig, dwell=-1.0).accepted
    assert 'dwell: expected a time from 0 to 3600 s, got -1.0' in rig.node.refusal
    assert not rig.setpoints
    assert rig.goal().accepted
