# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
When a sample was measured, although a computer reads it late.

Two facts are used. Bytes take time: a frame's first byte was sent before everything that follows
it up to the moment of the read. And the sensor's own quartz is regular: what arrives late was
delayed (USB adapters gather bytes for up to 16 ms, the scheduler adds its own), what arrives
early cannot exist. So the sensor's clock runs along the lower edge of the arrivals.

"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from statistics import median

from stewart_driver.witmotion.commands import BITS_PER_BYTE, RATES

# Chunks remembered to look up where a frame began; a frame spans two, rarely three.
CHUNKS = 16


class ArrivalTimes:
    """
    Latest possible instant at which a byte of the stream began to be sent.

    Parameters
    ----------
    baud : int
        Speed of the line.

    """

    def __init__(self, baud: int) -> None:
        """Begin with no chunk read."""
        self._byte_time = BITS_PER_BYTE / baud
        self._chunks: deque[tuple[int, float]] = deque(maxlen=CHUNKS)

    def read(self, end: int, time: float) -> None:
        """Note that the stream up to byte index `end` had been read at `time` [s]."""
        self._chunks.append((end, time))

    def of(self, position: int) -> float:
        """
        Return the latest instant at which the byte at `position` can have begun.

        The read that brought the byte bounds it, and so do all later ones, whose bytes followed.

        """
        latest = inf
        for end, time in reversed(self._chunks):
            if end <= position:
                break
            latest = min(latest, time - (end - position) * self._byte_time)
        return latest


@dataclass(frozen=True)
class ClockSettings:
    """
    How the sensor's clock is followed.

    Attributes
    ----------
    block : float
        Time over which the least delayed sample is looked for, several times the latency of the
        adapter [s]; at least `block_samples` long.
    block_samples : int
        Fewest samples of a block.
    bandwidth : float
        Natural frequency of the loop, damped critically [rad/s].
    outage : float
        Silence after which the clock starts anew [s].
    mismatch : float
        Relative error of the period at which it starts anew; 16 ms of latency look like 3 % [-].
    late, late_samples : float, int
        For so long [s], and so many samples in a row, each late by half a period or more: some
        were lost, or the period is too short.
    lost : float
        Share of a period by which they are late at least if some were lost; below that at first
        if the period is too short [-].
    drift, uneven : float
        Lateness that grows by no more than `drift` of a period from sample to sample, as evenly
        as that over four quarters, tells of a period that is too short [-].
    lesson : float
        Most by which the period then grows at once [-]: it might be an error.

    """

    block: float = 0.5
    block_samples: int = 8
    bandwidth: float = 0.5
    outage: float = 0.5
    mismatch: float = 0.05
    late: float = 0.4
    late_samples: int = 20
    lost: float = 0.75
    drift: float = 0.02
    uneven: float = 0.2
    lesson: float = 0.0025


