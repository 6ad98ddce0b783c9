# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""An IMU's log in SI units, whatever it was read from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_identification.recording.checks import SET_BACK
from stewart_kinematics.errors import StewartError
from stewart_kinematics.motion import Array

LATEST_NS = (1 << 31) * 1_000_000_000
"""The seconds of a stamp have 31 bits, until January 2038."""

TIME_UNITS = {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'µs': 1e-6, 'ns': 1e-9, 'd': 86400.0}
GUESSED_TIMES = 's', 'ms', 'us', 'ns', 'd'
EPOCH_DAY = 25569
"""1970-01-01 in the days that spreadsheets count."""
LIKELY_STEPS = (5e-5, 2.0)
"""Sampling period of a log, where its times have no unit [s]."""
SLOWEST_COUNT = 0.5
"""The longest such period where times are whole numbers [s]."""
EPOCH = 1e9
"""Later seconds count since 1970."""
REST = 0.5
"""Length of the stretch in which gravity is looked for [s]."""
QUIET = 0.01
"""Standard deviation of the specific force at rest, in units of its mean."""

Stamps = np.ndarray[tuple[int], np.dtype[np.int64]]


class NoImuLog(StewartError):
    """A file is no log of an IMU that can be understood."""


@dataclass(frozen=True, eq=False)
class ImuLog:
    """What an IMU said, n samples.

    Attributes:
        stamps_ns (n,): As the log has them; a log that only counts seconds begins where the caller
            said [ns].
        specific_force, angular_velocity (n, 3): In sensor axes, +g upwards at rest [m/s²],
            [rad/s].
        quaternion_xyzw (n, 4): Attitude, where the log has it.
        origin: File and layout, kept in the bag.
        remarks: What was odd, one sentence each.
    """

    stamps_ns: Stamps
    specific_force: Array
    angular_velocity: Array
    quaternion_xyzw: Array | None
    origin: str
    remarks: tuple[str, ...] = ()


def stamps_at(times_ns: Sequence[int], place: str) -> Stamps:
    """Return times since the epoch [ns] as stamps, shape (n,); `place` is for messages.

    Raises:
        NoImuLog: If a message cannot hold one of them.
    """
    for number, time_ns in enumerate(times_ns, 1):
        if not 0 <= time_ns < LATEST_NS:
            raise NoImuLog(
                f'{place}: sample {number} is {time_ns / 1e9:.6g} s after 1970, a stamp of ROS '
                f'holds 0 to {LATEST_NS / 1e9:.0f} s'
            )
    return np.array(times_ns, np.int64)


def stamps_after(start_ns: int, seconds: Array, place: str) -> Stamps:
    """Return the stamps of a log that counts seconds, shape (n,) [ns since the epoch].

    Args:
        start_ns: When the first sample was taken [ns since the epoch].
        seconds (n,): As the log has them [s]; only their differences count.
        place: File, for the message.

    Raises:
        NoImuLog: If a time is not a number, or a message cannot hold it.
    """
    with np.errstate(all='ignore'):
        since = seconds - seconds[0]
    # Asked so that NaN is outside, too.
    outside = np.flatnonzero(~(np.abs(since) < LATEST_NS / 1e9))
    if outside.size:
        row = int(outside[0])
        raise NoImuLog(
            f'{place}: sample {row + 1} is {since[row]:.6g} s after the first, a stamp of ROS '
            f'holds 0 to {LATEST_NS / 1e9:.0f} s'
        )
    return stamps_at([start_ns + round(offset * 1e9) for offset in since.tolist()], place)


