# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What writers say and readers read, seen through rclpy's own messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from node_harness import leg_state_msg, legs_from_msg, motion_from_msg
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Imu, JointState
from stewart_interfaces.msg import PlatformSetpoint, TrackingError
from stewart_node_support.errors import MessageError
from stewart_node_support.hot_messages import (
    inertial_reader,
    MotionArrays,
    odometry_reader,
    OdometryWriter,
    pose_reader,
    PoseWriter,
    setpoint_reader,
    SetpointWriter,
    tracking_error_reader,
    TrackingErrorWriter,
)
from stewart_node_support.legs import LEG_NAMES, leg_reader, LegWriter
from stewart_node_support.stamps import to_nanoseconds

STAMP = 1_700_000_000_123_456_789
SIX = np.arange(6) / 7.0


def motion(**changes: object) -> MotionArrays:
    rng = np.random.default_rng(3)
    arrays = MotionArrays(*(rng.normal(size=n) for n in (3, 4, 6, 6)))
    quaternion = arrays.quaternion_xyzw / np.linalg.norm(arrays.quaternion_xyzw)
    return arrays._replace(quaternion_xyzw=quaternion)._replace(**changes)


def setpoint(sent: MotionArrays, source: str = 'test') -> Any:
    return deserialize_message(SetpointWriter(source).write(STAMP, sent), PlatformSetpoint)


def vector(message: Any) -> list[float]:
    return [message.x, message.y, message.z]


def test_setpoint_says_every_number_in_its_place() -> None:
    sent = motion()
    message = setpoint(sent, 'ocean_trajectory')
    turn = message.pose.orientation

    assert to_nanoseconds(message.header.stamp) == STAMP
    assert message.header.frame_id == 'base_link'
    assert message.source == 'ocean_trajectory'
    assert vector(message.pose.position) == sent.position.tolist()
    assert [turn.x, turn.y, turn.z, turn.w] == sent.quaternion_xyzw.tolist()
    assert vector(message.twist.linear) == sent.twist[:3].tolist()
    assert vector(message.twist.angular) == sent.twist[3:].tolist()
    assert vector(message.accel.linear) == sent.acceleration[:3].tolist()
    assert vector(message.accel.angular) == sent.acceleration[3:].tolist()


def test_setpoint_is_read_as_it_was_sent() -> None:
    sent = motion()
    read = setpoint_reader().read(serialize_message(setpoint(sent, 'ocean_trajectory')))

    assert (read.stamp, read.source) == (STAMP, 'ocean_trajectory')
    for name, expected in sent._asdict().items():
        found = getattr(read.motion, name)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15, err_msg=name)
        assert found.flags.aligned
        assert found.flags.c_contiguous


