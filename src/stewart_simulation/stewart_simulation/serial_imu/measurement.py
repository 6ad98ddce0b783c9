# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""From truth to frames: bias, noise, the converter's range and steps, and the checksum.

Scale factors are written down here once more, apart from the decoder's, so that the two can be
checked against each other and against captured frames.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import datetime
from math import asin, atan2, cos, degrees, pi, sin
from struct import pack
from types import MappingProxyType

import numpy as np
from stewart_simulation.serial_imu import protocol
from stewart_simulation.serial_imu.inertial import InertialState, Vector
from stewart_simulation.serial_imu.protocol import frame

GRAVITY = 9.80665
VERSION = 18155
EPOCH = datetime.datetime(2026, 1, 1)
LOW, HIGH = -32768, 32767


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


EXACT = Imperfections(acceleration_noise=0.0, angular_velocity_noise=0.0, magnetic_noise=0.0)


class Measurement:
    """What the sensor measures in one cycle.

    Args:
        state: Truth.
        flaws: What is added.
        rng: Source of the noise.
        time: Since the sensor was switched on [s].
        yaw_offset: Added to the heading, as the algorithm has it [rad].
    """

    def __init__(
        self,
        state: InertialState,
        flaws: Imperfections,
        rng: np.random.Generator,
        *,
        time: float = 0.0,
        yaw_offset: float = 0.0,
    ) -> None:
        """Draw the noise once, so that all frames of the cycle agree."""
        noise = rng.standard_normal(9).tolist()
        self.specific_force = spread(
            state.specific_force, flaws.acceleration_bias, noise[:3], flaws.acceleration_noise
        )
        self.angular_velocity = spread(
            state.angular_velocity,
            flaws.angular_velocity_bias,
            noise[3:6],
            flaws.angular_velocity_noise,
        )
        field = spread(state.magnetic_field, (0.0, 0.0, 0.0), noise[6:], flaws.magnetic_noise)
        self.field_counts = [value / flaws.tesla_per_count for value in field]
        self.quaternion = turned(state.quaternion_xyzw, yaw_offset)
        self.state, self._time = state, time

    @property
    def instant(self) -> datetime.datetime:
        """The sensor's own time."""
        return EPOCH + datetime.timedelta(seconds=self._time)

    def frame(self, kind: int) -> bytes:
        """Return the eleven bytes of one type."""
        return frame(kind, PAYLOADS[kind](self))


def spread(truth: Vector, bias: Vector, noise: list[float], sigma: float) -> list[float]:
    """Return truth with bias and noise."""
    return [
        value + offset + sigma * draw
        for value, offset, draw in zip(truth, bias, noise, strict=True)
    ]


def turned(
    quaternion_xyzw: tuple[float, float, float, float], yaw: float
) -> tuple[float, float, float, float]:
    """Return an attitude turned about the vertical."""
    x, y, z, w = quaternion_xyzw
    s, c = sin(yaw / 2.0), cos(yaw / 2.0)
    return c * x - s * y, c * y + s * x, c * z + s * w, c * w - s * z


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
    return pack('<4h', *(code(v, 16.0 * GRAVITY) for v in m.specific_force), _celsius(m))


def _angular_velocity(m: Measurement) -> bytes:
    codes = (code(v, 2000.0 / 180.0 * pi) for v in m.angular_velocity)
    return pack('<4h', *codes, _celsius(m))


def _angle(m: Measurement) -> bytes:
    return pack('<3hH', *(code(v, pi) for v in angles(m.quaternion)), VERSION)


def _magnetic_field(m: Measurement) -> bytes:
    return pack('<4h', *(max(LOW, min(HIGH, round(v))) for v in m.field_counts), 0)


def _port(_: Measurement) -> bytes:
    return bytes(8)


def _pressure(m: Measurement) -> bytes:
    return pack('<2i', round(m.state.pressure), round(m.state.height * 100.0))


def _position(m: Measurement) -> bytes:
    return pack('<2i', sexagesimal(m.state.longitude_deg), sexagesimal(m.state.latitude_deg))


def _ground_velocity(m: Measurement) -> bytes:
    course = round(degrees(-angles(m.quaternion)[2]) % 360.0 * 100.0) % 36000
    return pack('<hHI', round(m.state.height * 10.0), course, 0)


def _quaternion(m: Measurement) -> bytes:
    x, y, z, w = m.quaternion
    return pack('<4h', *(code(v, 1.0) for v in (w, x, y, z)))


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
