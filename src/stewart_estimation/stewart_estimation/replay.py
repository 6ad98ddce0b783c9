# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The filter over recorded samples: one compiled loop, by stamp.

Samples may be irregular, out of order and on clocks of their own; missing ones are skipped. Of
several samples with one stamp the one given last counts. Stamps should be seconds since the
recording began: float64 seconds since 1970 are exact to 0.2 µs only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_estimation import layout, replay_kernels, report_kernels
from stewart_estimation.arrangement import Arrangement
from stewart_estimation.errors import CovarianceError, SampleError
from stewart_estimation.estimate import Estimate, EstimateSeries, FilterSteps
from stewart_estimation.reinitialisation import (
    estimate_from_legs,
    FilterState,
    from_estimate,
)
from stewart_estimation.series import ImuSeries, LegSeries
from stewart_estimation.settings import FilterSettings
from stewart_estimation.tangent_kernels import LAST_JITTER
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array

START_TRIES = 100
"""So many leg samples are tried for a start before the recording is given up."""


@dataclass(frozen=True, eq=False)
class Rows:
    """What the loop writes, one row per leg sample; fields as `replay_kernels.run` says."""

    report: Array
    errors: Array
    rate_errors: Array
    verdicts: Array
    scales: Array
    steps: Array
    step_errors: Array

    @classmethod
    def empty(cls, count: int, size: int, *, keep: bool) -> Rows:
        """Return rows of NaN."""
        kept = count if keep else 0
        shapes = (
            (count, report_kernels.REPORT),
            (count, 15, 15),
            (count, 3, 3),
            (count, 19),
            (count, 12),
            (kept, 52),
            (kept, 3 * size, size),
        )
        rows = cls(*(np.full(shape, np.nan) for shape in shapes))
        rows.verdicts[:, 13:] = 0.0
        return rows


@dataclass(frozen=True, eq=False)
class Past:
    """The filter before each of n leg samples, to which a late sample takes it back."""

    states: Array
    covariances: Array
    memories: Array

    @classmethod
    def empty(cls, count: int, size: int) -> Past:
        """Return rows of NaN."""
        shapes = (count, layout.STATE), (count, size, size), (count, layout.MEMORY)
        return cls(*(np.full(shape, np.nan) for shape in shapes))

    def at(self, row: int) -> FilterState:
        """Return the filter before a sample."""
        return FilterState(self.states[row], self.covariances[row], self.memories[row])


