# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Cycles of frames into samples: nothing of one cycle ever joins another."""

from __future__ import annotations

from math import radians
from struct import pack
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from stewart_driver.witmotion.frames import (
    AccelerationFrame,
    AngularVelocityFrame,
    MagneticFieldFrame,
    PARSERS,
    QuaternionFrame,
)
from stewart_driver.witmotion.samples import CycleGrouper, Decoder, Sample

IMU = (0x51, 0x52, 0x59)
STEPS = {0x51: 16 * 9.80665 / 32768, 0x52: radians(2000 / 32768), 0x59: 1 / 32768}


def frame(kind: int, cycle: int) -> bytes:
    """Return a frame that carries the number of its cycle in the first word."""
    body = bytes([0x55, kind]) + pack('<4h', cycle, 0, 0, 0)
    return body + bytes([sum(body) % 256])


def cycles(count: int, types: tuple[int, ...] = IMU, first: int = 0) -> bytes:
    return b''.join(frame(kind, first + n) for n in range(count) for kind in types)


class Receiver:
    """Decoder and grouper in a row."""

    def __init__(self) -> None:
        self.decoder, self.grouper = Decoder(), CycleGrouper()

    def __call__(self, data: bytes) -> list[Sample]:
        return list(self.grouper.feed(self.decoder.feed(data)))


def numbers(sample: Sample) -> set[float]:
    """Return the cycles that the frames of a sample come from."""
    found = set()
    for kind, payload in sample.payloads.items():
        item: Any = PARSERS[kind](payload)
        words = (
            getattr(item, 'specific_force', None)
            or getattr(item, 'angular_velocity', None)
            or getattr(item, 'counts', None)
        )
        if words is None:
            words = (item.quaternion_xyzw[3],)
        found.add(round(words[0] / STEPS.get(kind, 1.0)))
    return found


def test_a_sample_ends_with_the_last_frame_of_its_cycle_once_the_pattern_is_known() -> None:
    receive = Receiver()
    receive(cycles(5))
    receive.grouper.statistics.incomplete = 0

    assert receive(frame(0x51, 5) + frame(0x52, 5)) == []
    (sample,) = receive(frame(0x59, 5))
    assert numbers(sample) == {5}
    assert sample.complete
    assert receive.grouper.pattern == IMU


def test_a_sample_begins_at_the_first_byte_of_its_first_frame() -> None:
    receive = Receiver()
    receive.grouper.expect(IMU)

    assert [sample.position for sample in receive(cycles(3))] == [0, 33, 66]


def test_a_missing_frame_gives_an_incomplete_sample_and_no_mixture() -> None:
    receive = Receiver()
    receive.grouper.expect(IMU)
    samples = receive(cycles(2) + frame(0x51, 2) + frame(0x59, 2) + cycles(2, first=3))

    assert [sorted(numbers(sample)) for sample in samples] == [[0], [1], [2], [3], [4]]
    assert [sample.complete for sample in samples] == [True, True, False, True, True]
    assert samples[2].get(AngularVelocityFrame) is None
    assert receive.grouper.statistics.incomplete == 1


@given(st.lists(st.tuples(st.integers(0, 39 * 33), st.integers(1, 32)), max_size=6))
def test_bytes_lost_anywhere_never_mix_two_cycles(holes: list[tuple[int, int]]) -> None:
    """Short of a whole cycle: 33 bytes lost between two frames cannot be told from none."""
    data = bytearray(cycles(40))
    kept = bytearray(len(data))
    for begin, length in holes:
        for index in range(begin, min(begin + length, len(data))):
            kept[index] = 1
    gaps = ''.join(map(str, kept)).split('0')
    if any(len(gap) >= 33 for gap in gaps):
        return
    receive = Receiver()
    samples = receive(bytes(b for b, gone in zip(data, kept, strict=True) if not gone))

    assert all(len(numbers(sample)) == 1 for sample in samples)


def test_garbage_between_frames_parts_a_sample() -> None:
    receive = Receiver()
    receive.grouper.expect(IMU)
    samples = receive(frame(0x51, 0) + b'\x00\x01' + frame(0x52, 0) + frame(0x59, 0))

    assert [sample.complete for sample in samples] == [False, False]


def test_an_answer_between_two_frames_parts_nothing() -> None:
    receive = Receiver()
    receive.grouper.expect(IMU)
    (sample,) = receive(frame(0x51, 7) + frame(0x5F, 0) + frame(0x52, 7) + frame(0x59, 7))

    assert sample.complete
    assert set(sample.payloads) == set(IMU)


def test_another_content_is_learned_longer_or_shorter() -> None:
    receive = Receiver()
    receive(cycles(5))
    longer = receive(cycles(8, (0x51, 0x52, 0x54, 0x59, 0x5A)))
    assert receive.grouper.pattern == (0x51, 0x52, 0x54, 0x59, 0x5A)
    assert isinstance(longer[-1].get(MagneticFieldFrame), MagneticFieldFrame)
    assert longer[-1].complete
    shorter = receive(cycles(8, (0x51, 0x52)))
    assert receive.grouper.pattern == (0x51, 0x52)
    assert shorter[-1].get(QuaternionFrame) is None
    assert shorter[-1].complete


def test_repeated_values_are_counted() -> None:
    receive = Receiver()
    receive.grouper.expect(IMU)
    receive(cycles(4) + 3 * cycles(1, first=9))

    assert receive.grouper.statistics.repeated == 2
    assert receive.grouper.statistics.types == dict.fromkeys(IMU, 7)


def test_a_sample_gives_frames_by_class() -> None:
    receive = Receiver()
    receive.grouper.expect(IMU)
    (sample,) = receive(cycles(1))

    assert isinstance(sample.get(AccelerationFrame), AccelerationFrame)
    assert sample.get(MagneticFieldFrame) is None


def test_a_sample_tells_how_many_cycles_it_is_from_the_one_before() -> None:
    receive = Receiver()
    receive(cycles(4))
    stream = bytearray(cycles(6, first=4))
    # The second cycle is spoilt, of the fourth its middle frame, of the fifth the first.
    for spoilt in (3, 4, 5, 10, 12):
        stream[11 * spoilt + 10] ^= 1
    samples = receive(bytes(stream))

    assert [sorted(numbers(sample)) for sample in samples] == [[4], [6], [7], [7], [8], [9]]
    assert [sample.cycles for sample in samples] == [1, 2, 1, 0, 1, 1]
    assert [sample.lead for sample in samples] == [0, 0, 0, 22, 11, 0]
    assert {sample.position - sample.lead for sample in samples} == {
        132 + 33 * cycle for cycle in (0, 2, 3, 4, 5)
    }
