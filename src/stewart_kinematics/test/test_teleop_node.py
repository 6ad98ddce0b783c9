# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TwistStamped
from kinematic_rig import motions, require_at_rest, require_continuous, Rig, VIGO
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Joy
from stewart_interfaces.msg import DriverState
from stewart_kinematics.nodes.teleop import AWAY, Teleop
from stewart_node_support.conversions import twist_msg
from stewart_node_support.stamps import from_nanoseconds

UP = (0.0, 0.0, 0.02, 0.0, 0.0, 0.0)
AXES, BUTTONS, DEAD_MAN = 8, 11, 4


class HandRig(Rig):
    """A rig that somebody moves by hand, fifty times a second."""

    def __init__(self) -> None:
        super().__init__()
        self.node = self.active(Teleop, rate=100.0)
        self.heard = self.listen(DiagnosticArray, '/diagnostics')
        self.twists = self.talk(TwistStamped, 'teleop/twist', qos_profile_sensor_data)
        self.sticks = self.talk(Joy, 'joy', qos_profile_sensor_data)
        self.gamepad = Joy(axes=[0.0] * AXES, buttons=[0] * BUTTONS)

    def push(
        self, seconds: float, twist: Any = UP, frame: str = 'base_link', idle: bool = False
    ) -> None:
        """Ask for a velocity; `idle`: beside a gamepad that nobody holds."""
        for _ in range(round(seconds / 0.02)):
            message = TwistStamped(twist=twist_msg(twist[:3], twist[3:]))
            message.header.frame_id = frame
            message.header.stamp = self.probe.get_clock().now().to_msg()
            self.twists.publish(message)
            if idle:
                self.gamepad.header.stamp = message.header.stamp
                self.sticks.publish(self.gamepad)
            self.spin(0.02)

    def stick(
        self, seconds: float, axes: dict[int, float], *, held: bool = True, count: int = AXES
    ) -> None:
        for _ in range(round(seconds / 0.02)):
            message = Joy(axes=[0.0] * count, buttons=[0] * BUTTONS)
            for axis, value in axes.items():
                message.axes[axis] = value
            message.buttons[DEAD_MAN] = int(held)
            message.header.stamp = self.probe.get_clock().now().to_msg()
            self.sticks.publish(message)
            self.spin(0.02)

    def way(self) -> np.ndarray:
        """Return how far the setpoints went (3,) [m], and check that they rest and never jump."""
        require_continuous(self.setpoints)
        require_at_rest(self.setpoints[0])
        require_at_rest(self.setpoints[-1])
        position = motions(self.setpoints)[1].position
        return np.asarray(position[-1] - position[0])


@pytest.fixture
def rig() -> Iterator[HandRig]:
    with HandRig() as running:
        running.drive(DriverState.ENABLED)
        yield running


def test_a_velocity_is_followed_and_the_platform_rests_soon_after_the_last_message(
    rig: HandRig,
) -> None:
    rig.push(1.0)
    silent = rig.setpoints[-1].header.stamp
    rig.spin(1.0)
    time, motion = motions(rig.setpoints)

    np.testing.assert_allclose(rig.way()[:2], 0.0, atol=1e-9)
    assert 0.8 * 0.02 < rig.way()[2] < 1.2 * 0.02
    assert motion.linear_velocity[:, 2].max() == pytest.approx(0.02, rel=0.02)
    begin = rig.setpoints[0].header.stamp
    pushed = silent.sec - begin.sec + 1e-9 * (silent.nanosec - begin.nanosec)
    # A velocity counts for 0.1 s; 20 mm/s are gone in less than that.
    assert time[-1] - pushed < 0.3
    count = len(rig.setpoints)
    rig.spin(0.5)
    assert len(rig.setpoints) == count
    assert rig.inverse.refusals.refused == 0


def test_a_velocity_may_be_one_in_the_platforms_axes(rig: HandRig) -> None:
    rig.push(0.8, (0.0, 0.0, 0.0, 0.0, 0.0, 0.2))
    rig.spin(0.5)
    rig.setpoints.clear()
    rig.push(0.8, (0.02, 0.0, 0.0, 0.0, 0.0, 0.0), 'platform_link')
    rig.spin(0.5)
    motion = motions(rig.setpoints)[1]
    forward = motion[0].pose.rotation[:, 0]

    way = rig.way()
    assert abs(forward[1]) > 0.1
    np.testing.assert_allclose(way / np.linalg.norm(way), forward, atol=1e-3)


