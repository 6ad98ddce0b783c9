# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Records cross the block in order and whole, and overwritten ones are counted."""

from __future__ import annotations

import os

from hypothesis import example, given
from hypothesis import strategies as st
import numpy as np
from stewart_driver.control.shared_block import RINGS, SharedBlock, TEXT_BYTES


def ends() -> tuple[SharedBlock, SharedBlock]:
    descriptor = SharedBlock.allocate()
    pair = SharedBlock(descriptor), SharedBlock(descriptor)
    os.close(descriptor)
    return pair


def test_a_record_arrives_as_it_was_written() -> None:
    writer, reader = ends()
    strokes, rates = np.arange(6.0), -np.arange(6.0)
    number = writer.setpoints.push(stamp=1.5, strokes=strokes, rates=rates, forces=2 * strokes)

    (record,) = reader.setpoints.pop_all()
    assert record['number'] == number == 1
    assert record['stamp'] == 1.5
    assert np.array_equal(record['strokes'], strokes)
    assert np.array_equal(record['rates'], rates)
    assert np.array_equal(record['forces'], 2 * strokes)
    assert list(reader.setpoints.pop_all()) == []


@given(st.lists(st.integers(0, 40), max_size=20))
def test_every_record_is_read_once_in_order_or_counted_as_lost(bursts: list[int]) -> None:
    writer, reader = ends()
    seen, written = [], 0
    for burst in bursts:
        for _ in range(burst):
            written += 1
            writer.requests.push(code=written)
        seen += [int(record['code']) for record in reader.requests.pop_all()]

    capacity = RINGS['requests'][0]
    assert seen == sorted(set(seen))
    assert len(seen) + reader.requests.lost == written
    assert reader.requests.lost == sum(max(burst - capacity, 0) for burst in bursts)


def test_a_record_taken_out_stays_when_its_slot_is_overwritten() -> None:
    writer, reader = ends()
    capacity = RINGS['setpoints'][0]
    point = {'strokes': np.ones(6), 'rates': np.zeros(6), 'forces': np.zeros(6)}
    writer.setpoints.push(stamp=0.0, **point)
    (record,) = reader.setpoints.pop_all()
    for _ in range(capacity):
        writer.setpoints.push(stamp=1.0, **{**point, 'strokes': np.zeros(6)})

    assert np.all(record['strokes'] == 1.0)


def test_a_half_written_record_is_not_taken() -> None:
    writer, reader = ends()
    writer.requests.push(code=1)
    # As it stands in memory when the writer was stopped between the record and its number.
    writer.requests._numbers[1] = 0

    assert list(reader.requests.pop_all()) == []
    assert reader.requests.lost == 1


def test_words_are_seen_by_the_other_end() -> None:
    one, other = ends()
    one.words['quick_stops'] += 1
    one.words['lateness'][3] += 5

    assert other.words['quick_stops'] == 1
    assert other.words['lateness'].tolist()[3] == 5


@given(st.text(max_size=300))
@example('ä' * TEXT_BYTES)
def test_texts_lose_at_most_their_end(text: str) -> None:
    writer, reader = ends()
    writer.failures.push(text=text)
    (record,) = reader.failures.pop_all()

    arrived = record['text']
    if '\0' not in text:
        assert text.startswith(arrived)
        assert arrived == text or len(text.encode()) > TEXT_BYTES


def test_the_block_has_no_name_that_could_be_left_behind() -> None:
    descriptor = SharedBlock.allocate()
    links = os.fstat(descriptor).st_nlink
    os.close(descriptor)

    assert links == 0
