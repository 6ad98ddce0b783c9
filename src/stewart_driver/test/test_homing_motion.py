# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Homing by drives that are written down here by hand: what goes out, frame by frame."""

from __future__ import annotations

from collections.abc import Callable, Generator
from math import ceil
from typing import Any

import numpy as np
import pytest
from stewart_driver.errors import ConfigurationError
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.homing import HomingMotion, HomingPlan
from stewart_driver.ethercat.process_data import Inputs

CYCLE, STROKE = 0.002, 0.1
GEAR = DriveType.from_yaml('omron_1s').gear
PLAN = HomingPlan((17, 33), fast_speed=0.05, slow_speed=0.01, acceleration=1.0, stroke=0.0)
# 6041h in Operation Enabled; bit 12 in mode 8 is that the target is followed.
ON, FOLLOWS, AT_REST, ATTAINED, FAILED = 0x0237, 0x1000, 0x0400, 0x1000, 0x2000
START, HALT = 0x10, 0x100


class Drive:
    """Objects in a dictionary, and a leg that is home so many frames after the start bit."""

    def __init__(self, leg: int) -> None:
        self.leg, self.mode, self.frames, self.home_after = leg, 8, 0, 30
        self.objects = {(0x6061, 0): b'\x08'}
        self.log: list[tuple[int, int, bytes]] = []
        self.rate = 0.0
        self.fails_after: int | None = None
        self.keeps_mode = False
        # What it says of the homing before, and how long it goes on to; where it counts then.
        self.before, self.begins_after, self.count = 0, 0, 0

    def read(self, index: int, subindex: int) -> bytes:
        return self.objects[index, subindex]

    def write(self, index: int, subindex: int, data: bytes) -> None:
        self.log.append((index, subindex, data))
        self.objects[index, subindex] = data

    def step(self, bits: int) -> Inputs:
        """Take the bits of one frame; return what the drive says of it."""
        if not (self.keeps_mode and self.mode == 6):
            self.mode = self.objects.get((0x6060, 0), b'\x08')[0]
        self.objects[0x6061, 0] = bytes([self.mode])
        # The statusword is that of the frame before, as behind a mailbox.
        if self.mode == 8:
            self.frames = 0
            return Inputs(ON | FOLLOWS | AT_REST, 0)
        self.frames += 1 if bits & START and not bits & HALT else 0
        if self.before and self.frames < self.begins_after:
            return Inputs(ON | AT_REST | self.before, self.count)
        self.before = 0
        moves = bool(bits & START) and not bits & HALT and self.frames < self.home_after
        self.rate = 0.05 if moves else 0.0
        word = ON | (0 if moves else AT_REST)
        if self.fails_after is not None and self.frames >= self.fails_after:
            self.rate, word = 0.0, ON | AT_REST | FAILED
        elif self.frames >= self.home_after:
            word |= ATTAINED
        return Inputs(word, self.count)


class Bench:
    def __init__(self, frames_to_answer: int = 0, *, in_place: bool = False) -> None:
        self.drives = [Drive(leg) for leg in range(1, 7)]
        self.frames_to_answer = frames_to_answer
        self.motion = HomingMotion(
            PLAN,
            self.drives,
            [False] * 6,
            GEAR,
            STROKE,
            CYCLE,
            5.0,
            self.beside,
            in_place=in_place,
        )
        self.now, self.holding = 5.0, False
        self.sent: list[tuple[int | None, int]] = []

    def beside(self, leg: int, call: Callable[[], Any]) -> Generator[None, None, Any]:
        """Answer some frames later, as behind a mailbox."""
        for _ in range(self.frames_to_answer):
            yield
        return call()

    def step(self, *, asks: bool = True) -> None:
        self.now += CYCLE
        if asks:
            self.motion.ask(self.now)
        axis, bits = self.motion.axis, int(self.motion.bits)
        self.sent.append((axis, bits))
        inputs = [drive.step(bits if at == axis else 0) for at, drive in enumerate(self.drives)]
        rates = np.array([drive.rate for drive in self.drives])
        self.motion.advance(self.now, inputs, rates, holding=self.holding)
        # Drives that are told to come on hold twenty frames later.
        self.holding = self.motion.powered and len(self.sent) > 20

    def until_over(self, limit: int = 5000, *, asks: bool = True) -> None:
        for _ in range(limit):
            if self.motion.over:
                break
            self.step(asks=asks)
        else:
            raise AssertionError(self.motion.said)

    def until_moving(self, axis: int) -> None:
        while not (self.motion.axis == axis and self.drives[axis].rate):
            self.step()


def test_one_leg_after_the_other_is_started_by_bit_4_and_brought_back_to_mode_8() -> None:
    bench = Bench()
    bench.until_over()

    assert (bench.motion.homed, bench.motion.fault) == (True, None)
    started = [axis for axis, bits in bench.sent if bits == START]
    assert started == sorted(started)
    assert set(started) == set(range(6))
    assert not any(bits & HALT for _, bits in bench.sent)
    assert [drive.mode for drive in bench.drives] == [8] * 6
    modes = [(0x6060, 0, b'\x06'), (0x6060, 0, b'\x08')]
    assert all(drive.log == modes for drive in bench.drives)


def test_frames_go_on_while_a_slow_mailbox_answers() -> None:
    """50 ms at 2 ms: drives of which no frame is sent meanwhile trip their watchdogs."""
    quick, slow = Bench(), Bench(frames_to_answer=25)
    for bench in (quick, slow):
        bench.until_over()
        assert (bench.motion.homed, bench.motion.fault) == (True, None)
    # To mode 6 and back: a write and at least one look at 6061h each.
    assert len(slow.sent) >= len(quick.sent) + 6 * 2 * 2 * 25


