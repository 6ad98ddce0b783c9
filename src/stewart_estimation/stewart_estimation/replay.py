# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The filter over recorded samples: one compiled loop, by stamp.

Samples may be irregular, out of order and on clocks of their own; missing ones are skipped. Of
several samples with one stamp the one given last counts. Stamps should be seconds since the
recording began: float64 seconds since 1970 are exact to 0.2 µs only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from stewart_estimation.arrangement import Arrangement
from stewart_estimation.errors import CovarianceError, SampleError
from stewart_estimation.estimate import columns_of, Estimate, EstimateSeries, ExternalFit, MetPose
from stewart_estimation.external_pose import due, fuse, NO_POSES, PoseSeries
from stewart_estimation.kernels import steps
from stewart_estimation.kernels.records import (
    DONE,
    EXTERNAL,
    FilterState,
    GAP,
    INDEFINITE,
    MISFIT,
    POSE,
    Rows,
    STRAYED,
    TANGENT,
    V_NIS,
    V_SIGMA,
    V_USED,
    WAITING,
)
from stewart_estimation.kernels.tangent import LAST_JITTER
from stewart_estimation.reinitialisation import estimate_from_legs, from_estimate
from stewart_estimation.samples import ImuSeries, LegSeries
from stewart_estimation.settings import FilterSettings
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array

START_TRIES = 100
"""So many leg samples are tried for a start before the recording is given up."""


def replay(
    geometry: Geometry,
    settings: FilterSettings,
    imu: ImuSeries,
    legs: LegSeries,
    start: Estimate | None = None,
    *,
    poses: PoseSeries = NO_POSES,
    keep: bool = False,
    whole: bool = True,
) -> EstimateSeries:
    """Estimate the motion at every leg sample of a recording.

    Args:
        start: Where to begin; by default forward kinematics of the first leg sample that has all
            six lengths and an IMU sample no later than it.
        poses: External poses; `settings.external` says what is assumed of them.
        keep: Keep every step for a smoother.
        whole: Keep the covariances of every row, not only their diagonals; a row takes 2.4 kB
            then, else 0.6.

    Returns:
        One row per leg sample, by stamp. Rows before the start are NaN, and those after a long
        silence of both sensors up to the next six lengths; so are innovations and NIS of the row
        that a start from forward kinematics consumed.

    Raises:
        SampleError: If there is no IMU sample, or nothing to start from.
        CovarianceError: If a covariance cannot be repaired and `settings.reinitialisation` is off.
    """
    imu, legs = imu.ordered(), legs.ordered()
    if not len(imu):
        raise SampleError('no IMU sample is complete')
    arrangement = Arrangement.of(geometry, settings)
    lengths = np.array(legs.lengths)
    if start is None:
        row, start = _first(arrangement, imu.stamps, legs)
        # What the start has used up corrects nothing.
        lengths[row] = np.nan
    else:
        row = int(np.searchsorted(legs.stamps, start.stamp))
    loop = Loop(
        arrangement,
        from_estimate(arrangement, start),
        imu.stamps,
        imu.values,
        legs.stamps,
        lengths,
        Rows.empty(len(legs), arrangement.size, keep=keep, whole=whole),
        poses=poses,
    )
    restarts, _ = loop.run(row)
    return loop.series(row, restarts)


def _first(arrangement: Arrangement, stamps: Array, legs: LegSeries) -> tuple[int, Estimate]:
    """Return the first row from which the filter can start, and the estimate there."""
    delay = arrangement.settings.first_delay
    whole = np.isfinite(legs.lengths).all(axis=1)
    rows = np.flatnonzero(whole & (legs.stamps + delay >= stamps[0] - steps.SAME))
    problem = SampleError(
        f'nothing to start from: no leg sample has all six lengths and comes after the first IMU '
        f'sample at {stamps[0]:.6f} s'
    )
    for number, row in enumerate(rows[:START_TRIES].tolist()):
        try:
            return row, estimate_from_legs(arrangement, legs.stamps[row], legs.lengths[row])
        except SampleError as error:
            problem = problem if number else error
    raise problem


NO_PAST = FilterState.rows(0, 0)


