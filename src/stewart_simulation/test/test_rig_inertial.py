# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the sensor sends over its port is the plant's motion at its place, at its own instants."""

from __future__ import annotations

from math import cos, pi, sin
import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from stewart_driver.witmotion.frames import AccelerationFrame, AngularVelocityFrame
from stewart_driver.witmotion.samples import Decoder
from stewart_kinematics.motion import Pose
from stewart_simulation.plant_options import PlantOptions
from stewart_simulation.rig.inertial_feed import InertialFeed
from stewart_simulation.rig.mechanics import Mechanics
from stewart_simulation.serial_imu.device import Sensor
from stewart_simulation.serial_imu.measurement import Imperfections
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor
from stewart_simulation.serial_imu.protocol import BANDWIDTH, BAUD, CONTENT, FACTORY, RATE

RADIUS, OMEGA, SPIN = 0.2, 2.0 * pi, 0.5
MOUNTING = Pose(np.array([0.1, 0.0, 0.05]), np.array([0.0, 0.0, sin(pi / 4), cos(pi / 4)]))
GRAVITY = np.array([0.0, 0.0, -9.80665])
NOISE = Imperfections(acceleration_noise=0.02, angular_velocity_noise=1e-3)


class Circle:
    """A platform whose origin goes round in the plane while it turns about the vertical."""

    def __init__(self) -> None:
        self.sensor: Any = None
        self.drives = self
        self.asked: list[float] = []
        self.ship = None

    def go(self, until: float) -> None:
        self.asked.append(until)
        a, yaw = OMEGA * until, SPIN * until
        c, s = cos(a), sin(a)
        self.state = np.array([
            *(RADIUS * c, RADIUS * s, 1.0),
            *(0.0, 0.0, sin(yaw / 2.0), cos(yaw / 2.0)),
            *(-RADIUS * OMEGA * s, RADIUS * OMEGA * c, 0.0),
            *(0.0, 0.0, SPIN),
        ])  # fmt: skip
        self._acceleration = np.array([-c, -s, 0.0, 0.0, 0.0, 0.0]) * RADIUS * OMEGA**2

    def acceleration(self) -> np.ndarray:
        return self._acceleration


def test_a_circle_is_felt_within_the_noise_between_the_instants_of_the_sensor() -> None:
    plant, now = Circle(), [0.0]
    told = {**FACTORY, RATE: 11, CONTENT: 0x0006, BAUD: 6, BANDWIDTH: 0}
    sensor = Sensor(flaws=NOISE, rng=np.random.default_rng(1), registers=told)
    imu = PluggedSensor(
        InertialFeed(plant, MOUNTING, GRAVITY),  # type: ignore[arg-type]
        now=lambda: now[0],
        sensor=sensor,
    )
    plant.sensor = imu
    host = os.open(imu.path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    set_speed(host)
    decoder, forces, rates = Decoder(), [], []
    imu.begin()
    for step in range(2000):
        # Other wires move the plant at instants of their own: the loop is late by up to 3.7 ms.
        now[0] = 1e-3 * step + 7e-4 * (step % 5)
        imu.turn(now[0])
        for decoded in decoder.feed(read(host)):
            if isinstance(decoded.frame, AccelerationFrame):
                forces.append(decoded.frame.specific_force)
            elif isinstance(decoded.frame, AngularVelocityFrame):
                rates.append(decoded.frame.angular_velocity)
    os.close(host)
    imu.port.unplug()

    assert plant.asked == pytest.approx(0.005 * np.arange(1, len(plant.asked) + 1), abs=1e-9)
    # A sample is the mean of its interval and belongs to the middle; the first has no interval.
    # The low pass of 256 Hz makes it older by a little more.
    time = 0.005 * np.arange(2, len(forces) + 1) - 0.0025 - 0.5 / (np.pi * 256.0)
    assert len(time) > 390
    # By hand: the centre's centripetal acceleration and that of the arm, in axes turned by yaw
    # and then by the mounting's quarter turn.
    x = -RADIUS * OMEGA**2 * np.cos((OMEGA - SPIN) * time) - 0.1 * SPIN**2
    y = -RADIUS * OMEGA**2 * np.sin((OMEGA - SPIN) * time)
    expected = np.stack([y, -x, np.full_like(time, 9.80665)], axis=1)
    error = np.array(forces[1:]) - expected
    assert np.abs(error.mean(axis=0)).max() < 0.004
    assert error.std(axis=0) == pytest.approx(0.02, rel=0.15)
    assert np.mean(rates, axis=0) == pytest.approx([0.0, 0.0, SPIN], abs=6e-4)


class Pushed(Circle):
    """The same, but pushed on as often as the sensor measures: then it is fastest, always."""

    def go(self, until: float) -> None:
        super().go(until)
        self.state[12] += 0.05


def test_a_gyroscope_is_not_deceived_by_steps_as_frequent_as_its_samples() -> None:
    plant = Pushed()
    feed = InertialFeed(plant, MOUNTING, GRAVITY)  # type: ignore[arg-type]

    rates = []
    for count in range(1, 20):
        plant.sensor = SimpleNamespace(next_cycle=0.005 * count)
        rates.append(feed(0.0).angular_velocity)

    # The first sample has no interval to be the mean of.
    assert np.array(rates[1:]) == pytest.approx(np.array([[0.0, 0.0, SPIN]] * 18), abs=1e-9)


def set_speed(host: int) -> None:
    import termios

    attributes = termios.tcgetattr(host)
    attributes[4] = attributes[5] = termios.B115200
    termios.tcsetattr(host, termios.TCSANOW, attributes)


def read(host: int) -> bytes:
    try:
        return os.read(host, 4096)
    except BlockingIOError:
        return b''


def test_other_wires_let_the_sensor_measure_on_the_way() -> None:
    from stewart_kinematics.model.platform import Platform
    from stewart_simulation.start import leg_limits, start_pose

    platform = Platform.from_yaml('ex800')
    plant = PlantOptions(platform='ex800').plant(platform, start_pose(platform, 'neutral'))
    drives = PlantOptions().drives(plant, leg_limits(platform), hold_after=0.01)
    mechanics = Mechanics(drives, 0.0)
    seen: list[tuple[float, float]] = []

    class Watcher:
        next_cycle = 0.005

        def turn(self, now: float) -> None:
            while self.next_cycle <= now:
                mechanics.go(self.next_cycle)
                seen.append((self.next_cycle, mechanics.time))
                self.next_cycle += 0.005

    mechanics.sensor = Watcher()  # type: ignore[assignment]
    drives.on = True
    for step in range(1, 9):
        mechanics.advance(0.004 * step)

    assert [at for at, _ in seen] == pytest.approx(0.005 * np.arange(1, 7))
    assert all(at == reached for at, reached in seen)
    assert mechanics.time == pytest.approx(0.032)