def test_bit_12_of_mode_8_is_not_taken_for_home() -> None:
    """Before the start bit acts the statusword still says that the target is followed."""
    bench = Bench()
    bench.drives[0].home_after = 200
    bench.until_moving(0)
    first = len(bench.sent)
    while bench.motion.axis == 0:
        bench.step()

    assert len(bench.sent) - first >= 200 - 1


@pytest.mark.parametrize('before', [ATTAINED, FAILED])
def test_what_a_drive_says_of_its_last_homing_is_not_taken_for_this_one(before: int) -> None:
    """40 ms to begin anew, which are more than the frames of a controlword."""
    bench = Bench()
    for drive in bench.drives:
        drive.before, drive.begins_after, drive.home_after = before, 20, 60
    bench.until_over()

    assert (bench.motion.homed, bench.motion.fault) == (True, None)
    started = [axis for axis, bits in bench.sent if bits == START]
    assert all(started.count(axis) >= 60 for axis in range(6))


def test_a_drive_that_never_begins_is_a_fault_of_its_leg() -> None:
    bench = Bench()
    bench.drives[0].before, bench.drives[0].begins_after = ATTAINED, 10**6
    bench.until_over()

    assert not bench.motion.homed
    assert str(bench.motion.fault) == (
        'leg 1: its drive has not begun to home within 1 s: it says all the time that it is home '
        '(statusword bits 10 and 12)'
    )
    assert bench.drives[0].mode == 8


def test_a_drive_that_is_home_counts_from_there() -> None:
    """607Ch is 0; it may have overrun its index pulse a little."""
    bench = Bench()
    for axis, millimetres in enumerate((0.0, 1.0, -1.0, -7.0)):
        bench.drives[axis].count = round(millimetres * 2**23 / 10.0)
    bench.until_over()

    assert str(bench.motion.fault) == (
        'leg 4: its drive says that it is home, but at -5872026 counts instead of 0'
    )


def test_home_where_the_legs_stand_may_be_there_between_two_frames() -> None:
    """Methods 35 and 37: nothing moves, and nothing may be seen of it but the count."""
    bench = Bench(in_place=True)
    for drive in bench.drives:
        drive.before, drive.begins_after = ATTAINED, 10**6
    bench.until_over()
    assert bench.motion.homed

    bench = Bench(in_place=True)
    bench.drives[5].before, bench.drives[5].begins_after = ATTAINED, 10**6
    bench.drives[5].count = 2**23
    bench.until_over()
    assert str(bench.motion.fault).startswith('leg 6: its drive has not begun to home within 1 s')


def test_nobody_asking_halts_within_the_dead_mans_time_and_names_it() -> None:
    bench = Bench()
    bench.drives[2].home_after = 10**6
    bench.until_moving(2)
    begun = bench.now

    bench.until_over(asks=False)

    halts = [number for number, (_, bits) in enumerate(bench.sent) if bits == START | HALT]
    assert halts
    assert {bench.sent[number][0] for number in halts} == {2}
    assert bench.now - begun == pytest.approx(1.0, abs=0.1)
    assert bench.motion.said == 'homing was halted: nobody has asked for it for 1 s'
    assert (bench.motion.homed, bench.motion.fault) == (False, None)
    assert bench.drives[2].mode == 8


def test_an_error_and_a_time_that_is_over_are_faults_of_the_leg() -> None:
    bench = Bench()
    bench.drives[1].fails_after = 20
    bench.until_over()
    assert str(bench.motion.fault) == (
        'leg 2: its drive reports a homing error (statusword bit 13)'
    )
    assert bench.drives[1].mode == 8

    bench = Bench()
    bench.drives[1].home_after = 10**6
    bench.until_moving(1)
    begun = bench.now
    bench.until_over(20_000)
    # The stroke fast, two turns and the braking slowly, four ramps, half as much again, and 1 s.
    longest = 1.5 * (0.1 / 0.05 + (0.02 + 0.05**2 / 2.0) / 0.01 + 4 * 0.05) + 1.0
    assert str(bench.motion.fault) == f'leg 2: it has not come home within {longest:.1f} s'
    assert bench.now - begun == pytest.approx(longest, abs=0.1)
    assert (1, START | HALT) in bench.sent
    assert bench.drives[1].mode == 8


def test_a_drive_that_stays_in_mode_6_is_a_fault() -> None:
    bench = Bench()
    bench.drives[0].keeps_mode = True
    bench.until_over()

    assert 'leg 1: its drive stays in mode 6 (6061h), asked for is 8' in str(bench.motion.fault)


def test_another_drive_that_leaves_operation_halts_the_leg() -> None:
    bench = Bench()
    bench.until_moving(0)
    for _ in range(ceil(1.0 / CYCLE)):
        bench.step()
        bench.holding = False
        if bench.motion.over:
            break

    assert bench.motion.said == 'homing was halted: a drive has left operation'
    assert (0, START | HALT) in bench.sent
    assert bench.drives[0].mode == 8


def test_methods_of_another_drive_type_are_refused_with_those_that_there_are() -> None:
    PLAN.require(33)
    with pytest.raises(
        ConfigurationError, match=r'homing_method: expected 0, or .*: 17, 33, got 4'
    ):
        PLAN.require(4)
