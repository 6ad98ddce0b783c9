# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The three topics that an estimate goes out on."""

from __future__ import annotations

from geometry_msgs.msg import AccelWithCovarianceStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from stewart_estimation.estimate import Estimate
from stewart_estimation.live_rows import LiveResult
from stewart_estimation.nodes.estimate_messages import Counts, EstimateWriter
from stewart_estimation.settings import FilterSettings
from stewart_interfaces.msg import EstimatorStatus
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import SENSOR_QOS


class EstimatePublishers:
    """Publish estimates one after the other.

    Args:
        node: Node that publishes.
    """

    def __init__(self, node: Node) -> None:
        """Open the topics."""
        self._odometry = CountedPublisher(node, Odometry, 'platform/odometry', SENSOR_QOS)
        self._acceleration = CountedPublisher(
            node, AccelWithCovarianceStamped, 'platform/acceleration', SENSOR_QOS
        )
        self._status = CountedPublisher(node, EstimatorStatus, 'estimator/status', SENSOR_QOS)
        self._writer = EstimateWriter()
        self._before: Estimate | None = None

    def publish(
        self,
        stamp: int,
        item: LiveResult,
        settings: FilterSettings,
        counts: tuple[Counts, Counts],
    ) -> None:
        """Publish one estimate.

        Args:
            stamp: Of the estimate [ns].
            item: The estimate and how the legs fitted.
            settings: What the filter was told.
            counts (6,): Samples accepted and rejected so far.
        """
        estimate, writer = item.estimate, self._writer
        before = None if item.restarted else self._before
        self._odometry.publish(writer.odometry(stamp, estimate))
        self._acceleration.publish(writer.acceleration(stamp, estimate, before, settings))
        delayed = settings.delay is not None
        self._status.publish(writer.status(stamp, estimate, item.update, counts, delayed=delayed))
        self._before = estimate
