# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The frames of the WIT standard protocol: ``55 type d0…d7 sum``, little endian.

Scale factors are those that a capture of a real WTGAHRS2 confirms; the vendor's data sheet
v20-0523 is wrong for longitude (1e7, not 1e8), course (1/100°, not 1/10°) and dilution of
precision (1/100, not 1/32768). What some drivers read as temperature in the angle frame is the
version of the firmware.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import datetime
from enum import IntEnum
from math import cos, pi, sin
from struct import Struct
from types import MappingProxyType
from typing import ClassVar, get_args, TypeAlias

HEADER = 0x55
FRAME_LENGTH = 11
STANDARD_GRAVITY = 9.80665

FULL_SCALE = 32768
ACCELERATION = 16 * STANDARD_GRAVITY / FULL_SCALE
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

Vector: TypeAlias = 'tuple[float, float, float]'


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


@dataclass(frozen=True, slots=True)
class TimeFrame:
    """0x50: the sensor's own calendar, which nobody may have set."""

    TYPE: ClassVar = FrameType.TIME
    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    millisecond: int

    @classmethod
    def parse(cls, buffer: bytes, offset: int) -> TimeFrame:
        """Read the payload that begins at `offset`."""
        year, *rest = TIME.unpack_from(buffer, offset)
        return cls(2000 + year, *rest)

    @property
    def datetime(self) -> datetime.datetime | None:
        """The instant without a time zone; None if it is not in the calendar."""
        try:
            return datetime.datetime(
                self.year,
                self.month,
                self.day,
                self.hour,
                self.minute,
                self.second,
                1000 * self.millisecond,
            )
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class AccelerationFrame:
    """0x51: specific force, +g upwards at rest [m/s²]; temperature [°C]."""

    TYPE: ClassVar = FrameType.ACCELERATION
    specific_force: Vector
    temperature_celsius: float

    @classmethod
    def parse(cls, buffer: bytes, offset: int) -> AccelerationFrame:
        """Read the payload that begins at `offset`."""
        x, y, z, temperature = WORDS.unpack_from(buffer, offset)
        return cls((x * ACCELERATION, y * ACCELERATION, z * ACCELERATION), temperature * CENTI)


@dataclass(frozen=True, slots=True)
class AngularVelocityFrame:
    """0x52: angular velocity [rad/s]; temperature [°C], on Bluetooth types a voltage."""

    TYPE: ClassVar = FrameType.ANGULAR_VELOCITY
    angular_velocity: Vector
    temperature_celsius: float

    @classmethod
    def parse(cls, buffer: bytes, offset: int) -> AngularVelocityFrame:
        """Read the payload that begins at `offset`."""
        x, y, z, temperature = WORDS.unpack_from(buffer, offset)
        return cls(
            (x * ANGULAR_VELOCITY, y * ANGULAR_VELOCITY, z * ANGULAR_VELOCITY),
            temperature * CENTI,
        )


@dataclass(frozen=True, slots=True)
class AngleFrame:
    """0x53: R = R_z(yaw) R_y(pitch) R_x(roll) takes sensor to earth axes [rad]; firmware."""

    TYPE: ClassVar = FrameType.ANGLE
    roll: float
    pitch: float
    yaw: float
    version: int

    @classmethod
    def parse(cls, buffer: bytes, offset: int) -> AngleFrame:
        """Read the payload that begins at `offset`."""
        roll, pitch, yaw, version = ANGLES.unpack_from(buffer, offset)
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


@dataclass(frozen=True, slots=True)
class MagneticFieldFrame:
    """0x54: counts, whose size depends on the magnetometer built in; temperature [°C]."""

    TYPE: ClassVar = FrameType.MAGNETIC_FIELD
    counts: tuple[int, int, int]
    temperature_celsius: float

    @classmethod
    def parse(cls, buffer: bytes, offset: int) -> MagneticFieldFrame:
        """Read the payload that begins at `offset`."""
        x, y, z, temperature = WORDS.unpack_from(buffer, offset)
        return cls((x, y, z), temperature * CENTI)