@dataclass(frozen=True, eq=False)
class Loop:
    """The compiled loop with its arrays, and what is done where it stops on the way.

    With a `past` it is live: it stops before the first sample that the IMU has not yet passed.
    `fused` tells of each external pose that was met, by its stamp, what became of it;
    `gaps` how long the sensors had been silent [s], by the row from which it began anew for that.
    """

    arrangement: Arrangement
    filtered: FilterState
    stamps: Array
    values: Array
    leg_stamps: Array
    lengths: Array
    rows: Rows
    past: FilterState | None = None
    poses: PoseSeries = NO_POSES
    fused: dict[float, MetPose] = field(default_factory=dict)
    gaps: dict[int, float] = field(default_factory=dict)

    def run(self, row: int) -> tuple[list[int], int]:
        """Filter from a row on.

        Returns:
            Rows at which the filter was restarted, and the first row that was not filtered.

        Raises:
            CovarianceError: If a covariance cannot be repaired and restarts are off.
        """
        restarts: list[int] = []
        while row < self.leg_stamps.size:
            pose = due(self.poses, self.filtered) if len(self.poses) else 0
            status, row = steps.run(
                self.arrangement.setup,
                self.stamps,
                self.values,
                self.leg_stamps,
                self.lengths,
                row,
                self.filtered,
                self.rows,
                self.past is not None,
                NO_PAST if self.past is None else self.past,
            )
            if status in {DONE, WAITING}:
                break
            if status == POSE:
                self._fuse(row, pose)
                row += 1
                continue
            if status == INDEFINITE and self.arrangement.settings.reinitialisation is None:
                raise self._indefinite(row)
            if self._restart(row, gap=status in {GAP, STRAYED}):
                restarts.append(row)
                continue
            if status == GAP:
                # No pose has these lengths: as good as none.
                self.lengths[row] = np.nan
                continue
            if status == MISFIT:
                # No pose here; the next misfit tries again.
                self.filtered.memory.misfits -= 1
            row += 1
        return restarts, row

    def _fuse(self, row: int, pose: int) -> None:
        """Meet the external poses that are due at a row; keep what a smoother needs of them."""
        stamp, filtered, kept = self.leg_stamps[row], self.filtered, self.rows.steps
        while pose < len(self.poses) and (
            self.poses.stamps[pose] - filtered.state[EXTERNAL] <= stamp
        ):
            self.fused[float(self.poses.stamps[pose])] = fuse(
                self.arrangement, filtered, self.rows.report[row], self.poses, pose
            )
            pose += 1
        if len(kept.noise):
            kept.filtered[row], kept.filtered_covariance[row] = filtered.state, filtered.covariance

    def _indefinite(self, row: int) -> CovarianceError:
        diagonal = np.diagonal(self.filtered.covariance)
        return CovarianceError(
            f'the covariance before {self.leg_stamps[row]:.6f} s is not positive definite, even '
            f'with {LAST_JITTER:g} of its diagonal added, which spans {diagonal.min():.3g} to '
            f'{diagonal.max():.3g}',
            row,
        )

    def _restart(self, row: int, *, gap: bool) -> bool:
        """Put the filter at the pose of a row's lengths; False if they have none.

        A gap says nothing against the delays and the misalignment that were found before it.
        """
        filtered = self.filtered
        try:
            estimate = estimate_from_legs(
                self.arrangement, self.leg_stamps[row], self.lengths[row], filtered.state
            )
        except SampleError:
            return False
        kept = filtered.covariance[TANGENT:, TANGENT:] if gap else None
        fresh, memory = from_estimate(self.arrangement, estimate, kept), filtered.memory
        at, known = self.arrangement.setup.external_at, filtered.state[EXTERNAL]
        if at >= 0:
            # The restart of the platform tells nothing about the external pose's delay.
            fresh.state[EXTERNAL], fresh.covariance[at, at] = known, filtered.covariance[at, at]
        filtered.state[:], filtered.covariance[:] = fresh.state, fresh.covariance
        if gap:
            # Legs that have strayed are heard already.
            self.gaps[row] = float(max(fresh.stamp - memory.heard, memory.stride))
            # Poses of the time between are met by nothing.
            memory.posed = max(memory.posed, self.leg_stamps[row] + filtered.state[EXTERNAL])
        memory.time = memory.heard = fresh.stamp
        memory.misfits = memory.adrift = 0
        memory.stride = 0.0
        # No leg is in doubt any more.
        memory.stuck = memory.doubt = 0.0
        self.lengths[row] = np.nan
        return True

    def series(self, first: int, restarts: list[int]) -> EstimateSeries:
        """Return what the loop wrote, from the row of a start and of restarts."""
        rows, verdicts, kept = self.rows, self.rows.verdicts, self.rows.steps
        # What comes before a start has nothing to do with what follows.
        starts = [row for row in (first, *restarts) if row < len(kept.noise)]
        kept.cross_covariance[starts] = 0.0
        if len(kept.noise):
            self._stand_still(first)
        at = int(self.arrangement.setup.mounting_at)
        turned = np.sqrt(np.diagonal(self.filtered.covariance)[at : at + 3]) if at >= 0 else None
        return EstimateSeries(
            stamps=self.leg_stamps,
            **columns_of(rows),
            innovations=verdicts[:, :V_SIGMA],
            sigmas=verdicts[:, V_SIGMA:V_NIS],
            nis=verdicts[:, V_NIS],
            used=verdicts[:, V_USED:] > 0.0,
            leg_scale=rows.scales[:, :6],
            imu_scale=rows.scales[:, 6:],
            restarts=tuple(restarts),
            gaps=self.gaps,
            repairs=int(self.filtered.memory.repairs),
            misalignment_sigma=turned,
            steps=kept if len(kept.noise) else None,
            external=ExternalFit.of(self.arrangement.setup, self.filtered, self.fused),
        )

    def _stand_still(self, first: int) -> None:
        """Let the steps of rows without an estimate repeat the row before, tied to nothing."""
        kept, unknown = self.rows.steps, np.isnan(self.rows.report[:, 0])
        unknown[: first + 1] = False
        before = np.maximum.accumulate(np.where(unknown, 0, np.arange(unknown.size)))[unknown]
        kept.predicted[unknown] = kept.filtered[unknown] = kept.filtered[before]
        covariance = kept.filtered_covariance[before]
        kept.predicted_covariance[unknown] = kept.filtered_covariance[unknown] = covariance
        for values in (kept.cross_covariance, kept.inputs, kept.angular_accelerations, kept.noise):
            values[unknown] = 0.0
