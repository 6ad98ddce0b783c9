# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of the filter over many seeds, and what they have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from srs_simulated import AT_JOINT_CENTRE, simulate, SimulatedRun
from stewart_estimation.consistency import assess, Consistency
from stewart_estimation.differentiator import from_legs, TRUE_25_HZ
from stewart_estimation.estimate import EstimateSeries
from stewart_estimation.replay import replay
from stewart_estimation.settings import FilterSettings, settings_for
from stewart_kinematics.motion import Array
from stewart_kinematics.spatial import compose_quaternions, invert_quaternion, log_quaternion
from stewart_kinematics.trajectories import Trajectory

GROUPS = ('position', 'velocity', 'attitude', 'accelerometer_bias', 'gyroscope_bias')

AS_PRINTED = 0.04
"""Time constant that the paper prints for 25 Hz; it is a cut-off of 3.98 Hz [s]."""

CUT_OFFS = {'25 Hz': TRUE_25_HZ, 'tau 0.04 s as printed': AS_PRINTED}
"""Both readings of the paper: name to time constant [s]."""


@dataclass(frozen=True, eq=False)
class Filtered:
    """One run that went through the filter.

    Attributes:
        run: Samples and truth.
        series: Estimates.
        errors (n, 15): Truth minus estimate in the order of the covariance.
        seconds: Processor time that the filter took [s].
    """

    run: SimulatedRun
    series: EstimateSeries
    errors: Array
    seconds: float

    @property
    def sigmas(self) -> Array:
        """Standard deviations that the filter claims, shape (n, 15)."""
        return np.sqrt(np.diagonal(self.series.covariance, axis1=1, axis2=2))

    def consistency(self, rows: Any = slice(None)) -> Consistency:
        """Judge the innovations of some rows."""
        s = self.series
        return assess(s.innovations[rows], s.sigmas[rows], s.nis[rows], s.used[rows])

    def final_nees(self) -> float:
        """NEES of the last row, 15 degrees of freedom."""
        return float(nees(self.errors[-1], self.series.covariance[-1]))


def settings_of(run: SimulatedRun, **options: Any) -> FilterSettings:
    """Tell the filter what the sensors were spoilt with: Q and R are diag sigma²."""
    errors = run.errors
    return settings_for(
        run.platform,
        specific_force=errors.specific_force,
        angular_velocity=errors.angular_velocity,
        length=errors.length,
        **options,
    )


def scaled(settings: FilterSettings, imu: float = 1.0, legs: float = 1.0) -> FilterSettings:
    """Return settings with the variances Q of the IMU and R of the legs multiplied.

    Args:
        settings: As they were.
        imu, legs: Factors; the paper has 1.1 for both (Eq. 21), and 1000 for the IMU (Eq. 24).
    """
    factor, noise = np.sqrt(imu), settings.imu_noise
    noise = replace(
        noise,
        specific_force=factor * noise.specific_force,
        angular_velocity=factor * noise.angular_velocity,
    )
    return replace(settings, imu_noise=noise, leg_noise=np.sqrt(legs) * settings.leg_noise)


def nees(errors: ArrayLike, covariances: ArrayLike) -> Array:
    """Return the normalised estimation error squared.

    Args:
        errors (..., m): Truth minus estimate in the filter's tangent space.
        covariances (..., m, m): What the filter claims.

    Returns:
        (...): Chi-squared with m degrees of freedom where the claim is true.
    """
    e = np.asarray(errors, dtype=np.float64)
    solved = np.linalg.solve(np.asarray(covariances, dtype=np.float64), e[..., None])[..., 0]
    return np.asarray((e * solved).sum(axis=-1))