def replay(
    geometry: Geometry,
    settings: FilterSettings,
    imu: ImuSeries,
    legs: LegSeries,
    start: Estimate | None = None,
    *,
    keep: bool = False,
) -> EstimateSeries:
    """Estimate the motion at every leg sample of a recording.

    Args:
        geometry: Joints of the platform.
        settings: Noises, mounting, refinements.
        imu: Samples of the IMU.
        legs: Samples of the lengths.
        start: Where to begin; by default forward kinematics of the first leg sample that has all
            six lengths and an IMU sample no later than it.
        keep: Keep every step for a smoother.

    Returns:
        One row per leg sample, by stamp. Rows before the start are NaN; so are innovations and NIS
        of the row that a start from forward kinematics consumed.

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
        np.hstack([imu.specific_forces, imu.angular_velocities]),
        legs.stamps,
        lengths,
        Rows.empty(len(legs), arrangement.size, keep=keep),
    )
    restarts, _ = loop.run(row)
    return loop.series(row, restarts)


def _first(arrangement: Arrangement, stamps: Array, legs: LegSeries) -> tuple[int, Estimate]:
    """Return the first row from which the filter can start, and the estimate there."""
    delay = 0.0 if arrangement.settings.delay is None else arrangement.settings.delay.start
    whole = np.isfinite(legs.lengths).all(axis=1)
    rows = np.flatnonzero(whole & (legs.stamps + delay >= stamps[0] - replay_kernels.SAME))
    if not rows.size:
        raise SampleError(
            f'nothing to start from: no leg sample has all six lengths and comes after the first '
            f'IMU sample at {stamps[0]:.6f} s'
        )
    problem: SampleError | None = None
    for row in rows[:START_TRIES].tolist():
        try:
            estimate = estimate_from_legs(arrangement, legs.stamps[row], legs.lengths[row])
        except SampleError as error:
            problem = problem or error
        else:
            return row, estimate
    assert problem is not None
    raise problem


NO_PAST = Past.empty(0, 0)


@dataclass(frozen=True, eq=False)
class Loop:
    """The compiled loop with its arrays, and what is done where it stops on the way.

    With a `past` it is live: it stops before the first sample that the IMU has not yet passed.
    """

    arrangement: Arrangement
    filtered: FilterState
    stamps: Array
    values: Array
    leg_stamps: Array
    lengths: Array
    rows: Rows
    past: Past | None = None

    def run(self, row: int) -> tuple[list[int], int]:
        """Filter from a row on.

        Args:
            row: First row.

        Returns:
            Rows at which the filter was restarted.
            The first row that was not filtered.

        Raises:
            CovarianceError: If a covariance cannot be repaired and restarts are off.
        """
        restarts: list[int] = []
        while row < self.leg_stamps.size:
            status, row = self._kernel(row)
            if status in {layout.DONE, layout.WAITING}:
                break
            if status == layout.INDEFINITE and self.arrangement.settings.reinitialisation is None:
                raise self._indefinite(row)
            if self._restart(row):
                restarts.append(row)
            elif status == layout.MISFIT:
                # No pose here; the next misfit tries again.
                self.filtered.memory[layout.MISFITS] -= 1.0
                row += 1
            else:
                row += 1
        return restarts, row

    def _kernel(self, row: int) -> tuple[int, int]:
        """Run the kernel from a row until it stops."""
        filtered, rows = self.filtered, self.rows
        past = NO_PAST if self.past is None else self.past
        return replay_kernels.run(
            self.arrangement.base_joints,
            self.arrangement.platform_joints,
            self.arrangement.constants,
            self.stamps,
            self.values,
            self.leg_stamps,
            self.lengths,
            row,
            filtered.state,
            filtered.covariance,
            filtered.memory,
            rows.steps.shape[0] > 0,
            rows.report,
            rows.errors,
            rows.rate_errors,
            rows.verdicts,
            rows.scales,
            rows.steps,
            rows.step_errors,
            self.past is not None,
            past.states,
            past.covariances,
            past.memories,
        )

    def _indefinite(self, row: int) -> CovarianceError:
        diagonal = np.diagonal(self.filtered.covariance)
        return CovarianceError(
            f'the covariance before {self.leg_stamps[row]:.6f} s is not positive definite, even '
            f'with {LAST_JITTER:g} of its diagonal added, which spans {diagonal.min():.3g} to '
            f'{diagonal.max():.3g}',
            row,
        )

    def _restart(self, row: int) -> bool:
        """Put the filter at the pose of a row's lengths; False if they have none."""
        state = self.filtered.state
        try:
            estimate = estimate_from_legs(
                self.arrangement, self.leg_stamps[row], self.lengths[row], before=state
            )
        except SampleError:
            return False
        fresh = from_estimate(self.arrangement, estimate)
        self.filtered.state[:] = fresh.state
        self.filtered.covariance[:] = fresh.covariance
        self.filtered.memory[layout.TIME] = fresh.memory[layout.TIME]
        self.filtered.memory[layout.MISFITS] = 0.0
        # No leg is in doubt any more.
        self.filtered.memory[layout.STUCK : layout.MEMORY] = 0.0
        self.lengths[row] = np.nan
        return True

    def series(self, first: int, restarts: list[int]) -> EstimateSeries:
        """Return what the loop wrote.

        Args:
            first: Row of the start.
            restarts: Rows of further starts.

        Returns:
            Views of the rows.
        """
        rows, report = self.rows, self.rows.report
        return EstimateSeries(
            stamps=self.leg_stamps,
            position=report[:, 0:3],
            quaternion_xyzw=report[:, 3:7],
            linear_velocity=report[:, 7:10],
            angular_velocity=report[:, 10:13],
            linear_acceleration=report[:, 13:16],
            accelerometer_bias=report[:, 16:19],
            gyroscope_bias=report[:, 19:22],
            covariance=rows.errors,
            rate_covariance=rows.rate_errors,
            delay=report[:, 22],
            delay_sigma=report[:, 23],
            misalignment=report[:, 24:27],
            innovations=rows.verdicts[:, 0:6],
            sigmas=rows.verdicts[:, 6:12],
            nis=rows.verdicts[:, 12],
            used=rows.verdicts[:, 13:19] > 0.0,
            leg_scale=rows.scales[:, :6],
            imu_scale=rows.scales[:, 6:],
            restarts=tuple(restarts),
            repairs=self.filtered.repairs,
            steps=self._steps([first, *restarts]) if rows.steps.shape[0] else None,
        )

    def _steps(self, starts: list[int]) -> FilterSteps:
        """Return the steps; what comes before a start has nothing to do with what follows."""
        steps, errors, n = self.rows.steps, self.rows.step_errors, self.arrangement.size
        errors[[row for row in starts if row < errors.shape[0]], 2 * n :] = 0.0
        return FilterSteps(
            predicted=steps[:, :20],
            filtered=steps[:, 20:40],
            predicted_covariance=errors[:, :n],
            filtered_covariance=errors[:, n : 2 * n],
            cross_covariance=errors[:, 2 * n :],
            inputs=steps[:, 40:46],
            angular_accelerations=steps[:, 46:49],
            noise=steps[:, 49:52],
        )