@dataclass(frozen=True, slots=True)
class PortFrame:
    """0x55: codes of the four extension ports; their meaning is set per port."""

    TYPE: ClassVar = FrameType.PORT
    codes: tuple[int, int, int, int]

    @classmethod
    def parse(cls, buffer: bytes, offset: int) -> PortFrame:
        """Read the payload that begins at `offset`."""
        return cls(UNSIGNED_WORDS.unpack_from(buffer, offset))


@dataclass(frozen=True, slots=True)
class PressureFrame:
    """0x56: air pressure [Pa] and the height that the sensor derives from it [m]."""

    TYPE: ClassVar = FrameType.PRESSURE
    pressure: float
    height: float

    @classmethod
    def parse(cls, buffer: bytes, offset: int) -> PressureFrame:
        """Read the payload that begins at `offset`."""
        pressure, height = LONGS.unpack_from(buffer, offset)
        return cls(float(pressure), height * CENTI)


@dataclass(frozen=True, slots=True)
class PositionFrame:
    """0x57: latitude and longitude [°], north and east positive."""

    TYPE: ClassVar = FrameType.POSITION
    latitude_deg: float
    longitude_deg: float

    @classmethod
    def parse(cls, buffer: bytes, offset: int) -> PositionFrame:
        """Read the payload that begins at `offset`."""
        longitude, latitude = LONGS.unpack_from(buffer, offset)
        return cls(degrees_of(latitude), degrees_of(longitude))


@dataclass(frozen=True, slots=True)
class GroundVelocityFrame:
    """0x58: height above mean sea level [m], course, clockwise from north [rad], speed [m/s]."""

    TYPE: ClassVar = FrameType.GROUND_VELOCITY
    height: float
    course: float
    speed: float

    @classmethod
    def parse(cls, buffer: bytes, offset: int) -> GroundVelocityFrame:
        """Read the payload that begins at `offset`."""
        height, course, speed = GROUND.unpack_from(buffer, offset)
        return cls(height * DECI, course * COURSE, speed * GROUND_SPEED)


@dataclass(frozen=True, slots=True)
class QuaternionFrame:
    """0x59: attitude, sensor to earth axes, rounded to 2⁻¹⁵ and not normalised again."""

    TYPE: ClassVar = FrameType.QUATERNION
    quaternion_xyzw: tuple[float, float, float, float]

    @classmethod
    def parse(cls, buffer: bytes, offset: int) -> QuaternionFrame:
        """Read the payload that begins at `offset`, where w comes first."""
        w, x, y, z = WORDS.unpack_from(buffer, offset)
        return cls((x * UNIT, y * UNIT, z * UNIT, w * UNIT))


@dataclass(frozen=True, slots=True)
class AccuracyFrame:
    """0x5A: satellites in use, and dilution of precision of position, plane and height [-]."""

    TYPE: ClassVar = FrameType.ACCURACY
    satellites: int
    position_dilution: float
    horizontal_dilution: float
    vertical_dilution: float

    @classmethod
    def parse(cls, buffer: bytes, offset: int) -> AccuracyFrame:
        """Read the payload that begins at `offset`."""
        satellites, *dilutions = UNSIGNED_WORDS.unpack_from(buffer, offset)
        return cls(satellites, *(value * CENTI for value in dilutions))


@dataclass(frozen=True, slots=True)
class RegisterFrame:
    """0x5F: four registers, from the one asked for on; which one that was it does not say."""

    TYPE: ClassVar = FrameType.REGISTER
    words: tuple[int, int, int, int]

    @classmethod
    def parse(cls, buffer: bytes, offset: int) -> RegisterFrame:
        """Read the payload that begins at `offset`."""
        return cls(UNSIGNED_WORDS.unpack_from(buffer, offset))


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
FRAMES: tuple[type[Frame], ...] = get_args(Frame)
PARSERS: MappingProxyType[int, Callable[[bytes, int], Frame]] = MappingProxyType(
    {int(frame.TYPE): frame.parse for frame in FRAMES}
)


def degrees_of(code: int) -> float:
    """Return the degrees of a position code, ddmm.mmmmm × 1e5.

    The sign belongs to the whole, so degrees and minutes are split from the magnitude.
    """
    degrees, minutes = divmod(abs(code), 10_000_000)
    value = degrees + minutes / 6_000_000
    return value if code >= 0 else -value
