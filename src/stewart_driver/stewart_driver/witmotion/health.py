# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Say in one sentence how a sensor is doing, and why there is no data where there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias

from stewart_driver.witmotion import commands
from stewart_driver.witmotion.frames import FrameType
from stewart_driver.witmotion.reader import (
    RATE_TOLERANCE,
    ReaderPhase,
    ReaderSettings,
    ReaderStatus,
)
from stewart_driver.witmotion.samples import GroupingStatistics
from stewart_tables.errors import counted

MILLISECONDS = 1e3
PERCENT = 100.0
# A flipped bit now and then is life; this share of disturbed frames is a bad line.
NOISE = 0.01
# Two equal samples in a row happen at rest; this share of them does not.
REPEATS = 0.2


class Severity(IntEnum):
    """How bad it is; the values of diagnostic_msgs."""

    OK = 0
    WARN = 1
    ERROR = 2


class Verdict(NamedTuple):
    """How a sensor is doing: the worst of what was found, all of it, and numbers behind it."""

    severity: Severity
    message: str
    values: dict[str, Any]


Finding: TypeAlias = tuple[Severity, str]


class Window(NamedTuple):
    """What happened between two looks at the reader."""

    duration: float
    types: dict[int, int]
    bytes: int
    frames: int
    resyncs: int
    skipped: int
    wrong_sums: int
    samples: int
    repeated: int
    gaps: int
    dropped: int
    cpu: float

    def rate(self, count: float) -> float:
        """Return a count per second."""
        return count / self.duration


