# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Setpoints, poses and tracking errors as bytes: what travels at the full rate.

Quaternions are x, y, z, w. Stamps are nanoseconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from geometry_msgs.msg import PoseStamped
from numpy.typing import ArrayLike
from std_msgs.msg import Header
from stewart_interfaces.msg import PlatformSetpoint, TrackingError
from stewart_node_support.codec import finite, Layout, Reader, stamp_of, Template, write
from stewart_node_support.conversions import Array, BASE_FRAME, unit_quaternion
from stewart_node_support.errors import MessageError


class MotionArrays(NamedTuple):
    """Pose, twist and acceleration of ``platform_link``'s origin in ``base_link`` axes.

    The names are those of the core's motion samples: ``Motion(**arrays._asdict())``.
    """

    position: Array
    quaternion_xyzw: Array
    linear_velocity: Array
    angular_velocity: Array
    linear_acceleration: Array
    angular_acceleration: Array


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


class TrackingArrays(NamedTuple):
    """A decoded TrackingError: stamp [ns], position (3,) [m], rotation vector (3,) [rad]."""

    stamp: int
    position: Array
    rotation: Array


class SetpointWriter:
    """Serialise the setpoints of one source: the name of a trajectory node."""

    def __init__(self, source: str) -> None:
        header = Header(frame_id=BASE_FRAME)
        self._template = Template(PlatformSetpoint(header=header, source=source))
        self._views = [
            self._template.view(path)
            for path in (
                'pose.position',
                'pose.orientation',
                *(
                    f'{part}.{kind}'
                    for part in ('twist', 'accel')
                    for kind in ('linear', 'angular')
                ),
            )
        ]

    def write(self, stamp: int, motion: Any) -> bytes:
        """Return one sample of a motion, meant for an instant [ns], as a PlatformSetpoint's bytes.

        Raises:
            MessageError: If a shape differs.
        """
        for view, values in zip(
            self._views,
            (
                motion.position,
                motion.quaternion_xyzw,
                motion.linear_velocity,
                motion.angular_velocity,
                motion.linear_acceleration,
                motion.angular_acceleration,
            ),
            strict=True,
        ):
            write(view, values)
        return self._template.stamped(stamp)


class PoseWriter:
    """Serialise PoseStamped messages in ``base_link``."""

    def __init__(self) -> None:
        self._template = Template(PoseStamped(header=Header(frame_id=BASE_FRAME)))
        self._position = self._template.view('pose.position')
        self._orientation = self._template.view('pose.orientation')

    def write(self, stamp: int, position: ArrayLike, quaternion_xyzw: ArrayLike) -> bytes:
        """Return the bytes of a pose with its stamp [ns]; MessageError if a shape differs."""
        write(self._position, position)
        write(self._orientation, quaternion_xyzw)
        return self._template.stamped(stamp)


class TrackingErrorWriter:
    """Serialise TrackingError messages in ``base_link``."""

    def __init__(self) -> None:
        self._template = Template(TrackingError(header=Header(frame_id=BASE_FRAME)))
        self._views = [self._template.view(path) for path in ('position', 'rotation', 'strokes')]

    def write(
        self, stamp: int, position: ArrayLike, rotation: ArrayLike, strokes: ArrayLike
    ) -> bytes:
        """Return the bytes of a tracking error with its stamp [ns]; fields as in the message."""
        for view, values in zip(self._views, (position, rotation, strokes), strict=True):
            write(view, values)
        return self._template.stamped(stamp)


def setpoint_reader() -> Reader[Setpoint]:
    """Return a reader of PlatformSetpoint messages.

    Its ``read`` raises MessageError where a value is not finite, the quaternion is not of norm 1
    within 1e-3, or the frame is not ``base_link``.
    """
    return Reader(PlatformSetpoint, _setpoint)


def pose_reader() -> Reader[StampedPose]:
    """Return a reader of PoseStamped messages; it refuses what `pose_from_msg` refuses."""
    return Reader(PoseStamped, _pose)


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
        position, quaternion = values[:3], values[3:7]
        if not finite(values.tolist()):
            _refuse_setpoint(values)
        return Setpoint(
            stamp_of(data),
            source,
            MotionArrays(
                position,
                unit_quaternion(position, quaternion),
                values[7:10],
                values[10:13],
                values[13:16],
                values[16:],
            ),
        )

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


def _tracking_error(layout: Layout) -> Callable[[bytes], TrackingArrays]:
    numbers = layout.numbers('position', 'rotation')

    def decode(data: bytes) -> TrackingArrays:
        values = numbers(data)
        return TrackingArrays(stamp_of(data), values[:3], values[3:])

    return decode
