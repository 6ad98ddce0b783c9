# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The emulated sensor without a port: its bytes, its registers and its lock."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, degrees, radians, sin

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from stewart_driver.witmotion.frames import (
    AccelerationFrame,
    AngleFrame,
    AngularVelocityFrame,
    FrameType,
    QuaternionFrame,
    RegisterFrame,
)
from stewart_driver.witmotion.samples import Decoder
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.spatial import matrix_from_quaternion
from stewart_simulation.serial_imu.device import Sensor
from stewart_simulation.serial_imu.inertial import felt, FIELD, InertialState, rocking
from stewart_simulation.serial_imu.measurement import (
    EXACT,
    Imperfections,
    measure,
    Measurements,
    rows_of,
)
from stewart_simulation.serial_imu.protocol import frame

G = 9.80665
UNLOCK = bytes.fromhex('ff aa 69 88 b5')
RNG = np.random.default_rng(0)


def measured_of(
    states: list[InertialState], flaws: Imperfections = EXACT, rng: np.random.Generator = RNG
) -> Measurements:
    """Measure states at once, at time 0."""
    count = len(states)
    return measure(states, rows_of(states), flaws, rng, np.zeros(count), np.zeros(count))


def captured(kind: FrameType, state: InertialState) -> str:
    (sent,) = measured_of([state]).frames([kind])
    return sent.hex(' ')


@pytest.mark.parametrize(
    ('kind', 'state', 'expected'),
    [
        (
            FrameType.ACCELERATION,
            InertialState(
                specific_force=(50 / 2048 * G, 105 / 2048 * G, 2049 / 2048 * G),
                temperature_celsius=30.88,
            ),
            '55 51 32 00 69 00 01 08 10 0c 66',
        ),
        (
            FrameType.PRESSURE,
            InertialState(pressure=100971.0, height=30.16),
            '55 56 6b 8a 01 00 c8 0b 00 00 74',
        ),
        (
            FrameType.POSITION,
            InertialState(latitude_deg=34 + 55.16643 / 60, longitude_deg=33 + 37.31778 / 60),
            '55 57 c2 57 e4 13 63 2a 98 14 f5',
        ),
        (
            FrameType.QUATERNION,
            InertialState(
                quaternion_xyzw=(879 / 32768, -337 / 32768, 2354 / 32768, 32668 / 32768)
            ),
            '55 59 9c 7f 6f 03 af fe 32 09 23',
        ),
        (
            FrameType.MAGNETIC_FIELD,
            InertialState(
                magnetic_field=(203 * 1e-4 / 12000, 2657 * 1e-4 / 12000, -4559 * 1e-4 / 12000)
            ),
            '55 54 cb 00 61 0a 31 ee 00 00 fe',
        ),
    ],
)
def test_frames_are_those_of_the_captured_sensor(
    kind: FrameType, state: InertialState, expected: str
) -> None:
    assert captured(kind, state) == expected


@given(
    st.tuples(*3 * [st.floats(-150.0, 150.0)]),
    st.tuples(*3 * [st.floats(-34.0, 34.0)]),
    st.floats(-3.1, 3.1),
    st.floats(-1.5, 1.5),
    st.floats(-3.1, 3.1),
)
def test_what_is_encoded_is_decoded_to_half_a_step(
    force: tuple[float, float, float],
    rate: tuple[float, float, float],
    roll: float,
    pitch: float,
    yaw: float,
) -> None:
    q = Pose.from_rpy((0.0, 0.0, 0.0), (roll, pitch, yaw)).quaternion_xyzw
    state = InertialState(force, rate, tuple(q.tolist()))
    (sent,) = measured_of([state]).frames([0x51, 0x52, 0x53, 0x59])
    found = Decoder().feed(sent)
    force_, rate_, angle, quaternion = (item.frame for item in found)

    assert isinstance(force_, AccelerationFrame)
    assert isinstance(rate_, AngularVelocityFrame)
    assert isinstance(angle, AngleFrame)
    assert isinstance(quaternion, QuaternionFrame)
    assert force_.specific_force == pytest.approx(force, abs=0.51 * 16 * G / 32768)
    assert rate_.angular_velocity == pytest.approx(rate, abs=0.51 * radians(2000) / 32768)
    # Near a pitch of 90° roll and yaw are ill defined, and the steps of the angles count more.
    assert abs(np.dot(angle.quaternion_xyzw, q)) == pytest.approx(1.0, abs=1e-8)
    assert abs(np.dot(quaternion.quaternion_xyzw, q)) == pytest.approx(1.0, abs=1e-4)


