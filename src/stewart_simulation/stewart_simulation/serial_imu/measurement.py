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
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.motion import Array
from stewart_simulation.serial_imu import protocol
from stewart_simulation.serial_imu.inertial import GRAVITY, InertialState, Vector
from stewart_simulation.serial_imu.inertial_kernels import HIGH, LOW, spoil

VERSION = 18155
EPOCH = datetime.datetime(2026, 1, 1)


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
        """Standard deviations of the first nine of `Measurements.values`, shape (9,)."""
        sigmas = self.acceleration_noise, self.angular_velocity_noise, self.magnetic_noise
        return np.repeat(sigmas, 3)

    @cached_property
    def biases(self) -> Array:
        """Biases of the first six of `Measurements.values`, shape (6,)."""
        return np.array((*self.acceleration_bias, *self.angular_velocity_bias))

    @cached_property
    def scales(self) -> Array:
        """What so many steps of the converter are, and how many, for each value, (2, 13)."""
        scales = 16.0 * GRAVITY, 2000.0 / 180.0 * pi, self.tesla_per_count, 1.0
        # To full scale; the magnetometer counts by itself.
        return np.repeat((scales, (32768.0, 32768.0, 1.0, 32768.0)), (3, 3, 3, 4), axis=1)


EXACT = Imperfections(acceleration_noise=0.0, angular_velocity_noise=0.0, magnetic_noise=0.0)


class Measurements(NamedTuple):
    """What the sensor measures in n cycles.

    Attributes:
        states: Truth.
        times (n,): Since the sensor was switched on [s].
        values (n, 13): Specific force [m/s²], angular velocity [rad/s], magnetic field [T] and
            attitude (x, y, z, w), one after the other.
        codes (n, 13): The same as the converter has them.
    """

    states: Sequence[InertialState]
    times: Array
    values: Array
    codes: Array

    @property
    def angles(self) -> list[tuple[float, float, float]]:
        """Roll, pitch and yaw of each attitude [rad]."""
        return [angles((x, y, z, w)) for x, y, z, w in self.values[:, 9:].tolist()]

    def frames(self, kinds: Sequence[int]) -> list[bytes]:
        """Return the frames of these types of each cycle, back to back."""
        count, size = len(self.states), len(kinds) * protocol.FRAME_LENGTH
        words = np.empty((count, len(kinds), 4), np.int64)
        for k, kind in enumerate(kinds):
            words[:, k] = PAYLOADS[kind](self)
        frames = np.empty((count, len(kinds), protocol.FRAME_LENGTH), np.uint8)
        frames[:, :, 0], frames[:, :, 1] = protocol.HEADER, kinds
        frames[:, :, 2:-1] = words.astype('<u2').view(np.uint8)
        frames[:, :, -1] = frames[:, :, :-1].sum(axis=2, dtype=np.uint8)
        whole = frames.tobytes()
        return [whole[k * size : (k + 1) * size] for k in range(count)]


def rows_of(states: Sequence[InertialState]) -> Array:
    """Return n states as rows (n, 13) in the order of `Measurements.values`."""
    return np.array([
        (*state.specific_force, *state.angular_velocity, *state.magnetic_field,
         *state.quaternion_xyzw) for state in states
    ])  # fmt: skip


def measure(
    states: Sequence[InertialState],
    samples: Array,
    flaws: Imperfections,
    rng: np.random.Generator,
    times: Array,
    yaws: Array,
) -> Measurements:
    """Measure n cycles.

    Args:
        samples (n, 13): What came of it in the sensor, see `rows_of`; changes.
        times (n,): Since the sensor was switched on [s].
        yaws (n,): Added to the heading, as the algorithm has it [rad].
    """
    noise, codes = rng.standard_normal((len(states), 9)), np.empty_like(samples)
    spoil(yaws, noise, flaws.sigmas, flaws.biases, flaws.scales, samples, codes)
    return Measurements(states, times, samples, codes)


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
    return int(max(LOW, min(HIGH, round(value / full_scale * 32768))))


def sexagesimal(value_deg: float) -> int:
    """Return degrees as ddmm.mmmmm × 1e5."""
    whole, rest = divmod(abs(value_deg), 1.0)
    magnitude = int(whole) * 10_000_000 + round(rest * 60.0 * 1e5)
    return magnitude if value_deg >= 0.0 else -magnitude


def _time(m: Measurements) -> ArrayLike:
    days = [EPOCH + datetime.timedelta(seconds=time) for time in m.times.tolist()]
    return [
        (
            t.year - 2000 + (t.month << 8),
            t.day + (t.hour << 8),
            t.minute + (t.second << 8),
            t.microsecond // 1000,
        )
        for t in days
    ]


def _beside_celsius(m: Measurements, codes: Array) -> Array:
    celsius = np.array([state.temperature_celsius for state in m.states])
    return np.column_stack([codes, np.rint(celsius * 100.0).clip(LOW, HIGH)])


def _longs(pairs: Sequence[tuple[int, int]]) -> Array:
    longs = np.array(pairs)
    return np.stack([longs & 0xFFFF, longs >> 16], axis=2).reshape(-1, 4)


def _position(m: Measurements) -> Array:
    return _longs([(sexagesimal(s.longitude_deg), sexagesimal(s.latitude_deg)) for s in m.states])


def _ground_velocity(m: Measurements) -> ArrayLike:
    courses = [round(degrees(-yaw) % 360.0 * 100.0) % 36000 for _, _, yaw in m.angles]
    heights = [round(state.height * 10.0) for state in m.states]
    return [(height, course, 0, 0) for height, course in zip(heights, courses, strict=True)]


PAYLOADS: MappingProxyType[int, Callable[[Measurements], ArrayLike]] = MappingProxyType(
    {
        protocol.TIME: _time,
        protocol.ACCELERATION: lambda m: _beside_celsius(m, m.codes[:, 0:3]),
        protocol.ANGULAR_VELOCITY: lambda m: _beside_celsius(m, m.codes[:, 3:6]),
        protocol.ANGLE: lambda m: [(*(code(v, pi) for v in turns), VERSION) for turns in m.angles],
        protocol.MAGNETIC_FIELD: lambda m: np.column_stack(
            [m.codes[:, 6:9], np.zeros(len(m.codes))]
        ),
        protocol.PORT: lambda _: 0,
        protocol.PRESSURE: lambda m: _longs(
            [(round(s.pressure), round(s.height * 100.0)) for s in m.states]
        ),
        protocol.POSITION: _position,
        protocol.GROUND_VELOCITY: _ground_velocity,
        protocol.QUATERNION: lambda m: m.codes[:, [12, 9, 10, 11]],
        protocol.ACCURACY: lambda _: (12, 140, 80, 115),
    }
)
"""Return the four words of a payload for each cycle of n, (n, 4) or one for all; their low sixteen
bits count."""
