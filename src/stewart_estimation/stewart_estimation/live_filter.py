# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
The filter for live samples on clocks of their own.

A leg sample waits until the IMU has passed it (one IMU period, and the delay where that is
estimated), so that the filter goes along the samples on both sides, exactly as in a replay. A
late sample takes the filter back to where it belongs, and what came after it is filtered again.

"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from stewart_estimation import layout, replay_kernels
from stewart_estimation.arrangement import Arrangement
from stewart_estimation.errors import CovarianceError
from stewart_estimation.estimate import Estimate, estimate_of, Update
from stewart_estimation.reinitialisation import (
    estimate_from_legs,
    FilterState,
    from_estimate,
)
from stewart_estimation.replay import Loop, Rows
from stewart_estimation.settings import FilterSettings
from stewart_kinematics.geometry import Geometry
from stewart_kinematics.motion import Array

_stamp = attrgetter('stamp')


@dataclass(frozen=True, eq=False)
class LegRow:
    """A leg sample, and the filter before it once it has been used."""

    stamp: float
    lengths: Array
    before: FilterState | None = None


@dataclass(frozen=True, eq=False)
class LiveResult:
    """
    What came of a leg sample.

    Attributes
    ----------
    estimate : Estimate
        At its stamp.
    update : Update
        How it fitted; all NaN where the filter started from it.
    restarted : bool
        Whether the filter was started anew from it.

    """

    estimate: Estimate
    update: Update
    restarted: bool