def test_the_sticks_move_it_while_the_dead_mans_button_is_held(rig: HandRig) -> None:
    rig.stick(0.3, {1: 0.5}, held=False)
    assert not rig.setpoints
    rig.stick(0.4, {1: 0.5, 0: 0.05})
    rig.stick(0.5, {1: 0.5}, held=False)

    way = rig.way()
    assert way[0] > 0.01
    np.testing.assert_allclose(way[1:], 0.0, atol=1e-9)


def test_full_stick_slows_down_in_front_of_a_limit_and_says_why(rig: HandRig) -> None:
    rig.stick(0.02, {}, held=False)
    rig.stick(3.0, {4: 1.0})
    said = [
        status.message
        for message in rig.heard
        for status in message.status
        if status.name == 'teleop: steering'
    ]
    rig.spin(0.5)

    assert rig.way()[2] > 0.1
    assert rig.inverse.refusals.refused == 0
    assert any('slower, because of' in text for text in said)


def test_a_refusal_stands_in_the_diagnostics_while_it_is_new(rig: HandRig) -> None:
    def said() -> str:
        steering = [item for item in rig.heard[-1].status if item.name == 'teleop: steering']
        return str(steering[0].message)

    rig.stick(1.5, {1: 0.9})
    assert said().startswith("refused: the dead man's button 4 has been down from the beginning")
    rig.spin(3.0)
    assert said() == 'nothing is asked for'


def test_a_button_that_is_down_from_the_beginning_moves_nothing(rig: HandRig) -> None:
    full = {1: 0.9}
    rig.stick(0.3, full)
    assert 'button 4 has been down from the beginning' in rig.node.refusal
    rig.stick(0.04, full, held=False)
    rig.drive(DriverState.DISABLED)
    rig.stick(0.02, full)
    assert 'not ENABLED' in rig.node.refusal
    # Held while the drives come on, and after the gamepad was away.
    rig.drive(DriverState.ENABLED)
    rig.stick(0.2, full)
    rig.stick(0.04, full, held=False)
    rig.spin(1.5)
    rig.stick(0.2, full)
    assert not rig.setpoints
    rig.stick(0.04, full, held=False)
    rig.stick(0.4, full)
    rig.stick(0.5, full, held=False)
    assert rig.way()[0] > 0.01


def test_a_gamepad_that_lies_there_does_not_stop_what_others_move(rig: HandRig) -> None:
    rig.push(1.0, idle=True)
    rig.spin(0.5)
    assert rig.way()[2] == pytest.approx(0.02, rel=0.2)
    rig.stick(0.2, {1: 1.0})
    rig.gamepad.axes, rig.gamepad.buttons = [0.0] * 6, [0] * 4
    rig.push(0.04, (0.0,) * 6, idle=True)
    assert 'joy has 4 buttons, dead_man_button is 4' in rig.node.refusal


@pytest.mark.parametrize(
    ('twist', 'frame', 'words'),
    [
        (UP, 'camera', "a velocity in 'camera': expected base_link or platform_link"),
        ((np.nan, *UP[1:]), 'base_link', 'a velocity must be six finite numbers'),
    ],
)
def test_what_is_no_velocity_is_refused(rig: HandRig, twist: Any, frame: str, words: str) -> None:
    rig.push(0.1, twist, frame)
    rig.spin(0.3)
    assert words in rig.node.refusal
    if rig.setpoints:
        np.testing.assert_array_equal(rig.way(), 0.0)


def test_an_old_velocity_and_one_without_a_stamp_move_nothing(rig: HandRig) -> None:
    stamp = rig.probe.get_clock().now().to_msg()
    rig.spin(0.2)
    for when in (stamp, TwistStamped().header.stamp):
        message = TwistStamped(twist=twist_msg(UP[:3], UP[3:]))
        message.header.stamp = when
        rig.twists.publish(message)
        rig.spin(0.05)
        assert 's old, allowed are 0.1 s' in rig.node.refusal
    assert not rig.setpoints


