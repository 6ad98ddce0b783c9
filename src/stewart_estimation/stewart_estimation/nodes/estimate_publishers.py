# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The three topics that an estimate goes out on."""

from __future__ import annotations

from collections.abc import Callable

from geometry_msgs.msg import AccelWithCovarianceStamped, Quaternion, TransformStamped
from nav_msgs.msg import Odometry
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import Header
from stewart_estimation.errors import EstimationError
from stewart_estimation.live_rows import LiveRows
from stewart_estimation.machine import Array
from stewart_estimation.odometry import EstimateColumns
from stewart_estimation.settings import FilterSettings
from stewart_interfaces.msg import EstimatorStatus
from stewart_node_support.codec import Writer
from stewart_node_support.conversions import BASE_FRAME, header_msg, vector3_msg
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import SENSOR_QOS
from stewart_node_support.stamps import from_nanoseconds, NANOSECONDS

CHILD_FRAME, ESTIMATE_FRAME = 'platform_link', 'platform_estimate'

FIT = ('innovations', 'innovation_sigmas', 'nis')
IMU = ('accelerometer_bias', 'gyroscope_bias', 'imu_delay')


class EstimatePublishers:
    """Publish estimates one after the other, written into the bytes of messages made once.

    Args:
        transforms: Whether `base_link` to `platform_estimate` is broadcast, too.

    Raises:
        EstimationError: If transforms are asked for and tf2_msgs is not installed.
    """

    def __init__(self, node: Node, *, transforms: bool = False) -> None:
        header = Header(frame_id=BASE_FRAME)
        messages = {
            'platform/odometry': Odometry(header=header, child_frame_id=CHILD_FRAME),
            'platform/acceleration': AccelWithCovarianceStamped(header=header),
            'estimator/status': EstimatorStatus(header=header),
        }
        self._writers = [
            (CountedPublisher(node, type(message), topic, SENSOR_QOS), Writer(message))
            for topic, message in messages.items()
        ]
        odometry, acceleration, status = (writer for _, writer in self._writers)
        self._motion = odometry.view('pose', 'twist')
        self._acceleration = acceleration.view('accel')
        self._fit, self._counts = status.view(*FIT, *IMU), status.view('accepted', 'rejected')
        self._broadcast = broadcaster(node) if transforms else None

    def use(self, settings: FilterSettings) -> None:
        """Take what the filter is told from now on."""
        self._columns = EstimateColumns(settings)
        self._delayed = settings.delay is not None

    def publish(
        self, origin: int, rows: LiveRows, counts: tuple[NDArray[np.int64], NDArray[np.int64]]
    ) -> None:
        """Publish estimates.

        Args:
            origin: Time 0 of their stamps [ns].
            rows: One or more.
            counts (6,): Samples of each leg accepted and rejected so far.
        """
        motions, accelerations = self._columns.of(rows)
        fits = rows.fit(delayed=self._delayed)
        self._counts[:6], self._counts[6:] = counts
        for row, seconds in enumerate(rows.stamps.tolist()):
            stamp = origin + round(seconds * NANOSECONDS)
            self._motion[:], self._acceleration[:] = motions[row], accelerations[row]
            self._fit[:] = fits[row]
            for publisher, writer in self._writers:
                publisher.publish(writer.stamped(stamp))
            if self._broadcast is not None:
                self._broadcast(transform(stamp, motions[row]))


def transform(stamp: int, motion: Array) -> TransformStamped:
    """Return where the platform is estimated, from the pose that a motion begins with."""
    header = header_msg(from_nanoseconds(stamp))
    item = TransformStamped(header=header, child_frame_id=ESTIMATE_FRAME)
    position, (x, y, z, w) = motion[:3].tolist(), motion[3:7].tolist()
    item.transform.translation = vector3_msg(position)
    item.transform.rotation = Quaternion(x=x, y=y, z=z, w=w)
    return item


def broadcaster(node: Node) -> Callable[[TransformStamped], None]:
    """Return what publishes a transform on ``tf``, that of the node's namespace."""
    try:
        from tf2_msgs.msg import TFMessage
    except ImportError as error:
        raise EstimationError(
            'publish_tf is true, which needs tf2_msgs: install ros-jazzy-tf2-msgs'
        ) from error
    publisher = node.create_publisher(TFMessage, 'tf', 100)
    return lambda item: publisher.publish(TFMessage(transforms=[item]))