def test_values_beyond_the_range_stay_at_its_end() -> None:
    state = InertialState(specific_force=(500.0, -500.0, 0.0))
    (found,) = Decoder().feed(*measured_of([state]).frames([FrameType.ACCELERATION]))
    assert isinstance(found.frame, AccelerationFrame)
    assert found.frame.specific_force[:2] == pytest.approx((16 * G * 32767 / 32768, -16 * G))


def test_noise_and_bias_are_those_stated() -> None:
    flaws = Imperfections(0.05, 2e-3, 0.0, (0.1, 0.0, -0.2), (0.01, 0.0, 0.0))
    rng = np.random.default_rng(7)
    drawn = measured_of(4000 * [InertialState()], flaws, rng).values
    force, rate = drawn[:, 0:3], drawn[:, 3:6]

    assert force.mean(axis=0) == pytest.approx([0.1, 0.0, G - 0.2], abs=4e-3)
    assert force.std(axis=0) == pytest.approx(3 * [0.05], rel=0.05)
    assert rate.mean(axis=0) == pytest.approx([0.01, 0.0, 0.0], abs=2e-4)
    assert rate.std(axis=0) == pytest.approx(3 * [2e-3], rel=0.05)


def test_a_rocking_sensor_feels_what_its_attitude_says() -> None:
    state = rocking(amplitude=0.2, period=4.0)(0.7)
    x, _, _, w = state.quaternion_xyzw
    roll = 2.0 * np.arctan2(x, w)
    assert state.specific_force == pytest.approx((0.0, G * sin(roll), G * cos(roll)))
    turned = matrix_from_quaternion(np.array(state.quaternion_xyzw)).T @ FIELD
    assert state.magnetic_field == pytest.approx(turned)
    later = rocking(amplitude=0.2, period=4.0)(0.7 + 1e-6).quaternion_xyzw
    rate = (2.0 * np.arctan2(later[0], later[3]) - roll) / 1e-6
    assert state.angular_velocity[0] == pytest.approx(rate, rel=1e-4)


def on_platform(motion: Motion, mounting: Pose) -> InertialState:
    state = np.concatenate([motion.position, motion.quaternion_xyzw, motion.twist])
    return felt(state, motion.acceleration, mounting, np.array([0.0, 0.0, -G]))


def test_a_sensor_off_the_origin_feels_the_rotation() -> None:
    pose = Pose.from_rpy((0.0, 0.0, 1.0), (0.0, 0.0, 0.3))
    motion = Motion(
        pose.position,
        pose.quaternion_xyzw,
        np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0]),
        np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.5]),
    )
    state = on_platform(motion, Pose.from_rpy((0.4, 0.0, 0.1), (0.0, 0.0, 0.0)))

    # Centripetal -ω²r along x, tangential α r along y, both in axes that turn with the platform.
    assert state.specific_force == pytest.approx((-4.0 * 0.4, 0.5 * 0.4, G))
    assert state.angular_velocity == pytest.approx((0.0, 0.0, 2.0))


def test_a_sensor_mounted_upside_down_feels_gravity_downwards() -> None:
    motion = Motion.at_rest(Pose.identity())
    state = on_platform(motion, Pose.from_rpy((0.0, 0.0, 0.0), (np.pi, 0.0, 0.0)))
    assert state.specific_force == pytest.approx((0.0, 0.0, -G), abs=1e-12)
    assert state.magnetic_field == pytest.approx((20e-6, 0.0, 44e-6), abs=1e-12)


def answered(sensor: Sensor, register: int, now: float = 0.0) -> tuple[int, ...]:
    (found,) = Decoder().feed(sensor.receive(bytes([0xFF, 0xAA, 0x27, register, 0]), now))
    assert isinstance(found.frame, RegisterFrame)
    return found.frame.words


