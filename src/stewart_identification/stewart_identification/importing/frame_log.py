# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Frames of a WitMotion sensor, as SD cards keep them and programs write a port or Bluetooth down.

Standard protocol: ``55 type d0…d7 sum``, 11 bytes, a cycle's frames in ascending order of types.
Bluetooth 5.0: ``55 61`` with acceleration, angular velocity and angles, 20 bytes, or 28 with the
sensor's time; it has no checksum, so a frame counts only where the next begins right behind it.
The file holds the bytes, or hex digits. The driver's decoder reads the standard protocol from a
stream, sample by sample; this one reads whole files, and tests hold one against the other.
"""

from __future__ import annotations

from pathlib import Path
import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from stewart_identification.importing.imu_log import (
    about_order,
    attitude_of,
    ImuLog,
    LATEST_NS,
    NoImuLog,
    Stamps,
    stamps_at,
)
from stewart_identification.importing.named_columns import STANDARD_GRAVITY
from stewart_kinematics.motion import Array
from stewart_tables.errors import counted

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]

HEADER, BLUETOOTH, REPLY = 0x55, 0x61, 0x71
LENGTH, REPLY_LENGTH, BLUETOOTH_LENGTHS = 11, 20, (20, 28)
TIME, FORCE, TURNING, ANGLE, QUATERNION = 0x50, 0x51, 0x52, 0x53, 0x59
TYPES = (*range(0x50, 0x5B), 0x5F)
FULL_SCALE = 32768
TO_FORCE = 16 * STANDARD_GRAVITY / FULL_SCALE
TO_RATE = np.radians(2000.0) / FULL_SCALE
TO_ANGLE = np.pi / FULL_SCALE
LEAST_SHARE = 0.05
"""Of a log's bytes that belong to frames."""
GAP = 1.5
"""Periods between two stamps from which on a sample is missing."""

_HEX = re.compile(rb'\s*(?:(?:0[xX])?[0-9a-fA-F]{2}[\s,;:-]*)+')


class Cycles(NamedTuple):
    """Output cycles that a layout finds in a file.

    Attributes:
        covered: Bytes that belong to frames.
        parts (c,): Place of the first byte of each type's data; -1 where a cycle lacks it.
        begins (c,): Where each cycle begins, without what is sent only now and then.
        length: Of a cycle [bytes].
        words: What the layout is called.
    """

    covered: int
    parts: dict[int, Places]
    begins: Places
    length: int
    words: str


def frames_of(content: bytes) -> Bytes | None:
    """Return the bytes of a log of frames, shape (b,); None if a file is text of another kind."""
    if re.search(rb'[\0-\x08]', content):
        return np.frombuffer(content, np.uint8)
    if _HEX.fullmatch(content):
        digits = re.sub(rb'0[xX]|[\s,;:-]', b'', content)
        return np.frombuffer(bytes.fromhex(digits.decode()), np.uint8)
    return None


