# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""ZXZ Euler angles as coordinates of a body, and a way past their singularity.

The paper's attitude is :math:`A = R_z(\phi) R_x(\theta) R_z(\psi)`, singular at
:math:`\theta = 0`, which is the home attitude. The way past it is an offset frame: the angles
describe not the body's axes but axes turned from them by 90° about the body's x,

.. math::
    A = R_z(\phi) R_x(\theta) R_z(\psi)\, O^\top, \qquad O = R_x(\pi/2),

so that an upright body stands at :math:`\theta = 90°`. Positions, constraint forces and leg forces
do not depend on the choice; the generalised moments do, being taken about other axes.
"""

from __future__ import annotations

from enum import Enum

import numpy as np
from stewart_kinematics.kernels.compiled import (
    inferred,
    kernel,
    MATRIX,
    MATRIX_OUT,
    VECTOR,
    VECTOR_OUT,
    VOID,
)
from stewart_kinematics.motion import Array


class Coordinates(Enum):
    """Which axes the ZXZ angles describe."""

    OFFSET = 'offset'
    PAPER = 'paper'

    @property
    def offset(self) -> Array:
        """Rotation O from the body's axes to those that the angles describe, shape (3, 3)."""
        if self is Coordinates.PAPER:
            return np.eye(3)
        return np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


@kernel(VOID, VECTOR, MATRIX, MATRIX_OUT)
def attitude(angles, offset, out):  # type: ignore[no-untyped-def]
    """Rotation from body to base axes, A = R_z R_x R_z O^T."""
    cf, sf = np.cos(angles[0]), np.sin(angles[0])
    ct, st = np.cos(angles[1]), np.sin(angles[1])
    cp, sp = np.cos(angles[2]), np.sin(angles[2])
    a00, a01, a02 = cf * cp - sf * ct * sp, -cf * sp - sf * ct * cp, sf * st
    a10, a11, a12 = sf * cp + cf * ct * sp, -sf * sp + cf * ct * cp, -cf * st
    a20, a21, a22 = st * sp, st * cp, ct
    for j in range(3):
        x, y, z = offset[j, 0], offset[j, 1], offset[j, 2]
        out[0, j] = a00 * x + a01 * y + a02 * z
        out[1, j] = a10 * x + a11 * y + a12 * z
        out[2, j] = a20 * x + a21 * y + a22 * z


@inferred
def angles_of(rotation, offset, out):  # type: ignore[no-untyped-def]
    """ZXZ angles of a rotation from body to base axes, theta in [0, pi]."""
    turned = rotation @ offset
    out[1] = np.arctan2(np.hypot(turned[2, 0], turned[2, 1]), turned[2, 2])
    out[0] = np.arctan2(turned[0, 2], -turned[1, 2])
    out[2] = np.arctan2(turned[2, 0], turned[2, 1])


@kernel(VOID, VECTOR, MATRIX_OUT)
def rate_axes(angles, out):  # type: ignore[no-untyped-def]
    """Fill G: angular velocity in base axes = G times the angles' rates; det G = -sin theta."""
    cf, sf = np.cos(angles[0]), np.sin(angles[0])
    ct, st = np.cos(angles[1]), np.sin(angles[1])
    out[0, 0], out[1, 0], out[2, 0] = 0.0, 0.0, 1.0
    out[0, 1], out[1, 1], out[2, 1] = cf, sf, 0.0
    out[0, 2], out[1, 2], out[2, 2] = sf * st, -cf * st, ct


@kernel(VOID, VECTOR, VECTOR, VECTOR_OUT)
def rate_axes_derivative_times_rates(angles, rates, out):  # type: ignore[no-untyped-def]
    """Time derivative of G times the angles' rates: the angular acceleration at zero q''."""
    cf, sf = np.cos(angles[0]), np.sin(angles[0])
    ct, st = np.cos(angles[1]), np.sin(angles[1])
    df, dt, dp = rates[0], rates[1], rates[2]
    out[0] = -sf * df * dt + (cf * df * st + sf * ct * dt) * dp
    out[1] = cf * df * dt + (sf * df * st - cf * ct * dt) * dp
    out[2] = -st * dt * dp
