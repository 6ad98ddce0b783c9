# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a sample says of the attitude, and covariances as REP-145 has them."""

from __future__ import annotations

from stewart_driver.witmotion.frames import AngleFrame, QuaternionFrame
from stewart_driver.witmotion.grouping import Sample

# Rounded to 2⁻¹⁵ the norm is within 1e-4 of 1; before its filter has begun a sensor sends zeros.
NORM_TOLERANCE = 0.01
UNKNOWN = [-1.0, *(8 * [0.0])]
"""Covariance of what is not reported."""


def isotropic(sigma: float) -> list[float]:
    """Return the covariance of three independent values with one standard deviation."""
    return [sigma * sigma if row == column else 0.0 for row in range(3) for column in range(3)]


def attitude_of(sample: Sample) -> tuple[float, float, float, float] | None:
    """
    Return the attitude that a sample carries, as a unit quaternion x, y, z, w.

    The quaternion frame if there is one, otherwise the angles; None if there is neither, or only
    the zeros of a filter that has not begun.

    """
    quaternion = sample.get(QuaternionFrame)
    if quaternion is None:
        angle = sample.get(AngleFrame)
        return None if angle is None else angle.quaternion_xyzw
    x, y, z, w = quaternion.quaternion_xyzw
    norm = (x * x + y * y + z * z + w * w) ** 0.5
    if abs(norm - 1.0) > NORM_TOLERANCE:
        return None
    return x / norm, y / norm, z / norm, w / norm