def test_registers_are_read_without_unlocking() -> None:
    assert answered(Sensor(), 2) == (0x07DE, 6, 2, 0)


def test_nothing_is_written_while_locked_or_ten_seconds_after_the_unlock() -> None:
    sensor = Sensor()
    rate = bytes.fromhex('ff aa 03 0b 00')
    sensor.receive(rate, 0.0)
    assert sensor.registers[3] == 6
    sensor.receive(UNLOCK, 1.0)
    sensor.receive(rate, 11.1)
    assert sensor.registers[3] == 6
    sensor.receive(UNLOCK, 12.0)
    sensor.receive(rate, 21.9)
    assert sensor.registers[3] == 11


def test_commands_in_pieces_and_between_garbage_are_obeyed() -> None:
    sensor = Sensor()
    for byte in b'\x00\xff' + UNLOCK + b'\x13' + bytes.fromhex('ff aa 02 06 02'):
        sensor.receive(bytes([byte]), 1.0)
    assert sensor.registers[2] == 0x0206


def test_codes_that_do_not_exist_are_ignored() -> None:
    sensor = Sensor()
    sensor.receive(UNLOCK + bytes.fromhex('ff aa 03 0e 00 ff aa 04 0a 00 ff aa 24 02 00'), 0.0)
    assert sensor.registers == Sensor().registers


def test_what_is_not_saved_is_lost_with_the_power() -> None:
    sensor = Sensor()
    sensor.receive(UNLOCK + bytes.fromhex('ff aa 03 0b 00'), 0.0)
    sensor.receive(bytes.fromhex('ff aa 00 ff 00'), 1.0)
    assert sensor.registers[3] == 6
    assert sensor.receive(bytes.fromhex('ff aa 27 02 00'), 1.1) == b''
    sensor.receive(UNLOCK + bytes.fromhex('ff aa 03 0b 00 ff aa 00 00 00'), 2.0)
    sensor.restart(3.0)
    assert sensor.registers[3] == 11
    sensor.receive(UNLOCK + bytes.fromhex('ff aa 00 01 00'), 4.0)
    assert sensor.registers[3] == sensor.saved[3] == 6


def test_a_line_too_slow_lowers_the_rate_without_a_word() -> None:
    sensor = Sensor()
    assert 1.0 / sensor.period == pytest.approx(5.0)
    assert answered(sensor, 2)[1] == 6
    sensor.baud = 115200
    assert 1.0 / sensor.period == pytest.approx(10.0)


def test_without_a_stream_there_is_no_period_and_once_is_once() -> None:
    sensor = Sensor()
    sensor.receive(UNLOCK + bytes.fromhex('ff aa 03 0d 00'), 0.0)
    assert sensor.period == float('inf')
    assert not sensor.single()
    sensor.receive(bytes.fromhex('ff aa 03 0c 00'), 0.0)
    assert sensor.single()
    assert not sensor.single()


def test_six_axes_begin_their_yaw_at_zero_and_drift() -> None:
    turned = InertialState(
        quaternion_xyzw=tuple(
            Pose.from_rpy((0.0, 0.0, 0.0), (0.1, 0.0, 1.0)).quaternion_xyzw.tolist()
        )
    )
    sensor = Sensor(flaws=EXACT)
    sensor.receive(UNLOCK + bytes.fromhex('ff aa 02 08 00'), 0.0)

    def angle(now: float) -> AngleFrame:
        (found,) = Decoder().feed(sensor.cycle(turned, now))
        assert isinstance(found.frame, AngleFrame)
        return found.frame

    assert degrees(angle(0.0).yaw) == pytest.approx(degrees(1.0), abs=0.01)
    sensor.receive(UNLOCK + bytes.fromhex('ff aa 24 01 00'), 1.0)
    assert degrees(angle(1.0).yaw) == pytest.approx(0.0, abs=0.01)
    assert angle(1001.0).yaw == pytest.approx(0.1, abs=2e-4)
    assert degrees(angle(1001.0).roll) == pytest.approx(degrees(0.1), abs=0.01)


def test_every_type_can_be_switched_on() -> None:
    sensor = Sensor()
    sensor.receive(UNLOCK + bytes.fromhex('ff aa 02 ff 07'), 0.0)
    found = Decoder().feed(sensor.cycle(InertialState(), 0.0))
    assert [item.type for item in found] == list(range(0x50, 0x5B))


