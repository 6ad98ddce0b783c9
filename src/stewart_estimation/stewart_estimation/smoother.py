# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a whole recording says about every instant of it (Rauch, Tung, Striebel on the manifold).

The filter knows the past of a leg sample; the smoother its future, too. It needs what `replay`
keeps with ``keep=True``: states and covariances before and after each leg sample and how one
sample's state goes together with the next one's prediction, as the sigma points had it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from stewart_estimation import layout, report_kernels, smoother_kernels
from stewart_estimation.arrangement import Arrangement
from stewart_estimation.errors import CovarianceError, EstimationError
from stewart_estimation.estimate import EstimateSeries, FilterSteps
from stewart_estimation.settings import FilterSettings
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array


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
        EstimationError: If the steps were not kept.
        CovarianceError: If a prediction's covariance is not positive definite.
    """
    steps = filtered.steps
    if steps is None:
        raise EstimationError('smoothing needs the steps of the filter: replay with keep=True')
    arrangement = Arrangement.of(geometry, settings)
    known = np.flatnonzero(np.isfinite(steps.filtered[:, 0]))
    if not known.size:
        raise EstimationError('no row has an estimate, so there is nothing to smooth')
    states, covariances = np.array(steps.filtered), np.array(steps.filtered_covariance)
    constants, first = arrangement.constants, int(known[0])
    lost = smoother_kernels.backwards(
        np.ascontiguousarray(steps.predicted),
        np.array(steps.predicted_covariance),
        np.array(steps.cross_covariance),
        first,
        int(constants[layout.DELAY_AT]),
        int(constants[layout.MOUNTING_AT]),
        states,
        covariances,
    )
    if lost >= 0:
        raise CovarianceError(
            f'the predicted covariance at {filtered.stamps[lost]:.6f} s is not positive definite'
        )
    return _reported(arrangement, filtered, steps, states, covariances, first)


def _reported(
    arrangement: Arrangement,
    filtered: EstimateSeries,
    steps: FilterSteps,
    states: Array,
    covariances: Array,
    first: int,
) -> EstimateSeries:
    """Turn smoothed states at the IMU into motions of the platform."""
    count = len(filtered)
    rows = np.full((count, report_kernels.REPORT), np.nan)
    errors, rates = np.full((count, 15, 15), np.nan), np.full((count, 3, 3), np.nan)
    for row in range(first, count):
        # Where the delay is estimated it changed, and with it the instant that is asked for.
        lead = states[row, layout.DELAY] - steps.predicted[row, layout.DELAY]
        report_kernels.report(
            states[row],
            covariances[row],
            steps.inputs[row],
            steps.angular_accelerations[row],
            steps.noise[row],
            lead if np.isfinite(lead) else 0.0,
            arrangement.constants,
            rows[row],
            errors[row],
            rates[row],
        )
    columns = {
        'position': report_kernels.R_POSITION,
        'linear_velocity': report_kernels.R_VELOCITY,
        'angular_velocity': report_kernels.R_RATE,
        'linear_acceleration': report_kernels.R_ACCELERATION,
        'accelerometer_bias': report_kernels.R_FORCE_BIAS,
        'gyroscope_bias': report_kernels.R_RATE_BIAS,
        'misalignment': report_kernels.R_MOUNTING,
    }
    values: dict[str, Any] = {name: rows[:, begin : begin + 3] for name, begin in columns.items()}
    turn = report_kernels.R_TURN
    values['quaternion_xyzw'] = rows[:, turn : turn + 4]
    values['delay'] = rows[:, report_kernels.R_DELAY]
    values['delay_sigma'] = rows[:, report_kernels.R_DELAY_SIGMA]
    values['covariance'], values['rate_covariance'] = errors, rates
    for array in values.values():
        array.setflags(write=False)
    return replace(filtered, **values, steps=None)
