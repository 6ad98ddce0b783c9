# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The imu node of the driver on the emulated sensor: topics, REP-145, diagnostics, lifecycle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from math import radians
from pathlib import Path
import time
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy')
from diagnostic_msgs.msg import DiagnosticArray
from node_harness import Harness
from rclpy.logging import LoggingSeverity
from rclpy.qos import QoSProfile
from sensor_msgs.msg import FluidPressure, Imu, MagneticField, NavSatFix, Temperature
from stewart_driver.nodes.imu import Imu as ImuNode
from stewart_node_support.lifecycle import bring_up, state_of
from stewart_node_support.stamps import to_seconds
from stewart_simulation.serial_imu import device
from stewart_simulation.serial_imu.device import Sensor
from stewart_simulation.serial_imu.emulator import SerialImu
from stewart_simulation.serial_imu.inertial import rocking
from stewart_simulation.serial_imu.measurement import EXACT
from stewart_simulation.serial_imu.pty_port import PtyPort

pytestmark = pytest.mark.ros
G = 9.80665
AMPLITUDE = radians(10.0)
# As the node wants it, so that nothing is left to be written: acceleration, angular velocity and
# quaternion at 200 Hz, six-axis algorithm, 98 Hz; test_serial_imu_emulator.py has other sensors.
AS_WANTED = {0x02: 0x0206, 0x03: 11, 0x24: 1, 0x1F: 2}
EVERYTHING = ['acceleration', 'angular_velocity', 'magnetic_field', 'pressure', 'position']
# A probe that is not scheduled for a while still hears every message.
DEEP = QoSProfile(depth=1000)
TOPICS = {
    'imu/data': Imu,
    'imu/mag': MagneticField,
    'imu/temperature': Temperature,
    'imu/pressure': FluidPressure,
    'imu/fix': NavSatFix,
}


class Rig:
    """A sensor, the node on its port, and everything that is published."""

    def __init__(self, harness: Harness, imu: SerialImu) -> None:
        self.harness, self.imu = harness, imu
        self.heard = {topic: harness.listen(kind, topic, DEEP) for topic, kind in TOPICS.items()}
        self.diagnostics = harness.listen(DiagnosticArray, '/diagnostics')
        self.node: Any = None

    def run(self, **parameters: Any) -> None:
        # A sensor that gets no turn for a while has not fallen silent.
        values = {'port': self.imu.path, 'silence': 60.0, 'backoff_max': 0.5, **parameters}
        self.node = self.harness.add(ImuNode, **values)
        bring_up(self.node)

    def until(self, topic: str, count: int = 5) -> list[Any]:
        begin = len(self.heard[topic])
        self.harness.until(lambda: len(self.heard[topic]) >= begin + count)
        return self.heard[topic][begin:]

    def deactivate(self) -> None:
        """Deactivate, and hear all that was published before."""
        self.node.trigger_deactivate()
        published = self.node.published['imu/data']
        self.harness.until(lambda: len(self.heard['imu/data']) >= published.count)

    def says(self, words: str) -> None:
        def said() -> bool:
            return bool(self.diagnostics) and words in self.diagnostics[-1].status[0].message

        self.harness.until(said)


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Rig]]:
    # A sensor that starts for longer than it is listened to is looked for at all speeds first.
    monkeypatch.setattr(device, 'RESTART', 0.1)
    with ExitStack() as stack:

        def make(latency: float = 0.0) -> Rig:
            sensor = Sensor(flaws=EXACT)
            sensor.saved |= AS_WANTED | {0x04: 6}
            sensor.restart(-1.0)
            imu = SerialImu(
                rocking(AMPLITUDE, 2.0),
                now=time.monotonic,
                sensor=sensor,
                port=PtyPort(tmp_path / 'imu'),
                latency=latency,
            )
            stack.enter_context(imu)
            return Rig(stack.enter_context(Harness(real=True)), imu)

        yield make


