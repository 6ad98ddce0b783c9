# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled inner loop of fading: a motion's deviation from a centre times a factor of time."""

from __future__ import annotations

from typing import Any

import numpy as np
from stewart_kinematics.kernels.attitudes import scaled_turn
from stewart_kinematics.kernels.compiled import (
    Array,
    kernel,
    MOTION,
    MOTION_OUT,
    part,
    SCALAR,
    VECTOR,
    VOID,
)
from stewart_kinematics.kernels.vectors import Triple


def cycloid(tau: Array) -> tuple[Array, Array, Array]:
    r"""Evaluate the profile from rest to rest that every smooth transition here uses.

    :math:`\sigma(\tau) = \tau - \sin(2\pi\tau) / 2\pi` for :math:`0 \le \tau \le 1` (Vigo, Eqs. 24
    to 28). A way `h` covered in the time `T` has the peaks :math:`2h/T`, :math:`2\pi h/T^2` and
    :math:`4\pi^2 h/T^3`.

    Returns:
        way, rate, curvature (...): Value, first and second derivative with respect to `tau` [-].
    """
    angle = 2.0 * np.pi * tau
    sine = np.sin(angle)
    return tau - sine / (2.0 * np.pi), 1.0 - np.cos(angle), 2.0 * np.pi * sine


profile: Any = part(cycloid)  # the same for kernels, of a number


@part
def ramp(time: float, duration: float) -> Triple:
    """Return a cycloidal rise from 0 to 1 and its derivatives [-, 1/s, 1/s²]."""
    if duration == 0.0:
        return 1.0, 0.0, 0.0
    way, rate, curvature = profile(min(max(time / duration, 0.0), 1.0))
    return way, rate / duration, curvature / (duration * duration)


@kernel(VOID, VECTOR, SCALAR, SCALAR, SCALAR, *MOTION, VECTOR, VECTOR, *MOTION_OUT)
def faded(
    time, fade_in, fade_out, end, position, quaternion, twist, acceleration, centre,
    centre_quaternion, faded_position, faded_quaternion, faded_twist, faded_acceleration,
):  # fmt: skip
    """Fade n samples at times (n,) in from time 0 and out until `end` [s], about a centre.

    The factor f is the product of rise r and fall s, whose own time runs backwards:
    f' = r' s - r s' and f'' = r'' s - 2 r' s' + r s''.
    """
    factor = np.empty((time.shape[0], 3))
    for n in range(time.shape[0]):
        r, dr, ddr = ramp(time[n], fade_in)
        s, ds, dds = ramp(end - time[n], fade_out)
        f, df, ddf = r * s, dr * s - r * ds, ddr * s - 2.0 * dr * ds + r * dds
        factor[n, 0], factor[n, 1], factor[n, 2] = f, df, ddf
        for k in range(3):
            offset, v = position[n, k] - centre[k], twist[n, k]
            faded_position[n, k] = centre[k] + f * offset
            faded_twist[n, k] = f * v + df * offset
            faded_acceleration[n, k] = f * acceleration[n, k] + 2.0 * df * v + ddf * offset
    scaled_turn(
        quaternion, twist, acceleration, centre_quaternion, factor, faded_quaternion, faded_twist,
        faded_acceleration,
    )  # fmt: skip
