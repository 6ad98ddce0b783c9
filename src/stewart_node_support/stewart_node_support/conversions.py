# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays to message fields and back; quaternions are x, y, z, w on both sides.

For what is said now and then, such as goals. Messages at the full rate travel as bytes:
`hot_messages` and `legs`. Every scalar passes through float(): rclpy serialises an int or a
float32 in a float64 field as garbage, silently.
"""

from __future__ import annotations

from math import hypot, isfinite

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, TwistStamped, Vector3
import numpy as np
from numpy.typing import ArrayLike, NDArray
from std_msgs.msg import Header
from stewart_interfaces.msg import DriverState
from stewart_node_support.errors import MessageError

Array = NDArray[np.float64]

BASE_FRAME = 'base_link'
STATE_NAMES = {
    getattr(DriverState, name): name
    for name in ('DISABLED', 'ENABLING', 'ENABLED', 'STOPPING', 'FAULT')
}
"""By the values of the driver's states."""
PARKING = 'going to the park position, then off'
"""Reason of a driver that is ENABLED, or STOPPING, and takes no path: it parks the legs."""


def header_msg(stamp: Time, frame_id: str = BASE_FRAME) -> Header:
    """Return a header."""
    return Header(stamp=stamp, frame_id=frame_id)


def vector3_msg(values: ArrayLike) -> Vector3:
    """Return three numbers as a Vector3."""
    x, y, z = _floats('vector', values, 3)
    return Vector3(x=x, y=y, z=z)


def pose_msg(position: ArrayLike, quaternion_xyzw: ArrayLike) -> Pose:
    """Return position [m] and unit quaternion as a Pose."""
    px, py, pz = _floats('point', position, 3)
    x, y, z, w = _floats('quaternion', quaternion_xyzw, 4)
    return Pose(position=Point(x=px, y=py, z=pz), orientation=Quaternion(x=x, y=y, z=z, w=w))


def twist_msg(linear: ArrayLike, angular: ArrayLike) -> Twist:
    """Return linear [m/s] and angular [rad/s] velocity as a Twist."""
    return Twist(linear=vector3_msg(linear), angular=vector3_msg(angular))


def twist_stamped(stamp: Time, twist: ArrayLike) -> TwistStamped:
    """Return velocities (6,) in ``base_link`` [m/s, rad/s] as a TwistStamped."""
    values = _floats('twist', twist, 6)
    return TwistStamped(header=header_msg(stamp), twist=twist_msg(values[:3], values[3:]))


def vector_from_msg(message: Vector3 | Point) -> Array:
    """Return a Vector3 or Point as an array, shape (3,)."""
    return np.array([message.x, message.y, message.z])


def pose_from_msg(message: Pose) -> tuple[Array, Array]:
    """Return position [m], shape (3,), and unit quaternion, shape (4,), of a Pose.

    Raises:
        MessageError: If a value is not finite or the quaternion's norm is not 1 within 1e-3.
    """
    position, turn = vector_from_msg(message.position), message.orientation
    return position, unit_quaternion(position, np.array([turn.x, turn.y, turn.z, turn.w]))


def unit_quaternion(position: Array, quaternion_xyzw: Array) -> Array:
    """Check a position (3,) and a quaternion (4,), and return the quaternion normalised.

    Raises:
        MessageError: If a value is not finite or the norm is not 1 within 1e-3.
    """
    norm = hypot(*quaternion_xyzw.tolist())
    if not (isfinite(norm) and all(map(isfinite, position.tolist()))):
        raise MessageError(f'a pose must be finite, got {position} m and {quaternion_xyzw}')
    # Typed in by hand, three digits are common; an all-zero message is what has to be caught.
    if abs(norm - 1.0) > 1e-3:
        raise MessageError(f'a quaternion must have norm 1, got {norm:.6g}')
    return quaternion_xyzw / norm


def _floats(name: str, values: ArrayLike, size: int) -> list[float]:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (size,):
        raise MessageError(f'a {name} has shape ({size},), got {array.shape}')
    numbers: list[float] = array.tolist()
    return numbers