def test_a_reading_does_not_change_with_the_next_message() -> None:
    reader, writer = setpoint_reader(), SetpointWriter('test')
    first = reader.read(writer.write(STAMP, motion()))
    kept = [values.copy() for values in first.motion]
    reader.read(writer.write(STAMP, motion(position=[9, 9, 9])))

    for found, expected in zip(first.motion, kept, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_integers_and_single_precision_arrive_as_what_they_were() -> None:
    sent = motion(position=[1, 2, 3], twist=np.float32([0.5, 1.5, 2.5, 0, 0, 0]))
    received = motion_from_msg(setpoint(sent))

    assert received.position.tolist() == [1.0, 2.0, 3.0]
    assert received.twist[:3].tolist() == [0.5, 1.5, 2.5]


@pytest.mark.parametrize(
    ('field', 'value', 'sentence'),
    [
        ('position', [np.nan, 0, 0], 'a pose must be finite'),
        ('quaternion_xyzw', [0, 0, 0, 0], 'norm 1, got 0'),
        ('quaternion_xyzw', [0, 0, 0, np.inf], 'a pose must be finite'),
        ('twist', [0, 0, 0, 0, np.inf, 0], 'twist of a setpoint must be finite'),
        ('acceleration', [0, 0, 0, 0, 0, np.nan], 'accel of a setpoint must be finite'),
    ],
)
def test_setpoint_that_is_no_motion_is_refused(field: str, value: object, sentence: str) -> None:
    reader, writer = setpoint_reader(), SetpointWriter('test')
    reader.read(writer.write(STAMP, motion()))
    data = writer.write(STAMP, motion(**{field: value}))

    for other in (reader, setpoint_reader()):
        with pytest.raises(MessageError, match=sentence):
            other.read(data)


def test_setpoint_in_another_frame_is_refused_every_time() -> None:
    message = setpoint(motion())
    message.header.frame_id = 'world'
    reader = setpoint_reader()
    for _ in range(2):
        with pytest.raises(MessageError, match="in base_link, got 'world'"):
            reader.read(serialize_message(message))


def test_pose_and_tracking_error_travel() -> None:
    sent = motion()
    data = PoseWriter().write(STAMP, sent.position, sent.quaternion_xyzw)
    message = deserialize_message(data, PoseStamped)
    read = pose_reader().read(data)

    assert message.header.frame_id == 'base_link'
    assert vector(message.pose.position) == sent.position.tolist()
    assert read.stamp == STAMP
    np.testing.assert_allclose(read.quaternion_xyzw, sent.quaternion_xyzw, rtol=0, atol=1e-15)

    data = TrackingErrorWriter().write(STAMP, sent.position, sent.twist[3:], SIX)
    error, arrays = deserialize_message(data, TrackingError), tracking_error_reader().read(data)
    assert (error.header.frame_id, to_nanoseconds(error.header.stamp)) == ('base_link', STAMP)
    assert vector(error.position) == sent.position.tolist() == arrays.position.tolist()
    assert vector(error.rotation) == sent.twist[3:].tolist() == arrays.rotation.tolist()
    assert error.strokes.tolist() == SIX.tolist()
    with pytest.raises(MessageError, match='a pose must be finite'):
        pose_reader().read(PoseWriter().write(STAMP, [0, 0, np.nan], sent.quaternion_xyzw))


def test_odometry_travels_in_the_frames_of_its_writer() -> None:
    sent, rates = motion(), (SIX[:3], -SIX[3:])
    data = OdometryWriter('world', 'base_link').write(STAMP, *sent[:2], *rates)
    message, read = deserialize_message(data, Odometry), odometry_reader().read(data)
    turn, twist = message.pose.pose.orientation, message.twist.twist

    assert (message.header.frame_id, message.child_frame_id) == ('world', 'base_link')
    assert read.stamp == to_nanoseconds(message.header.stamp) == STAMP
    assert vector(message.pose.pose.position) == sent.position.tolist() == read.position.tolist()
    assert [*vector(turn), turn.w] == sent.quaternion_xyzw.tolist()
    np.testing.assert_allclose(read.quaternion_xyzw, sent.quaternion_xyzw, rtol=0, atol=1e-15)
    assert vector(twist.linear) == read.linear.tolist() == rates[0].tolist()
    assert vector(twist.angular) == read.angular.tolist() == rates[1].tolist()
    assert not np.any([message.pose.covariance, message.twist.covariance])
    wrong = OdometryWriter('world', 'base_link').write(STAMP, sent.position, np.zeros(4), *rates)
    with pytest.raises(MessageError, match='norm 1, got 0'):
        odometry_reader().read(wrong)


def test_inertial_samples_are_read_in_any_frame() -> None:
    message, reader = Imu(), inertial_reader()
    force, rate = message.linear_acceleration, message.angular_velocity
    force.x, force.y, force.z, rate.x, rate.y, rate.z = SIX.tolist()
    message.angular_velocity_covariance = message.orientation_covariance = np.arange(9.0)
    for frame in ('imu_link', 'hull', 'imu_link'):
        message.header.frame_id = frame
        read = reader.read(serialize_message(message))
        assert (read.stamp, read.frame, read.values.tolist()) == (0, frame, SIX.tolist())


@pytest.mark.parametrize('name', ['linear_acceleration', 'angular_velocity'])
def test_an_imu_that_does_not_measure_is_no_inertial_sample(name: str) -> None:
    message, reader = Imu(), inertial_reader()
    covariance = getattr(message, f'{name}_covariance')
    reader.read(serialize_message(message))
    covariance[0] = -1.0
    with pytest.raises(MessageError, match=f'no {name.replace("_", " ")}: its covariance begins'):
        reader.read(serialize_message(message))


def test_legs_say_what_they_are_given_and_nothing_else() -> None:
    writer, reader = LegWriter(), leg_reader()
    for given in [(SIX, -SIX, 2.0 * SIX), (SIX, -SIX, None), (None, None, SIX)] * 2:
        message = deserialize_message(writer.write(STAMP, *given), JointState)
        read = reader.read(writer.write(STAMP, *given))
        assert tuple(message.name) == LEG_NAMES
        assert (message.header.frame_id, to_nanoseconds(message.header.stamp)) == ('', STAMP)
        assert read.stamp == STAMP
        for name, expected in zip(('position', 'velocity', 'effort'), given, strict=True):
            assert list(getattr(message, name)) == ([] if expected is None else expected.tolist())
            np.testing.assert_equal(getattr(read, name), expected)


def test_legs_keep_their_order_whatever_the_order_of_the_names() -> None:
    message = leg_state_msg(STAMP, np.arange(6) / 10, np.arange(6))
    for name in ('name', 'position', 'velocity'):
        setattr(message, name, getattr(message, name)[::-1])
    reader = leg_reader()
    for _ in range(2):
        legs = reader.read(serialize_message(message))
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
    message = leg_state_msg(STAMP, np.zeros(6), np.zeros(6))
    setattr(message, field, value)

    with pytest.raises(MessageError, match=sentence):
        legs_from_msg(message)


def test_array_of_another_size_is_refused() -> None:
    with pytest.raises(MessageError, match=r'shape \(6,\), got \(5,\)'):
        LegWriter().write(STAMP, effort=SIX[:5])
    with pytest.raises(MessageError, match=r'shape \(4,\), got \(3,\)'):
        SetpointWriter('test').write(STAMP, motion(quaternion_xyzw=np.zeros(3)))
