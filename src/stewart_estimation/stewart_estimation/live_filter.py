# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The filter for live samples on clocks of their own.

A leg sample waits until the IMU has passed it (one IMU period, and the delay where that is
estimated), so that the filter goes along the samples on both sides, exactly as in a replay. A
late sample takes the filter back to where it belongs, and what came after it is filtered again.
"""

from __future__ import annotations

import bisect
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from stewart_estimation.arrangement import Arrangement
from stewart_estimation.errors import CovarianceError, SampleError
from stewart_estimation.estimate import Estimate, ExternalFit, MetPose
from stewart_estimation.external_pose import begun_at, NO_POSES
from stewart_estimation.kernels.records import DELAY, EXTERNAL, FilterState, Rows
from stewart_estimation.kernels.steps import ready, SAME
from stewart_estimation.live_rows import LiveRows, NOTHING
from stewart_estimation.reinitialisation import estimate_from_legs, from_estimate
from stewart_estimation.replay import Loop
from stewart_estimation.settings import FilterSettings
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array

_stamp = attrgetter('stamp')

LATELY = 200
"""So many external poses are remembered."""

KEPT = 10.0
"""A sensor that waits for the other one for twice as long keeps its last samples alone: the place
is lost, and the filter begins anew with the biases that it knew [s]."""


class LegRow(NamedTuple):
    """A leg sample; once it was used, the filters before a run of samples and its place there."""

    stamp: float
    lengths: Array
    past: FilterState | None = None
    place: int = 0

    @property
    def before(self) -> FilterState | None:
        """The filter before it; None if it has not been used, or if the filter started there."""
        return None if self.past is None else self.past.at(self.place)


class LiveFilter:
    """Filter of samples as they come.

    Args:
        horizon: A sample later than this is dropped, and counted by `dropped` [s].
        start: Where the platform is at the first leg sample; by default its lengths say it.

    Attributes:
        fused: What became of the external poses of late, by stamp.
    """

    def __init__(
        self,
        geometry: Geometry,
        settings: FilterSettings,
        *,
        horizon: float = 0.5,
        start: Estimate | None = None,
    ) -> None:
        self._given = start
        self._poses, self.fused = NO_POSES, dict[float, MetPose]()
        self.arrangement = Arrangement.of(geometry, settings)
        self.horizon = horizon
        self.dropped = 0
        self._filtered: FilterState | None = None
        self._stamps: list[float] = []
        self._values: list[Array] = []
        self._legs: list[LegRow] = []
        self._next = 0

    def add_imu(self, stamp: float, values: Array) -> LiveRows:
        """Take a sample of the IMU; a second one with the same stamp takes the place of the first.

        Args:
            stamp: [s].
            values (6,): From `imu_sample`, which looks at them.

        Returns:
            For every leg sample that could now be used, by stamp; after a late sample also those
            that had to be used again.

        Raises:
            SampleError: If the filter cannot start from the lengths.
            CovarianceError: If a covariance cannot be repaired; the filter then starts anew.
        """
        if self._stamps and stamp < self._stamps[-1] - self.horizon:
            self.dropped += 1
            return NOTHING
        at = bisect.bisect_left(self._stamps, stamp)
        if at < len(self._stamps) and self._stamps[at] == stamp:
            self._values[at] = values
        else:
            self._stamps.insert(at, stamp)
            self._values.insert(at, values)
        # Between its neighbours the straight line has changed: all that was met after the one
        # before it is met again.
        self._back(self._stamps[at - 1] if at else -np.inf)
        self._keep_the_last()
        return self._process()

    def add_legs(self, stamp: float, lengths: Array) -> LiveRows:
        """Take lengths (6,) from `leg_sample`, joint to joint [m]; else as `add_imu`."""
        row = LegRow(stamp, lengths)
        if self._legs and stamp < self._legs[-1].stamp - self.horizon:
            self.dropped += 1
            return NOTHING
        at = bisect.bisect_left(self._legs, stamp, key=_stamp)
        self._return_to(at)
        if at < len(self._legs) and self._legs[at].stamp == stamp:
            self._legs[at] = row
        else:
            self._legs.insert(at, row)
        self._keep_the_last()
        return self._process()

    def add_pose(self, stamp: float, pose: Array, covariance: Array) -> LiveRows:
        """Take an external pose, position [m] and quaternion x, y, z, w; else as `add_imu`.

        Args:
            stamp: [s]; of a pose that is late by the delay that is estimated.
            pose, covariance (7,), (6, 6): As `PoseSeries` has them.
        """
        assert self.arrangement.settings.external is not None
        delay = self.arrangement.settings.external.start
        if self._filtered is not None:
            delay = float(self._filtered.state[EXTERNAL])
        at = bisect.bisect_left(self._legs, stamp - delay, key=_stamp)
        if self._next:
            oldest = max(self._legs[0].stamp, self._legs[self._next - 1].stamp - self.horizon)
            if stamp - delay < oldest:
                self.dropped += 1
                return NOTHING
        self._poses = self._poses.joined(stamp, pose, covariance)
        at = min(at, self._next)
        while at and not self._posed_before(at, stamp):
            at -= 1
        self._return_to(at)
        return self._process()

    @property
    def external(self) -> ExternalFit | None:
        """How the external poses of late fitted; None without any."""
        if self._filtered is None:
            return None
        return ExternalFit.of(self.arrangement.setup, self._filtered, self.fused)

    def _posed_before(self, at: int, stamp: float) -> bool:
        """Say whether the filter before a leg sample has met no pose of this stamp or later."""
        before = self._legs[at].before if at < self._next else self._filtered
        return before is None or before.memory.posed < stamp

    def add_runs(
        self, imu_stamps: Array, values: Array, leg_stamps: Array, lengths: Array
    ) -> LiveRows:
        """Take successive samples of both sensors at once, all later than any before.

        Args:
            imu_stamps, leg_stamps (n,), (m,): Increasing [s].
            values, lengths (n, 6), (m, 6): As for `add_imu` and `add_legs`.

        Returns:
            As `add_imu`, and its errors.
        """
        self._back(self._stamps[-1] if self._stamps else -np.inf)
        self._stamps.extend(imu_stamps.tolist())
        self._values.extend(values)
        self._legs.extend(map(LegRow, leg_stamps.tolist(), lengths))
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

    def _process(self) -> LiveRows:
        """Use the leg samples that the IMU has passed."""
        blocks: list[LiveRows] = []
        used, settings = self._next, self.arrangement.settings
        while self._next < len(self._legs) and self._stamps:
            row, filtered = self._legs[self._next], self._filtered
            delay = settings.first_delay if filtered is None else filtered.state[DELAY]
            newest = self._stamps[-1], self._legs[-1].stamp
            if not ready(settings.imu_timeout, row.stamp, delay, *newest):
                break
            if filtered is None and not self._start(row):
                continue
            rows = self._run(starts=filtered is None, raises=not blocks)
            if not len(rows):
                break
            blocks.append(rows)
        if self._next > used:
            self._forget()
        return LiveRows.joined(blocks)

    def _start(self, row: LegRow) -> bool:
        """Put the filter at a leg sample; False, and go on to the next, if it has no pose."""
        self._legs[self._next] = LegRow(row.stamp, row.lengths)
        self._next += 1
        whole = bool(np.all(np.isfinite(row.lengths)))
        early = row.stamp + self.arrangement.settings.first_delay < self._stamps[0] - SAME
        if early or (self._given is None and not whole):
            return False
        try:
            start = None if self._given is None else begun_at(self._given, row.stamp)
        except SampleError:
            start = self._given = None
            if not whole:
                raise
        if start is None:
            start = estimate_from_legs(self.arrangement, row.stamp, row.lengths)
        self._filtered = from_estimate(self.arrangement, start)
        self._next -= 1
        return True

    def _run(self, *, starts: bool, raises: bool) -> LiveRows:
        """Filter the leg samples that are ready; of the first the filter may have started."""
        assert self._filtered is not None
        legs, size = self._legs[self._next :], self.arrangement.size
        # From the sample before the one that the state has passed: it tells the slope there.
        passed = bisect.bisect_right(self._stamps, self._filtered.stamp + SAME)
        first = max(passed - 2, 0)
        lengths = np.array([row.lengths for row in legs])
        if starts:
            # What the start has used up corrects nothing.
            lengths[0] = np.nan
        past = FilterState.rows(len(legs), size)
        loop = Loop(
            self.arrangement,
            self._filtered,
            np.array(self._stamps[first:]),
            np.array(self._values[first:]),
            np.array([row.stamp for row in legs]),
            lengths,
            Rows.empty(len(legs), size),
            past,
            self._poses,
            self.fused,
        )
        try:
            restarts, end = loop.run(0)
        except CovarianceError as error:
            if not error.row and raises:
                self._filtered = self._given = None
                self._next += 1
                raise
            # What came before is worth telling; the next call meets the trouble at once.
            restarts, end = [], error.row
            self._filtered = past.at(end)
        used = [LegRow(row.stamp, row.lengths, past, k) for k, row in enumerate(legs[:end])]
        if starts:
            used[:1] = [LegRow(row.stamp, row.lengths) for row in legs[: min(end, 1)]]
        self._legs[self._next : self._next + end] = used
        self._next += end
        restarted = np.zeros(end, dtype=bool)
        if starts or restarts:
            restarted[restarts] = True
            restarted[:1] |= starts
        stamps, rows = loop.leg_stamps[:end], loop.rows
        reports = rows.report[:end], rows.errors[:end], rows.rate_errors[:end]
        found = LiveRows(stamps, *reports, rows.verdicts[:end], restarted)
        # After a long silence of both sensors there is no estimate until six lengths come.
        known = np.isfinite(rows.report[:end, 0])
        return found if known.all() else found[known]

    def _keep_the_last(self) -> None:
        """Drop samples of one sensor that have waited for the other one for long."""
        if not self._stamps:
            if self._legs[-1].stamp - self._legs[0].stamp > 2.0 * KEPT:
                newest = self._legs[-1].stamp - KEPT
                del self._legs[: bisect.bisect_left(self._legs, newest, key=_stamp)]
            return
        # What the filter goes on from stays.
        since = self._stamps[0] if self._filtered is None else self._filtered.stamp
        if self._stamps[-1] - since > 2.0 * KEPT:
            first = 0 if self._filtered is None else bisect.bisect_right(self._stamps, since) + 1
            last = bisect.bisect_left(self._stamps, self._stamps[-1] - KEPT)
            del self._stamps[first:last], self._values[first:last]

    def _forget(self) -> None:
        """Drop what lies behind the horizon of both series, but for what the next step needs."""
        if self._next:
            oldest = self._legs[self._next - 1].stamp - self.horizon
            if self._legs[0].stamp > oldest - self.horizon:
                # Not one by one: once as much again has come.
                return
            gone = bisect.bisect_left(self._legs, oldest, hi=self._next, key=_stamp)
            del self._legs[:gone]
            self._next -= gone
            keep = oldest - self.arrangement.settings.imu_timeout
            first = max(bisect.bisect_left(self._stamps, keep) - 1, 0)
            del self._stamps[:first], self._values[:first]
            self._poses = self._poses.since(oldest)
            for stamp in list(self.fused)[:-LATELY]:
                del self.fused[stamp]
