# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated drive, through its process data: statuswords as numbers, not by our own tables.

Every transition of the drive profile is made here from outside; 0250h is SWITCH ON DISABLED, 0231h
READY, 0233h SWITCHED ON, 1237h OPERATION ENABLED in a synchronous mode, 0217h QUICK STOP ACTIVE,
021Fh FAULT REACTION ACTIVE and 0218h FAULT, each with voltage (bit 4) and remote (bit 9).
"""

from __future__ import annotations

from collections.abc import Callable
import math
import struct
from typing import Any

import pytest

Build = Callable[..., Any]

REVOLUTION = 1 << 23
ERROR, STATUS, POSITION, TORQUE, DEVIATION = range(5)


def say(bench: Any, word: int, target: int = 0, count: int = 2) -> int:
    """Send a controlword a few times; return the statusword of the first drive."""
    rows = bench.run(count, lambda _: [(word, target)] * len(bench.segment.slaves))
    return int(rows[0][STATUS])


def enabled(build: Build, count: int = 1, **options: Any) -> Any:
    bench = build(count, **options).op()
    assert [say(bench, word) for word in (0x06, 0x07, 0x0F)] == [0x0231, 0x0233, 0x1237]
    return bench


WAYS = {
    '2, 7 by disable voltage': [(0x06, 0x0231), (0x00, 0x0250)],
    '2, 7 by quick stop': [(0x06, 0x0231), (0x02, 0x0250)],
    '2, 3, 6': [(0x06, 0x0231), (0x07, 0x0233), (0x06, 0x0231)],
    '2, 3, 10 by disable voltage': [(0x06, 0x0231), (0x07, 0x0233), (0x00, 0x0250)],
    '2, 3, 10 by quick stop': [(0x06, 0x0231), (0x07, 0x0233), (0x02, 0x0250)],
    '2, 3, 4, 5': [(0x06, 0x0231), (0x07, 0x0233), (0x0F, 0x1237), (0x07, 0x0233)],
    '2, 3, 4, 8': [(0x06, 0x0231), (0x07, 0x0233), (0x0F, 0x1237), (0x06, 0x0231)],
    '2, 3, 4, 9': [(0x06, 0x0231), (0x07, 0x0233), (0x0F, 0x1237), (0x00, 0x0250)],
    '3 and 4 at once': [(0x06, 0x0231), (0x0F, 0x1237)],
}


@pytest.mark.parametrize('way', WAYS)
def test_controlwords_make_the_transitions_of_the_standard(build: Build, way: str) -> None:
    bench = build(1).op()

    assert say(bench, 0x00) == 0x0250
    for word, status in WAYS[way]:
        assert say(bench, word, count=3) == status, f'{word:04X}'


def test_transitions_0_and_1_are_made_by_the_drive_itself(build: Build) -> None:
    bench = build(1)
    drive = bench.segment.slaves[0].drive

    assert drive.state.name == 'NOT_READY_TO_SWITCH_ON'
    bench.wait(0.005)
    assert drive.state.name == 'SWITCH_ON_DISABLED'


def move(bench: Any, count: int, speed: int) -> int:
    """Ramp up and drive; return the last target."""
    target = 0.0
    for number in range(count):
        target += speed * 1e-3 * min((number + 1) / 100, 1.0)
        bench.cycle([(0x0F, round(target))])
    return round(target)


def test_quick_stop_ramps_down_and_switches_off(build: Build) -> None:
    """Option 2: transitions 11 and 12. At 10 rev/s² it takes a second to stop from 10 rev/s."""
    bench = enabled(build)
    bench.sdo_write(1, 0x6085, 0, struct.pack('<I', 10 * REVOLUTION))
    target = move(bench, 300, 10 * REVOLUTION)

    assert say(bench, 0x02, target, 900) == 0x0217
    stopping = bench.cycle([(0x02, target)])[0][POSITION]
    assert say(bench, 0x02, target, 200) == 0x0250
    stopped = bench.cycle([(0x02, target)])[0][POSITION]
    assert stopping < stopped
    assert stopped - target == pytest.approx(5 * REVOLUTION, rel=0.02)
    assert bench.cycle([(0x02, target)])[0][POSITION] == stopped


def test_quick_stop_may_stay_and_go_on(build: Build) -> None:
    """Option 6: QUICK STOP ACTIVE is kept at rest; transition 16 leads back."""
    bench = enabled(build)
    bench.sdo_write(1, 0x605A, 0, b'\x06\x00')

    assert say(bench, 0x02, count=50) == 0x0617
    assert say(bench, 0x0F) == 0x1237
    assert say(bench, 0x02) == 0x0617
    assert say(bench, 0x00) == 0x0250


def test_a_fault_stops_is_reported_and_reset_by_an_edge(build: Build) -> None:
    """Transitions 13, 14 and 15."""
    bench = enabled(build)
    bench.sdo_write(1, 0x6085, 0, struct.pack('<I', 100 * REVOLUTION))
    target = move(bench, 200, 5 * REVOLUTION)
    bench.segment.slaves[0].drive.fault(0x2310)

    row = bench.cycle([(0x0F, target)])[0]
    assert (row[ERROR], row[STATUS]) == (0x2310, 0x021F)
    assert say(bench, 0x0F, target, 60) == 0x0218
    assert say(bench, 0x80, target) == 0x0250
    assert bench.cycle([(0x80, target)])[0][ERROR] == 0
    bench.segment.slaves[0].drive.fault(0x3210)
    assert say(bench, 0x80, target, 5) == 0x0218
    say(bench, 0x00, target)
    assert say(bench, 0x80, target) == 0x0250


def test_faults_and_resets_are_emergencies(build: Build) -> None:
    bench = enabled(build)
    bench.segment.slaves[0].drive.fault(0x8611)
    bench.segment.slaves[0].drive.fault(0x2310)
    say(bench, 0x00, count=5)
    say(bench, 0x80)

    assert bench.fetch(1) == (3, bytes.fromhex('0010 1186 21 0000000000'))
    assert bench.fetch(1) == (3, bytes.fromhex('0010 0000 00 0000000000'))
    assert bench.fetch(1) is None


def test_a_drive_follows_a_sine(build: Build) -> None:
    """An axis with a lag of 1 ms is behind by its speed times about two cycles."""
    bench = enabled(build)
    speed = 2.0 * math.pi * REVOLUTION
    worst = 0
    for number in range(1000):
        target = round(REVOLUTION * math.sin(2.0 * math.pi * number * 1e-3))
        row = bench.cycle([(0x0F, target)])[0]
        worst = max(worst, abs(target - row[POSITION]))

    assert row[STATUS] == 0x1237
    assert 0.5e-3 * speed < worst < 3e-3 * speed


def test_without_a_mode_an_enabled_drive_stays(build: Build) -> None:
    bench = enabled(build)
    bench.sdo_write(1, 0x6060, 0, b'\x00')
    row = bench.run(20, lambda _: [(0x0F, 100_000)])[0]

    assert (row[STATUS], row[POSITION]) == (0x0237, 0)


def test_a_drive_that_is_off_does_not_move(build: Build) -> None:
    bench = build(1).op()
    for word in (0x00, 0x06, 0x07):
        assert bench.run(5, lambda _, word=word: [(word, 100_000)])[0][POSITION] == 0


def test_a_jump_of_the_target_is_a_following_error(build: Build) -> None:
    bench = enabled(build)
    rows = [bench.cycle([(0x0F, 3 * REVOLUTION)])[0] for _ in range(3)]

    assert rows[-1][ERROR] == 0x8611
    assert rows[-1][STATUS] & 0x4F in {0x0F, 0x08}


def test_a_following_error_may_last_as_long_as_its_timeout(build: Build) -> None:
    bench = enabled(build)
    bench.sdo_write(1, 0x6065, 0, struct.pack('<I', 1000))
    bench.sdo_write(1, 0x6066, 0, struct.pack('<H', 20))

    def status_after(count: int, position: int) -> int:
        return say(bench, 0x0F, position, count)

    assert status_after(5, 500_000) & 0x3000 == 0x3000
    assert status_after(30, 500_000) == 0x1237
    speed = [(0x0F, 500_000 + 50_000 * number) for number in range(1, 41)]
    rows = bench.run(40, lambda number: [speed[number]])
    assert rows[0][ERROR] == 0x8611


def test_the_software_limits_hold_the_target_and_say_so(build: Build) -> None:
    bench = enabled(build)
    bench.sdo_write(1, 0x607D, 1, struct.pack('<i', -1000))
    bench.sdo_write(1, 0x607D, 2, struct.pack('<i', 2000))

    row = bench.run(50, lambda _: [(0x0F, 5000)])[0]
    assert (row[STATUS], row[POSITION]) == (0x1A37, 2000)
    row = bench.run(50, lambda _: [(0x0F, 500)])[0]
    assert (row[STATUS], row[POSITION]) == (0x1237, 500)


def test_the_offset_is_added_to_the_target(build: Build) -> None:
    bench = enabled(build)
    bench.sdo_write(1, 0x60B0, 0, struct.pack('<i', 300))

    assert bench.run(50, lambda _: [(0x0F, 500)])[0][POSITION] == 800


def test_without_outputs_a_running_drive_stops_with_a_fault(build: Build) -> None:
    bench = enabled(build)
    target = move(bench, 150, 5 * REVOLUTION)
    bench.wait(0.3)
    first = bench.segment.model.positions[0]
    bench.wait(0.1)

    drive = bench.segment.slaves[0].drive
    assert (drive.state.name, drive.error_code) == ('FAULT', 0x8130)
    assert bench.segment.model.positions[0] == first
    assert abs(first - target) < REVOLUTION


def test_a_drive_that_is_off_takes_silence_calmly(build: Build) -> None:
    bench = build(1).op()
    bench.wait(0.3)

    drive = bench.segment.slaves[0].drive
    assert (drive.state.name, drive.error_code) == ('SWITCH_ON_DISABLED', 0)


def test_an_old_controlword_is_forgotten_in_the_silence(build: Build) -> None:
    bench = build(1).op()
    assert [say(bench, word) for word in (0x06, 0x07)] == [0x0231, 0x0233]
    bench.wait(0.3)

    assert bench.segment.slaves[0].drive.state.name == 'SWITCH_ON_DISABLED'


def test_positions_wrap_at_32_bits(build: Build) -> None:
    bench = build(1).op()
    bench.segment.model.positions[0] = 2.0**31 + 5

    assert bench.cycle([(0, 0)])[0][POSITION] == -(2**31) + 5


def test_drives_do_not_touch_each_other(build: Build) -> None:
    bench = enabled(build, 3)
    rows = bench.run(60, lambda _: [(0x0F, 100), (0x0F, 200), (0x06, 300)])

    assert [row[POSITION] for row in rows] == [100, 200, 0]
    assert [row[STATUS] for row in rows] == [0x1237, 0x1237, 0x0231]