def read_frame_log(
    data: Bytes, path: Path, *, rate: float | None = None, start_ns: int = 0
) -> ImuLog:
    """Read the frames of one sensor, in SI units.

    Args:
        data (b,): Bytes as the sensor sent them.
        path: File, for messages.
        rate: Sampling rate [Hz]; without one the sensor's own time counts.
        start_ns: When the log begins, where the sensor's time does not say [ns since the epoch].

    Raises:
        NoImuLog: If there are no frames, no acceleration or angular velocity, or no time.
    """
    found = max(_standard(data), _bluetooth(data), key=lambda cycles: cycles.covered)
    if found.covered <= LEAST_SHARE * len(data):
        raise NoImuLog(
            f'{path}: no text, and no frames of the WIT protocol: {found.covered} of its '
            f'{len(data)} bytes belong to frames 55 50 … 55 5a or 55 61'
        )
    for kind, name in ((FORCE, 'acceleration'), (TURNING, 'angular velocity')):
        if kind not in found.parts:
            raise NoImuLog(
                f'{path}: no frames 55 {kind:x} of the {name} among {found.words}: switch them '
                'on in the content that the sensor sends'
            )
    whole = np.all([places >= 0 for places in found.parts.values()], axis=0)
    if not whole.any():
        raise NoImuLog(f'{path}: none of its {len(whole)} cycles of frames is whole')
    parts = {kind: places[whole] for kind, places in found.parts.items()}
    stamps, kept, remarks = _stamps(data, parts, found, whole, rate, start_ns, path)
    if found.covered < len(data):
        stray = f'{len(data) - found.covered} of {len(data)} bytes belong to no whole frame'
        remarks.insert(0, stray)
    force, turning, angles, quaternion = (
        _words(data, parts[kind][kept], 4 if kind == QUATERNION else 3) if kind in parts else None
        for kind in (FORCE, TURNING, ANGLE, QUATERNION)
    )
    assert force is not None
    assert turning is not None
    return ImuLog(
        stamps,
        force * TO_FORCE,
        turning * TO_RATE,
        attitude_of(
            None if quaternion is None else quaternion / FULL_SCALE,
            None if angles is None else angles * TO_ANGLE,
        ),
        f'{path.name}, {found.words}',
        tuple(f'{path}: {text}' for text in remarks),
    )


def _standard(data: Bytes) -> Cycles:
    """Find frames of 11 bytes with their sums, and the cycles that they make up."""
    heads = np.flatnonzero(data[: max(len(data) - LENGTH + 1, 0)] == HEADER)
    heads = heads[np.isin(data[heads + 1], TYPES)]
    sums = np.concatenate([[0], np.cumsum(data, dtype=np.int64)])
    right = (sums[heads + LENGTH - 1] - sums[heads]) % 256 == data[heads + LENGTH - 1]
    heads = _apart(heads[right], LENGTH)
    kinds = data[heads + 1].astype(np.int64)
    new = np.ones(len(heads), np.bool_)
    new[1:] = (np.diff(heads) != LENGTH) | (np.diff(kinds) <= 0)
    cycle, count = np.cumsum(new) - 1, int(new.sum())
    present = np.bincount(kinds, minlength=256)
    pattern = np.flatnonzero(2 * present > present.max())
    parts = {}
    for kind in (TIME, FORCE, TURNING, ANGLE, QUATERNION):
        if kind in pattern:
            parts[kind] = np.full(count, -1, np.int64)
            parts[kind][cycle[kinds == kind]] = heads[kinds == kind] + 2
    # Some frames come only now and then, as those of a satellite receiver.
    extra = LENGTH * np.cumsum(~np.isin(kinds, pattern))
    words = f'frames 55 {" ".join(f"{kind:x}" for kind in pattern)} of the WIT protocol'
    begins = (heads - extra)[new]
    return Cycles(LENGTH * len(heads), parts, begins, LENGTH * len(pattern), words)


def _bluetooth(data: Bytes) -> Cycles:
    """Find frames ``55 61``, each of them a cycle, and leave out replies ``55 71``."""
    second = np.append(data[1:], 0)
    is_head = (data == HEADER) & (second == BLUETOOTH)
    goes_on = np.append(is_head | ((data == HEADER) & (second == REPLY)), True)
    heads = np.flatnonzero(is_head)

    def followed(length: int) -> Places:
        inside = heads[heads + length <= len(data)]
        return inside[goes_on[inside + length]]

    length = max(BLUETOOTH_LENGTHS, key=lambda length: len(followed(length)))
    heads = _apart(followed(length), length)
    replies = np.flatnonzero((data == HEADER) & (second == REPLY))
    before = np.searchsorted(heads, replies) - 1
    if len(heads):
        replies = replies[(before < 0) | (replies >= heads[before] + length)]
    begins = heads - REPLY_LENGTH * np.searchsorted(replies, heads)
    parts = {FORCE: heads + 2, TURNING: heads + 8, ANGLE: heads + 14}
    if length > 20:
        parts[TIME] = heads + 20
    covered = length * len(heads) + REPLY_LENGTH * len(replies) * bool(len(heads))
    words = f'Bluetooth frames 55 61 of {length} bytes'
    return Cycles(min(covered, len(data)), parts, begins, length, words)


