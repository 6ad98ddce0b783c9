# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Turn what IMU and legs measure into the motion of the platform."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import Imu, JointState
from stewart_estimation.errors import EstimationError
from stewart_estimation.live_estimation import LiveEstimation
from stewart_estimation.live_rows import LiveRows
from stewart_estimation.machine import load_machine
from stewart_estimation.nodes.estimate_messages import (
    imu_reader,
    ImuReading,
    stated_sigmas,
    stroke_reader,
)
from stewart_estimation.nodes.estimate_publishers import EstimatePublishers
from stewart_estimation.nodes.estimator_parameters import EstimatorParameters, settings_from
from stewart_node_support.diagnostics import Diagnostics, Level, Refusals, Report
from stewart_node_support.errors import MessageError
from stewart_node_support.parameters import declare
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import SENSOR_QOS
from stewart_node_support.running import run
from stewart_node_support.stamps import NANOSECONDS

LEVELS = {'ok': Level.OK, 'warn': Level.WARN, 'error': Level.ERROR}


class StateEstimator(Node):
    """Subscribe ``imu/data`` and ``actuator_states``, publish where the platform is.

    ``platform/odometry``, ``platform/acceleration`` and ``estimator/status`` carry the stamp of
    the leg sample, as soon as the IMU has passed it. While the legs are silent they follow the
    IMU for ``coast``; then, and until there is a start, nothing is published and the diagnostics
    say why.
    """

    def __init__(self, **kwargs: Any) -> None:
        """Declare parameters, make the filter, then open the interfaces."""
        super().__init__('state_estimator', **kwargs)
        self._asked = declare(self, EstimatorParameters)
        self._platform = load_machine(
            self._asked.platform, self._asked.imu_position, self._asked.imu_rpy_deg
        )
        settings = settings_from(self._asked, self._platform, None, None)
        self._live = LiveEstimation(self._platform.geometry, settings, coast=self._asked.coast)
        self._imu_reader, self._stroke_reader = imu_reader(), stroke_reader()
        self._origin: int | None = None
        self._stated = False
        self.refusals = Refusals('messages')
        self.published: dict[str, CountedPublisher] = {}
        self._estimates = EstimatePublishers(self)
        self._estimates.use(settings)
        self.diagnostics = Diagnostics(self, self._platform.name)
        self.diagnostics.add('estimate', self._report)
        self.diagnostics.add('input', self.refusals.report)
        self.create_subscription(Imu, 'imu/data', self._on_imu, SENSOR_QOS, raw=True)
        self.create_subscription(
            JointState, 'actuator_states', self._on_legs, SENSOR_QOS, raw=True
        )

    def _on_imu(self, data: bytes) -> None:
        try:
            item = self._imu_reader.read(data)
            if not self._stated:
                self._take_stated_noise(item)
            stamp = self._seconds(item.stamp)
            self._publish(self._live.imu(stamp, item.specific_force, item.angular_velocity))
        except (MessageError, EstimationError) as error:
            self.refusals.refuse(self, error)
        else:
            self.refusals.accept()

    def _on_legs(self, data: bytes) -> None:
        try:
            item = self._stroke_reader.read(data)
            lengths = item.strokes + self._platform.geometry.retracted_length
            self._publish(self._live.legs(self._seconds(item.stamp), lengths))
        except (MessageError, EstimationError) as error:
            self.refusals.refuse(self, error)
        else:
            self.refusals.accept()

    def _take_stated_noise(self, item: ImuReading) -> None:
        """Let the first message say how noisy the IMU is, where it does."""
        self._stated = True
        force = stated_sigmas(item.force_covariance)
        rate = stated_sigmas(item.rate_covariance)
        settings = settings_from(self._asked, self._platform, force, rate)
        self._live.tell(settings)
        self._estimates.use(settings)

    def _seconds(self, stamp: int) -> float:
        """Return a stamp after the first one: small enough to be exact as a float [s]."""
        if self._origin is None:
            self._origin = stamp
        return (stamp - self._origin) / NANOSECONDS

    def _publish(self, rows: LiveRows) -> None:
        if len(rows):
            counts = self._live.accepted, self._live.rejected
            self._estimates.publish(self._origin or 0, rows, counts)

    def _report(self) -> Report:
        health, live = self._live.health(), self._live
        counts = {'accepted': live.accepted.tolist(), 'rejected': live.rejected.tolist()}
        values = {'mean_nis': live.mean_nis, 'restarts': live.restarts, **counts}
        return Report(LEVELS[health.level], health.sentence, values)


def main() -> None:
    """Run the node until it is asked to stop."""
    run(StateEstimator)


if __name__ == '__main__':
    main()