def test_imu_data_is_what_the_sensor_feels(rig: Callable[..., Rig]) -> None:
    bench = rig()
    # The low pass makes forces older than the attitude, by 0.6 ms.
    bench.run(bandwidth=256.0)
    for message in bench.until('imu/data', 100):
        q, force = message.orientation, message.linear_acceleration
        up = (2 * (q.x * q.z - q.w * q.y), 2 * (q.y * q.z + q.w * q.x), 1 - 2 * (q.x**2 + q.y**2))
        # At rest but for the rocking: +g upwards, in the axes of the very same instant.
        assert (force.x, force.y, force.z) == pytest.approx(np.multiply(up, G), abs=0.01)
        assert abs(message.angular_velocity.x) < 1.01 * AMPLITUDE * np.pi
        assert message.header.frame_id == 'imu_link'
    assert message.orientation_covariance[0] == pytest.approx(0.01**2)
    assert message.angular_velocity_covariance[4] == pytest.approx(1e-6)
    assert message.linear_acceleration_covariance[8] == pytest.approx(0.02**2)
    assert message.linear_acceleration_covariance[1] == 0.0


def stamps_of(messages: list[Any]) -> np.ndarray:
    return np.array([to_seconds(message.header.stamp) for message in messages])


def evenly_spaced(stamps: np.ndarray) -> np.ndarray:
    """Tell for each stamp but the outer ones whether both neighbours are where they belong."""
    return np.abs(stamps[2:] - stamps[:-2] - 0.01) < 5e-4


@pytest.mark.realtime
def test_angular_velocity_is_the_rate_of_the_orientation_over_the_stamps(
    rig: Callable[..., Rig], line_lateness: Callable[[], float]
) -> None:
    bench = rig()
    bench.run()
    bench.until('imu/data', 200)
    messages = bench.until('imu/data', 200)
    # If the clock begins anew after a long silence, stamps are dense until it has caught up.
    while (steady := evenly_spaced(stamps := stamps_of(messages))).sum() <= 50:
        messages = bench.until('imu/data', 200)
    roll = np.array([2 * np.arctan2(m.orientation.x, m.orientation.w) for m in messages])
    rates = np.array([m.angular_velocity.x for m in messages])

    # At both ends the clock may be off by what came late.
    late = 2.0 * line_lateness() / len(stamps)
    assert np.diff(stamps).mean() == pytest.approx(0.005, abs=1e-4 + late)
    slope = (roll[2:] - roll[:-2]) / (stamps[2:] - stamps[:-2])
    off = np.median(np.abs(slope - rates[1:-1])[steady])
    assert off < 0.05 * AMPLITUDE * np.pi
    assert abs(stamps[-1] - time.time()) < 1.0 + line_lateness()


@pytest.mark.parametrize(
    ('content', 'reported'),
    [
        (['acceleration', 'angular_velocity'], False),
        (['acceleration', 'angular_velocity', 'angle'], True),
        (['acceleration', 'angular_velocity', 'quaternion'], True),
    ],
)
def test_orientation_is_reported_only_when_it_really_comes(
    rig: Callable[..., Rig], content: list[str], *, reported: bool
) -> None:
    bench = rig()
    bench.run(content=content)
    message = bench.until('imu/data')[-1]

    assert (message.orientation_covariance[0] > 0.0) == reported
    if not reported:
        assert message.orientation_covariance[0] == -1.0
        q = message.orientation
        assert (q.x, q.y, q.z, q.w) == (0.0, 0.0, 0.0, 1.0)


def test_field_pressure_temperature_and_fix_have_their_topics(rig: Callable[..., Rig]) -> None:
    bench = rig()
    bench.run(
        content=[*EVERYTHING, 'ground_velocity', 'accuracy'], rate=50.0, temperature_period=0.1
    )
    field = bench.until('imu/mag')[-1].magnetic_field
    # It rolls about x in a field that is fixed on earth.
    across = np.hypot(field.y, field.z)
    assert (field.x, across) == pytest.approx((20e-6, 44e-6), abs=2e-8)
    assert field.z < 0.0
    assert abs(field.y) < 1.01 * across * np.sin(AMPLITUDE)
    assert bench.until('imu/pressure')[-1].fluid_pressure == pytest.approx(101325.0)
    temperatures = bench.until('imu/temperature', 3)
    assert temperatures[-1].temperature == pytest.approx(25.0)
    stamps = [to_seconds(message.header.stamp) for message in temperatures]
    assert np.diff(stamps).min() > 0.09
    fix = bench.until('imu/fix')[-1]
    assert (fix.latitude, fix.longitude) == pytest.approx((54.0, 10.0))
    assert fix.status.status == 0
    assert fix.position_covariance[0] == pytest.approx((5.0 * 0.8) ** 2)
    assert fix.position_covariance[8] == pytest.approx((5.0 * 1.15) ** 2)


