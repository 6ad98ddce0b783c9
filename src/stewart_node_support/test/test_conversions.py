# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from geometry_msgs.msg import Pose, Twist
from rclpy.serialization import deserialize_message, serialize_message
from stewart_interfaces.msg import PlatformSetpoint
from stewart_node_support import conversions, stamps
from stewart_node_support.errors import MessageError

STAMP = stamps.from_nanoseconds(1_700_000_000_123_456_789)


def motion(**changes: object) -> conversions.MotionArrays:
    rng = np.random.default_rng(3)
    arrays = conversions.MotionArrays(*(rng.normal(size=n) for n in (3, 4, 3, 3, 3, 3)))
    quaternion = arrays.quaternion_xyzw / np.linalg.norm(arrays.quaternion_xyzw)
    return arrays._replace(quaternion_xyzw=quaternion)._replace(**changes)


def test_setpoint_survives_the_wire() -> None:
    sent = motion()
    wire = serialize_message(conversions.setpoint_msg(STAMP, 'ocean_trajectory', sent))
    message = deserialize_message(wire, PlatformSetpoint)

    assert message.header.stamp == STAMP
    assert message.header.frame_id == 'base_link'
    assert message.source == 'ocean_trajectory'
    for name, expected in sent._asdict().items():
        received = getattr(conversions.motion_from_msg(message), name)
        np.testing.assert_allclose(received, expected, rtol=0, atol=1e-15, err_msg=name)


def test_integers_and_single_precision_arrive_as_what_they_were() -> None:
    sent = motion(position=[1, 2, 3], linear_velocity=np.float32([0.5, 1.5, 2.5]))
    wire = serialize_message(conversions.setpoint_msg(STAMP, 'test', sent))
    received = conversions.motion_from_msg(deserialize_message(wire, PlatformSetpoint))

    assert received.position.tolist() == [1.0, 2.0, 3.0]
    assert received.linear_velocity.tolist() == [0.5, 1.5, 2.5]


def test_numbers_put_into_a_message_arrive_as_what_they_were() -> None:
    pose, twist = Pose(), Twist()
    conversions.put_pose(pose, [1, 2, 3], [0, 0, 1, 0])
    conversions.put_rates(twist, np.float32([0.5, 1.5, 2.5]), [4, 5, 6])
    position, turn = conversions.pose_from_msg(deserialize_message(serialize_message(pose), Pose))
    received = deserialize_message(serialize_message(twist), Twist)

    assert (position.tolist(), turn.tolist()) == ([1.0, 2.0, 3.0], [0.0, 0.0, 1.0, 0.0])
    assert conversions.vector_from_msg(received.linear).tolist() == [0.5, 1.5, 2.5]
    assert conversions.vector_from_msg(received.angular).tolist() == [4.0, 5.0, 6.0]


@pytest.mark.parametrize(
    ('field', 'value', 'sentence'),
    [
        ('position', [np.nan, 0, 0], 'a pose must be finite'),
        ('quaternion_xyzw', [0, 0, 0, 0], 'norm 1, got 0'),
        ('angular_velocity', [0, np.inf, 0], 'twist of a setpoint must be finite'),
        ('angular_acceleration', [0, 0, np.nan], 'accel of a setpoint must be finite'),
    ],
)
def test_setpoint_that_is_no_motion_is_refused(field: str, value: object, sentence: str) -> None:
    message = conversions.setpoint_msg(STAMP, 'test', motion(**{field: value}))

    with pytest.raises(MessageError, match=sentence):
        conversions.motion_from_msg(message)


def test_setpoint_in_another_frame_is_refused() -> None:
    message = conversions.setpoint_msg(STAMP, 'test', motion())
    message.header.frame_id = 'world'

    with pytest.raises(MessageError, match="in base_link, got 'world'"):
        conversions.motion_from_msg(message)


def test_legs_keep_their_order_whatever_the_order_of_the_names() -> None:
    header = conversions.header_msg(STAMP, '')
    message = conversions.leg_state_msg(header, np.arange(6) / 10, np.arange(6), effort=None)
    message.name = message.name[::-1]
    message.position = message.position[::-1]
    message.velocity = message.velocity[::-1]
    legs = conversions.legs_from_msg(message)

    np.testing.assert_array_equal(legs.position, np.arange(6) / 10)
    np.testing.assert_array_equal(legs.velocity, np.arange(6))
    assert legs.effort is None


@pytest.mark.parametrize(
    ('field', 'value', 'sentence'),
    [
        ('name', ['leg_1', 'leg_1', 'leg_3', 'leg_4', 'leg_5', 'leg_6'], 'once each'),
        ('name', [f'leg_{i}' for i in range(1, 6)], 'once each'),
        ('position', [0.0] * 5, 'position of a leg state has 6 or no values, got 5'),
        ('velocity', [0.0] * 3 + [float('nan')] + [0.0] * 2, 'velocity of leg 4 must be finite'),
    ],
)
def test_leg_state_that_is_not_six_legs_is_refused(
    field: str, value: list[object], sentence: str
) -> None:
    message = conversions.leg_state_msg(conversions.header_msg(STAMP), np.zeros(6), np.zeros(6))
    setattr(message, field, value)

    with pytest.raises(MessageError, match=sentence):
        conversions.legs_from_msg(message)


def test_array_of_the_wrong_size_does_not_become_a_message() -> None:
    with pytest.raises(MessageError, match=r'vector has shape \(3,\), got \(2,\)'):
        conversions.vector3_msg([1.0, 2.0])
    with pytest.raises(MessageError, match=r'vector has shape \(3,\), got \(1, 3\)'):
        conversions.put_rates(Twist(), np.zeros(3), np.zeros((1, 3)))
    with pytest.raises(MessageError, match=r'point has shape \(3,\), got \(4,\)'):
        conversions.put_pose(Pose(), np.zeros(4), np.zeros(4))
    with pytest.raises(MessageError, match=r'quaternion has shape \(4,\), got \(3,\)'):
        conversions.put_pose(Pose(), np.zeros(3), np.zeros(3))
    with pytest.raises(MessageError, match=r'position of six legs has shape \(6,\), got \(5,\)'):
        conversions.leg_state_msg(conversions.header_msg(STAMP), np.zeros(5))


def test_stamp_keeps_every_nanosecond() -> None:
    nanoseconds = 1_700_000_000_999_999_999

    assert stamps.to_nanoseconds(stamps.from_nanoseconds(nanoseconds)) == nanoseconds
    assert stamps.to_seconds(stamps.from_seconds(12.25)) == 12.25
    assert stamps.from_seconds(0.9999999999) == stamps.from_nanoseconds(1_000_000_000)