def test_nothing_moves_while_the_drives_are_off(rig: HandRig) -> None:
    rig.drive(DriverState.DISABLED)
    rig.push(0.1)
    assert 'not ENABLED' in rig.node.refusal
    rig.drive(DriverState.ENABLED)
    rig.push(0.1)
    assert 'let go first' in rig.node.refusal
    assert not rig.setpoints


@pytest.mark.parametrize(('off', 'let_go'), [(0.2, 'zero'), (0.0, 'silence')])
def test_leaving_enabled_ends_the_motion_until_what_is_held_was_let_go(
    rig: HandRig, off: float, let_go: str
) -> None:
    rig.push(0.3)
    rig.drive(DriverState.FAULT)
    count = len(rig.setpoints)
    rig.push(off)
    rig.drive(DriverState.ENABLED)
    rig.push(0.1)
    assert len(rig.setpoints) == count
    assert 'let go first' in rig.node.refusal
    if let_go == 'zero':
        rig.push(0.02, (0.0,) * 6)
    else:
        rig.spin(AWAY)
    rig.push(0.1)
    assert len(rig.setpoints) > count


def test_a_message_that_is_nearly_too_late_is_obeyed() -> None:
    """What nobody has executed before it came is not held against it."""
    with Rig(measured=0.02) as rig:
        node = rig.active(Teleop, patience=0.05)
        rig.drive(DriverState.ENABLED)
        message = TwistStamped(twist=twist_msg(UP[:3], UP[3:]))
        message.header.frame_id = 'base_link'
        now = rig.probe.get_clock().now().nanoseconds
        message.header.stamp = from_nanoseconds(now - 60_000_000)
        rig.talk(TwistStamped, 'teleop/twist').publish(message)
        rig.spin(0.1)

        assert node.aborted == ''
        assert rig.setpoints


def both(rig: HandRig, seconds: float, stick: float, twist: Any) -> None:
    """Let a gamepad that is held and another program ask for velocities in turns."""
    for _ in range(round(seconds / 0.02)):
        rig.stick(0.02, {1: stick})
        rig.push(0.02, twist)


def test_zeros_of_another_source_take_nothing_away(rig: HandRig) -> None:
    rig.stick(0.1, {}, held=False)
    both(rig, 0.5, 1.0, (0.0,) * 6)
    fastest = rig.node.parameters.speed_scale * VIGO.limits.linear_velocity
    assert motions(rig.setpoints)[1].linear_velocity[-1, 0] == pytest.approx(fastest, rel=0.05)
    # Letting go of the button stops whatever else is said.
    for _ in range(15):
        rig.stick(0.02, {1: 1.0}, held=False)
        rig.push(0.02, (0.0,) * 6)
    rig.spin(0.5)
    rig.way()


def test_a_second_source_is_not_heard_and_told_who_moves_the_platform(rig: HandRig) -> None:
    rig.stick(0.1, {}, held=False)
    both(rig, 0.5, 1.0, UP)
    assert rig.node.refusal == 'joy moves the platform: teleop/twist is not heard'
    assert np.ptp(motions(rig.setpoints)[1].position[:, 2]) < 1e-9
    rig.stick(0.1, {}, held=False)
    rig.push(0.5)
    rig.spin(0.5)
    assert rig.way()[2] > 0.005


def test_an_axis_that_rests_at_its_end_moves_nothing(rig: HandRig) -> None:
    """As a trigger does."""
    rig.stick(0.1, {4: 1.0}, held=False)
    rig.stick(0.2, {4: 1.0})
    assert "axis 4 of joy was at its end before the dead man's button" in rig.node.refusal
    assert not rig.setpoints
    rig.stick(0.1, {}, held=False)
    rig.stick(0.3, {4: 1.0})
    assert rig.setpoints


def test_axes_that_a_gamepad_lacks_count_as_none_and_are_told(rig: HandRig) -> None:
    rig.stick(0.1, {}, held=False, count=6)
    rig.stick(0.3, {1: 1.0}, count=6)
    rig.spin(1.0)
    assert rig.way()[0] > 0.0
    values = [item for status in rig.heard[-1].status for item in status.values]
    lacks = [item.value for item in values if item.key == 'axes that the gamepad lacks']
    assert lacks == ['6, 7']
