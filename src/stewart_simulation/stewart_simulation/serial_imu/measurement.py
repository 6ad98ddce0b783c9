# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""From truth to frames: bias, noise, the converter's range and steps, and the checksum.

Scale factors are written down here once more, apart from the decoder's, so that the two can be
checked against each other and against captured frames.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import datetime
from functools import cached_property
from math import asin, atan2, degrees, pi
from struct import pack
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from stewart_kinematics.motion import Array
from stewart_simulation.serial_imu import protocol
from stewart_simulation.serial_imu.inertial import InertialState, Vector
from stewart_simulation.serial_imu.inertial_kernels import spoil
from stewart_simulation.serial_imu.protocol import frame

GRAVITY = 9.80665
VERSION = 18155
EPOCH = datetime.datetime(2026, 1, 1)
LOW, HIGH = -32768, 32767
# To full scale; the magnetometer counts by itself.
STEPS = np.repeat((32768.0, 1.0, 32768.0), (6, 3, 4))


@dataclass(frozen=True)
class Imperfections:
    """How far the sensor is from the truth; standard deviations are per sample.

    Defaults are of the order of small MEMS sensors; those of a given sensor have to be measured.

    Attributes:
        acceleration_noise: [m/s²].
        angular_velocity_noise: [rad/s].
        magnetic_noise: [T].
        acceleration_bias: [m/s²].
        angular_velocity_bias: [rad/s].
        tesla_per_count: Step of the magnetometer [T].
    """

    acceleration_noise: float = 0.02
    angular_velocity_noise: float = 1e-3
    magnetic_noise: float = 1e-7
    acceleration_bias: Vector = (0.0, 0.0, 0.0)
    angular_velocity_bias: Vector = (0.0, 0.0, 0.0)
    tesla_per_count: float = 1e-4 / 12000

    @cached_property
    def sigmas(self) -> Array:
        """Standard deviations of the first nine of `Measurement.values`, shape (9,)."""
        sigmas = self.acceleration_noise, self.angular_velocity_noise, self.magnetic_noise
        return np.repeat(sigmas, 3)

    @cached_property
    def biases(self) -> Array:
        """Biases of the first six of `Measurement.values`, shape (6,)."""
        return np.array((*self.acceleration_bias, *self.angular_velocity_bias))

    @cached_property
    def full_scales(self) -> Array:
        """What `STEPS` steps of the converter are, of `Measurement.values`, shape (13,)."""
        scales = 16.0 * GRAVITY, 2000.0 / 180.0 * pi, self.tesla_per_count, 1.0
        return np.repeat(scales, (3, 3, 3, 4))


EXACT = Imperfections(acceleration_noise=0.0, angular_velocity_noise=0.0, magnetic_noise=0.0)


class Measurement(NamedTuple):
    """What the sensor measures in one cycle.

    Attributes:
        state: Truth.
        time: Since the sensor was switched on [s].
        values: Specific force [m/s²], angular velocity [rad/s], magnetic field [T] and attitude
            (x, y, z, w), one after the other.
        codes: The same as the converter has them.
    """

    state: InertialState
    time: float
    values: list[float]
    codes: list[int]

    @property
    def instant(self) -> datetime.datetime:
        """The sensor's own time."""
        return EPOCH + datetime.timedelta(seconds=self.time)

    @property
    def angles(self) -> tuple[float, float, float]:
        """Roll, pitch and yaw of the attitude [rad]."""
        x, y, z, w = self.values[9:]
        return angles((x, y, z, w))

    def frame(self, kind: int) -> bytes:
        """Return the eleven bytes of one type."""
        return frame(kind, PAYLOADS[kind](self))


def rows_of(states: Sequence[InertialState]) -> Array:
    """Return n states as rows (n, 13) in the order of `Measurement.values`."""
    return np.array([
        (*state.specific_force, *state.angular_velocity, *state.magnetic_field,
         *state.quaternion_xyzw) for state in states
    ])  # fmt: skip


