# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Frames against bytes captured from a real WTGAHRS2, whose user published values and bytes."""

from __future__ import annotations

from math import degrees
from struct import pack

from hypothesis import given
from hypothesis import strategies as st
import pytest
from stewart_driver.witmotion.frames import (
    AccelerationFrame,
    AccuracyFrame,
    AngleFrame,
    AngularVelocityFrame,
    degrees_of,
    FRAMES,
    FrameType,
    GroundVelocityFrame,
    MagneticFieldFrame,
    PARSERS,
    PortFrame,
    PositionFrame,
    PressureFrame,
    QuaternionFrame,
    RegisterFrame,
    TimeFrame,
)
from stewart_driver.witmotion.samples import Decoder

G = 9.80665


def decoded(text: str) -> object:
    (found,) = Decoder().feed(bytes.fromhex(text))
    return found.frame


def made(kind: int, payload: bytes) -> object:
    body = bytes([0x55, kind]) + payload
    (found,) = Decoder().feed(body + bytes([sum(body) % 256]))
    return found.frame


def test_acceleration_as_captured() -> None:
    frame = decoded('55 51 32 00 69 00 01 08 10 0c 66')
    assert isinstance(frame, AccelerationFrame)
    assert [v / G for v in frame.specific_force] == pytest.approx(
        [0.0244, 0.0513, 1.0005], abs=5e-5
    )
    assert frame.temperature_celsius == pytest.approx(30.88)


def test_angle_as_captured_and_version_is_no_temperature() -> None:
    frame = decoded('55 53 1f 02 02 ff d6 05 eb 46 d6')
    assert isinstance(frame, AngleFrame)
    angles = [degrees(v) for v in (frame.roll, frame.pitch, frame.yaw)]
    assert angles == pytest.approx([2.983, -1.395, 8.207], abs=5e-4)
    assert frame.version == 18155


def test_magnetic_field_as_captured() -> None:
    assert decoded('55 54 cb 00 61 0a 31 ee 00 00 fe') == MagneticFieldFrame((203, 2657, -4559))


def test_pressure_as_captured() -> None:
    assert decoded('55 56 6b 8a 01 00 c8 0b 00 00 74') == PressureFrame(
        100971.0, pytest.approx(30.16)
    )


def test_position_as_captured() -> None:
    frame = decoded('55 57 c2 57 e4 13 63 2a 98 14 f5')
    assert frame == PositionFrame(
        latitude_deg=pytest.approx(34 + 55.16643 / 60, abs=1e-9),
        longitude_deg=pytest.approx(33 + 37.31778 / 60, abs=1e-9),
    )


def test_ground_velocity_as_captured() -> None:
    frame = decoded('55 58 18 01 ae 2e 00 00 00 00 a2')
    assert isinstance(frame, GroundVelocityFrame)
    assert (frame.height, frame.speed) == (pytest.approx(28.0), 0.0)
    assert degrees(frame.course) == pytest.approx(119.50)


def test_quaternion_as_captured_is_w_first_on_the_wire() -> None:
    frame = decoded('55 59 9c 7f 6f 03 af fe 32 09 23')
    assert isinstance(frame, QuaternionFrame)
    expected = [0.02682, -0.01028, 0.07184, 0.99695]
    assert frame.quaternion_xyzw == pytest.approx(expected, abs=6e-6)
    assert sum(v * v for v in frame.quaternion_xyzw) == pytest.approx(1.0, abs=2e-4)


def test_accuracy_as_captured() -> None:
    assert decoded('55 5a 11 00 82 00 50 00 64 00 f6') == AccuracyFrame(
        17, pytest.approx(1.3), pytest.approx(0.8), pytest.approx(1.0)
    )


def test_captured_angles_and_captured_quaternion_are_the_same_attitude() -> None:
    angle = decoded('55 53 1f 02 02 ff d6 05 eb 46 d6')
    quaternion = decoded('55 59 9c 7f 6f 03 af fe 32 09 23')
    assert isinstance(angle, AngleFrame)
    assert isinstance(quaternion, QuaternionFrame)
    assert angle.quaternion_xyzw == pytest.approx(quaternion.quaternion_xyzw, abs=1e-4)


def test_captured_gravity_points_up_in_the_captured_attitude() -> None:
    force = decoded('55 51 32 00 69 00 01 08 10 0c 66')
    quaternion = decoded('55 59 9c 7f 6f 03 af fe 32 09 23')
    assert isinstance(force, AccelerationFrame)
    assert isinstance(quaternion, QuaternionFrame)
    x, y, z, w = quaternion.quaternion_xyzw
    up = (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))
    assert [v / G for v in force.specific_force] == pytest.approx(up, abs=2.5e-3)


def test_full_scale_is_16_g_and_2000_degrees_per_second() -> None:
    words = pack('<4h', -32768, 16384, 0, 2500)
    force, rate = made(0x51, words), made(0x52, words)
    assert isinstance(force, AccelerationFrame)
    assert isinstance(rate, AngularVelocityFrame)
    assert force.specific_force == pytest.approx((-16 * G, 8 * G, 0.0))
    assert [degrees(v) for v in rate.angular_velocity] == pytest.approx([-2000.0, 1000.0, 0.0])


def test_speed_is_a_thousandth_of_a_kilometre_per_hour() -> None:
    frame = made(0x58, pack('<hHI', -15, 35999, 36_000))
    assert isinstance(frame, GroundVelocityFrame)
    assert frame.speed == pytest.approx(10.0)
    assert frame.height == pytest.approx(-1.5)
    assert degrees(frame.course) == pytest.approx(359.99)


def test_time_has_no_offsets_and_an_unset_clock_is_none() -> None:
    frame = made(0x50, pack('<6BH', 26, 11, 21, 6, 5, 4, 321))
    assert isinstance(frame, TimeFrame)
    assert frame.datetime is not None
    assert frame.datetime.isoformat(timespec='milliseconds') == '2026-11-21T06:05:04.321'
    unset = made(0x50, bytes(8))
    assert isinstance(unset, TimeFrame)
    assert unset.datetime is None


def test_ports_and_registers_are_unsigned() -> None:
    words = pack('<4H', 0xFFFF, 0x0206, 11, 6)
    assert made(0x55, words) == PortFrame((0xFFFF, 0x0206, 11, 6))
    assert made(0x5F, words) == RegisterFrame((0xFFFF, 0x0206, 11, 6))


@pytest.mark.parametrize('sign', [1, -1])
def test_degrees_and_minutes_share_their_sign(sign: int) -> None:
    assert degrees_of(sign * 333731778) == pytest.approx(sign * (33 + 37.31778 / 60), abs=1e-12)
    assert degrees_of(sign * 3_000_000) == pytest.approx(sign * 0.5, abs=1e-12)


def test_every_type_of_the_protocol_has_one_class() -> None:
    assert sorted(PARSERS) == [*range(0x50, 0x5B), 0x5F]
    assert len(set(FRAMES.values())) == len(FrameType)


@given(st.sampled_from(sorted(PARSERS)), st.binary(min_size=8, max_size=8))
def test_no_payload_raises(kind: int, payload: bytes) -> None:
    assert type(made(kind, payload)) is FRAMES[kind]
