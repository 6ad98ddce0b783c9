# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How far the sigma points lie from the mean, and what they weigh: filterpy's Merwe weights."""

from __future__ import annotations

import math

from filterpy.kalman import MerweScaledSigmaPoints
from stewart_estimation.settings import Spread


def spread_and_centre(size: int, spread: Spread) -> tuple[float, float]:
    """Return the two numbers of which the symmetric transform needs to know the weights.

    Args:
        size: Size of the tangent.
        spread: Parameters of the scaled unscented transform.

    Returns:
        spread: Distance of the sigma points in columns of the Cholesky factor.
        centre: Weight of the mean's squared shift in the covariance once the sum over pairs is
        taken about the centre: W0 + sum W - 2, with W0 the centre's weight in the covariance. It
        is ``beta - alpha²``.
    """
    points = MerweScaledSigmaPoints(size, spread.alpha, spread.beta, spread.kappa)
    pair = 2.0 * points.Wc[1]
    return math.sqrt(1.0 / pair), float(points.Wc[0] + size * pair) - 2.0
