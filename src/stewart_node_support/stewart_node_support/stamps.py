# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Time stamps of messages as nanoseconds or seconds."""

from __future__ import annotations

from builtin_interfaces.msg import Time

NANOSECONDS = 1_000_000_000


def to_nanoseconds(stamp: Time) -> int:
    """Return the nanoseconds since the epoch, exact."""
    return int(stamp.sec) * NANOSECONDS + int(stamp.nanosec)


def from_nanoseconds(nanoseconds: int) -> Time:
    """Return the stamp of so many nanoseconds since the epoch."""
    seconds, rest = divmod(int(nanoseconds), NANOSECONDS)
    return Time(sec=seconds, nanosec=rest)


def to_seconds(stamp: Time) -> float:
    """Return the seconds since the epoch; a double resolves 0.24 µs in this century."""
    return to_nanoseconds(stamp) / NANOSECONDS


def from_seconds(seconds: float) -> Time:
    """Return the stamp of so many seconds since the epoch, to the nearest nanosecond."""
    return from_nanoseconds(round(seconds * NANOSECONDS))
