# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import sqrt

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from stewart_driver.witmotion.frames import FRAME_LENGTH, PARSERS
from stewart_driver.witmotion.samples import Decoded, Decoder

TYPES = np.array(sorted(PARSERS))
# A place in random bytes passes for a frame: header, one of twelve types, sum.
FALSE_FRAME = 1 / 256 * len(TYPES) / 256 / 256


def stream(count: int, rng: np.random.Generator) -> np.ndarray:
    """Return so many frames with random payloads, shape (count, 11)."""
    frames = rng.integers(0, 256, (count, FRAME_LENGTH), dtype=np.uint8)
    frames[:, 0] = 0x55
    frames[:, 1] = rng.choice(TYPES, count)
    frames[:, 10] = frames[:, :10].sum(axis=1, dtype=np.uint64) % 256
    return frames


def fed(data: bytes, size: int) -> tuple[Decoder, list[Decoded]]:
    decoder, found = Decoder(), []
    for begin in range(0, len(data), size):
        found += decoder.feed(data[begin : begin + size])
    return decoder, found


def fuzz(count: int, seed: int) -> None:
    """Feed random bytes in pieces of random length; hold what is found against a slow search."""
    rng = np.random.default_rng(seed)
    decoder, found, tail = Decoder(), 0, b''
    fed_so_far = 0
    while fed_so_far < count:
        data = rng.bytes(int(rng.integers(1, 200_000)))
        window = tail + data
        for item in decoder.feed(data):
            begin = item.position - (fed_so_far - len(tail))
            frame = window[begin : begin + FRAME_LENGTH]
            assert frame[0] == 0x55
            assert frame[1] == item.type
            assert sum(frame[:10]) % 256 == frame[10]
            found += 1
        fed_so_far += len(data)
        tail = window[-FRAME_LENGTH:]
    expected = FALSE_FRAME * fed_so_far
    assert abs(found - expected) < 5 * sqrt(expected) + 1
    counts = decoder.statistics
    assert counts.bytes == fed_so_far
    assert counts.frames == found
    pending = counts.bytes - counts.bytes_skipped - FRAME_LENGTH * found
    assert 0 <= pending < FRAME_LENGTH


def test_twelve_million_random_bytes_hold_no_more_frames_than_the_checksum_lets_pass() -> None:
    fuzz(12_000_000, seed=1)


@pytest.mark.slow
def test_the_same_holds_for_three_hundred_million_random_bytes() -> None:
    fuzz(300_000_000, seed=2)


@pytest.mark.parametrize('size', [1, 7, 11, 33, 4096])
def test_every_frame_is_found_however_the_stream_is_cut(size: int) -> None:
    frames = stream(500, np.random.default_rng(3))
    decoder, found = fed(frames.tobytes(), size)

    assert [item.position for item in found] == list(range(0, 500 * 11, 11))
    assert [item.type for item in found] == frames[:, 1].tolist()
    assert decoder.statistics.resyncs == decoder.statistics.bytes_skipped == 0


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_no_bytes_raise_and_every_byte_is_accounted_for(pieces: list[bytes]) -> None:
    decoder = Decoder()
    for piece in pieces:
        decoder.feed(piece)
    counts = decoder.statistics
    assert counts.bytes == sum(map(len, pieces))
    assert 0 <= counts.bytes - counts.bytes_skipped - 11 * counts.frames < FRAME_LENGTH


@given(st.binary(max_size=60), st.integers(0, 2**32 - 1))
def test_two_frames_after_any_garbage_bring_the_decoder_back(garbage: bytes, seed: int) -> None:
    """What looks like a header in the garbage may swallow ten bytes, never two whole frames."""
    frames = stream(3, np.random.default_rng(seed))
    # Zeros in the payload: no header in there, so the last frame can be hidden by nothing.
    frames[:, 2:10] = 0
    frames[:, 10] = frames[:, :10].sum(axis=1, dtype=np.uint64) % 256
    _, found = fed(garbage + frames.tobytes(), 13)

    assert found[-1].position == len(garbage) + 22


@pytest.mark.parametrize('lost', range(1, 11))
def test_lost_bytes_cost_one_frame_and_one_resync(lost: int) -> None:
    body = bytes([0x55, 0x51]) + 8 * b'\x01'
    frame = body + bytes([sum(body) % 256])
    for begin in range(12 - lost):
        data = 3 * frame + frame[:begin] + frame[begin + lost :] + 3 * frame
        decoder, found = fed(data, len(data))
        assert len(found) == 6
        assert decoder.statistics.resyncs == 1
        assert decoder.statistics.bytes_skipped == 11 - lost


def test_a_wrong_checksum_is_counted_and_the_next_frame_found() -> None:
    frames = bytearray(stream(3, np.random.default_rng(5)).tobytes())
    frames[21] ^= 0x40
    decoder, found = fed(bytes(frames), 64)

    assert [item.position for item in found] == [0, 22]
    assert decoder.statistics.checksum_errors >= 1
    assert decoder.statistics.resyncs == 1


def test_flipped_bits_never_bring_a_frame_that_was_not_sent_beyond_the_odds() -> None:
    rng = np.random.default_rng(6)
    sent = stream(50_000, rng)
    data = sent.reshape(-1).copy()
    hit = rng.random(len(data)) < 0.01
    data[hit] ^= (1 << rng.integers(0, 8, int(hit.sum()))).astype(np.uint8)
    _, found = fed(data.tobytes(), 5000)

    intact = {int(row) * 11 for row in np.flatnonzero(~hit.reshape(-1, 11).any(axis=1))}
    positions = {item.position for item in found}
    # Two flips in one frame may cancel in the sum: that, and garbage, is all that gets through.
    assert len(positions - intact) < 0.01 * len(sent)
    assert len(intact - positions) < 0.001 * len(sent)
