# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of a graph with messages converted field by field: the peers of `graph.py`."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import Accel, PoseStamped
import numpy as np
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from stewart_dynamics.nodes.feed_forward import FeedForwardNode
from stewart_interfaces.msg import PlatformSetpoint, TrackingError
from stewart_kinematics.nodes.forward_kinematics import ForwardKinematics
from stewart_kinematics.nodes.inverse_kinematics import InverseKinematics
from stewart_kinematics.nodes.ocean_trajectory import OceanTrajectory
from stewart_node_support.conversions import (
    BASE_FRAME,
    header_msg,
    pose_from_msg,
    pose_msg,
    twist_msg,
    vector3_msg,
    vector_from_msg,
)
from stewart_node_support.hot_messages import MotionArrays, Setpoint
from stewart_node_support.legs import LEG_NAMES, LegState
from stewart_node_support.qos import COMMANDED_QOS
from stewart_node_support.stamps import from_nanoseconds, to_nanoseconds


class FieldLegs:
    """Six legs as message fields, with the names of the codec's reader and writer."""

    def read(self, message: JointState) -> LegState:
        """Convert field by field."""
        if tuple(message.name) != LEG_NAMES:
            raise ValueError(f'not six legs: {message.name}')
        fields = (message.position, message.velocity, message.effort)
        arrays = (np.array(values) if len(values) else None for values in fields)
        return LegState(to_nanoseconds(message.header.stamp), *arrays)

    def write(
        self, stamp: int, position: Any = None, velocity: Any = None, effort: Any = None
    ) -> JointState:
        """Make a message."""
        lists = [
            [] if values is None else values.tolist() for values in (position, velocity, effort)
        ]
        message = JointState(
            name=list(LEG_NAMES), position=lists[0], velocity=lists[1], effort=lists[2]
        )
        message.header.stamp = from_nanoseconds(stamp)
        return message


class FieldSetpoints:
    """Setpoints as message fields, with the names of the codec's reader and writer."""

    def __init__(self, source: str = '') -> None:
        self._source = source

    def read(self, message: PlatformSetpoint | bytes) -> Setpoint:
        """Convert field by field."""
        if isinstance(message, bytes):
            message = deserialize_message(message, PlatformSetpoint)
        rates = [
            np.concatenate([vector_from_msg(part.linear), vector_from_msg(part.angular)])
            for part in (message.twist, message.accel)
        ]
        motion = MotionArrays(*pose_from_msg(message.pose), *rates)
        return Setpoint(to_nanoseconds(message.header.stamp), message.source, motion)

    def write(self, stamp: int, motion: Any) -> PlatformSetpoint:
        """Make a message."""
        linear, angular = motion.acceleration[:3], motion.acceleration[3:]
        return PlatformSetpoint(
            header=_header(stamp),
            source=self._source,
            pose=pose_msg(motion.position, motion.quaternion_xyzw),
            twist=twist_msg(motion.twist[:3], motion.twist[3:]),
            accel=Accel(linear=vector3_msg(linear), angular=vector3_msg(angular)),
        )


class FieldPoses:
    """Poses as message fields."""

    def write(self, stamp: int, position: Any, quaternion_xyzw: Any) -> PoseStamped:
        """Make a message."""
        return PoseStamped(header=_header(stamp), pose=pose_msg(position, quaternion_xyzw))


class FieldErrors:
    """Tracking errors as message fields."""

    def write(self, stamp: int, position: Any, rotation: Any, strokes: Any) -> TrackingError:
        """Make a message."""
        return TrackingError(
            header=_header(stamp),
            position=vector3_msg(position),
            rotation=vector3_msg(rotation),
            strokes=strokes.tolist(),
        )


class Heard:
    """Messages that callbacks deliver, in the place of an inbox."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def add(self, message: Any) -> None:
        """Keep a message."""
        self.messages.append(message)

    def take(self) -> list[Any]:
        """Return what was delivered since the last call."""
        taken, self.messages = self.messages, []
        return taken


def _header(stamp: int) -> Any:
    return header_msg(from_nanoseconds(stamp), BASE_FRAME)


class Fields:
    """Mixin: subscribe to messages instead of bytes."""

    def create_subscription(self, *arguments: Any, raw: bool = False, **keywords: Any) -> Any:
        """Convert every message."""
        return super().create_subscription(*arguments, **keywords)  # type: ignore[misc]


class FieldInverse(Fields, InverseKinematics):
    """The peer of `inverse_kinematics`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._reader, self._writer = FieldSetpoints(), FieldLegs()


class FieldFeedForward(Fields, FeedForwardNode):
    """The peer of `feed_forward`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._reader, self._writer = FieldSetpoints(), FieldLegs()


class FieldForward(Fields, ForwardKinematics):
    """The peer of `forward_kinematics`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._legs, self._setpoints = FieldLegs(), FieldSetpoints()
        self._pose, self._error, self._executed = FieldPoses(), FieldErrors(), Heard()
        self.create_subscription(
            PlatformSetpoint,
            'platform/commanded',
            self._executed.add,
            COMMANDED_QOS,
        )


class FieldOcean(OceanTrajectory):
    """The peer of `ocean_trajectory`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._writer = FieldSetpoints(self.get_name())


PEERS = {
    'inverse_kinematics': FieldInverse,
    'feed_forward': FieldFeedForward,
    'forward_kinematics': FieldForward,
    'ocean_trajectory': FieldOcean,
}
