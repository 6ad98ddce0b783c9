# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The three topics that an estimate goes out on."""

from __future__ import annotations

from geometry_msgs.msg import AccelWithCovarianceStamped
from nav_msgs.msg import Odometry
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import Header
from stewart_estimation.live_rows import LiveRows
from stewart_estimation.odometry import EstimateColumns
from stewart_estimation.settings import FilterSettings
from stewart_interfaces.msg import EstimatorStatus
from stewart_node_support.codec import Writer
from stewart_node_support.conversions import BASE_FRAME
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import SENSOR_QOS
from stewart_node_support.stamps import NANOSECONDS

CHILD_FRAME = 'platform_link'

FIT = ('innovations', 'innovation_sigmas', 'nis')
IMU = ('accelerometer_bias', 'gyroscope_bias', 'imu_delay')


class EstimatePublishers:
    """Publish estimates one after the other, written into the bytes of messages made once.

    Args:
        node: Node that publishes.
    """

    def __init__(self, node: Node) -> None:
        """Open the topics."""
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
        report = rows.report
        delay = report[:, 22:23] if self._delayed else np.full((len(rows), 1), np.nan)
        fits = np.hstack([rows.verdicts[:, :13], report[:, 16:22], delay])
        self._counts[:6], self._counts[6:] = counts
        for row, stamp in enumerate(rows.stamps.tolist()):
            self._motion[:], self._acceleration[:] = motions[row], accelerations[row]
            self._fit[:] = fits[row]
            for publisher, writer in self._writers:
                publisher.publish(writer.stamped(origin + round(stamp * NANOSECONDS)))
