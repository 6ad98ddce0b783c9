# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The frames of the WIT standard protocol: ``55 type d0…d7 sum``, little endian.

Scale factors are those that a capture of a real WTGAHRS2 confirms; the vendor's data sheet
v20-0523 is wrong for longitude (1e7, not 1e8), course (1/100°, not 1/10°) and dilution of
precision (1/100, not 1/32768). What some drivers read as temperature in the angle frame is the
version of the firmware.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import datetime as dt
from enum import IntEnum
from math import cos, pi, sin
from struct import Struct
from typing import Any, get_args, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

HEADER = 0x55
FRAME_LENGTH = 11

FULL_SCALE = 32768
ACCELERATION = 16 * 9.80665 / FULL_SCALE
ANGULAR_VELOCITY = 2000 * pi / 180 / FULL_SCALE
ANGLE = pi / FULL_SCALE
UNIT = 1 / FULL_SCALE
CENTI = 0.01
DECI = 0.1
COURSE = CENTI * pi / 180
GROUND_SPEED = 1e-3 / 3.6

WORDS = Struct('<4h')
UNSIGNED_WORDS = Struct('<4H')
LONGS = Struct('<2i')
TIME = Struct('<6BH')
ANGLES = Struct('<3hH')
GROUND = Struct('<hHI')


class FrameType(IntEnum):
    """Second byte of a frame."""

    TIME = 0x50
    ACCELERATION = 0x51
    ANGULAR_VELOCITY = 0x52
    ANGLE = 0x53
    MAGNETIC_FIELD = 0x54
    PORT = 0x55
    PRESSURE = 0x56
    POSITION = 0x57
    GROUND_VELOCITY = 0x58
    QUATERNION = 0x59
    ACCURACY = 0x5A
    REGISTER = 0x5F


class TimeFrame(NamedTuple):
    """0x50: the sensor's own calendar, which nobody may have set; None if it has no such day."""

    datetime: dt.datetime | None

    @classmethod
    def _of(cls, payload: bytes) -> TimeFrame:
        year, month, day, hour, minute, second, milli = TIME.unpack(payload)
        try:
            return cls(dt.datetime(2000 + year, month, day, hour, minute, second, 1000 * milli))
        except ValueError:
            return cls(None)


class AccelerationFrame(NamedTuple):
    """0x51: specific force, +g upwards at rest [m/s²]; temperature [°C]."""

    specific_force: tuple[float, float, float]
    temperature_celsius: float

    @classmethod
    def _of(cls, payload: bytes) -> AccelerationFrame:
        x, y, z, temperature = WORDS.unpack(payload)
        return cls((x * ACCELERATION, y * ACCELERATION, z * ACCELERATION), temperature * CENTI)


class AngularVelocityFrame(NamedTuple):
    """0x52: angular velocity [rad/s]; the fourth word depends on the type of the sensor."""

    angular_velocity: tuple[float, float, float]

    @classmethod
    def _of(cls, payload: bytes) -> AngularVelocityFrame:
        x, y, z, _ = WORDS.unpack(payload)
        return cls((x * ANGULAR_VELOCITY, y * ANGULAR_VELOCITY, z * ANGULAR_VELOCITY))


class AngleFrame(NamedTuple):
    """0x53: R = R_z(yaw) R_y(pitch) R_x(roll) takes sensor to earth axes [rad]; firmware."""

    roll: float
    pitch: float
    yaw: float
    version: int

    @classmethod
    def _of(cls, payload: bytes) -> AngleFrame:
        roll, pitch, yaw, version = ANGLES.unpack(payload)
        return cls(roll * ANGLE, pitch * ANGLE, yaw * ANGLE, version)

    @property
    def quaternion_xyzw(self) -> tuple[float, float, float, float]:
        """The same attitude as a unit quaternion."""
        cr, sr = cos(self.roll / 2), sin(self.roll / 2)
        cp, sp = cos(self.pitch / 2), sin(self.pitch / 2)
        cy, sy = cos(self.yaw / 2), sin(self.yaw / 2)
        return (
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy,
        )