def stamps_of_numbers(
    values: Array, unit: str, start_ns: int, place: str
) -> tuple[Stamps, list[str]]:
    """Return stamps (n,) of a column of times, and what was assumed of its unit.

    Args:
        values (n,): Times as logged, since anything or since 1970.
        unit: One of `TIME_UNITS`; empty where it is not known.
        start_ns: When the first sample was taken, unless they count since 1970 [ns].
        place: File, for messages.

    Raises:
        NoImuLog: If the unit is unknown, a time is not a number, or a message cannot hold it.
    """
    remarks = []
    if not unit:
        step = float(np.median(np.diff(values))) if len(values) > 1 else float('nan')
        low, high = LIKELY_STEPS
        # What counts 1, 2, 3 ... counts ms, unless these are the seconds since 1970.
        known = values[np.isfinite(values)]
        counts = step >= 1.0 and bool(np.all(known == np.round(known)))
        if counts and not EPOCH < values[0] < LATEST_NS / 1e9:
            high = SLOWEST_COUNT
        fits = (u for u in GUESSED_TIMES if low <= step * TIME_UNITS[u] <= high)
        unit = next(fits, 's')
        if unit != 's' or counts:
            rate = 1.0 / (step * TIME_UNITS[unit])
            remarks.append(
                f'{place}: times have no unit, assumed to be in {unit}: {rate:.4g} Hz; say '
                f'otherwise as --unit time={"s" if unit == "ms" else "ms"}'
            )
    if unit not in TIME_UNITS:
        raise NoImuLog(f'{place}: time in {unit!r}, known are {", ".join(TIME_UNITS)}')
    seconds = (values - (EPOCH_DAY if unit == 'd' else 0)) * TIME_UNITS[unit]
    if seconds[0] > EPOCH and seconds[0] < LATEST_NS / 1e9:
        start_ns = round(float(seconds[0]) * 1e9)
    return stamps_after(start_ns, seconds, place), remarks


def about_order(steps: Array | Stamps) -> list[str]:
    """Say how many samples are not later than the one before."""
    behind = int((steps <= 0).sum())
    if not behind:
        return []
    return [
        f"{behind} samples are not later than the one before by the log's clock; with --rate they "
        'are spaced evenly'
    ]


def refuse_taken_up(stamps_ns: Stamps, place: Callable[[int], str]) -> None:
    """Refuse times that begin again: by stamp, two runs would be woven into one.

    Args:
        stamps_ns (n,): As the log has them [ns].
        place: Names a sample, counted from 0, for the message.

    Raises:
        NoImuLog: If after a step back more than a few samples stay behind.
    """
    back = np.flatnonzero(np.diff(stamps_ns) < 0) + 1
    later = np.maximum.accumulate(stamps_ns)
    behind = int((stamps_ns < later).sum())
    if behind > SET_BACK * back.size:
        lost = float((later - stamps_ns).max()) / 1e9
        raise NoImuLog(
            f'{place(int(back[0]))}: times go back by up to {lost:.3g} s here, and {behind} '
            'samples lie before earlier ones: the log was taken up again or its clock was set; '
            'cut the file here and import each part by itself'
        )


def gravity_at_rest(stamps_ns: Stamps, force: Array) -> float:
    """Return the norm of the specific force, (n, 3), where it changes least; NaN if never."""
    known = np.isfinite(force).all(axis=1)
    force, stamps_ns = force[known], stamps_ns[known]
    steps = np.diff(stamps_ns)
    if not (steps > 0).any():
        return float('nan')
    width = max(round(REST * 1e9 / float(np.median(steps[steps > 0]))), 5)
    if len(force) < width:
        return float('nan')
    # Sorted out below: what overflows is not at rest.
    with np.errstate(all='ignore'):
        return _quietest(force, width)


def _quietest(force: Array, width: int) -> float:
    sums, squares = (
        np.cumsum(np.pad(values, ((1, 0), (0, 0))), axis=0) for values in (force, force**2)
    )
    mean = (sums[width:] - sums[:-width]) / width
    spread = np.sqrt(np.maximum((squares[width:] - squares[:-width]) / width - mean**2, 0.0))
    norm = np.linalg.norm(mean, axis=1)
    share = np.linalg.norm(spread, axis=1) / np.maximum(norm, 1e-300)
    share[~np.isfinite(share)] = np.inf
    best = int(np.argmin(share))
    return float(norm[best]) if share[best] < QUIET else float('nan')


def attitude_of(quaternions: Array | None, angles: Array | None) -> Array | None:
    """Return attitudes x, y, z, w of norm 1, shape (n, 4), from what a log has.

    Args:
        quaternions (n, 4): w, x, y, z as logged.
        angles (n, 3): Roll, pitch, yaw [rad], R = R_z(yaw) R_y(pitch) R_x(roll).
    """
    if quaternions is not None:
        norm = np.linalg.norm(quaternions, axis=1, keepdims=True)
        # A sensor that has not begun to compute one sends zeros.
        if np.all(norm > 0.5):
            return np.asarray((quaternions / norm)[:, [1, 2, 3, 0]])
    if angles is None:
        return None
    return np.asarray(Rotation.from_euler('ZYX', angles[:, ::-1]).as_quat())