class LiveFilter:
    """
    Filter of samples as they come.

    Parameters
    ----------
    geometry : Geometry
        Joints of the platform.
    settings : FilterSettings
        Noises, mounting, refinements.
    horizon : float
        A sample later than this is dropped, and counted by `dropped` [s].

    """

    def __init__(
        self, geometry: Geometry, settings: FilterSettings, *, horizon: float = 0.5
    ) -> None:
        self.arrangement = Arrangement.of(geometry, settings)
        self.horizon = horizon
        self.dropped = 0
        self._blank = Rows.empty(1, self.arrangement.size, keep=False)
        self._filtered: FilterState | None = None
        self._stamps: list[float] = []
        self._values: list[Array] = []
        self._legs: list[LegRow] = []
        self._next = 0

    @property
    def repairs(self) -> int:
        """How often the covariance had to be made positive definite again."""
        return 0 if self._filtered is None else self._filtered.repairs

    def add_imu(self, stamp: float, values: Array) -> list[LiveResult]:
        """
        Take a sample of the IMU.

        Parameters
        ----------
        stamp : float
            [s]; a second sample with the same stamp takes the place of the first.
        values : ndarray, shape (6,)
            From `imu_sample`, which looks at them: specific force and angular velocity in sensor
            axes [m/s²], [rad/s].

        Returns
        -------
        list of LiveResult
            For every leg sample that could now be used, by stamp; after a late sample also those
            that had to be used again.

        Raises
        ------
        SampleError
            If the filter cannot start from the lengths.
        CovarianceError
            If a covariance cannot be repaired; the filter then starts anew.

        """
        if self._stamps and stamp < self._stamps[-1] - self.horizon:
            self.dropped += 1
            return []
        at = bisect.bisect_left(self._stamps, stamp)
        if at < len(self._stamps) and self._stamps[at] == stamp:
            self._values[at] = values
        else:
            self._stamps.insert(at, stamp)
            self._values.insert(at, values)
        # Between its neighbours the straight line has changed: all that was met after the one
        # before it is met again.
        self._back(self._stamps[at - 1] if at else -np.inf)
        return self._process()

    def add_legs(self, stamp: float, lengths: Array) -> list[LiveResult]:
        """
        Take a sample of the lengths.

        Parameters
        ----------
        stamp : float
            [s]; a second sample with the same stamp takes the place of the first.
        lengths : ndarray, shape (6,)
            From `leg_sample`, which looks at them: joint to joint [m]; NaN is a missing leg.

        Returns
        -------
        list of LiveResult
            As `add_imu`.

        Raises
        ------
        SampleError
            If the filter cannot start from the lengths.
        CovarianceError
            If a covariance cannot be repaired; the filter then starts anew.

        """
        row = LegRow(stamp, lengths)
        if self._legs and stamp < self._legs[-1].stamp - self.horizon:
            self.dropped += 1
            return []
        at = bisect.bisect_left(self._legs, stamp, key=_stamp)
        self._return_to(at)
        if at < len(self._legs) and self._legs[at].stamp == stamp:
            self._legs[at] = row
        else:
            self._legs.insert(at, row)
        return self._process()

    def _back(self, time: float) -> None:
        """Undo the leg samples that were met after a time on the clock of the IMU."""
        if self._filtered is None or self._filtered.stamp <= time:
            return
        for at in range(self._next):
            before = self._legs[at + 1].before if at + 1 < self._next else self._filtered
            if before is None or before.stamp > time:
                self._return_to(at)
                return

    def _return_to(self, at: int) -> None:
        """Undo the leg samples from one on."""
        if at >= self._next:
            return
        self._filtered = self._legs[at].before
        self._next = at

    def _process(self) -> list[LiveResult]:
        """Use the leg samples that the IMU has passed."""
        results: list[LiveResult] = []
        used = self._next
        while self._next < len(self._legs) and self._stamps:
            row = self._legs[self._next]
            if not self._ready(row):
                break
            results += self._use(row)
        if self._next > used:
            self._forget()
        return results

    def _ready(self, row: LegRow) -> bool:
        """Say whether the IMU has passed a leg sample, or has been silent for too long."""
        delay = self._delay()
        if row.stamp + delay <= self._stamps[-1] + replay_kernels.SAME:
            return True
        return self._legs[-1].stamp - row.stamp > self.arrangement.settings.imu_timeout + delay

    def _delay(self) -> float:
        if self._filtered is not None:
            return float(self._filtered.state[layout.DELAY])
        delay = self.arrangement.settings.delay
        return 0.0 if delay is None else delay.start

    def _use(self, row: LegRow) -> list[LiveResult]:
        """Filter one leg sample, or start from it."""
        self._legs[self._next] = LegRow(
            row.stamp, row.lengths, None if self._filtered is None else self._filtered.copy()
        )
        self._next += 1
        lengths = row.lengths.reshape(1, 6).copy()
        started = self._filtered is None
        if self._filtered is None:
            early = row.stamp + self._delay() < self._stamps[0] - replay_kernels.SAME
            if early or not np.all(np.isfinite(row.lengths)):
                return []
            start = estimate_from_legs(self.arrangement, row.stamp, row.lengths)
            self._filtered = from_estimate(self.arrangement, start)
            lengths[:] = np.nan
        # From the sample before the one that the state has passed: it tells the slope there.
        passed = bisect.bisect_right(self._stamps, self._filtered.stamp + replay_kernels.SAME)
        first = max(passed - 2, 0)
        loop = Loop(
            self.arrangement,
            self._filtered,
            np.array(self._stamps[first:]),
            np.array(self._values[first:]),
            np.array([row.stamp]),
            lengths,
            self._blank.copy(),
        )
        try:
            restarts = loop.run(0)
        except CovarianceError:
            self._filtered = None
            raise
        verdict, rows = loop.rows.verdicts[0], loop.rows
        return [
            LiveResult(
                estimate_of(row.stamp, rows.report[0], rows.errors[0], rows.rate_errors[0]),
                Update(
                    row.stamp,
                    verdict[:6],
                    verdict[6:12],
                    float(verdict[12]),
                    verdict[13:] > 0.0,
                ),
                started or bool(restarts),
            )
        ]

    def _forget(self) -> None:
        """Drop what lies behind the horizon of both series, but for what the next step needs."""
        if self._next:
            oldest = self._legs[self._next - 1].stamp - self.horizon
            gone = bisect.bisect_left(self._legs, oldest, hi=self._next, key=_stamp)
            del self._legs[:gone]
            self._next -= gone
            keep = oldest - self.arrangement.settings.imu_timeout
            first = max(bisect.bisect_left(self._stamps, keep) - 1, 0)
            del self._stamps[:first], self._values[:first]
