# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
Arrays to messages and back; quaternions are x, y, z, w on both sides.

Every scalar passes through float(): rclpy serialises an int or a float32 in a float64 field as
garbage, silently.

"""

from __future__ import annotations

from math import hypot, isfinite
from typing import Any, NamedTuple

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Accel, Point, Pose, PoseStamped, Quaternion, Twist, Vector3
import numpy as np
from numpy.typing import ArrayLike, NDArray
from std_msgs.msg import Header
from stewart_interfaces.msg import PlatformSetpoint
from stewart_node_support.errors import MessageError
from stewart_node_support.legs import LEG_NAMES, leg_state_msg, LegArrays, legs_from_msg

__all__ = [
    'BASE_FRAME',
    'LEG_NAMES',
    'LegArrays',
    'MotionArrays',
    'header_msg',
    'leg_state_msg',
    'legs_from_msg',
    'motion_from_msg',
    'pose_from_msg',
    'pose_msg',
    'pose_stamped_msg',
    'put_pose',
    'put_rates',
    'put_setpoint',
    'put_vector',
    'quaternion_from_msg',
    'setpoint_msg',
    'twist_msg',
    'vector3_msg',
    'vector_from_msg',
]

Array = NDArray[np.float64]

BASE_FRAME = 'base_link'


class MotionArrays(NamedTuple):
    """
    Pose, twist and acceleration of ``platform_link``'s origin in ``base_link`` axes.

    The names are those of the core's motion samples: ``Motion(**arrays._asdict())``.

    """

    position: Array
    quaternion_xyzw: Array
    linear_velocity: Array
    angular_velocity: Array
    linear_acceleration: Array
    angular_acceleration: Array


def header_msg(stamp: Time, frame_id: str = BASE_FRAME) -> Header:
    """Return a header."""
    return Header(stamp=stamp, frame_id=frame_id)


def vector3_msg(values: ArrayLike) -> Vector3:
    """Return three numbers as a Vector3."""
    message = Vector3()
    put_vector(message, values)
    return message


def pose_msg(position: ArrayLike, quaternion_xyzw: ArrayLike) -> Pose:
    """Return position [m] and unit quaternion as a Pose."""
    message = Pose()
    put_pose(message, position, quaternion_xyzw)
    return message


def pose_stamped_msg(
    header: Header, position: ArrayLike, quaternion_xyzw: ArrayLike
) -> PoseStamped:
    """Return position [m] and unit quaternion as a PoseStamped."""
    return PoseStamped(header=header, pose=pose_msg(position, quaternion_xyzw))


def twist_msg(linear: ArrayLike, angular: ArrayLike) -> Twist:
    """Return linear [m/s] and angular [rad/s] velocity as a Twist."""
    message = Twist()
    put_rates(message, linear, angular)
    return message


def put_vector(message: Vector3, values: ArrayLike) -> None:
    """Write three numbers into a Vector3."""
    message.x, message.y, message.z = _floats('vector', values, 3)


def put_pose(message: Pose, position: ArrayLike, quaternion_xyzw: ArrayLike) -> None:
    """Write position [m] and unit quaternion into a Pose."""
    point, turn = message.position, message.orientation
    point.x, point.y, point.z = _floats('point', position, 3)
    turn.x, turn.y, turn.z, turn.w = _floats('quaternion', quaternion_xyzw, 4)


def put_rates(message: Twist | Accel, linear: ArrayLike, angular: ArrayLike) -> None:
    """Write linear and angular velocity or acceleration into a Twist or an Accel."""
    put_vector(message.linear, linear)
    put_vector(message.angular, angular)


def vector_from_msg(message: Vector3 | Point) -> Array:
    """Return a Vector3 or Point as an array, shape (3,)."""
    return np.array([message.x, message.y, message.z])


def quaternion_from_msg(message: Quaternion) -> Array:
    """Return a Quaternion as an array x, y, z, w, shape (4,)."""
    return np.array([message.x, message.y, message.z, message.w])


def pose_from_msg(message: Pose) -> tuple[Array, Array]:
    """
    Return position and attitude of a Pose.

    Parameters
    ----------
    message : geometry_msgs.msg.Pose
        Position [m] and unit quaternion.

    Returns
    -------
    position : ndarray, shape (3,)
        [m].
    quaternion_xyzw : ndarray, shape (4,)
        Unit quaternion, normalised.

    Raises
    ------
    MessageError
        If a value is not finite or the quaternion's norm is not 1 within 1e-3.

    """
    position = vector_from_msg(message.position)
    quaternion = quaternion_from_msg(message.orientation)
    if not (_finite(position) and _finite(quaternion)):
        raise MessageError(f'a pose must be finite, got {position} m and {quaternion}')
    norm = hypot(*quaternion)
    # Typed in by hand, three digits are common; an all-zero message is what has to be caught.
    if abs(norm - 1.0) > 1e-3:
        raise MessageError(f'a quaternion must have norm 1, got {norm:.6g}')
    return position, quaternion / norm


def setpoint_msg(stamp: Time, source: str, motion: Any) -> PlatformSetpoint:
    """
    Return one sample of a motion as a setpoint.

    Parameters
    ----------
    stamp : Time
        Instant that the setpoint is meant for.
    source : str
        Name of the trajectory node.
    motion : MotionArrays or stewart_kinematics.motion.Motion
        A single sample.

    Returns
    -------
    PlatformSetpoint
        In ``base_link``.

    """
    message = PlatformSetpoint(source=source)
    message.header.frame_id = BASE_FRAME
    put_setpoint(message, stamp, motion)
    return message


def put_setpoint(message: PlatformSetpoint, stamp: Time, motion: Any) -> None:
    """Write stamp and motion into a setpoint; arguments as for `setpoint_msg`."""
    message.header.stamp = stamp
    put_pose(message.pose, motion.position, motion.quaternion_xyzw)
    put_rates(message.twist, motion.linear_velocity, motion.angular_velocity)
    put_rates(message.accel, motion.linear_acceleration, motion.angular_acceleration)


def motion_from_msg(message: PlatformSetpoint) -> MotionArrays:
    """
    Return the motion sample that a setpoint carries.

    Parameters
    ----------
    message : PlatformSetpoint
        The setpoint.

    Returns
    -------
    MotionArrays
        Six finite arrays of shape (3,) or (4,).

    Raises
    ------
    MessageError
        If a value is not finite, the quaternion is not of norm 1 or the frame is another one.

    """
    if message.header.frame_id != BASE_FRAME:
        raise MessageError(
            f'a setpoint must be given in {BASE_FRAME}, got {message.header.frame_id!r}'
        )
    position, quaternion = pose_from_msg(message.pose)
    rates = [
        vector_from_msg(vector)
        for part in (message.twist, message.accel)
        for vector in (part.linear, part.angular)
    ]
    for name, values in zip(('twist', 'twist', 'accel', 'accel'), rates, strict=True):
        if not _finite(values):
            raise MessageError(f'the {name} of a setpoint must be finite, got {values}')
    return MotionArrays(position, quaternion, *rates)


def _finite(values: Array) -> bool:
    """Tell whether a few numbers are finite, in a tenth of the time that numpy takes to begin."""
    return all(map(isfinite, values.tolist()))


def _floats(name: str, values: ArrayLike, size: int) -> list[float]:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (size,):
        raise MessageError(f'a {name} has shape ({size},), got {array.shape}')
    numbers: list[float] = array.tolist()
    return numbers
