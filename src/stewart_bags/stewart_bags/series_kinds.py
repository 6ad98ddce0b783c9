# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The message types that can become arrays, one class each.

The annotation of an array says which fields of the message it is made from. Units are SI, vectors
have shape (n, 3), attitudes are x, y, z, w of shape (n, 4), and the elements of a 6 × 6 covariance
belong to x, y, z and the rotation about them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from stewart_bags.findings import Finding
from stewart_bags.topics import NS

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Source:
    """Where an array comes from: scalar fields that become its columns, or one field.

    Attributes:
        shape: Shape of one sample, where the one field is an array itself.
        text: Whether the field is a text; then there is a tuple in place of the array.
    """

    paths: tuple[str, ...]
    shape: tuple[int, ...] = ()
    text: bool = False

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """Shape of one sample."""
        return self.shape or ((len(self.paths),) if len(self.paths) > 1 else ())


def vector(path: str) -> Source:
    """Take x, y, z of a Vector3 or Point."""
    return Source(tuple(f'{path}.{axis}' for axis in 'xyz'))


def quaternion(path: str) -> Source:
    """Take x, y, z, w of a Quaternion."""
    return Source(tuple(f'{path}.{axis}' for axis in 'xyzw'))


def matrix(path: str, size: int) -> Source:
    """Take a covariance, which is a flat array in the message."""
    return Source((path,), (size, size))


@dataclass(frozen=True)
class Series:
    """What all series have, n samples in the order of bag time.

    Attributes:
        bag_time_ns (n,): When the recorder received the message [ns since the epoch].
        stamp_ns (n,): Stamp of the header: the instant the values belong to [ns since the epoch].
        frame_id: Frame of the first message.
        findings: What is odd about it.
    """

    MSGTYPE: ClassVar[str] = ''

    topic: str
    bag_time_ns: NDArray[np.int64]
    stamp_ns: NDArray[np.int64]
    frame_id: str
    findings: tuple[Finding, ...]

    def __len__(self) -> int:
        return len(self.stamp_ns)

    def seconds(self, origin_ns: int) -> Array:
        """Return the stamps as seconds after an instant, best a stamp of the same bag [ns].

        The difference is taken in integers, so nothing is lost.
        """
        return (self.stamp_ns - origin_ns) / NS


@dataclass(frozen=True)
class JointSeries(Series):
    """sensor_msgs/JointState: m joints, by default the six legs in the order leg_1 to leg_6.

    Columns (n, m) are in the order of `names`: for legs the stroke [m], its rate [m/s] and the
    force [N]; NaN where not measured.
    """

    MSGTYPE: ClassVar[str] = 'sensor_msgs/msg/JointState'

    names: tuple[str, ...]
    position: Array
    velocity: Array
    effort: Array


@dataclass(frozen=True)
class SetpointSeries(Series):
    """stewart_interfaces/PlatformSetpoint: platform_link's origin and attitude, base_link axes."""

    MSGTYPE: ClassVar[str] = 'stewart_interfaces/msg/PlatformSetpoint'

    position: Annotated[Array, vector('pose.position')]
    quaternion_xyzw: Annotated[Array, quaternion('pose.orientation')]
    linear_velocity: Annotated[Array, vector('twist.linear')]
    angular_velocity: Annotated[Array, vector('twist.angular')]
    linear_acceleration: Annotated[Array, vector('accel.linear')]
    angular_acceleration: Annotated[Array, vector('accel.angular')]


@dataclass(frozen=True)
class PoseSeries(Series):
    """geometry_msgs/PoseStamped, in the frame `frame_id`."""

    MSGTYPE: ClassVar[str] = 'geometry_msgs/msg/PoseStamped'

    position: Annotated[Array, vector('pose.position')]
    quaternion_xyzw: Annotated[Array, quaternion('pose.orientation')]


@dataclass(frozen=True)
class PoseWithCovarianceSeries(Series):
    """geometry_msgs/PoseWithCovarianceStamped; the covariance is all zero where it is unknown."""

    MSGTYPE: ClassVar[str] = 'geometry_msgs/msg/PoseWithCovarianceStamped'

    position: Annotated[Array, vector('pose.pose.position')]
    quaternion_xyzw: Annotated[Array, quaternion('pose.pose.orientation')]
    covariance: Annotated[Array, matrix('pose.covariance', 6)]


