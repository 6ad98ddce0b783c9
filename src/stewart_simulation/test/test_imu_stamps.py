# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Stamps of the driver's reader on a line that spoils 5 % of the cycles, along simulated time."""

from __future__ import annotations

import numpy as np
import pytest
from stewart_driver.witmotion.frames import AngularVelocityFrame, FRAME_LENGTH, FrameType
from stewart_driver.witmotion.reader import ReaderSettings, StampedSample
from stewart_simulation.serial_imu.inertial import InertialState
from stewart_simulation.serial_imu.inline_port import InlinePort
from stewart_simulation.serial_imu.inline_sensor import InlineReader
from stewart_simulation.serial_imu.measurement import Imperfections
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor

IMU = (FrameType.ACCELERATION, FrameType.ANGULAR_VELOCITY, FrameType.QUATERNION)
CYCLE = len(IMU) * FRAME_LENGTH
# The gyroscope tells the number of the cycle, again from zero after `NUMBERS`.
NUMBERS = 1000
STEP = 8 * np.radians(2000.0) / 32768


class Spoiler:
    """A sensor whose cycles are numbered and, once told, spoilt; and its reader."""

    def __init__(
        self, batch_interval: float, latency: float, content: tuple[FrameType, ...] = IMU
    ) -> None:
        self.time = 100.0
        self.kind = ''
        self.measured: list[float] = []
        self.rng = np.random.default_rng(4)
        port = InlinePort()
        self.sensor = PluggedSensor(self.feel, now=lambda: self.time, port=port, latency=latency)
        self.sensor.sensor.flaws = Imperfections(0.0, 0.0, 0.0)
        self.sensor.begin()
        settings = ReaderSettings(
            content=tuple(kind.name.lower() for kind in content), batch_interval=batch_interval
        )
        self.cycle = len(content) * FRAME_LENGTH
        self.reader = InlineReader(self.sensor, settings, lambda: self.time)

    def feel(self, since: float) -> InertialState:
        number = len(self.measured) % NUMBERS
        self.measured.append(self.sensor.next_cycle)
        line = self.sensor.line
        line.corrupt = line.lose = 0
        line.bit_errors = 0.05 / CYCLE if self.kind == 'bits' else 0.0
        if self.rng.random() < 0.05:
            line.corrupt = int(self.rng.integers(1, 4)) if self.kind == 'checksums' else 0
            line.lose = int(self.rng.integers(1, CYCLE)) if self.kind == 'bytes' else 0
            line.lose = self.cycle if self.kind == 'cycles' else line.lose
        return InertialState(angular_velocity=(number * STEP, 0.0, 0.0))

    def run(self, duration: float) -> list[StampedSample]:
        end, samples = self.time + duration, []
        while self.time < end:
            samples += self.reader.step()
            self.time = max(min(self.sensor.due, self.reader.due), self.time + 1e-9)
        return samples

    def error(self, item: StampedSample) -> float:
        """Return stamp minus truth [s]."""
        frame = item.sample.get(AngularVelocityFrame)
        assert frame is not None
        number = round(frame.angular_velocity[0] / STEP)
        return min((item.stamp - time for time in self.measured[number::NUMBERS]), key=abs)


@pytest.mark.parametrize('latency', [pytest.param(0.0, marks=pytest.mark.slow), 0.001])
@pytest.mark.parametrize(
    ('kind', 'batch_interval'),
    # A cycle of which nothing comes can be told only where samples are read one by one.
    [
        ('checksums', 0.04),
        pytest.param('bits', 0.04, marks=pytest.mark.slow),
        pytest.param('checksums', 0.0, marks=pytest.mark.slow),
        ('bits', 0.0),
        ('bytes', 0.0),
        ('cycles', 0.0),
    ],
)
def test_stamps_are_right_to_a_millisecond_with_one_cycle_in_twenty_spoilt(
    kind: str, batch_interval: float, latency: float
) -> None:
    bench = Spoiler(batch_interval, latency)
    bench.run(5.0)
    bench.kind = kind
    samples = bench.run(10.0)
    stamps = [item.stamp for item in samples]
    errors = [bench.error(item) for item in samples if item.sample.get(AngularVelocityFrame)]

    assert len(errors) > 1750
    assert np.quantile(np.abs(errors), 0.99) < 1e-3
    assert np.diff(stamps).min() > 0.0
    assert bench.reader.status.restarts == 0


@pytest.mark.parametrize(
    ('batch_interval', 'latency'),
    [(0.0, 0.0), (0.0, 0.001), (0.0, 0.016), (0.04, 0.0), (0.04, 0.001)],
)
def test_cycles_that_vanish_among_others_are_found_by_the_own_time_of_the_sensor(
    batch_interval: float, latency: float
) -> None:
    bench = Spoiler(batch_interval, latency, (FrameType.TIME, *IMU))
    bench.run(5.0)
    bench.kind = 'cycles'
    samples = bench.run(10.0)
    errors = [bench.error(item) for item in samples if item.sample.get(AngularVelocityFrame)]

    spread = np.abs(np.array(errors) - np.median(errors))
    print(f'\n{1e3 * np.median(errors):.2f} ms, 99 % within {1e3 * np.quantile(spread, 0.99):.2f}')
    # With a timer of 16 ms no sample of 5 ms need ever come sooner than 1 ms late.
    assert abs(np.median(errors)) < (1.2e-3 if latency > 0.01 else 1e-3)
    assert np.quantile(spread, 0.99) < 1e-3
