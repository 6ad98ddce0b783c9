# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A reader and a scripted sensor, in the sensor's own time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from scripted_sensor import framed, ScriptedSensor
from stewart_driver.witmotion.health import HealthMonitor, Severity, Verdict
from stewart_driver.witmotion.link import carry_out
from stewart_driver.witmotion.reader import ImuReader, ReaderSettings, ReaderStatus

SETTINGS = ReaderSettings(port='scripted', queue=100_000)
READ = bytes.fromhex('ff aa 27')


class StreamingSensor(ScriptedSensor):
    """It sends what is wanted of it, at 200 Hz, and hears nothing before an instant [s]."""

    types: tuple[int, ...] = (0x51, 0x52, 0x59)

    def __init__(self, hears_from: float) -> None:
        super().__init__(6, stream=False)
        self.registers |= {2: 0x0206, 3: 0x0B, 0x1F: 2, 0x24: 1}
        self._hears_from, self.asked = hears_from, 0

    def read(self, timeout: float) -> bytes:
        self.deaf = self.time < self._hears_from
        cycle = b''.join(framed(kind, bytes([kind, *bytes(7)])) for kind in self.types)
        return super().read(min(timeout, 0.005)) + cycle

    def write(self, data: bytes) -> None:
        self.asked += data.startswith(READ)
        super().write(data)


def read(
    sensor: StreamingSensor, seconds: float, look: Callable[[ImuReader], object] = id
) -> ImuReader:
    """Read for a time, and look at the reader before each read."""
    reader = ImuReader(lambda _: sensor, SETTINGS, now=lambda: sensor.time, sleep=lambda _: None)
    original = sensor.read

    def until_then(timeout: float) -> bytes:
        look(reader)
        if sensor.time > seconds:
            reader._stop.set()
        return original(timeout)

    sensor.read = until_then  # type: ignore[method-assign]
    carry_out(reader.converse(), lambda _: None, lambda _: reader._stop.is_set())
    return reader


def looked_at(sensor: StreamingSensor) -> list[Verdict]:
    """Return what is said of a sensor after 10 s, for the first time, and after 20 s."""
    monitor = HealthMonitor(SETTINGS)
    looks: list[ReaderStatus] = []

    def look(reader: ImuReader) -> None:
        if sensor.time > 10.0 * (len(looks) + 1):
            looks.append(reader.status)

    read(sensor, 21.0, look)
    return [monitor.assess(status, 10.0 * n, None) for n, status in enumerate(looks, 1)]


@pytest.mark.parametrize('hears_from', [0.0, 3.0])
def test_a_sensor_that_was_asked_in_vain_is_asked_again(hears_from: float) -> None:
    """It was told as not configured for ever, though it sent what was wanted."""
    sensor = StreamingSensor(hears_from)
    reader = read(sensor, 20.0)
    assert reader.status.misconfigured == ''
    assert reader.status.connections == 1
    assert len(reader.take()) > 200 * (20.0 - hears_from - 6.0)


def test_a_sensor_whose_rx_is_not_wired_is_left_alone_in_the_end() -> None:
    sensor = StreamingSensor(1e9)
    asked: list[int] = []

    def look(reader: ImuReader) -> None:
        if sensor.time > 60.0 and not asked:
            assert 'is its RX wired to TX?' in reader.status.misconfigured
            asked.append(sensor.asked)

    assert 'is its RX wired to TX?' in read(sensor, 120.0, look).status.misconfigured
    assert asked == [sensor.asked]


@pytest.mark.parametrize('types', [(0x51, 0x52, 0x59), (0x52, 0x51, 0x59), (0x51, 0x59, 0x52)])
def test_a_sensor_with_another_order_of_frames_is_told(types: tuple[int, ...]) -> None:
    """Where acceleration and angular velocity never met, `save` was advised, which cannot help."""
    sensor = StreamingSensor(0.0)
    sensor.types = types
    verdict = looked_at(sensor)[1]

    torn = 'this sensor does not send the frames of a cycle in ascending order'
    assert (torn in verdict.message) is (types != (0x51, 0x52, 0x59))
    assert (verdict.severity is Severity.ERROR) is (torn in verdict.message)


def test_no_rate_is_told_before_there_was_time_to_count() -> None:
    """The first report of a healthy sensor said 0.0 samples/s."""
    first, second = looked_at(StreamingSensor(0.0))
    assert first.severity is Severity.OK
    assert first.message == 'data comes at 115200 baud'
    rates = {'bytes/s', 'frames/s', 'samples/s', 'reader CPU [%]'}
    assert first.values.keys() == second.values.keys() - rates
    assert float(second.values['samples/s']) == pytest.approx(200.0, rel=0.01)
