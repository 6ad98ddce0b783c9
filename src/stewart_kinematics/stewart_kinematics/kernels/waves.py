# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled inner loops of the ocean waves; symbols as in `waves`."""

from __future__ import annotations

import math

import numpy as np
from stewart_kinematics.kernels.attitudes import euler_path
from stewart_kinematics.kernels.compiled import (
    Array,
    kernel,
    MATRIX,
    MATRIX_OUT,
    MOTION_OUT,
    SCALAR,
    STACK_OUT,
    VECTOR,
    VOID,
)

PITCH, ROLL, YAW = 1, 0, 2  # axes about which the surface turns, in the order of the angles


@kernel(VOID, MATRIX, VECTOR, STACK_OUT)
def sum_components(table: Array, time: Array, sums: Array) -> None:
    """Sum the components of a wave: orbit along the travel, orbit upwards, slope along the travel.

    With psi = phase - omega t, eta = A cos psi and s = -A sin psi a component moves along by
    s e^(k eta) and up by eta e^(k eta); the slope is k s. As eta' = -omega s and s' = omega eta,
    every derivative is made of the two.

    Parameters are the components (n, 4), in columns amplitude, wave number, angular frequency and
    phase at the place; times (m,); and the sums (m, 3, 3), [sample, derivative, quantity].
    """
    for m in range(time.shape[0]):
        for i in range(3):
            for j in range(3):
                sums[m, i, j] = 0.0
        for n in range(table.shape[0]):
            amplitude, k, omega = table[n, 0], table[n, 1], table[n, 2]
            psi = table[n, 3] - omega * time[m]
            eta, s = amplitude * math.cos(psi), -amplitude * math.sin(psi)
            stretch = math.exp(k * eta)
            d_eta, d_s = -omega * s, omega * eta
            dd_eta, dd_s = -omega * d_s, omega * d_eta
            growth = k * d_eta
            bend = k * dd_eta + growth * growth
            sums[m, 0, 0] += s * stretch
            sums[m, 1, 0] += (d_s + s * growth) * stretch
            sums[m, 2, 0] += (dd_s + 2.0 * d_s * growth + s * bend) * stretch
            sums[m, 0, 1] += eta * stretch
            sums[m, 1, 1] += (d_eta + eta * growth) * stretch
            sums[m, 2, 1] += (dd_eta + 2.0 * d_eta * growth + eta * bend) * stretch
            sums[m, 0, 2] += k * s
            sums[m, 1, 2] += k * d_s
            sums[m, 2, 2] += k * dd_s


@kernel(VOID, MATRIX, MATRIX, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT)
def surface_angles(slope_x, slope_y, angles, rates, accelerations):
    """Write pitch, roll and a yaw of 0 with their derivatives, (n, 3) each.

    Parameters are the slopes along the base axes and their first two derivatives, (n, 3).
    """
    for n in range(slope_x.shape[0]):
        x, dx, ddx = slope_x[n, 0], slope_x[n, 1], slope_x[n, 2]
        y, dy, ddy = slope_y[n, 0], slope_y[n, 1], slope_y[n, 2]
        square = 1.0 + x * x
        angles[n, 0] = -math.atan(x)
        rates[n, 0] = -dx / square
        accelerations[n, 0] = -ddx / square + 2.0 * x * dx * dx / (square * square)
        # roll = atan u with u = y / sqrt(1 + x²)
        root = math.sqrt(square)
        ratio = x * dx / square
        d_ratio = (dx * dx + x * ddx) / square - 2.0 * ratio * ratio
        u = y / root
        du = dy / root - u * ratio
        ddu = ddy / root - dy * ratio / root - du * ratio - u * d_ratio
        spread = 1.0 + u * u
        angles[n, 1] = math.atan(u)
        rates[n, 1] = du / spread
        accelerations[n, 1] = ddu / spread - 2.0 * u * du * du / (spread * spread)
        angles[n, 2] = rates[n, 2] = accelerations[n, 2] = 0.0


@kernel(VOID, MATRIX, VECTOR, SCALAR, SCALAR, VECTOR, VECTOR, *MOTION_OUT)
def wave_motion(
    table, time, cosine, sine, centre, centre_quaternion, position, quaternion, twist,
    acceleration,
):  # fmt: skip
    """Write the motion of what floats on a sum of waves, (m, 3) and (m, 4).

    Parameters are components and times as for `sum_components`, the attack angle's cosine and
    sine, and the centre's position (3,) and quaternion (4,).
    """
    count = time.shape[0]
    sums = np.empty((count, 3, 3))
    sum_components(table, time, sums)
    slope_x, slope_y = np.empty((count, 3)), np.empty((count, 3))
    for m in range(count):
        for order in range(3):
            slope_x[m, order] = cosine * sums[m, order, 2]
            slope_y[m, order] = sine * sums[m, order, 2]
        for order, out in enumerate((position, twist, acceleration)):
            out[m, 0] = cosine * sums[m, order, 0]
            out[m, 1] = sine * sums[m, order, 0]
            out[m, 2] = sums[m, order, 1]
        for k in range(3):
            position[m, k] += centre[k]
    angles, rates, accelerations = np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3))
    surface_angles(slope_x, slope_y, angles, rates, accelerations)
    euler_path(
        PITCH, ROLL, YAW, angles, rates, accelerations, centre_quaternion, quaternion, twist,
        acceleration,
    )  # fmt: skip