@dataclass(frozen=True)
class OdometrySeries(Series):
    """nav_msgs/Odometry: the pose in `frame_id`, the twist in the axes of the child frame."""

    MSGTYPE: ClassVar[str] = 'nav_msgs/msg/Odometry'

    position: Annotated[Array, vector('pose.pose.position')]
    quaternion_xyzw: Annotated[Array, quaternion('pose.pose.orientation')]
    pose_covariance: Annotated[Array, matrix('pose.covariance', 6)]
    linear_velocity: Annotated[Array, vector('twist.twist.linear')]
    angular_velocity: Annotated[Array, vector('twist.twist.angular')]
    twist_covariance: Annotated[Array, matrix('twist.covariance', 6)]


@dataclass(frozen=True)
class ImuSeries(Series):
    """sensor_msgs/Imu in sensor axes (REP-145); the specific force is +g upwards at rest.

    A covariance (n, 3, 3) that is all zero is unknown; a first element of -1 says not measured.
    """

    MSGTYPE: ClassVar[str] = 'sensor_msgs/msg/Imu'

    quaternion_xyzw: Annotated[Array, quaternion('orientation')]
    orientation_covariance: Annotated[Array, matrix('orientation_covariance', 3)]
    angular_velocity: Annotated[Array, vector('angular_velocity')]
    angular_velocity_covariance: Annotated[Array, matrix('angular_velocity_covariance', 3)]
    specific_force: Annotated[Array, vector('linear_acceleration')]
    specific_force_covariance: Annotated[Array, matrix('linear_acceleration_covariance', 3)]


@dataclass(frozen=True)
class AccelerationSeries(Series):
    """geometry_msgs/AccelWithCovarianceStamped."""

    MSGTYPE: ClassVar[str] = 'geometry_msgs/msg/AccelWithCovarianceStamped'

    linear: Annotated[Array, vector('accel.accel.linear')]
    angular: Annotated[Array, vector('accel.accel.angular')]
    covariance: Annotated[Array, matrix('accel.covariance', 6)]


@dataclass(frozen=True)
class TrackingErrorSeries(Series):
    """stewart_interfaces/TrackingError: commanded minus achieved, in base_link axes.

    The rotation is a vector from achieved to commanded [rad]; strokes (n, 6) of legs 1 to 6.
    """

    MSGTYPE: ClassVar[str] = 'stewart_interfaces/msg/TrackingError'

    position: Annotated[Array, vector('position')]
    rotation: Annotated[Array, vector('rotation')]
    strokes: Annotated[Array, Source(('strokes',), (6,))]


@dataclass(frozen=True)
class EstimatorStatusSeries(Series):
    """stewart_interfaces/EstimatorStatus: how the legs fitted what the estimator predicted.

    Attributes:
        innovations, sigmas (n, 6): Measured minus predicted lengths and their predicted standard
            deviations [m].
        nis (n,): Normalised innovation squared.
        accelerometer_bias, gyroscope_bias: In imu_link axes.
        imu_delay (n,): [s]; NaN where it is not estimated.
        accepted, rejected (n, 6): Samples of each leg up to here.
    """

    MSGTYPE: ClassVar[str] = 'stewart_interfaces/msg/EstimatorStatus'

    innovations: Annotated[Array, Source(('innovations',), (6,))]
    sigmas: Annotated[Array, Source(('innovation_sigmas',), (6,))]
    nis: Annotated[Array, Source(('nis',))]
    accelerometer_bias: Annotated[Array, vector('accelerometer_bias')]
    gyroscope_bias: Annotated[Array, vector('gyroscope_bias')]
    imu_delay: Annotated[Array, Source(('imu_delay',))]
    accepted: Annotated[Array, Source(('accepted',), (6,))]
    rejected: Annotated[Array, Source(('rejected',), (6,))]


@dataclass(frozen=True)
class DriverStateSeries(Series):
    """stewart_interfaces/DriverState: one sample per change; states as numbered there."""

    MSGTYPE: ClassVar[str] = 'stewart_interfaces/msg/DriverState'
    STATES: ClassVar = ('DISABLED', 'ENABLING', 'ENABLED', 'STOPPING', 'FAULT')

    state: Annotated[Array, Source(('state',))]
    homed: Annotated[Array, Source(('homed',))]
    simulated: Annotated[Array, Source(('simulated',))]
    reason: Annotated[tuple[str, ...], Source(('reason',), text=True)]

    @property
    def names(self) -> list[str]:
        """Names of the states; the number where it has none."""
        numbers = map(int, self.state)
        return [self.STATES[n] if n < len(self.STATES) else str(n) for n in numbers]