def mean_band(freedom: int, runs: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the band of the mean of independent NIS or NEES values.

    Args:
        freedom: Degrees of freedom of one value.
        runs: Independent values averaged.
        confidence: Of the band.

    Returns:
        Exact: the sum is chi-squared with `freedom` times `runs` degrees of freedom.
    """
    half = 0.5 * (1.0 - confidence)
    low, high = stats.chi2.ppf([half, 1.0 - half], freedom * runs) / runs
    return float(low), float(high)


def filtered(
    profile: str | Trajectory, seed: int, duration: float, *, factor: float = 1.0,
    beside: bool = False,
    imu_delay: float = 0.0, imu_factor: float | None = None, **options: Any,
) -> Filtered:  # fmt: skip
    """Simulate a profile and filter it from forward kinematics.

    Args:
        profile: MP1, MP2 or another motion of the SRS.
        seed: Of the noises.
        duration: [s].
        factor: Of the variances R, and of Q unless `imu_factor` says otherwise.
        beside: IMU where it sits on the SRS (section 5), not in the upper gimbal point (section
            4).
        imu_delay: How late the IMU is [s].
        imu_factor: Of the variances Q.
        **options: Refinements of the filter.

    Returns:
        What came of it.
    """
    run = simulate(
        profile,
        seed,
        duration=duration,
        imu_delay=imu_delay,
        mounting=None if beside else AT_JOINT_CENTRE,
    )
    settings = scaled(
        settings_of(run, **options), factor if imu_factor is None else imu_factor, factor
    )
    started = time.process_time()
    series = replay(run.platform.geometry, settings, run.imu, run.legs)
    return Filtered(run, series, errors_of(run, series), time.process_time() - started)


def errors_of(run: SimulatedRun, series: EstimateSeries) -> Array:
    """Return truth minus estimate in the order of the covariance, shape (n, 15)."""
    truth, turn = run.truth, invert_quaternion(series.quaternion_xyzw)
    return np.hstack(
        [
            truth.position - series.position,
            truth.linear_velocity - series.linear_velocity,
            log_quaternion(compose_quaternions(turn, truth.quaternion_xyzw)),
            run.errors.accelerometer_bias - series.accelerometer_bias,
            run.errors.gyroscope_bias - series.gyroscope_bias,
        ]
    )


def rms_by_group(runs: list[Filtered], first: float, last: float = np.inf) -> dict[str, float]:
    """Return root mean squares over runs, rows between two times [s], and axes, by `GROUPS`."""
    squares = []
    for item in runs:
        stamps = item.series.stamps
        squares.append(item.errors[(stamps >= first) & (stamps <= last)] ** 2)
    means = np.concatenate(squares).mean(axis=0).reshape(5, 3).mean(axis=1)
    return dict(zip(GROUPS, np.sqrt(means).tolist(), strict=True))


def final_rms(runs: list[Filtered]) -> dict[str, float]:
    """Return root mean squares of the last rows over runs and axes, by `GROUPS`."""
    squares = np.array([item.errors[-1] ** 2 for item in runs])
    means = squares.mean(axis=0).reshape(5, 3).mean(axis=1)
    return dict(zip(GROUPS, np.sqrt(means).tolist(), strict=True))


def differentiated(item: Filtered, time_constant: float, settled: float) -> tuple[float, float]:
    """Return RMS errors of the baseline: Gauss-Newton and the differentiator.

    Args:
        item: A run.
        time_constant: Of the differentiator [s].
        settled: Rows before this are left out [s].

    Returns:
        position, velocity: [m], [m/s].
    """
    run = item.run
    found = from_legs(run.platform.geometry, run.legs, time_constant)
    rows = run.legs.stamps >= settled
    errors: list[Array] = [
        (found.position - run.truth.position)[rows],
        (found.linear_velocity - run.truth.linear_velocity)[rows],
    ]
    position, velocity = (float(np.sqrt(np.mean(error**2))) for error in errors)
    return position, velocity


def converged_after(runs: list[Filtered], position: float, velocity: float) -> float:
    """Return from when on the estimates of every run stay close to the truth [s].

    Args:
        runs: With the same stamps.
        position, velocity: What is close [m], [m/s].

    Returns:
        Time since the first sample; infinite if the last row is not close.
    """
    away = np.zeros(len(runs[0].series), dtype=bool)
    for item in runs:
        near = np.linalg.norm(item.errors[:, :3], axis=1) < position
        near &= np.linalg.norm(item.errors[:, 3:6], axis=1) < velocity
        away |= ~near
    outside, stamps = np.flatnonzero(away), runs[0].series.stamps
    if not outside.size:
        return 0.0
    last = int(outside[-1])
    return float(stamps[last + 1] - stamps[0]) if last + 1 < len(stamps) else float('inf')
