# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver's reader on a sensor in this process, along simulated time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from stewart_driver.witmotion.frames import AngularVelocityFrame, FrameType
from stewart_driver.witmotion.reader import ReaderPhase, ReaderSettings, StampedSample
from stewart_driver.witmotion.transport import PortError
from stewart_simulation.serial_imu.inertial import InertialState
from stewart_simulation.serial_imu.inline_port import InlinePort
from stewart_simulation.serial_imu.inline_sensor import InlineReader
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor

IMU = (FrameType.ACCELERATION, FrameType.ANGULAR_VELOCITY, FrameType.QUATERNION)
# One step of the gyroscope, 2000 deg/s in 32768 [rad/s].
STEP = np.radians(2000.0) / 32768


@dataclass
class Bench:
    """Sensor and reader on a clock that goes from one appointment to the next."""

    time: float = 100.0
    measured: list[float] = field(default_factory=list)
    samples: list[StampedSample] = field(default_factory=list)
    save: bool = False

    def __post_init__(self) -> None:
        self.port = InlinePort()
        self.sensor = PluggedSensor(self.feel, now=self.now, port=self.port)
        self.sensor.begin()
        self.reader = InlineReader(self.sensor, ReaderSettings(save=self.save), self.now)

    def now(self) -> float:
        return self.time

    def feel(self, since: float) -> InertialState:
        self.measured.append(self.sensor.next_cycle)
        return InertialState(angular_velocity=(0.1 * np.sin(since), 0.0, 0.0))

    def run(self, duration: float, until: Callable[[], bool] = lambda: False) -> None:
        end = self.time + duration
        while self.time < end and not until():
            self.samples += self.reader.step()
            self.time = max(min(self.sensor.due, self.reader.due), self.time + 1e-9)


def test_a_sensor_from_the_factory_is_found_and_configured_without_a_thread() -> None:
    bench = Bench()
    bench.run(10.0)

    status = bench.reader.status
    assert status.phase is ReaderPhase.STREAMING
    assert (status.baud, status.trouble, status.misconfigured) == (115200, '', '')
    assert status.decoder.checksum_errors == 0
    assert bench.sensor.sensor.period == pytest.approx(0.005)
    assert len(bench.samples) > 1000


def test_stamps_are_the_instants_of_the_measurements() -> None:
    bench = Bench()
    bench.run(10.0)

    stamps = np.array([item.stamp for item in bench.samples])[-1000:]
    measured = np.array(bench.measured)
    nearest = measured[np.abs(measured[None] - stamps[:, None]).argmin(axis=1)]
    assert np.abs(stamps - nearest).max() < 2e-6
    assert np.diff(stamps) == pytest.approx(0.005, abs=2e-6)


def test_what_arrives_is_what_was_felt() -> None:
    bench = Bench()
    bench.sensor.sensor.flaws = type(bench.sensor.sensor.flaws)(0.0, 0.0, 0.0)
    bench.run(8.0)

    assert len(bench.samples) > 500
    for item in bench.samples[-500:]:
        frame = item.sample.get(AngularVelocityFrame)
        assert frame is not None
        felt = 0.1 * np.sin(item.stamp - 100.0)
        assert frame.angular_velocity[0] == pytest.approx(felt, abs=STEP)


def test_what_is_read_together_has_the_stamps_of_single_reads() -> None:
    one_by_one, together = Bench(), Bench()
    for bench in (one_by_one, together):
        bench.run(6.0)
        bench.samples.clear()
    one_by_one.run(2.0)
    together.sensor.gathers = True
    for _ in range(20):
        together.time += 0.1
        found = together.reader.step()
        assert len(found) == pytest.approx(20, abs=1)
        together.samples += found

    assert together.samples == one_by_one.samples[: len(together.samples)]
    assert len(together.samples) == pytest.approx(len(one_by_one.samples), abs=1)


@pytest.mark.parametrize('save', [True, False])
def test_a_rate_that_needs_a_restart_is_reached_or_it_is_said_what_it_needs(*, save: bool) -> None:
    bench = Bench(save=save)
    bench.sensor.sensor.needs_restart = frozenset({3})
    bench.run(12.0)

    status = bench.reader.status
    assert bench.sensor.sensor.registers[3] == 11
    assert 1.0 / status.period == pytest.approx(200.0 if save else 10.0, rel=1e-3)
    assert bool(status.misconfigured) is not save
    assert ('`save` has to be true' in status.misconfigured) is not save


def test_a_rate_that_fell_and_is_as_wanted_again_is_no_longer_said_to_be_wrong() -> None:
    bench = Bench()
    bench.run(6.0)
    bench.sensor.sensor.rate_cap = 50.0
    bench.run(6.0, until=lambda: bool(bench.reader.status.misconfigured))
    assert 'its stream is not' in bench.reader.status.misconfigured

    bench.sensor.sensor.rate_cap = np.inf
    bench.run(6.0)

    assert 1.0 / bench.reader.status.period == pytest.approx(200.0, rel=1e-3)
    assert bench.reader.status.misconfigured == ''


def test_two_runs_are_the_same_to_the_bit() -> None:
    first, second = Bench(), Bench()
    first.run(6.0)
    second.run(6.0)

    assert [item.stamp for item in first.samples] == [item.stamp for item in second.samples]
    assert [item.sample for item in first.samples] == [item.sample for item in second.samples]


def test_a_sensor_that_is_unplugged_is_waited_for_and_configured_again() -> None:
    bench = Bench()
    bench.run(6.0)
    bench.sensor.unplug()
    bench.run(3.0)
    assert bench.reader.status.phase is ReaderPhase.WAITING
    assert 'no such device' in bench.reader.status.trouble

    bench.sensor.plug()
    before = len(bench.samples)
    bench.run(12.0)

    assert bench.reader.status.connections == 2
    assert len(bench.samples) - before > 500


def test_the_port_has_one_host_and_forgets_it_when_it_closes() -> None:
    port = InlinePort()
    host = port.open(9600)
    with pytest.raises(PortError, match='open already'):
        port.open(9600)
    host.write(b'ask')
    assert port.read() == b'ask'
    port.write(b'answer')
    assert (host.read(1.0), port.host_baud()) == (b'answer', 9600)

    host.close()
    assert port.host_baud() == 0
    again = port.open(115200)
    port.unplug()
    with pytest.raises(PortError, match='hung up'):
        again.read(0.0)
    with pytest.raises(PortError, match='no such device'):
        port.open(9600)
