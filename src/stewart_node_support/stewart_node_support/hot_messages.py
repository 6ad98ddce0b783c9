# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Setpoints, poses, motions and tracking errors as bytes: what travels at the full rate.

Quaternions are x, y, z, w. Stamps are nanoseconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
import numpy as np
from sensor_msgs.msg import Imu
from std_msgs.msg import Header
from stewart_interfaces.msg import PlatformSetpoint, TrackingError
from stewart_node_support.codec import finite, Layout, Reader, stamp_of, Writer
from stewart_node_support.conversions import Array, BASE_FRAME, unit_quaternion
from stewart_node_support.errors import MessageError

HEADER = Header(frame_id=BASE_FRAME)


class MotionArrays(NamedTuple):
    """Pose, twist and acceleration of ``platform_link``'s origin in ``base_link`` axes.

    The fields are those of the core's motion samples: ``Motion(*arrays)``.
    """

    position: Array
    quaternion_xyzw: Array
    twist: Array
    acceleration: Array


class Setpoint(NamedTuple):
    """A decoded PlatformSetpoint: stamp [ns], name of the trajectory node, motion sample."""

    stamp: int
    source: str
    motion: MotionArrays


class StampedPose(NamedTuple):
    """A decoded PoseStamped: stamp [ns], position (3,) [m], unit quaternion (4,)."""

    stamp: int
    position: Array
    quaternion_xyzw: Array


class StampedMotion(NamedTuple):
    """A decoded Odometry: stamp [ns], position (3,) [m], unit quaternion (4,), velocities (3,).

    The velocities, linear [m/s] and angular [rad/s], are in axes of its child frame.
    """

    stamp: int
    position: Array
    quaternion_xyzw: Array
    linear: Array
    angular: Array


class InertialSample(NamedTuple):
    """A decoded Imu: stamp [ns], frame, specific force and angular velocity (6,) [m/s², rad/s]."""

    stamp: int
    frame: str
    values: Array


class TrackingArrays(NamedTuple):
    """A decoded TrackingError: stamp [ns], position (3,) [m], rotation vector (3,) [rad]."""

    stamp: int
    position: Array
    rotation: Array


class SetpointWriter(Writer):
    """Serialise the setpoints of one source: the name of a trajectory node."""

    def __init__(self, source: str) -> None:
        message = PlatformSetpoint(header=HEADER, source=source)
        super().__init__(message, 'pose.position', 'pose.orientation', 'twist', 'accel')

    def write(self, stamp: int, motion: Any) -> bytes:  # type: ignore[override]
        """Return one sample of a motion, meant for an instant [ns], as a PlatformSetpoint's bytes.

        Raises:
            MessageError: If a shape differs.
        """
        return super().write(
            stamp,
            motion.position,
            motion.quaternion_xyzw,
            motion.twist,
            motion.acceleration,
        )


class PoseWriter(Writer):
    """Serialise PoseStamped messages in ``base_link``: position, quaternion."""

    def __init__(self) -> None:
        super().__init__(PoseStamped(header=HEADER), 'pose.position', 'pose.orientation')


class OdometryWriter(Writer):
    """Serialise Odometry messages: position, quaternion, linear and angular velocity of a child.

    Args:
        frame, child: In whose axes the pose and the velocities are.
    """

    def __init__(self, frame: str, child: str) -> None:
        message = Odometry(header=Header(frame_id=frame), child_frame_id=child)
        pose = 'pose.pose.position', 'pose.pose.orientation'
        super().__init__(message, *pose, 'twist.twist.linear', 'twist.twist.angular')


class TrackingErrorWriter(Writer):
    """Serialise TrackingError messages in ``base_link``: position, rotation, strokes."""

    def __init__(self) -> None:
        super().__init__(TrackingError(header=HEADER), 'position', 'rotation', 'strokes')


def setpoint_reader() -> Reader[Setpoint]:
    """Return a reader of PlatformSetpoint messages.

    Its ``read`` raises MessageError where a value is not finite, the quaternion is not of norm 1
    within 1e-3, or the frame is not ``base_link``.
    """
    return Reader(PlatformSetpoint, _setpoint)


