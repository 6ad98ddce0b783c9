# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Publish what a WitMotion sensor on a serial port says, and why where it says nothing."""

from __future__ import annotations

from typing import Any

from rclpy.lifecycle import LifecycleState
from sensor_msgs import msg
from stewart_driver.nodes.imu_messages import ImuMessages
from stewart_driver.nodes.imu_parameters import ImuParameters
from stewart_driver.nodes.sample_source import (
    DeviceClock,
    SampleSource,
    SteppedSource,
    ThreadedSource,
)
from stewart_driver.witmotion.health import HealthMonitor
from stewart_driver.witmotion.reader import StampedSample
from stewart_node_support.diagnostics import Diagnostics, Level, Report
from stewart_node_support.lifecycle import DeviceNode, transition
from stewart_node_support.parameters import declare
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import SENSOR_QOS
from stewart_node_support.stamps import from_nanoseconds

CLOCK_PERIOD = 1.0


class Imu(DeviceNode):
    """Own the reader: configured it runs, active its samples are published.

    Publishes ``imu/data``, ``imu/mag``, ``imu/temperature``, ``imu/pressure`` and ``imu/fix``,
    each only when the sensor sends what it is made of.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('imu', **kwargs)
        self._chosen = declare(self, ImuParameters)
        self._messages = ImuMessages(self._chosen)
        self._source: SampleSource | None = None
        self._health: HealthMonitor | None = None
        self._time: DeviceClock | None = None
        self._stamp: float | None = None
        self._said = ''
        self._temperature_due = 0.0
        self.published: dict[str, CountedPublisher] = {}
        self._data = CountedPublisher(self, msg.Imu, 'imu/data', SENSOR_QOS)
        self._outputs = [
            (CountedPublisher(self, kind, topic, SENSOR_QOS), make)
            for kind, topic, make in (
                (msg.MagneticField, 'imu/mag', self._messages.mag),
                (msg.FluidPressure, 'imu/pressure', self._messages.pressure),
                (msg.NavSatFix, 'imu/fix', self._messages.fix),
            )
        ]
        self._temperature = CountedPublisher(self, msg.Temperature, 'imu/temperature', SENSOR_QOS)
        self._diagnostics = Diagnostics(self, self._chosen.port)
        self._diagnostics.add('sensor', self._report)

    @transition
    def on_configure(self, state: LifecycleState) -> None:
        """Start the reader; a port that is not there yet is waited for."""
        self._time = clock = DeviceClock(self)
        settings = self._chosen.reader_settings()
        self._stamp = None
        self._health = HealthMonitor(settings)
        kind = SteppedSource if clock.simulated else ThreadedSource
        self._source = kind(self, settings, clock, self._publish)
        self.every(CLOCK_PERIOD, clock.refresh)

    @transition
    def on_activate(self, state: LifecycleState) -> None:
        """Begin to publish, with what is measured from now on."""
        self._take()
        self.active = True

    def let_go(self) -> None:
        """End the reader and close the port."""
        source, self._source = self._source, None
        if source is not None:
            source.end()

    def _take(self) -> list[StampedSample]:
        samples = [] if self._source is None else self._source.take()
        if samples:
            self._stamp = samples[-1].stamp
        return samples

    def _publish(self) -> None:
        samples = self._take()
        if not self.active:
            return
        assert self._time is not None
        for item in samples:
            nanoseconds = self._time.stamp(item.stamp - self._chosen.latency)
            data = self._messages.data(item.sample, nanoseconds)
            if data is not None:
                self._data.publish(data)
            stamp = from_nanoseconds(nanoseconds)
            for publisher, make in self._outputs:
                message = make(item.sample, stamp)
                if message is not None:
                    publisher.publish(message)
            if item.stamp >= self._temperature_due:
                message = self._messages.temperature(item.sample, stamp)
                if message is not None:
                    self._temperature.publish(message)
                    self._temperature_due = item.stamp + self._chosen.temperature_period

    def _report(self) -> Report:
        if self._source is None or self._health is None or self._time is None:
            return Report(Level.STALE, 'not configured')
        now = self._time.now()
        age = None if self._stamp is None else now - self._stamp
        verdict = self._health.assess(self._source.status, now, age)
        # Diagnostics are shown by few programs; a wrong port is said in the terminal as well.
        trouble = self._source.status.trouble
        if trouble and trouble != self._said:
            self.get_logger().error(verdict.message, throttle_duration_sec=10.0)
        elif self._said and not trouble:
            self.get_logger().info('data comes again')
        self._said = trouble
        return Report(Level(verdict.severity), verdict.message, verdict.values)
