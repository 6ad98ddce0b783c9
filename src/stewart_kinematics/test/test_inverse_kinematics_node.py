# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray
from kinematic_rig import NEUTRAL, neutral_plus, Rig, VIGO
from node_harness import legs_from_msg
from stewart_interfaces.msg import DriverState, PlatformSetpoint
from stewart_kinematics.motion import Motion
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.trajectories import Cycloidal
from stewart_node_support.diagnostics import Level
from stewart_node_support.legs import LEG_NAMES
from stewart_node_support.qos import COMMAND_QOS, COMMANDED_QOS, newest
from stewart_node_support.stamps import to_nanoseconds

MOVE = Cycloidal(NEUTRAL, neutral_plus(x=0.02, z=0.05, rpy=(0.05, 0.0, 0.1)), 1.0)
MILLISECOND = 1_000_000
RESTING = Motion.at_rest(NEUTRAL)


def test_commands_are_the_inverse_solution_under_the_setpoints_stamp() -> None:
    with Rig() as rig:
        start = rig.probe.get_clock().now().nanoseconds
        stamps = [
            rig.say('test', MOVE.sample(i * 0.005), start + 5 * i * MILLISECOND) for i in range(9)
        ]
        rig.until(lambda: len(rig.commands) == 9)

        assert [to_nanoseconds(message.header.stamp) for message in rig.commands] == stamps
        for i, message in enumerate(rig.commands):
            expected = inverse(VIGO.geometry, MOVE.sample(i * 0.005))
            legs = legs_from_msg(message)
            assert list(message.name) == list(LEG_NAMES)
            np.testing.assert_allclose(legs.position, expected.stroke, rtol=0, atol=1e-12)
            np.testing.assert_allclose(legs.velocity, expected.rate, rtol=0, atol=1e-12)
            assert legs.effort is None
        assert rig.inverse.published['joint_commands'].count == 9
        assert rig.inverse.published['platform/commanded'].count == 9


def test_what_was_executed_is_said_in_the_setpoints_own_bytes_also_to_who_comes_late() -> None:
    with Rig() as rig:
        sent: list[bytes] = []
        executed: list[bytes] = []
        probe = rig.probe
        probe.create_subscription(PlatformSetpoint, 'setpoint', sent.append, COMMAND_QOS, raw=True)
        topic = (PlatformSetpoint, 'platform/commanded')
        probe.create_subscription(*topic, executed.append, COMMANDED_QOS, raw=True)
        rig.say('mine', RESTING)
        rig.say('other', RESTING)
        rig.say('mine', Motion.at_rest(neutral_plus(z=1.0)))
        rig.say('mine', RESTING)
        rig.until(lambda: len(sent) == 4 and len(executed) == 2)
        late: list[bytes] = []
        probe.create_subscription(*topic, late.append, newest(COMMANDED_QOS), raw=True)
        rig.until(lambda: late)

        assert executed == [sent[0], sent[3]]
        assert late[-1] == sent[3]


@pytest.mark.parametrize(
    ('motion', 'reason'),
    [
        (replace(RESTING, position=np.array([0.0, np.nan, 1.6])), 'must be finite'),
        (replace(RESTING, quaternion_xyzw=np.zeros(4)), 'norm 1'),
        (Motion.at_rest(neutral_plus(z=1.0)), 'stroke of leg 1 is'),
        (RESTING.replaced(linear_velocity=np.array([0.0, 0.0, 5.0])), 'leg rate of leg'),
        (RESTING.replaced(linear_acceleration=np.array([0.0, 0.0, 99.0])), 'leg acceleration'),
        (Motion.at_rest(neutral_plus(z=0.05)), 'position jump is 0.05'),
    ],
)
def test_refused_setpoint_yields_silence_and_error(motion: Motion, reason: str) -> None:
    with Rig() as rig:
        heard = rig.listen(DiagnosticArray, '/diagnostics')
        rig.say('test', RESTING)
        rig.until(lambda: rig.commands)
        rig.say('test', motion)
        rig.inverse.diagnostics.publish()
        rig.until(lambda: Level.ERROR in rig.levels(heard, 'inverse_kinematics: setpoints'))
        rig.say('test', RESTING)
        rig.until(lambda: len(rig.commands) == 2)

        assert reason in rig.inverse.refusals.reason
        assert (rig.inverse.refusals.accepted, rig.inverse.refusals.refused) == (2, 1)
        assert rig.inverse.published['joint_commands'].count == 2
        # What is fine again is said to be fine.
        rig.inverse.diagnostics.publish()
        rig.until(lambda: rig.levels(heard, 'inverse_kinematics: setpoints')[-1] == Level.OK)


def test_two_sources_do_not_interleave() -> None:
    with Rig() as rig:
        mine: set[int] = set()
        begin = rig.probe.get_clock().now().nanoseconds
        for i in range(60):
            now = begin + 5 * i * MILLISECOND
            mine.add(rig.say('mine', MOVE.sample(i * 0.005), now))
            rig.say('other', RESTING, now + MILLISECOND)
        rig.until(lambda: len(rig.commands) == 60)

        assert rig.commanded_stamps() == mine
        assert rig.inverse.refusals.refused == 60
        assert 'other must wait: mine is moving' in rig.inverse.refusals.reason


def test_platform_is_handed_over_at_rest_after_silence() -> None:
    with Rig() as rig:
        begin = rig.say('mine', RESTING)
        rig.until(lambda: rig.commands)
        early = rig.say('other', RESTING, begin + 200 * MILLISECOND)
        moving = rig.say('other', MOVE.sample(0.5), begin + 300 * MILLISECOND)
        late = rig.say('other', RESTING, begin + 400 * MILLISECOND)
        rig.until(lambda: len(rig.commands) == 2)

        assert rig.commanded_stamps() == {begin, late}
        assert not {early, moving} & rig.commanded_stamps()


def test_stop_by_the_driver_opens_the_platform_to_everyone() -> None:
    with Rig() as rig:
        rig.drive(DriverState.ENABLED)
        rig.say('mine', MOVE.sample(0.3))
        rig.until(lambda: rig.commands)
        rig.drive(DriverState.STOPPING)
        rig.drive(DriverState.ENABLED)
        # Elsewhere and at once: the stop has moved the platform and ended the old stream.
        rig.say('other', Motion.at_rest(neutral_plus(z=0.05)))
        rig.until(lambda: len(rig.commands) == 2)

        assert rig.inverse.refusals.refused == 0


def test_hearing_for_the_first_time_that_the_driver_is_enabled_changes_nothing() -> None:
    with Rig() as rig:
        rig.say('mine', MOVE.sample(0.3))
        rig.until(lambda: rig.commands)
        rig.drive(DriverState.ENABLED)
        rig.say('other', Motion.at_rest(neutral_plus(z=0.05)))

        assert len(rig.commands) == 1


def test_limits_can_be_scaled_down_for_a_first_motion() -> None:
    with Rig(limit_scale=0.1) as rig:
        rig.say('test', RESTING.replaced(linear_velocity=np.array([0.0, 0.0, 0.1])))

        assert 'allowed ' in rig.inverse.refusals.reason