def test_a_frozen_sensor_repeats_itself() -> None:
    sensor = Sensor(frozen=True)
    assert sensor.cycle(InertialState(), 0.0) == sensor.cycle(InertialState(), 1.0)
    assert frame(0x51, bytes(8)) == bytes.fromhex('55 51 00 00 00 00 00 00 00 00 a6')


@pytest.mark.parametrize('silent', [False, True], ids=['awake', 'restarting'])
def test_cycles_at_once_are_those_one_by_one(silent: bool) -> None:
    turns = [InertialState(angular_velocity=(0.1 * k, 0.0, -0.2 * k)) for k in range(200)]
    times = [0.005 * k for k in range(200)]
    one, many = Sensor(), Sensor()
    for sensor in (one, many):
        sensor.receive(UNLOCK + bytes.fromhex('ff aa 02 ff 07 ff aa 24 01 00'), 0.0)
        if silent:
            sensor.restart(0.0)
    apart = [one.cycle(*pair) for pair in zip(turns, times, strict=True)]
    together = many.cycles(turns[:20], times[:20]) + many.cycles(turns[20:], times[20:])
    assert together == apart
    assert len(set(together)) == (121 if silent else 200)


def sent(sensor: Sensor, since: float, count: int, feel: Callable[[float], float]) -> np.ndarray:
    """Return what the gyroscope says of a rate about x, sent 200 times a second [rad/s]."""
    found = []
    for number in range(count):
        now = since + number / 200.0
        data = sensor.cycle(InertialState(angular_velocity=(feel(now), 0.0, 0.0)), now)
        found += [
            item.frame.angular_velocity[0]
            for item in Decoder().feed(data)
            if isinstance(item.frame, AngularVelocityFrame)
        ]
    return np.array(found)


@pytest.mark.parametrize(('code', 'corner'), [(0, 256.0), (2, 94.0), (4, 21.0), (6, 5.0)])
@pytest.mark.parametrize(
    'frequency', [*(pytest.param(slow, marks=pytest.mark.slow) for slow in (0.5, 5.0)), 20.0]
)
def test_the_low_pass_is_that_of_its_bandwidth(code: int, corner: float, frequency: float) -> None:
    sensor = Sensor(flaws=EXACT)
    sensor.receive(UNLOCK + bytes([0xFF, 0xAA, 0x1F, code, 0]), 0.0)
    times = np.arange(1600) / 200.0
    found = sent(sensor, 0.0, 1600, lambda now: 10.0 * sin(2.0 * np.pi * frequency * now))[800:]
    wave = np.exp(2j * np.pi * frequency * times[800:])
    response = 2j * np.mean(found * wave.conj()) / 10.0
    # Between samples the truth is taken for straight, which costs a little at 20 Hz.
    wanted = 1.0 / (1.0 + 1j * frequency / corner)
    assert abs(response / wanted - 1.0) < 0.04


def test_a_range_cuts_off_and_scales_nothing() -> None:
    sensor = Sensor(flaws=EXACT)
    sensor.receive(UNLOCK + bytes.fromhex('ff aa 20 00 00'), 0.0)
    slow = sent(sensor, 0.0, 200, lambda _: 1.7)[-1]
    fast = sent(sensor, 1.0, 200, lambda _: 9.0)[-1]
    assert (slow, fast) == pytest.approx((1.7, radians(250.0)), abs=1.1e-3)


def test_some_firmware_obeys_a_rate_after_saving_and_a_restart_only() -> None:
    sensor = Sensor(needs_restart=frozenset({3}))
    sensor.baud = 115200
    sensor.receive(UNLOCK + bytes.fromhex('ff aa 02 06 02 ff aa 03 0b 00'), 0.0)
    assert answered(sensor, 2)[:2] == (0x0206, 11)
    assert 1.0 / sensor.period == pytest.approx(10.0)
    sensor.receive(bytes.fromhex('ff aa 00 00 00 ff aa 00 ff 00'), 1.0)
    assert 1.0 / sensor.period == pytest.approx(200.0)
