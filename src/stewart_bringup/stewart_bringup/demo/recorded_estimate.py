# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a live estimator said, read back from a bag, beside the truth and the differentiator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from stewart_bags.reading import Bag
from stewart_bags.series import EstimatorStatusSeries, OdometrySeries, read_joints, read_series
from stewart_bringup.demo.tracking import largest, root_mean_square
from stewart_estimation.consistency import assess, Consistency, LEAST_ROWS
from stewart_estimation.differentiator import from_legs, TRUE_25_HZ
from stewart_estimation.samples import LegSeries
from stewart_estimation.verbs.measurements import BadRecording
from stewart_estimation.verbs.recorded_poses import LEG_TOPIC
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array
from stewart_kinematics.spatial import (
    compose_quaternions,
    continuous_quaternions,
    invert_quaternion,
    log_quaternion,
    matrix_from_quaternion,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRUTH, ESTIMATE, STATUS = 'simulation/truth', 'platform/odometry', 'estimator/status'
# The first seconds of an estimate are left out: it settles [s].
SETTLED = 2.0


class Fit(NamedTuple):
    """How the legs fitted while the estimator ran, and what the tests say of the same rows."""

    stamps: Array
    innovations: Array
    sigmas: Array
    consistency: Consistency


@dataclass(frozen=True, eq=False)
class EstimateSection:
    """Estimate against truth, for a report.

    Attributes:
        stamps (n,): Of the estimates that were compared, after the beginning of the bag [s].
        position, attitude, velocity, rate (n, 3): Truth minus estimate: base axes, platform axes
            (rotation vector), platform axes twice [m], [rad], [m/s], [rad/s].
        position_sigmas, velocity_sigmas (n, 3): What the estimator claims for two of them.
        velocities: Estimate, truth, and Gauss-Newton with the 25 Hz differentiator: name, stamps
            [s], velocities and errors in base axes [m/s].
        fit: Where the estimator's status was recorded, long enough for a verdict.
    """

    stamps: Array
    position: Array
    attitude: Array
    velocity: Array
    rate: Array
    position_sigmas: Array
    velocity_sigmas: Array
    velocities: Sequence[tuple[str, Array, Array, Array]]
    fit: Fit | None = None

    def figures(self) -> dict[str, tuple[float, float]]:
        """Return root mean square and maximum of the length of every error, by its name."""
        rows = {
            'position, estimate [mm]': 1e3 * self.position,
            'attitude, estimate [m°]': 1e3 * np.degrees(self.attitude),
            'velocity, estimate [mm/s]': 1e3 * self.velocity,
            'velocity, differentiator at 25 Hz [mm/s]': 1e3 * self.velocities[2][3],
            'angular velocity, estimate [m°/s]': 1e3 * np.degrees(self.rate),
        }
        return {name: (root_mean_square(errors), largest(errors)) for name, errors in rows.items()}

    @property
    def inside(self) -> float:
        """Share of the components of position and velocity inside two claimed sigmas [-]."""
        errors = np.hstack([self.position, self.velocity])
        sigmas = np.hstack([self.position_sigmas, self.velocity_sigmas])
        return float(np.mean(np.abs(errors) < 2.0 * sigmas))

    def pictures(self) -> dict[str, Figure]:
        """Return figures by caption: errors in their bands, velocities, innovations."""
        from matplotlib.figure import Figure
        from stewart_estimation.plotting import (
            plot_bands,
            plot_consistency,
            plot_innovations,
            plot_velocities,
        )

        bands, velocities, innovations, tests = (
            Figure(figsize=(9, height), layout='constrained') for height in (5.0, 6.0, 6.0, 7.0)
        )
        plot_bands(
            bands,
            self.stamps,
            [
                ('position [mm]', 1e-3, self.position, self.position_sigmas),
                ('velocity [mm/s]', 1e-3, self.velocity, self.velocity_sigmas),
            ],
        )
        plot_velocities(velocities, self.velocities)
        drawn = {
            'Truth minus estimate, and the two-sigma bands that the estimator claims': bands,
            'Velocity of the filter, of the differentiator at 25 Hz and of the truth': velocities,
        }
        if self.fit is not None:
            fit = self.fit
            plot_innovations(innovations, fit.stamps, fit.innovations, fit.sigmas)
            plot_consistency(tests, fit.stamps, fit.consistency)
            drawn['Innovations of the legs and their two-sigma bands'] = innovations
            drawn['NIS, distribution of the innovations over sigma, autocorrelation'] = tests
        return drawn


def estimate_section(path: str | Path, geometry: Geometry) -> EstimateSection:
    """Compare a live estimate with the truth of a virtual rig.

    Args:
        path: Bag with truth, estimate and legs; the estimator's status may lack.
        geometry: Joints, for the differentiator.

    Returns:
        Errors at the instants of the estimates, the truth between its samples a cubic spline
        through its poses.

    Raises:
        BadRecording: If the topics have no time in common.
        BagError: If the bag cannot be read or lacks a topic.
    """
    with Bag(path) as bag:
        true, found = (read_series(bag, topic, OdometrySeries) for topic in (TRUTH, ESTIMATE))
        joints, begin = read_joints(bag, LEG_TOPIC), bag.start_ns
        told = bag.find(STATUS)
        said = read_series(bag, STATUS, EstimatorStatusSeries) if told and told.count else None
    if len(true) < 4 or len(found) < 2:
        raise BadRecording(
            f'{path}: {true.topic} has {len(true)}, {found.topic} {len(found)} messages, needed '
            'are 4 and 2'
        )
    path_of = _Truth(true, begin)
    time = found.seconds(begin)
    rows = path_of.covers(time) & (time >= time[0] + SETTLED)
    complete = np.isfinite(joints.position).all(axis=1)
    series = LegSeries(
        joints.seconds(begin)[complete], joints.position[complete] + geometry.retracted_length
    ).ordered()
    baseline = from_legs(geometry, series, TRUE_25_HZ)
    known = path_of.covers(baseline.stamps) & baseline.converged
    known &= baseline.stamps >= time[0] + SETTLED
    if not (rows.any() and known.any()):
        raise BadRecording(f'{path}: {true.topic} and {found.topic} have no time in common')
    position, turn, linear, angular = path_of.at(time[rows])
    to_base = matrix_from_quaternion(found.quaternion_xyzw[rows])
    estimated = _turned(to_base, found.linear_velocity[rows])
    to_platform = np.swapaxes(to_base, -1, -2)
    error = compose_quaternions(invert_quaternion(found.quaternion_xyzw[rows]), turn)
    velocity = linear - estimated
    missed = path_of.at(baseline.stamps[known])[2] - baseline.linear_velocity[known]
    return EstimateSection(
        time[rows],
        position - found.position[rows],
        log_quaternion(error),
        _turned(to_platform, velocity),
        _turned(to_platform, angular) - found.angular_velocity[rows],
        _sigmas(found.pose_covariance[rows]),
        _sigmas(found.twist_covariance[rows]),
        (
            ('filter', time[rows], estimated, velocity),
            ('truth', time[rows], linear, 0.0 * linear),
            ('differentiator', baseline.stamps[known], baseline.linear_velocity[known], missed),
        ),
        None if said is None else _fit(said, begin, time[0] + SETTLED),
    )


def _fit(said: EstimatorStatusSeries, begin: int, first: float) -> Fit | None:
    """Judge the innovations from a time on; None where they are too few."""
    stamps = said.seconds(begin)
    # A leg was used where its count went up; of the first row nothing is known.
    used = np.diff(said.accepted, axis=0, prepend=said.accepted[:1]) > 0.0
    rows = (stamps >= first) & used.any(axis=1) & np.isfinite(said.innovations).any(axis=1)
    if rows.sum() < LEAST_ROWS:
        return None
    innovations, sigmas = said.innovations[rows], said.sigmas[rows]
    found = assess(innovations, sigmas, said.nis[rows], used[rows])
    return Fit(stamps[rows], innovations, sigmas, found)


def _turned(rotation: Array, vectors: Array) -> Array:
    return np.asarray((rotation @ vectors[..., None])[..., 0])


def _sigmas(covariance: Array) -> Array:
    """Return the first three standard deviations of 6 x 6 covariances."""
    return np.asarray(np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)[:, :3]))


class _Truth:
    """The true motion as a function of time, twists in base axes.

    Twists are slopes of the recorded poses, not the recorded twists: commands push the platform on
    in steps, and instants that keep step with them show one place of that ripple for the whole.
    """

    def __init__(self, series: OdometrySeries, begin: int) -> None:
        _, rows = np.unique(series.stamp_ns, return_index=True)
        time = series.seconds(begin)[rows]
        self._span = time[0], time[-1]
        self._position = CubicSpline(time, series.position[rows])
        self._turn = CubicSpline(time, continuous_quaternions(series.quaternion_xyzw[rows]))

    def covers(self, time: Array) -> NDArray[np.bool_]:
        """Say which times lie inside."""
        return np.asarray((time >= self._span[0]) & (time <= self._span[1]))

    def at(self, time: Array) -> tuple[Array, Array, Array, Array]:
        """Return position, attitude, linear and angular velocity."""
        raw = self._turn(time)
        turn = raw / np.linalg.norm(raw, axis=1, keepdims=True)
        angular = 2.0 * compose_quaternions(self._turn(time, 1), invert_quaternion(turn))[:, :3]
        return self._position(time), turn, self._position(time, 1), angular
