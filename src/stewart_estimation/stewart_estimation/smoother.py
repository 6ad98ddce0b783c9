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
from stewart_estimation.kernels.records import Rows, Steps
from stewart_estimation.kernels.smoothing import smooth_back
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
    rows = Rows.empty(len(states), arrangement.size, whole=len(filtered.covariance) > 0)
    smooth_back(arrangement.setup, steps, gains, first, states, covariances, rows)
    unknown = np.isnan(filtered.position[:, 0])
    for values in (rows.report, rows.errors, rows.rate_errors):
        values[unknown] = np.nan
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
    return np.ascontiguousarray(np.swapaxes(gains, 1, 2) / sigmas)