def pose_reader() -> Reader[StampedPose]:
    """Return a reader of PoseStamped messages; it refuses what `pose_from_msg` refuses."""
    return Reader(PoseStamped, _pose)


def odometry_reader() -> Reader[StampedMotion]:
    """Return a reader of Odometry messages; it refuses poses that `pose_from_msg` refuses."""
    return Reader(Odometry, _odometry)


def inertial_reader() -> Reader[InertialSample]:
    """Return a reader of Imu messages; it refuses what `inertial_numbers` refuses."""
    return Reader(Imu, _inertial)


def tracking_error_reader() -> Reader[TrackingArrays]:
    """Return a reader of TrackingError messages; the strokes are left out."""
    return Reader(TrackingError, _tracking_error)


def _setpoint(layout: Layout) -> Callable[[bytes], Setpoint]:
    frame, source = layout.texts['header.frame_id'], str(layout.texts['source'])
    if frame != BASE_FRAME:
        raise MessageError(f'a setpoint must be given in {BASE_FRAME}, got {frame!r}')
    numbers = layout.numbers('pose', 'twist', 'accel')

    def decode(data: bytes) -> Setpoint:
        values = numbers(data)
        if not finite(values.tolist()):
            _refuse_setpoint(values)
        position, quaternion = values[:3], unit_quaternion(values[:3], values[3:7])
        motion = MotionArrays(position, quaternion, values[7:13], values[13:])
        return Setpoint(stamp_of(data), source, motion)

    return decode


def _refuse_setpoint(values: Array) -> None:
    """Name the part of a setpoint that is not finite."""
    unit_quaternion(values[:3], values[3:7])
    for name, part in (('twist', values[7:13]), ('accel', values[13:])):
        if not finite(part.tolist()):
            raise MessageError(f'the {name} of a setpoint must be finite, got {part}')


def _pose(layout: Layout) -> Callable[[bytes], StampedPose]:
    numbers = layout.numbers('pose')

    def decode(data: bytes) -> StampedPose:
        values = numbers(data)
        position = values[:3]
        return StampedPose(stamp_of(data), position, unit_quaternion(position, values[3:]))

    return decode


def _odometry(layout: Layout) -> Callable[[bytes], StampedMotion]:
    pose, twist = layout.numbers('pose.pose'), layout.numbers('twist.twist')

    def decode(data: bytes) -> StampedMotion:
        values, rates = pose(data), twist(data)
        position = values[:3]
        quaternion = unit_quaternion(position, values[3:])
        return StampedMotion(stamp_of(data), position, quaternion, rates[:3], rates[3:])

    return decode


def _inertial(layout: Layout) -> Callable[[bytes], InertialSample]:
    frame, numbers = str(layout.texts['header.frame_id']), inertial_numbers(layout)

    def decode(data: bytes) -> InertialSample:
        values = numbers(data)
        return InertialSample(stamp_of(data), frame, np.concatenate([values[12:15], values[:3]]))

    return decode


def inertial_numbers(layout: Layout) -> Callable[[bytes], Array]:
    """Return what reads an Imu: angular velocity, its covariance, specific force, its covariance.

    What it returns gives 24 numbers [rad/s, rad²/s², m/s², m²/s⁴], and raises MessageError where
    one of the two is not measured: its covariance begins with -1.
    """
    fields = ('angular_velocity', 'linear_acceleration')
    numbers = layout.numbers(*(f'{name}{end}' for name in fields for end in ('', '_covariance')))

    def measured(data: bytes) -> Array:
        values = numbers(data)
        for name, first in (('linear acceleration', 15), ('angular velocity', 3)):
            if values[first] == -1.0:
                raise MessageError(f'the IMU has no {name}: its covariance begins with -1')
        return values

    return measured


def _tracking_error(layout: Layout) -> Callable[[bytes], TrackingArrays]:
    numbers = layout.numbers('position', 'rotation')

    def decode(data: bytes) -> TrackingArrays:
        values = numbers(data)
        return TrackingArrays(stamp_of(data), values[:3], values[3:])

    return decode
