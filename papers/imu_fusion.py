# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""The paper's Kalman fusion of predicted and measured signals.

The prediction is not a motion of the state but the model's own value at that instant
(Machines 2026, 14, 218, Eq. 19, with the inverse that its gain lacks):

.. math::
    x^*_k = m_k, \quad P^*_k = P_{k-1} + G, \quad K_k = P^*_k (P^*_k + H)^{-1}, \quad
    x_k = x^*_k + K_k (y_k - x^*_k), \quad P_k = (I - K_k) P^*_k

Nothing of the signals enters the gain. It settles within some samples, and from then on the
filter is the fixed mean :math:`(1 - K) m + K y`: it neither smooths nor knows an acceleration
from the next. G and H only choose the weight.
"""

from __future__ import annotations

from dataclasses import dataclass

from filterpy.kalman import KalmanFilter
import numpy as np
from stewart_identification.errors import ShapeError
from stewart_kinematics.motion import Array

PROCESS, MEASUREMENT = 0.05, 0.5
"""The paper's factors of the identity matrices G and H."""

STATEMENT = (
    'Without a force nothing of an inertia is measured: the "measured" generalised force is the '
    'assumed inertia times the measured acceleration. Mass, first moments and inertias that are '
    'fitted to it are those that were put in (and their common scale is free); a payload that the '
    'description does not know stays unseen. What this route does show: whether the acceleration '
    'of the platform is the one that was commanded - amplitude, delay, mounting and place of the '
    'sensor - and hence whether the kinematic description fits. The three translational forces at '
    'the centre of mass do not even contain the inertias.'
)
"""What the IMU route can and cannot identify."""


@dataclass(frozen=True, eq=False)
class Fusion:
    """Fused signals.

    Attributes:
        fused (n, d): In the unit of the signals.
        gains (n, d): Diagonal of the gain.
        covariance (d, d): After the last sample.
    """

    fused: Array
    gains: Array
    covariance: Array


def fuse(
    model: Array,
    measured: Array,
    *,
    process: float = PROCESS,
    measurement: float = MEASUREMENT,
    start: float = 0.0,
) -> Fusion:
    """Blend what a model says with what was measured.

    Args:
        model, measured (n, d): Signals at the same instants.
        process, measurement: Factors of the identity matrices G and H [unit of the signals
            squared].
        start: Factor of the identity matrix P before the first sample.

    Returns:
        Blended signals and gains.

    Raises:
        ShapeError: If the shapes differ.
    """
    if measured.shape != model.shape or model.ndim != 2:
        raise ShapeError('measured', str(model.shape), measured.shape)
    size = model.shape[1]
    fusion = KalmanFilter(dim_x=size, dim_z=size, dim_u=size)
    fusion.F = fusion.H = fusion.B = np.eye(size)
    fusion.Q, fusion.R = process * np.eye(size), measurement * np.eye(size)
    fusion.P = start * np.eye(size)
    fusion.x = np.zeros(size)
    fused, gains = np.empty_like(model), np.empty_like(model)
    for row in range(len(model)):
        # The control input carries the state to the model's value, whatever it was before.
        fusion.predict(u=model[row] - fusion.x)
        fusion.update(measured[row])
        fused[row], gains[row] = fusion.x, np.diag(fusion.K)
    return Fusion(fused, gains, np.asarray(fusion.P))


def settled_gain(process: float = PROCESS, measurement: float = MEASUREMENT) -> float:
    """Return the gain at which the fusion settles.

    Args:
        process, measurement: Factors of G and H.

    Returns:
        K of the fixed mean (1 - K) model + K measured; 0.2702 for the paper's factors.
    """
    before = 0.5 * (process + np.sqrt(process**2 + 4.0 * process * measurement))
    return float(before / (before + measurement))
