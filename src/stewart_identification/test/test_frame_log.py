# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Logs of a WitMotion sensor's own frames, encoded here as its data sheets say."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
import struct

import numpy as np
import pytest
from stewart_bags.reading import Bag
from stewart_bags.series import ImuSeries, read_series
from stewart_driver.witmotion.frames import AccelerationFrame, AngularVelocityFrame
from stewart_driver.witmotion.samples import attitude_of, CycleGrouper, Decoder
from stewart_identification.importing.frame_log import frames_of, read_frame_log
from stewart_identification.importing.imu_log import ImuLog, NoImuLog
from stewart_identification.verbs import import_log
from typed_words import typed

run = partial(typed, import_log)
BEGIN = datetime(2026, 1, 14, 23, 59, 59, 500_000, tzinfo=timezone.utc)
BEGIN_NS = int(BEGIN.timestamp() * 1e9)
PATH = Path('WIT00001.TXT')


def frame(kind: int, *words: int) -> bytes:
    head = struct.pack('<BB4h', 0x55, kind, *words)
    return head + bytes([sum(head) & 0xFF])


def clock(moment: datetime) -> bytes:
    date = moment.year - 2000, moment.month, moment.day
    time = moment.hour, moment.minute, moment.second
    return struct.pack('<6BH', *date, *time, moment.microsecond // 1000)


def timed(moment: datetime) -> bytes:
    head = b'\x55\x50' + clock(moment)
    return head + bytes([sum(head) & 0xFF])


def motion(count: int, seed: int = 0) -> np.ndarray:
    """Return counts of force, rate and angles, shape (n, 9); about 1 g upwards."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(-3000, 3000, (count, 9))
    counts[:, 2] += 2048
    return counts


def cycles(counts: np.ndarray, rate: float = 100.0, *, with_time: bool = True) -> list[bytes]:
    """Return the bytes of each cycle: time, acceleration, angular velocity, angle, field."""
    made = []
    for row, (*force, a, b, c, roll, pitch, yaw) in enumerate(counts.tolist()):
        moment = BEGIN + timedelta(seconds=row / rate)
        made.append(
            (timed(moment) if with_time else b'')
            + frame(0x51, *force, 2500)
            + frame(0x52, a, b, c, 2500)
            + frame(0x53, roll, pitch, yaw, 11608)
            + frame(0x54, 339, -17, -783, 0)
        )
    return made


def bluetooth(counts: np.ndarray, rate: float = 100.0, *, with_time: bool = True) -> list[bytes]:
    made = []
    for row, words in enumerate(counts.tolist()):
        moment = BEGIN + timedelta(seconds=row / rate)
        body = struct.pack('<BB9h', 0x55, 0x61, *words)
        made.append(body + (clock(moment) if with_time else b''))
    return made


def read(content: bytes, **how: float) -> ImuLog:
    data = frames_of(content)
    assert data is not None
    return read_frame_log(data, PATH, **how)


def same(log: ImuLog, counts: np.ndarray) -> None:
    """Hold a log against the counts, by the formulas of the data sheets."""
    assert np.allclose(log.specific_force, counts[:, :3] / 32768 * 16 * 9.80665, rtol=1e-12)
    rates = np.radians(counts[:, 3:6] / 32768 * 2000)
    assert np.allclose(log.angular_velocity, rates, rtol=1e-12)
    half = counts[:, 6:] / 32768 * np.pi / 2
    (sr, sp, sy), (cr, cp, cy) = np.sin(half).T, np.cos(half).T
    w = cr * cp * cy + sr * sp * sy
    assert log.quaternion_xyzw is not None
    assert np.allclose(np.abs(log.quaternion_xyzw[:, 3]), np.abs(w), atol=1e-12)


@pytest.mark.parametrize('encode', [cycles, bluetooth])
def test_a_card_with_the_sensors_time_becomes_a_bag(
    encode: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = motion(200)
    (tmp_path / 'WIT00001.TXT').write_bytes(b''.join(encode(counts)))

    assert run(tmp_path / 'WIT00001.TXT', '-o', tmp_path / 'bag') == 0

    with Bag(tmp_path / 'bag') as bag:
        imu = read_series(bag, 'imu/data', ImuSeries)
    assert imu.stamp_ns.tolist() == [BEGIN_NS + 10_000_000 * row for row in range(200)]
    assert np.allclose(imu.specific_force, counts[:, :3] / 32768 * 16 * 9.80665)
    assert not imu.findings
    assert capsys.readouterr().err.startswith(f'{tmp_path / "bag"}: 200 messages over 1.990 s')


def test_values_are_those_of_the_data_sheet() -> None:
    counts = motion(50)
    for content in (b''.join(cycles(counts)), b''.join(bluetooth(counts))):
        log = read(content)
        same(log, counts)
        assert log.remarks == ()


def test_a_capture_of_a_real_sensor_is_read() -> None:
    """Frames of a WTGAHRS2 as its owner published them, with what they mean."""
    capture = (
        '55 51 32 00 69 00 01 08 10 0c 66 55 52 00 00 00 00 00 00 10 0c c3 '
        '55 53 1f 02 02 ff d6 05 eb 46 d6 55 59 9c 7f 6f 03 af fe 32 09 23\n'
    )
    log = read((3 * capture).encode(), rate=10.0)
    assert np.allclose(log.specific_force[0] / 9.80665, [0.0244, 0.0513, 1.0005], atol=1e-4)
    assert log.quaternion_xyzw is not None
    assert np.allclose(log.quaternion_xyzw[0], [0.02682, -0.01028, 0.07184, 0.99695], atol=1e-4)
    # Roll, pitch and yaw of the same cycle say the same.
    half = np.radians([2.983, -1.395, 8.207]) / 2
    (sr, sp, sy), (cr, cp, cy) = np.sin(half), np.cos(half)
    assert np.isclose(log.quaternion_xyzw[0, 3], cr * cp * cy + sr * sp * sy, atol=1e-3)


@pytest.mark.parametrize('separator', [' ', '', ', 0x', '-'])
def test_hex_digits_are_bytes(separator: str) -> None:
    counts = motion(5)
    data = b''.join(cycles(counts))
    text = separator.join(f'{byte:02X}' for byte in data)
    same(read(f'{"0x" if "x" in separator else ""}{text}\r\n'.encode()), counts)


@pytest.mark.parametrize('seed', range(6))
def test_spoilt_bytes_cost_their_samples_and_no_others(seed: int) -> None:
    """A flipped byte spoils the cycle that it is in, one more in a rare accident; all is told."""
    rng = np.random.default_rng(seed)
    counts = motion(400, seed)
    data = bytearray(b''.join(cycles(counts, with_time=False)))
    places = rng.choice(len(data), 12, replace=False)
    for place in places:
        data[place] ^= int(rng.integers(1, 256))
    # A magnetic field is not used, and its own byte spoils nothing.
    spoilt = {int(place) // 44 for place in places if place % 44 < 33}
    spoilt = {row for row in spoilt if 0 < row < 399}

    log = read(bytes(data), rate=100.0)

    rows = np.rint((log.stamps_ns - log.stamps_ns[0]) / 1e7).astype(int)
    first = 400 - (rows[-1] + 1) if rows[-1] < 399 else 0
    kept = rows + first
    same(log, counts[kept])
    assert not spoilt & set(kept.tolist())
    assert f'{kept[-1] - kept[0] + 1 - len(kept)} samples left out as spoilt' in ' '.join(
        log.remarks
    )
    assert 'bytes belong to no whole frame' in log.remarks[0]


@pytest.mark.parametrize('encode', [cycles, bluetooth])
def test_lost_stretches_show_in_the_sensors_time(encode: object) -> None:
    counts = motion(300)
    made = encode(counts)
    made[100] = made[100][:15]
    content = b''.join([*made[:100], made[100], *made[103:250], b'\0' * 7, *made[260:]])

    log = read(content)

    rows = np.rint((log.stamps_ns - BEGIN_NS) / 1e7).astype(int)
    same(log, counts[rows])
    assert {*range(100), *range(103, 249), *range(260, 300)} <= set(rows.tolist())
    lost = 300 - len(rows)
    text = ' '.join(log.remarks)
    assert f'{lost} samples missing in 2 gaps of up to 0.1' in text


def test_frames_that_come_now_and_then_are_no_lost_samples() -> None:
    counts = motion(100)
    made = cycles(counts, with_time=False)
    made[::10] = [item + frame(0x57, 1, 2, 3, 4) + frame(0x58, 1, 2, 3, 4) for item in made[::10]]
    replies = bluetooth(counts, with_time=False)
    replies[::10] = [item + b'\x55\x71\x3a\0' + bytes(16) for item in replies[::10]]
    for content in (b''.join(made), b''.join(replies)):
        log = read(content, rate=50.0, start_ns=10**18)
        same(log, counts)
        assert log.remarks == ()
        assert log.stamps_ns.tolist() == [10**18 + 20_000_000 * row for row in range(100)]


@pytest.mark.parametrize('seed', range(4))
def test_the_drivers_decoder_finds_the_same(seed: int) -> None:
    """Two readings of one standard: a stream with losses, and the whole file."""
    rng = np.random.default_rng(seed)
    data = bytearray(b''.join(cycles(motion(300, seed), with_time=False)))
    for _ in range(10):
        place = int(rng.integers(100, len(data) - 500))
        if rng.random() < 0.5:
            del data[place : place + int(rng.integers(1, 90))]
        else:
            data[place] ^= 0x40
    grouper = CycleGrouper()
    grouper.expect((0x51, 0x52, 0x53, 0x54))
    samples = [s for s in grouper.feed(Decoder().feed(bytes(data))) if s.complete]

    log = read(bytes(data), rate=100.0)

    ours = {
        tuple(np.round(row, 9)) for row in np.hstack([log.specific_force, log.angular_velocity])
    }
    theirs = set()
    for sample in samples:
        force, turning = sample.get(AccelerationFrame), sample.get(AngularVelocityFrame)
        assert attitude_of(sample) is not None
        theirs.add(tuple(np.round([*force.specific_force, *turning.angular_velocity], 9)))
    assert theirs <= ours
    # The driver waits for the frame of the field; here a cycle without it is whole.
    assert len(ours) - len(theirs) <= 10


@pytest.mark.parametrize(
    ('content', 'how', 'message'),
    [
        (b''.join(cycles(motion(9), with_time=False)), {}, 'no time 55 50 in it: say at which'),
        (9 * (b'\x55\x50' + bytes(8) + b'\xa5' + cycles(motion(1))[0][11:]), {}, 'is no date'),
        (9 * frame(0x51, 0, 0, 2048, 0), {'rate': 10.0}, 'no frames 55 52 of the angular veloc'),
        (
            9 * timed(BEGIN),
            {'rate': 10.0},
            'no frames 55 51 of the acceleration among',
        ),
        (b'\0\xff' * 500, {}, '0 of its 1000 bytes belong to frames 55 50'),
        (b'\x55' * 300 + b'\0', {}, '0 of its 301 bytes'),
        (
            frame(0x51, 0, 0, 2048, 0) + frame(0x54, 0, 0, 0, 0) + frame(0x52, 0, 0, 0, 0),
            {'rate': 10.0},
            'none of its 2 cycles of frames is whole',
        ),
    ],
)
def test_what_cannot_be_read_says_why(content: bytes, how: dict[str, float], message: str) -> None:
    with pytest.raises(NoImuLog, match=message) as caught:
        read(content, **how)
    assert '\n' not in str(caught.value)


def test_a_clock_that_stands_is_told() -> None:
    made = cycles(motion(50), rate=1e9)
    log = read(b''.join(made))
    assert 'later than the one before' in log.remarks[-1]
    assert '--rate' in log.remarks[-1]


def test_words_are_no_frames() -> None:
    assert frames_of(b'time,ax(g),ay(g),az(g)\n') is None
    assert frames_of(b'') is None
    assert frames_of(b'12 34 5') is None