def _apart(places: Places, length: int) -> Places:
    """Return the places from left to right that do not lie within a frame that began before."""
    kept, end = [], -1
    for place in places.tolist():
        if place >= end:
            kept.append(place)
            end = place + length
    return np.array(kept, np.int64)


def _words(data: Bytes, places: Places, count: int) -> Array:
    """Return signed words, low byte first, shape (n, count)."""
    pairs = data[places[:, None] + np.arange(2 * count)]
    return np.ascontiguousarray(pairs).view('<i2').astype(np.float64)


def _stamps(
    data: Bytes,
    parts: dict[int, Places],
    found: Cycles,
    whole: NDArray[np.bool_],
    rate: float | None,
    start_ns: int,
    path: Path,
) -> tuple[Stamps, Places, list[str]]:
    """Return stamps, the whole cycles that have one, and what was odd."""
    times = _calendar(data, parts[TIME]) if TIME in parts else np.full(int(whole.sum()), -1)
    known = np.flatnonzero(times >= 0)
    if rate is None and not known.size:
        why = 'the time in it is no date' if TIME in parts else 'there is no time 55 50 in it'
        raise NoImuLog(
            f'{path}: {why}: say at which rate the sensor was set to send, as --rate 100'
        )
    remarks = []
    if rate is not None:
        steps = np.rint(np.diff(found.begins[whole]) / found.length).astype(np.int64)
        order = np.concatenate([[0], np.cumsum(np.maximum(steps, 1))])
        lost = int(order[-1]) + 1 - len(order)
        begin = int(times[known[0]]) if known.size else start_ns
        stamps = [begin + round(number / rate * 1e9) for number in order.tolist()]
        if lost:
            remarks.append(f'{counted(lost, "sample")} left out as spoilt')
        return stamps_at(stamps, str(path)), np.arange(len(order)), remarks
    if known.size < times.size:
        remarks.append(f'{times.size - known.size} samples with a time that is no date, left out')
    return times[known], known, [*remarks, *_about_steps(np.diff(times[known]) * 1e-9)]


def _about_steps(steps: Array) -> list[str]:
    """Say what is odd about the steps of a sensor's clock [s]."""
    remarks = []
    if (steps > 0.0).any():
        period = float(np.median(steps[steps > 0.0]))
        gaps = steps[steps > GAP * period]
        if gaps.size:
            lost = int(np.rint(gaps / period - 1.0).sum())
            remarks.append(
                f'{counted(lost, "sample")} missing in {counted(gaps.size, "gap")} of up to '
                f'{gaps.max():.3g} s'
            )
    return remarks + about_order(steps)


def _calendar(data: Bytes, places: Places) -> Stamps:
    """Return times [ns since the epoch], shape (n,); -1 where there is no such day."""
    fields = data[places[:, None] + np.arange(8)].astype(np.int64).T
    year, month, day, hour, minute, second, low, high = fields
    milli = low + 256 * high
    months = 12 * (year + 30) + month - 1
    first, after = (
        count.astype('datetime64[M]').astype('datetime64[D]').astype(np.int64)
        for count in (months, months + 1)
    )
    seconds = (((first + day - 1) * 24 + hour) * 60 + minute) * 60 + second
    times = seconds * 1_000_000_000 + milli * 1_000_000
    good = (month >= 1) & (month <= 12) & (day >= 1) & (day <= after - first)
    good &= (hour < 24) & (minute < 60) & (second < 60) & (milli < 1000)
    return np.where(good & (times < LATEST_NS), times, -1)
