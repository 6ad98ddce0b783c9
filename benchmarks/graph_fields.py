# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes with messages converted field by field: peers of `graph.py` and `estimation_live.py`."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import Accel, AccelWithCovarianceStamped, PoseStamped
from nav_msgs.msg import Odometry
import numpy as np
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Imu, JointState
from stewart_dynamics.nodes.feed_forward import FeedForwardNode
from stewart_estimation.live_rows import LiveRows
from stewart_estimation.nodes.estimate_messages import ImuReading, Strokes
from stewart_estimation.nodes.estimate_publishers import CHILD_FRAME
from stewart_estimation.nodes.state_estimator import StateEstimator
from stewart_estimation.odometry import EstimateColumns
from stewart_estimation.settings import FilterSettings
from stewart_interfaces.msg import EstimatorStatus, PlatformSetpoint, TrackingError
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
from stewart_node_support.qos import COMMANDED_QOS, SENSOR_QOS
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


class FieldImu:
    """Samples of an IMU as message fields."""

    def read(self, message: Imu) -> ImuReading:
        """Convert field by field."""
        force, rate = message.linear_acceleration, message.angular_velocity
        covariances = message.linear_acceleration_covariance, message.angular_velocity_covariance
        return ImuReading(
            to_nanoseconds(message.header.stamp),
            vector_from_msg(force),
            vector_from_msg(rate),
            *map(np.array, covariances),
        )


class FieldStrokes(FieldLegs):
    """Strokes as message fields."""

    def read(self, message: JointState) -> Strokes:  # type: ignore[override]
        """Convert field by field."""
        return Strokes(to_nanoseconds(message.header.stamp), np.array(message.position))


class FieldEstimates:
    """Estimates as message fields, with the names of `EstimatePublishers`."""

    def __init__(self, node: Any, settings: FilterSettings) -> None:
        kinds = {
            'platform/odometry': Odometry,
            'platform/acceleration': AccelWithCovarianceStamped,
            'estimator/status': EstimatorStatus,
        }
        self._publishers = [
            node.create_publisher(kind, topic, SENSOR_QOS) for topic, kind in kinds.items()
        ]
        self.use(settings)

    def use(self, settings: FilterSettings) -> None:
        """Take what the filter is told from now on."""
        self._columns = EstimateColumns(settings)

    def publish(self, origin: int, rows: LiveRows, counts: tuple[Any, Any]) -> None:
        """Make and publish three messages for every row."""
        motions, accelerations = self._columns.of(rows)
        for stamp, motion, bent, fit in zip(
            rows.stamps.tolist(), motions, accelerations, rows.fit(delayed=False), strict=True
        ):
            header = _header(origin + round(stamp * 1e9))
            odometry = Odometry(header=header, child_frame_id=CHILD_FRAME)
            odometry.pose.pose = pose_msg(motion[:3], motion[3:7])
            odometry.pose.covariance = motion[7:43]
            odometry.twist.twist = twist_msg(motion[43:46], motion[46:49])
            odometry.twist.covariance = motion[49:]
            acceleration = AccelWithCovarianceStamped(header=header)
            acceleration.accel.accel = Accel(
                linear=vector3_msg(bent[:3]), angular=vector3_msg(bent[3:6])
            )
            acceleration.accel.covariance = bent[6:]
            status = EstimatorStatus(
                header=header,
                innovations=fit[:6],
                innovation_sigmas=fit[6:12],
                nis=float(fit[12]),
                accelerometer_bias=vector3_msg(fit[13:16]),
                gyroscope_bias=vector3_msg(fit[16:19]),
                imu_delay=float(fit[19]),
                accepted=counts[0],
                rejected=counts[1],
            )
            for publisher, message in zip(
                self._publishers, (odometry, acceleration, status), strict=True
            ):
                publisher.publish(message)


class FieldEstimator(Fields, StateEstimator):
    """The peer of `state_estimator`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._imu_reader, self._stroke_reader = FieldImu(), FieldStrokes()
        for publisher in list(self.publishers):
            if publisher.msg_type in {Odometry, AccelWithCovarianceStamped, EstimatorStatus}:
                self.destroy_publisher(publisher)
        self._estimates = FieldEstimates(self, self._live._settings)


PEERS = {
    'inverse_kinematics': FieldInverse,
    'feed_forward': FieldFeedForward,
    'forward_kinematics': FieldForward,
    'ocean_trajectory': FieldOcean,
}