def measure(
    states: Sequence[InertialState],
    samples: Array,
    flaws: Imperfections,
    rng: np.random.Generator,
    times: Sequence[float],
    yaws: Array,
) -> list[Measurement]:
    """Measure n cycles.

    Args:
        states: Truth.
        samples (n, 13): What came of it in the sensor, see `rows_of`; changes.
        flaws: What is added.
        rng: Source of the noise.
        times: Since the sensor was switched on [s].
        yaws (n,): Added to the heading, as the algorithm has it [rad].
    """
    spoil(yaws, rng.standard_normal((len(states), 9)), flaws.sigmas, flaws.biases, samples)
    codes = np.rint(samples / flaws.full_scales * STEPS).clip(LOW, HIGH).astype(np.int64)
    return list(map(Measurement, states, times, samples.tolist(), codes.tolist()))


def angles(quaternion_xyzw: tuple[float, float, float, float]) -> tuple[float, float, float]:
    """Return roll, pitch and yaw of R = R_z(yaw) R_y(pitch) R_x(roll) [rad]."""
    x, y, z, w = quaternion_xyzw
    return (
        atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
        asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x)))),
        atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
    )


def code(value: float, full_scale: float) -> int:
    """Return a value as the converter does: 32768 steps to full scale, and no further."""
    return max(LOW, min(HIGH, round(value / full_scale * 32768)))


def sexagesimal(value_deg: float) -> int:
    """Return degrees as ddmm.mmmmm × 1e5."""
    whole, rest = divmod(abs(value_deg), 1.0)
    magnitude = int(whole) * 10_000_000 + round(rest * 60.0 * 1e5)
    return magnitude if value_deg >= 0.0 else -magnitude


def _time(m: Measurement) -> bytes:
    t = m.instant
    return pack(
        '<6BH', t.year - 2000, t.month, t.day, t.hour, t.minute, t.second, t.microsecond // 1000
    )


def _celsius(m: Measurement) -> int:
    return max(LOW, min(HIGH, round(m.state.temperature_celsius * 100.0)))


def _acceleration(m: Measurement) -> bytes:
    return pack('<4h', *m.codes[0:3], _celsius(m))


def _angular_velocity(m: Measurement) -> bytes:
    return pack('<4h', *m.codes[3:6], _celsius(m))


def _angle(m: Measurement) -> bytes:
    return pack('<3hH', *(code(v, pi) for v in m.angles), VERSION)


def _magnetic_field(m: Measurement) -> bytes:
    return pack('<4h', *m.codes[6:9], 0)


def _port(_: Measurement) -> bytes:
    return bytes(8)


def _pressure(m: Measurement) -> bytes:
    return pack('<2i', round(m.state.pressure), round(m.state.height * 100.0))


def _position(m: Measurement) -> bytes:
    return pack('<2i', sexagesimal(m.state.longitude_deg), sexagesimal(m.state.latitude_deg))


def _ground_velocity(m: Measurement) -> bytes:
    course = round(degrees(-m.angles[2]) % 360.0 * 100.0) % 36000
    return pack('<hHI', round(m.state.height * 10.0), course, 0)


def _quaternion(m: Measurement) -> bytes:
    x, y, z, w = m.codes[9:]
    return pack('<4h', w, x, y, z)


def _accuracy(_: Measurement) -> bytes:
    return pack('<4H', 12, 140, 80, 115)


PAYLOADS: MappingProxyType[int, Callable[[Measurement], bytes]] = MappingProxyType(
    {
        protocol.TIME: _time,
        protocol.ACCELERATION: _acceleration,
        protocol.ANGULAR_VELOCITY: _angular_velocity,
        protocol.ANGLE: _angle,
        protocol.MAGNETIC_FIELD: _magnetic_field,
        protocol.PORT: _port,
        protocol.PRESSURE: _pressure,
        protocol.POSITION: _position,
        protocol.GROUND_VELOCITY: _ground_velocity,
        protocol.QUATERNION: _quaternion,
        protocol.ACCURACY: _accuracy,
    }
)