class HealthMonitor:
    """Compare what a reader does with what it should do."""

    def __init__(self, settings: ReaderSettings) -> None:
        self._settings = settings
        self._before: ReaderStatus | None = None
        self._time = 0.0
        # Two cycles and a little: less says nothing about what a sensor sends.
        self._enough = max(0.5, 2.5 / settings.rate)

    def assess(self, status: ReaderStatus, now: float, age: float | None) -> Verdict:
        """Judge what happened since the last call.

        Args:
            age: Time since the stamp of the last sample [s]; None if there was none.
        """
        window = self._window(status, now)
        is_long = window.duration >= self._enough
        if is_long:
            self._before, self._time = status, now
        found = sorted(self._findings(status, window), key=lambda item: -item[0])
        if not found:
            well = f'{window.rate(window.samples):.1f} samples/s' if is_long else 'data comes'
            found = [(Severity.OK, f'{well} at {status.baud} baud')]
        said = '; '.join(text for _, text in found)
        return Verdict(found[0][0], said, self._values(status, window, age))

    def _window(self, status: ReaderStatus, now: float) -> Window:
        before = self._before
        if before is None or status.connections != before.connections:
            self._before, self._time = status, now
            before = status
        if status.grouping.samples < before.grouping.samples:
            # Configured anew meanwhile: these counts began at zero.
            before = replace(before, grouping=GroupingStatistics(), gaps=0)
        types = before.grouping.types
        return Window(
            now - self._time,
            {kind: count - types.get(kind, 0) for kind, count in status.grouping.types.items()},
            *(new - old for new, old in zip(_counts(status), _counts(before), strict=True)),
        )

    def _findings(self, status: ReaderStatus, window: Window) -> Iterator[Finding]:
        """Yield everything that is not as it should be."""
        if status.phase is ReaderPhase.STOPPED:
            yield Severity.ERROR, 'the reader is not running'
            return
        if status.phase is not ReaderPhase.STREAMING:
            reason = status.trouble or status.phase.value
            yield Severity.ERROR, f'no data: {reason} ({status.phase.value})'
            return
        if status.misconfigured:
            yield Severity.WARN, f'not configured: {status.misconfigured}'
        if window.duration < self._enough:
            return
        if not window.bytes:
            yield Severity.ERROR, f'no data: no bytes come any more at {status.baud} baud'
        elif not window.frames:
            yield (
                Severity.ERROR,
                f'no data: {window.bytes} bytes but no frame at {status.baud} baud; the speed was '
                f'changed, or the line is disturbed',
            )
        else:
            yield from self._content(status, window)
            yield from quality(window)

    def _content(self, status: ReaderStatus, window: Window) -> Iterator[Finding]:
        """Yield what is wrong with the kind and the number of the frames."""
        seen = {kind for kind, count in window.types.items() if count > 0}
        missing = set(self._settings.pattern) - seen
        if missing:
            yield (
                Severity.ERROR,
                f'frames come, but not {names(missing)}, which this node wants; '
                f'what comes is {names(seen) or "nothing else"}',
            )
        cycles = max(window.types.values(), default=0)
        # Where bytes were lost, what is left of a cycle may be two samples.
        if window.samples - window.resyncs > (1.0 + NOISE) * cycles + 1:
            yield (
                Severity.ERROR,
                f'{window.samples} samples of {cycles} cycles: this sensor does not send the '
                'frames of a cycle in ascending order of their types, so that cycles are torn',
            )
        wanted, found = self._settings.rate, 1.0 / status.period
        if abs(found / wanted - 1.0) > RATE_TOLERANCE:
            said = f'the sensor sends at {found:.1f} Hz, not at {wanted:g}'
            carried = commands.carried_rate(map(FrameType, status.pattern), status.baud)
            if carried < wanted:
                said += (
                    f'; {len(status.pattern)} frames a cycle at {status.baud} baud leave room for '
                    f'{carried:g} Hz'
                )
            yield Severity.WARN, said
        if window.samples and window.repeated > REPEATS * window.samples:
            yield (
                Severity.WARN,
                f'{window.repeated} of {window.samples} samples repeat the one before: the sensor '
                f'measures more slowly than it sends, or is frozen',
            )

    def _values(self, status: ReaderStatus, window: Window, age: float | None) -> dict[str, Any]:
        totals = status.decoder
        rates = {}
        # The first look at a connection is its beginning, and has no time behind it.
        if window.duration >= self._enough:
            rates = {
                'bytes/s': f'{window.rate(window.bytes):.0f}',
                'frames/s': f'{window.rate(window.frames):.1f}',
                'samples/s': f'{window.rate(window.samples):.1f}',
                'reader CPU [%]': f'{window.rate(PERCENT * window.cpu):.2f}',
            }
        return {
            'port': self._settings.port,
            'phase': status.phase.value,
            'baud': status.baud,
            'connections': status.connections,
            **rates,
            'frames of a cycle': names(status.pattern),
            'period [ms]': f'{MILLISECONDS * status.period:.4f}',
            'age of last sample [ms]': 'none' if age is None else f'{MILLISECONDS * age:.1f}',
            'latest arrival [ms]': f'{MILLISECONDS * status.lateness:.2f}',
            'frames': totals.frames,
            'checksum errors': totals.checksum_errors,
            'bytes skipped': totals.bytes_skipped,
            'resyncs': totals.resyncs,
            'gaps': status.gaps,
            'clock restarts': status.restarts,
            'incomplete samples': status.grouping.incomplete,
            'repeated samples': status.grouping.repeated,
            'dropped samples': status.dropped,
        }


def _counts(status: ReaderStatus) -> tuple[Any, ...]:
    """Return what `Window` has from its bytes on."""
    line, grouping = status.decoder, status.grouping
    return (
        *(line.bytes, line.frames, line.resyncs, line.bytes_skipped, line.checksum_errors),
        *(grouping.samples, grouping.repeated),
        *(status.gaps, status.dropped, status.cpu),
    )


def quality(window: Window) -> Iterator[Finding]:
    """Yield what is wrong with the way of the bytes."""
    if window.resyncs > NOISE * window.frames:
        yield Severity.WARN, f'the line is disturbed: {window.resyncs} times bytes were lost'
    elif window.wrong_sums > NOISE * window.frames:
        yield Severity.WARN, f'the line is disturbed: {window.wrong_sums} frames had a wrong sum'
    elif window.skipped > NOISE * window.bytes:
        yield Severity.WARN, f'the line is disturbed: {window.skipped} bytes belonged to no frame'
    if window.gaps > 0:
        yield Severity.WARN, f'{counted(window.gaps, "sample")} never came'
    if window.dropped:
        yield Severity.WARN, f'{counted(window.dropped, "sample")} dropped, not taken in time'


def names(types: Iterable[int]) -> str:
    """Return frame types as they stand in a sentence: 0x51 acceleration."""
    return ', '.join(
        f'0x{kind:02X} {FrameType(kind).name.lower().replace("_", " ")}' for kind in sorted(types)
    )