class SampleClock:
    """
    Phase-locked loop on the least delayed samples.

    Between two samples one period passes. A sample that comes before its predicted time proves
    the prediction late, and the clock is set back to it at once; lateness proves nothing until a
    whole block of samples is late. Where many in a row are late by half a period or more, either
    samples were lost: then lateness came at once and by whole periods, and they are counted as
    gaps and skipped. Or it grew, from half a period on: then the period is too short, and is
    corrected by how it grew; counted as gaps it would never be. In the first block, and in the
    first after an outage, stamps are the arrivals themselves.

    Parameters
    ----------
    period : float
        Nominal time between samples [s]; a wrong one is corrected after the first block.
    settings : ClockSettings
        How it follows.

    Attributes
    ----------
    period : float
        Time between samples as estimated now [s].
    gaps : int
        Samples that were sent, as the clock says, and never came; not those of an outage.
    restarts : int
        How often it started anew, after an outage or with another period.
    lateness : float
        Largest delay of an arrival against its stamp in the last whole block [s].

    """

    def __init__(self, period: float, settings: ClockSettings | None = None) -> None:
        """Wait for the first sample."""
        self._settings = settings or ClockSettings()
        self.period = period
        self.gaps = 0
        self.restarts = 0
        self.lateness = 0.0
        self._locked = False
        self._phase = -inf
        self._stamp = -inf
        self._arrivals: list[float] = []
        self._late: list[float] = []
        self._shifted = 0.0
        self._measured = inf
        self._last = -inf
        self._least, self._most, self._pulled = inf, 0.0, 0.0

    def stamp(self, arrival: float) -> float:
        """
        Return when a sample was sent.

        Parameters
        ----------
        arrival : float
            Latest possible instant, from `ArrivalTimes` [s].

        Returns
        -------
        float
            The estimate [s]. Never before the stamp of the sample before, and after `arrival` only
            where it otherwise would be.

        """
        settings = self._settings
        if arrival - self._last > max(settings.outage, 3.0 * self.period):
            self.restarts += self._last > -inf
            self._locked = False
            self._begin_block(arrival)
        self._last = arrival
        self._arrivals.append(arrival)
        self._phase = self._predict(arrival) if self._locked else arrival
        if (
            arrival - self._arrivals[0] >= settings.block
            and len(self._arrivals) >= settings.block_samples
        ):
            self._end_block()
        # Time only moves forward, also where a hiccup of this computer had hidden the truth.
        self._stamp = max(self._phase, self._stamp + 0.1 * self.period)
        return self._stamp

    def _predict(self, arrival: float) -> float:
        phase = self._phase + self.period
        delay = arrival - phase
        if delay < 0.0:
            phase = arrival
            self._pulled -= delay
            # What came before in this block was measured against a clock that was late.
            delay = self._least = 0.0
        self._least = min(self._least, delay)
        self._most = max(self._most, delay)
        if delay >= 0.5 * self.period:
            self._late.append(delay + self._shifted)
        else:
            self._forget_lateness()
        settings = self._settings
        if len(self._late) >= max(settings.late_samples, settings.late / self.period):
            phase += self._caught_up()
        return phase

    def _caught_up(self) -> float:
        """Return by how much the clock has to be set forward, and count or learn why."""
        late, done, settings = self._late, self._shifted, self._settings
        quarter = len(late) // 4
        edge = [min(late[k * quarter : (k + 1) * quarter]) for k in range(4)]
        growth = median(after - before for before, after in pairwise(edge))
        # Also where neither explains it, as when the computer was slow for long, it catches up.
        forward = edge[-1]
        if (
            edge[0] < settings.lost * self.period
            and 0.0 < growth <= settings.drift * self.period * quarter
            and edge[-1] - edge[0] <= 3.0 * (1.0 + settings.uneven) * growth
        ):
            self.period *= 1.0 + min(growth / quarter / self.period, settings.lesson)
        elif edge[-1] >= settings.lost * self.period:
            lost = round(edge[-1] / self.period)
            self.gaps += lost
            forward = lost * self.period
        self._forget_lateness()
        self._least = self._most = 0.0
        return forward - done

    def _forget_lateness(self) -> None:
        self._late, self._shifted = [], 0.0

    def _end_block(self) -> None:
        arrivals, settings = self._arrivals, self._settings
        duration = arrivals[-1] - arrivals[0]
        measured = duration / (len(arrivals) - 1)
        wrong = self._differs(measured, self.period)
        # One delayed read lengthens the block that it ends and shortens the next one.
        twice = wrong and not self._differs(measured, self._measured)
        self._measured = measured if wrong else inf
        if twice or not self._locked:
            self._lock(self._likely(measured) if wrong else self.period)
        else:
            # Larger steps than this would swing where samples are slow.
            step = min(settings.bandwidth * duration, 0.25)
            error = self._least - self._pulled
            shift = 2.0 * step * self._least
            self._phase += shift
            # Those that are late already were so without it.
            self._shifted += shift if self._late else 0.0
            self.period += step * step * error / len(arrivals)
        self.lateness = self._most
        self._begin_block(arrivals[-1])

    def _likely(self, measured: float) -> float:
        """Return the period of the table that a rough measurement means, or else the latter."""
        nearest = min((1.0 / rate for rate in RATES), key=lambda period: abs(period - measured))
        return measured if self._differs(measured, nearest) else nearest

    def _differs(self, one: float, other: float) -> bool:
        return abs(one / other - 1.0) > self._settings.mismatch

    def _lock(self, period: float) -> None:
        """Lay a line of this period below the arrivals of the block."""
        self.restarts += self._locked
        self._locked = True
        self.period = period
        to_end = range(len(self._arrivals) - 1, -1, -1)
        ends = [
            arrival + count * period for arrival, count in zip(self._arrivals, to_end, strict=True)
        ]
        self._phase = min(ends)
        self._most = max(ends) - self._phase

    def _begin_block(self, last: float) -> None:
        self._arrivals = [last] if self._locked else []
        self._least, self._most, self._pulled = inf, 0.0, 0.0
        if not self._locked:
            self._forget_lateness()
