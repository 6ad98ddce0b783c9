# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Publish the strokes of the position sensors on an analogue card, independently of the driver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rclpy.lifecycle import LifecycleState
from sensor_msgs.msg import JointState
from stewart_driver.daq.card_type import require_callers_time
from stewart_driver.daq.options import SensorOptions
from stewart_driver.daq.sensors import DaqReader
from stewart_driver.errors import CardError
from stewart_driver.nodes.sample_source import DeviceClock
from stewart_node_support.diagnostics import Diagnostics, Level, Report
from stewart_node_support.legs import LegWriter
from stewart_node_support.lifecycle import DeviceNode, transition
from stewart_node_support.parameters import declare
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import SENSOR_QOS
from stewart_tables.settings import param

CLOCK_PERIOD = 1.0


@dataclass(frozen=True)
class PositionSensorsParameters:
    """Parameters of the position_sensors node; those of the card stand under ``daq``."""

    rate: float = param(200.0, 'readings per second [Hz]', min=0.1, max=1000.0)
    retry: float = param(1.0, 'time until a lost card is opened anew [s]', min=0.1)


class PositionSensors(DeviceNode):
    """Read a card and set nothing: active it publishes ``position_sensors``.

    A reading with a saturated input is withheld; a lost card is opened again and again.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('position_sensors', **kwargs)
        self._chosen = declare(self, PositionSensorsParameters)
        self._options = declare(self, SensorOptions, 'daq.')
        self._reader: DaqReader | None = None
        self._time: DeviceClock | None = None
        self._trouble = ''
        self._retry_at = 0.0
        self._board = ''
        self._readings = self._withheld = 0
        self.published: dict[str, CountedPublisher] = {}
        self._writer = LegWriter()
        self._strokes = CountedPublisher(self, JointState, 'position_sensors', SENSOR_QOS)
        self._diagnostics = Diagnostics(self, self._options.device)
        self._diagnostics.add('card', self._report)

    @transition
    def on_configure(self, state: LifecycleState) -> None:
        """Look for the calibration and open the card."""
        clock = DeviceClock(self)
        reader = DaqReader(self._options)
        if clock.simulated:
            require_callers_time(self._options)
        self._board = reader.open()
        self._reader, self._time = reader, clock
        self._trouble = ''
        self.every(1.0 / self._chosen.rate, self._read)
        self.every(CLOCK_PERIOD, clock.refresh)

    def let_go(self) -> None:
        """Close the card."""
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def _read(self) -> None:
        assert self._reader is not None
        assert self._time is not None
        try:
            if not self._reader.is_open:
                if self._time.now() < self._retry_at:
                    return
                self._board = self._reader.open()
            scan = self._reader.read()
        except CardError as error:
            self._lose(str(error), self._time.now())
            return
        self._readings += 1
        self._withheld += scan.fault is not None
        self._trouble = str(scan.fault or '')
        if self.active and scan.fault is None:
            stamp = self._time.stamp(scan.stamp)
            self._strokes.publish(self._writer.write(stamp, scan.strokes, scan.rates))

    def _lose(self, trouble: str, now: float) -> None:
        if trouble != self._trouble:
            self.get_logger().error(trouble)
        self._trouble = trouble
        self._retry_at = now + self._chosen.retry
        assert self._reader is not None
        self._reader.close()

    def _report(self) -> Report:
        if self._reader is None:
            return Report(Level.STALE, 'not configured')
        values = {
            'card': self._reader.label,
            'board': self._board,
            'readings': self._readings,
            'withheld': self._withheld,
        }
        if self._trouble:
            return Report(Level.ERROR, self._trouble, values)
        return Report(Level.OK, f'{self._reader.label} reads six position sensors', values)
