# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""When a sample was measured, although a computer reads it late.

The sensor's own quartz is regular: what arrives late was delayed (USB adapters gather bytes for up
to 16 ms, the scheduler adds its own), what arrives early cannot exist. So the sensor's clock runs
along the lower edge of the arrivals.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate, islice
from math import floor, inf
from statistics import median
from typing import NamedTuple

from stewart_driver.witmotion.commands import BITS_PER_BYTE, RATES

# Chunks remembered to look up where a frame began; a frame spans two, rarely three.
CHUNKS = 16


class ArrivalTimes:
    """Latest possible instant at which a byte of the stream began to be sent."""

    def __init__(self, baud: int) -> None:
        self._byte_time = BITS_PER_BYTE / baud
        self._chunks: deque[tuple[int, float]] = deque(maxlen=CHUNKS)

    def read(self, end: int, time: float) -> None:
        """Note that the stream up to byte index `end` had been read at `time` [s]."""
        self._chunks.append((end, time))

    def of(self, position: int, lead: int = 0) -> float:
        """Return the latest instant at which the byte `lead` before `position` can have begun.

        The read that brought the byte at `position` bounds it, and so do all later ones, whose
        bytes followed. Those before it may have got lost.
        """
        latest = inf
        for end, time in reversed(self._chunks):
            if end <= position:
                break
            latest = min(latest, time - (end - position) * self._byte_time)
        return latest - lead * self._byte_time


class Arrival(NamedTuple):
    """A sample that was read.

    Attributes:
        time: Latest possible instant at which it was sent, from `ArrivalTimes` [s].
        cycles: How many cycles after the sample before it, as far as bytes tell.
    """

    time: float
    cycles: int = 1


# A larger jump means that the sensor's time was set [s].
LONGEST_JUMP = 0.5
# The least delayed read is looked for within such a time, several times the latency of the adapter
# [s], of so many samples at least; the line is laid under so many of these blocks.
BLOCK, BLOCK_SAMPLES, BLOCKS = 0.5, 8, 24
# Silence after which the clock starts anew [s].
OUTAGE = 0.5
# A measured period may be shorter than the true one by the share `SLOW`, where that of the table
# is believed, and longer by the factor `LOSSY`, where samples are lost [-].
SLOW, LOSSY = 0.03, 1.2
# Relative error of the period at which it starts anew [-].
MISMATCH = 0.1
# A read late by this share of a period misses a sample [-].
LATE = 0.85
# With more samples than this in a read on average they come together [-]; then so many reads in a
# row must be late, and so many blocks be over.
BUNCHED, BUNCHES, SETTLED = 1.2, 8, 6
# Samples are not lost but counted by a period that was found among delays if after `PROOF` blocks
# that of the bytes is nearer to a rate by this share, and reads are late by the share `CREEP` of a
# period on average [-].
PHANTOM, PROOF, CREEP = 0.003, 8, 0.25


class OwnTime:
    """Cycles between samples as the sensor's own time has them, where it sends it.

    Its clock is no better than a millisecond and may be set by satellites, but it counts cycles
    that left no bytes, also among samples that were read together.
    """

    def __init__(self) -> None:
        self._before: datetime | None = None
        self._since = 0

    def cycles(self, counted: int, now: datetime | None, period: float) -> int:
        """Return how many cycles a sample comes after the one before it.

        Args:
            counted: As bytes tell.
            now: The sensor's time in this sample, if it has one.

        Returns:
            At least `counted`.
        """
        self._since += counted
        if now is None:
            return counted
        before, self._before = self._before, now
        since, self._since = self._since, 0
        passed = 0.0 if before is None else (now - before).total_seconds()
        missed = round(passed / period) - since
        return counted + missed if 0 < missed * period < LONGEST_JUMP else counted


