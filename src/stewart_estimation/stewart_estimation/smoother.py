# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a whole recording says about every instant of it (Rauch, Tung, Striebel on the manifold).

The filter knows the past of a leg sample; the smoother its future, too. It needs what `replay`
keeps with ``keep=True``: states and covariances before and after each leg sample and how one
sample's state goes together with the next one's prediction, as the sigma points had it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from stewart_estimation.arrangement import Arrangement
from stewart_estimation.errors import CovarianceError, EstimationError
from stewart_estimation.estimate import columns_of, EstimateSeries
from stewart_estimation.kernels.records import DELAY, EXTERNAL, MOUNTING, Rows, Steps
from stewart_estimation.kernels.report import report
from stewart_estimation.settings import FilterSettings
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array
from stewart_kinematics.spatial import (
    compose_quaternions,
    exp_quaternion,
    invert_quaternion,
    log_quaternion,
)


def smooth(
    geometry: Geometry, settings: FilterSettings, filtered: EstimateSeries
) -> EstimateSeries:
    """Smooth the estimates of a recording.

    Args:
        geometry, settings: As the filter had them.
        filtered: From `replay` with ``keep=True``.

    Returns:
        Same rows; innovations, NIS and restarts are those of the filter. A restart keeps the
        future from the past: nothing is carried across.

    Raises:
        EstimationError: If the steps were not kept or no row has an estimate.
        CovarianceError: If the filter could not predict a row.
    """
    steps = filtered.steps
    if steps is None:
        raise EstimationError('smoothing needs the steps of the filter: replay with keep=True')
    known = np.flatnonzero(np.isfinite(steps.filtered[:, 0]))
    if not known.size:
        raise EstimationError('no row has an estimate, so there is nothing to smooth')
    arrangement, first = Arrangement.of(geometry, settings), int(known[0])
    states, covariances = np.array(steps.filtered), np.array(steps.filtered_covariance)
    gains = _gains(steps, filtered.stamps, first)
    for row in range(len(states) - 2, first - 1, -1):
        gain, after = gains[row - first], row + 1
        change = _difference(arrangement, states[after], steps.predicted[after])
        states[row] = _moved(arrangement, states[row], gain @ change)
        change = covariances[after] - steps.predicted_covariance[after]
        covariances[row] += gain @ change @ gain.T
    rows = _reported(arrangement, steps, states, covariances, first)
    return replace(filtered, **columns_of(rows), steps=None)


def _gains(steps: Steps, stamps: Array, first: int) -> Array:
    """Return C P^-1 of each row with the prediction P of the next and their covariance C."""
    predicted = np.array(steps.predicted_covariance[first + 1 :])
    lost = np.flatnonzero(~np.isfinite(predicted).all(axis=(1, 2)))
    if lost.size:
        when = stamps[first + 1 + lost[0]]
        raise CovarianceError(f'there is no predicted covariance at {when:.6f} s')
    sigmas = np.sqrt(np.diagonal(predicted, axis1=1, axis2=2))[:, None]
    # In units of the standard deviations, so that metres and radians are alike.
    correlation = predicted / (sigmas * np.swapaxes(sigmas, 1, 2))
    crossed = steps.cross_covariance[first + 1 :] / sigmas
    gains = np.linalg.solve(correlation, np.swapaxes(crossed, 1, 2))
    return np.swapaxes(gains, 1, 2) / sigmas


def _difference(arrangement: Arrangement, state: Array, origin: Array) -> Array:
    """Return the vector of the tangent that leads from `origin` to `state`."""
    change, setup = np.empty(arrangement.size), arrangement.setup
    change[:6], change[9:15] = state[:6] - origin[:6], state[10:16] - origin[10:16]
    change[6:9] = log_quaternion(compose_quaternions(invert_quaternion(origin[6:10]), state[6:10]))
    if setup.delay_at >= 0:
        change[setup.delay_at] = state[DELAY] - origin[DELAY]
    if setup.mounting_at >= 0:
        angles = slice(setup.mounting_at, setup.mounting_at + 3)
        change[angles] = state[MOUNTING:EXTERNAL] - origin[MOUNTING:EXTERNAL]
    if setup.external_at >= 0:
        change[setup.external_at] = state[EXTERNAL] - origin[EXTERNAL]
    return change


def _moved(arrangement: Arrangement, state: Array, change: Array) -> Array:
    """Return a state moved by a vector of the tangent."""
    moved, setup = state.copy(), arrangement.setup
    moved[:6] += change[:6]
    moved[10:16] += change[9:15]
    turn = compose_quaternions(state[6:10], exp_quaternion(change[6:9]))
    moved[6:10] = turn / np.linalg.norm(turn)
    if setup.delay_at >= 0:
        moved[DELAY] += change[setup.delay_at]
    if setup.mounting_at >= 0:
        moved[MOUNTING:EXTERNAL] += change[setup.mounting_at : setup.mounting_at + 3]
    if setup.external_at >= 0:
        moved[EXTERNAL] += change[setup.external_at]
    return moved


def _reported(
    arrangement: Arrangement, steps: Steps, states: Array, covariances: Array, first: int
) -> Rows:
    """Turn smoothed states at the IMU into motions of the platform."""
    rows = Rows.empty(len(states), arrangement.size)
    for row in range(first, len(states)):
        # Where the delay is estimated it changed, and with it the instant that is asked for.
        lead = states[row, DELAY] - steps.predicted[row, DELAY]
        report(
            arrangement.setup,
            states[row],
            covariances[row],
            steps.inputs[row],
            steps.angular_accelerations[row],
            steps.noise[row],
            lead if np.isfinite(lead) else 0.0,
            rows.report[row],
            rows.errors[row],
            rows.rate_errors[row],
        )
    return rows
