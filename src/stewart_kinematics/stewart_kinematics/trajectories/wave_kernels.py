# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled inner loop of the ocean waves."""

from __future__ import annotations

import math

from stewart_kinematics.compiled import kernel, MATRIX, STACK_OUT, VECTOR, VOID
from stewart_kinematics.motion import Array


@kernel(VOID, MATRIX, VECTOR, STACK_OUT)
def sum_components(table: Array, time: Array, sums: Array) -> None:
    """
    Sum the components of a wave: orbit along the travel, orbit upwards, slope along the travel.

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