class MagneticFieldFrame(NamedTuple):
    """0x54: counts, whose size depends on the magnetometer built in."""

    counts: tuple[int, int, int]

    @classmethod
    def _of(cls, payload: bytes) -> MagneticFieldFrame:
        x, y, z, _ = WORDS.unpack(payload)
        return cls((x, y, z))


class PortFrame(NamedTuple):
    """0x55: codes of the four extension ports; their meaning is set per port."""

    codes: tuple[int, int, int, int]

    @classmethod
    def _of(cls, payload: bytes) -> PortFrame:
        return cls(UNSIGNED_WORDS.unpack(payload))


class PressureFrame(NamedTuple):
    """0x56: air pressure [Pa] and the height that the sensor derives from it [m]."""

    pressure: float
    height: float

    @classmethod
    def _of(cls, payload: bytes) -> PressureFrame:
        pressure, height = LONGS.unpack(payload)
        return cls(float(pressure), height * CENTI)


class PositionFrame(NamedTuple):
    """0x57: latitude and longitude [°], north and east positive."""

    latitude_deg: float
    longitude_deg: float

    @classmethod
    def _of(cls, payload: bytes) -> PositionFrame:
        longitude, latitude = LONGS.unpack(payload)
        return cls(degrees_of(latitude), degrees_of(longitude))


class GroundVelocityFrame(NamedTuple):
    """0x58: height above mean sea level [m], course, clockwise from north [rad], speed [m/s]."""

    height: float
    course: float
    speed: float

    @classmethod
    def _of(cls, payload: bytes) -> GroundVelocityFrame:
        height, course, speed = GROUND.unpack(payload)
        return cls(height * DECI, course * COURSE, speed * GROUND_SPEED)


class QuaternionFrame(NamedTuple):
    """0x59: attitude, sensor to earth axes, rounded to 2⁻¹⁵ and not normalised again."""

    quaternion_xyzw: tuple[float, float, float, float]

    @classmethod
    def _of(cls, payload: bytes) -> QuaternionFrame:
        w, x, y, z = WORDS.unpack(payload)
        return cls((x * UNIT, y * UNIT, z * UNIT, w * UNIT))


class AccuracyFrame(NamedTuple):
    """0x5A: satellites in use, and dilution of precision of position, plane and height [-]."""

    satellites: int
    position_dilution: float
    horizontal_dilution: float
    vertical_dilution: float

    @classmethod
    def _of(cls, payload: bytes) -> AccuracyFrame:
        satellites, *dilutions = UNSIGNED_WORDS.unpack(payload)
        return cls(satellites, *(value * CENTI for value in dilutions))


class RegisterFrame(NamedTuple):
    """0x5F: four registers, from the one asked for on; which one that was it does not say."""

    words: tuple[int, int, int, int]

    @classmethod
    def _of(cls, payload: bytes) -> RegisterFrame:
        return cls(UNSIGNED_WORDS.unpack(payload))


# In the order of `FrameType`.
Frame: TypeAlias = (
    TimeFrame
    | AccelerationFrame
    | AngularVelocityFrame
    | AngleFrame
    | MagneticFieldFrame
    | PortFrame
    | PressureFrame
    | PositionFrame
    | GroundVelocityFrame
    | QuaternionFrame
    | AccuracyFrame
    | RegisterFrame
)
FRAMES: dict[int, type[Frame]] = dict(zip(map(int, FrameType), get_args(Frame), strict=True))
"""Class of each type."""
TYPES: dict[Any, int] = {frame: kind for kind, frame in FRAMES.items()}
PARSERS: dict[int, Callable[[bytes], Frame]] = {kind: frame._of for kind, frame in FRAMES.items()}
"""Read the eight bytes of a payload; none raises anything."""


def vectors_of(payloads: Sequence[bytes], scale: float) -> NDArray[np.float64]:
    """Return the first three words of n payloads, scaled, shape (n, 3)."""
    words = np.frombuffer(b''.join(payloads), '<i2').reshape(-1, 4)
    return scale * words[:, :3]


def degrees_of(code: int) -> float:
    """Return the degrees of a position code, ddmm.mmmmm × 1e5.

    The sign belongs to the whole, so degrees and minutes are split from the magnitude.
    """
    degrees, minutes = divmod(abs(code), 10_000_000)
    value = degrees + minutes / 6_000_000
    return value if code >= 0 else -value