def test_a_position_without_accuracy_is_no_fix(rig: Callable[..., Rig]) -> None:
    bench = rig()
    bench.run(content=EVERYTHING, rate=50.0)
    fix = bench.until('imu/fix')[-1]
    assert fix.status.status == -1
    assert np.isnan(fix.altitude)
    assert fix.position_covariance_type == 0


def test_diagnostics_say_why_there_is_no_data_until_there_is(
    rig: Callable[..., Rig], capfd: pytest.CaptureFixture[str]
) -> None:
    bench = rig()

    def values() -> dict[str, str]:
        return {item.key: item.value for item in bench.diagnostics[-1].status[0].values}

    bench.imu.unplug()
    # At how many speeds a silent sensor is looked for is no question here.
    bench.run(auto_baud=False)
    # Rigs of other tests in this process may have been told to log warnings alone.
    bench.node.get_logger().set_level(LoggingSeverity.INFO)
    bench.says('there is no such device; is the sensor plugged in?')
    assert bench.diagnostics[-1].status[0].level == b'\x02'
    assert capfd.readouterr().err.count('there is no such device; is the sensor plugged in?') == 1
    bench.imu.sensor.silent = True
    bench.imu.plug()
    bench.says('no bytes came at any speed')
    bench.imu.sensor.silent = False
    bench.says('samples/s at 115200 baud')
    bench.harness.until(lambda: float(values().get('samples/s', 0.0)) > 150.0)
    assert values()['frames of a cycle'].startswith('0x51 acceleration, 0x52 angular velocity')
    assert capfd.readouterr().err.count('data comes again') == 1


def test_the_node_goes_on_after_the_sensor_was_unplugged(rig: Callable[..., Rig]) -> None:
    bench = rig()
    bench.run()
    bench.until('imu/data')
    bench.imu.unplug()
    bench.says('no such device')
    bench.imu.plug()
    bench.until('imu/data')
    assert state_of(bench.node) == 'active'


def test_nothing_is_published_before_activation_and_nothing_old_after(
    rig: Callable[..., Rig], line_lateness: Callable[[], float]
) -> None:
    bench = rig()
    bench.run()
    bench.until('imu/data')
    bench.deactivate()
    bench.harness.spin(0.3)
    before = len(bench.heard['imu/data'])
    bench.harness.spin(0.3)
    assert len(bench.heard['imu/data']) == before
    begin = time.time()
    bench.node.trigger_activate()
    # What was on the line when the reader got no turn is as old as that lasted.
    oldest = begin - 0.1 - line_lateness()
    assert to_seconds(bench.until('imu/data', 1)[0].header.stamp) > oldest


def test_cleaning_up_closes_the_port_and_configuring_opens_it_again(
    rig: Callable[..., Rig],
) -> None:
    bench = rig()
    for _ in range(2):
        if bench.node is None:
            bench.run()
        else:
            bring_up(bench.node)
        bench.until('imu/data')
        bench.node.trigger_deactivate()
        bench.node.trigger_cleanup()
        bench.says('not configured')


@pytest.mark.parametrize(
    ('parameters', 'words'),
    [
        ({'rate': 150.0}, 'rate: expected one of'),
        ({'baud': 9600}, 'at most 20 Hz for 3 frames a cycle at 9600 baud'),
        ({'baud': 100000}, 'baud: expected one of'),
        ({'use_sim_time': True}, 'use_sim_time'),
    ],
)
def test_settings_that_cannot_be_are_refused(
    rig: Callable[..., Rig], parameters: dict[str, Any], words: str
) -> None:
    bench = rig()
    node = bench.harness.add(ImuNode, port=bench.imu.path, **parameters)
    node.trigger_configure()

    assert state_of(node) == 'unconfigured'
    assert words in node.refusal


def test_the_counters_agree_with_what_was_heard(rig: Callable[..., Rig]) -> None:
    bench = rig()
    bench.run()
    bench.until('imu/data', 100)
    bench.deactivate()
    bench.harness.spin(0.3)
    assert bench.node.published['imu/data'].count == len(bench.heard['imu/data'])