class SampleClock:
    """Line below the arrivals of the last blocks, over the index of each sample.

    The last sample of a read waited less than a period, or the next one would have come with it;
    so a read that is late by a period misses samples that left no bytes. The first time two reads
    in a row must say so, for one may have come just before the next; then one, until it is proved
    wrong by a sample half a period early. One that is early by less sets the line back at once.
    In the first block, and in the first after an outage, each read tells for itself: its samples
    are a nominal period apart.

    Where samples are read together without the sensor's own time, nobody can tell which of them
    left no bytes. They are missed as soon as `BUNCHES` reads are late; those that came spoilt are
    known at once as ever.

    Args:
        period: Nominal time between samples [s]; a wrong one is corrected after the first block.

    Attributes:
        period: Time between samples as estimated now [s].
        gaps: Samples that were sent, as the clock says, and never came; not those of an outage.
        restarts: How often it started anew, after an outage or with another period.
        lateness: Largest delay of a read against its stamp in the last whole block [s].
    """

    def __init__(self, period: float) -> None:
        self.period = period
        self.gaps = 0
        self.restarts = 0
        self.lateness = 0.0
        self._stamp = self._last = -inf
        self._begin(locked=False)

    def _begin(self, *, locked: bool) -> None:
        self._locked = locked
        self._reads: list[Sequence[Arrival]] = []
        self._samples = 0
        self._origin, self._index = 0.0, 0
        self._points: deque[tuple[int, float]] = deque(maxlen=BLOCKS)
        self._lowest = (inf, 0, 0.0)
        self._delays: deque[float] = deque(maxlen=BUNCHES)
        self._loses = self._bunched = False
        self._most = 0.0
        self._expected, self._counted = inf, self.gaps
        # Since the line was begun: when, samples by bytes, gaps before, blocks.
        self._since, self._heard, self._had, self._blocks = 0.0, 0, self.gaps, 0
        # All delays of the block [s].
        self._late = 0.0

    def stamp(self, read: Sequence[Arrival]) -> list[float]:
        """Return when the samples of one read were sent.

        Args:
            read: At least one, in the order of the stream.

        Returns:
            The estimates [s], each later than the one before it, and later than the arrival only
            where it otherwise would not be.
        """
        behind = _cycles(read)
        # What a computer that stood still reads at once was sent meanwhile.
        silence = read[0].time - self._last - (behind - 1) * self.period
        if silence > max(OUTAGE, 3.0 * self.period):
            self.restarts += self._last > -inf
            self._begin(locked=False)
        self._last = read[-1].time
        self._reads.append(read)
        self._samples += len(read)
        if self._locked:
            self._place(read, behind)
        self._end_block()
        stamps = []
        last = self._line(self._index) if self._locked else self._latest(read, behind)
        for each in read:
            behind -= each.cycles
            time = last - behind * self.period
            # Time only moves forward, also where a hiccup of this computer had hidden the truth.
            self._stamp = max(time, self._stamp + 0.1 * self.period)
            stamps.append(self._stamp)
        return stamps

    def _line(self, index: int) -> float:
        return self._origin + index * self.period

    def _latest(self, read: Sequence[Arrival], behind: int) -> float:
        """Return when the last sample of a read was sent at the latest, as all of it tell.

        `behind` is how many cycles it brought.
        """
        latest = inf
        for each in read:
            behind -= each.cycles
            latest = min(latest, each.time + behind * self.period)
        return latest

    def _place(self, read: Sequence[Arrival], cycles: int) -> None:
        """Find the index of the last sample of a read that brought so many cycles."""
        for each in read:
            if each.cycles > 1:
                self.gaps += each.cycles - 1
        self._index += cycles
        latest = self._latest(read, cycles)
        delay = latest - self._line(self._index)
        self._delays.append(delay)
        if lost := self._lost():
            self._loses = lost > 0
            self._index += lost
            self.gaps = max(0, self.gaps + lost)
            delay -= lost * self.period
            self._delays.extend([late - lost * self.period for late in self._delays])
        if lost <= 0:
            # What comes early cannot exist.
            self._origin += min(delay, 0.0)
            lowest = latest - self._index * self.period, self._index, latest
            self._lowest = min(self._lowest, lowest)
        self._most = max(self._most, delay)
        self._late += delay

    def _lost(self) -> int:
        """Return how many samples were lost without a trace; negative: counted, and never sent."""
        if self._bunched and len(self._points) < SETTLED:
            return 0
        early = floor(self._delays[-1] / self.period + 0.5)
        if early < 0:
            return early
        reads = BUNCHES if self._bunched else 2 - self._loses
        if len(self._delays) < reads:
            return 0
        least = min(islice(reversed(self._delays), reads))
        return max(0, floor(least / self.period + 1.0 - LATE))

    def _end_block(self) -> None:
        reads = self._reads
        duration, samples = self._last - reads[0][-1].time, self._samples
        if duration < BLOCK or samples <= BLOCK_SAMPLES:
            return
        bunched = samples > BUNCHED * len(reads)
        if bunched and not self._locked and duration < 2 * BLOCK:
            return
        likely = self._likely(duration / sum(map(_cycles, reads[1:])))
        if not self._locked:
            self._lock(likely, bunched=bunched)
        elif self._differs(likely, self.period) and not self._differs(likely, self._expected):
            # One delayed read lengthens the block that it ends and shortens the next one.
            self.restarts += 1
            self._lock(likely, bunched=bunched)
        elif (told := self._told()) is not None:
            self.gaps = self._counted = self._had
            self._lock(told, bunched=bunched, period=told)
        else:
            self._lay()
        self._expected, self._bunched = likely, bunched
        self.lateness, self._most, self._late = self._most, 0.0, 0.0
        self._reads, self._samples = [reads[-1]], len(reads[-1])
        self._counted = self.gaps

    def _likely(self, measured: float) -> float:
        """Return the period that a rough measurement means: this one, of the table, or itself."""
        least, most = measured / LOSSY, measured * (1.0 + SLOW)
        if least < self.period < most:
            return self.period
        return max((1.0 / rate for rate in RATES if least < 1.0 / rate < most), default=measured)

    def _told(self) -> float | None:
        """Return the period that bytes tell, where the line counts samples that nobody sent."""
        self._blocks += 1
        self._heard += sum(map(_cycles, self._reads[1:]))
        proven = self._blocks >= PROOF
        # Then reads come later and later, by up to a period, and that again and again.
        creeps = self._late > CREEP * self.period * len(self._reads)
        if not (proven and creeps) or self._bunched or self.gaps == self._had:
            return None
        told = (self._last - self._since) / self._heard
        nearer = _off_table(self.period) - _off_table(told)
        return told if nearer > PHANTOM else None

    def _differs(self, one: float, other: float) -> bool:
        return abs(one / other - 1.0) > MISMATCH

    def _lock(self, rough: float, *, bunched: bool, period: float | None = None) -> None:
        """Begin a line with the reads of the block, whose period is near a rough one."""
        reads, counts = self._reads, list(accumulate(map(_cycles, self._reads)))
        # Where samples come together bytes are believed, elsewhere neighbours that miss none.
        apart = len(reads) // 2 if bunched else 1
        spans = [
            (reads[k + apart][-1].time - reads[k][-1].time, counts[k + apart] - counts[k])
            for k in range(len(reads) - apart)
        ]
        counted = self._counted
        self._begin(locked=True)
        self._since = reads[-1][-1].time
        if period is not None:
            self.period = period
        elif bunched:
            self.period = median(time / cycles for time, cycles in spans)
        else:
            most = LATE * rough
            whole = [span for span in spans if abs(span[0] - span[1] * rough) < most]
            self.period = sum(t for t, _ in whole) / sum(n for _, n in whole) if whole else rough
        self.gaps, self._had, self._bunched = counted, counted, bunched
        self._origin, self._index = reads[0][-1].time, -counts[0]
        for read in reads:
            self._place(read, _cycles(read))
        self._lay()

    def _lay(self) -> None:
        """Lay the line that is highest amid the last blocks, and above no read of theirs."""
        if self._lowest[0] < inf:
            self._points.append(self._lowest[1:])
        self._lowest = (inf, 0, 0.0)
        centre = 0.5 * (self._points[0][0] + self._points[-1][0])
        # Points that are closer would make a lever of their delays.
        apart = 0.5 * BLOCK / self.period
        _, self.period = min(
            (
                (time + (centre - here) * period, period)
                for here, time in self._points
                if here <= centre
                for there, later in self._points
                if there > centre and there - here >= apart
                for period in [(later - time) / (there - here)]
            ),
            default=(0.0, self.period),
        )
        self._origin = min(time - index * self.period for index, time in self._points)


def _off_table(period: float) -> float:
    return min(abs(period * rate - 1.0) for rate in RATES)


def _cycles(read: Sequence[Arrival]) -> int:
    # Mostly a read brings one sample.
    return read[0].cycles if len(read) == 1 else sum(each.cycles for each in read)
