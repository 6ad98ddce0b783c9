# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""The usual way to a velocity: forward kinematics, then a low-pass differentiator.

Every row of lengths is solved for its pose by Gauss-Newton, and position and attitude go through
the second-order Butterworth differentiator of Miletovic et al. 2017, Eq. 26:

.. math:: B_2(s) = \frac{s}{\tau^2 s^2 + \sqrt 2\, \tau s + 1}

It is the baseline that the filter is compared with, and what is left when there is no IMU. The
response to the polygon through the samples is computed exactly, so steps may be irregular and
there is no choice of a discretisation. It lags by :math:`\sqrt 2\, \tau`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from stewart_estimation.samples import LegSeries
from stewart_kinematics.errors import ConfigurationError, ConvergenceError, ShapeError
from stewart_kinematics.kernels.compiled import kernel, MATRIX, MATRIX_OUT, SCALAR, VECTOR, VOID
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.forward import forward_batch
from stewart_kinematics.spatial import (
    compose_quaternions,
    continuous_quaternions,
    invert_quaternion,
)

TRUE_25_HZ = 1.0 / (2.0 * np.pi * 25.0)
"""Time constant of the cut-off that the paper states, 25 Hz [s]."""


@dataclass(frozen=True, eq=False)
class Differentiated:
    """Poses and velocities from the legs alone.

    Attributes:
        stamps (n,): [s].
        quaternion_xyzw (n, 4): Attitude, without jumps of sign; NaN likewise.
        position, linear_velocity, angular_velocity (n, 3): Of the origin of ``platform_link`` in
            ``base_link`` axes [m], [m/s], [rad/s]; NaN in rows that have no pose.
        converged (n,): Whether the row has a pose.
    """

    stamps: Array
    position: Array
    quaternion_xyzw: Array
    linear_velocity: Array
    angular_velocity: Array
    converged: NDArray[np.bool_]


def differentiate(stamps: ArrayLike, values: ArrayLike, time_constant: float) -> Array:
    r"""Send columns through the Butterworth differentiator.

    Within a step the input is a ramp of slope :math:`m`, so the output follows
    :math:`\tau^2 \ddot y + \sqrt 2 \tau \dot y + y = m`: a damped oscillation about :math:`m`
    with the poles :math:`(-1 \pm i) / (\sqrt 2\, \tau)`. It starts at rest, with output 0.

    Args:
        stamps (n,): Increasing [s].
        values (n, m): Samples.
        time_constant: tau [s]; the cut-off is 1 / (2 pi tau).

    Returns:
        (n, m): Derivatives, in units of `values` per second.

    Raises:
        ShapeError: If the shapes do not agree.
        ConfigurationError: If the time constant is not positive or the stamps do not increase.
    """
    time = np.ascontiguousarray(stamps, dtype=np.float64)
    table = np.ascontiguousarray(values, dtype=np.float64)
    if table.ndim != 2 or time.shape != table.shape[:1]:
        raise ShapeError('values', f'({time.size}, m)', table.shape)
    if not (np.isfinite(time_constant) and time_constant > 0.0):
        raise ConfigurationError('time_constant', time_constant, 'a time greater than 0 s')
    steps = np.diff(time)
    if not np.all(steps > 0.0):
        row = int(np.flatnonzero(~(steps > 0.0))[0]) + 1
        raise ConfigurationError(f'stamps[{row}]', float(time[row]), 'later than the one before')
    out = np.zeros_like(table)
    _ramps(time, table, float(time_constant), out)
    return out


def from_legs(
    geometry: Geometry, legs: LegSeries, time_constant: float = TRUE_25_HZ
) -> Differentiated:
    """Return poses and velocities of a series of lengths.

    Rows with a missing leg have no pose; the velocities bridge them by a straight line.

    Args:
        time_constant: tau of the differentiator [s].

    Raises:
        ConvergenceError: If no row has a pose.
        ConfigurationError: If the stamps do not increase.
    """
    good = np.asarray(np.isfinite(legs.lengths).all(axis=1))
    result = forward_batch(geometry, legs.lengths[good])
    solved = np.asarray(result.converged)
    good[good] = solved
    if not good.any():
        raise ConvergenceError(f'none of {len(good)} rows of lengths has a pose')
    position, linear, angular = (np.full((len(good), 3), np.nan) for _ in range(3))
    position[good] = result.position[solved]
    attitude = np.full((len(good), 4), np.nan)
    turn = continuous_quaternions(result.quaternion_xyzw[solved])
    attitude[good] = turn
    stamps = np.asarray(legs.stamps)
    rates = differentiate(stamps[good], np.hstack([position[good], turn]), time_constant)
    linear[good] = rates[:, :3]
    angular[good] = 2.0 * compose_quaternions(rates[:, 3:], invert_quaternion(turn))[:, :3]
    return Differentiated(stamps, position, attitude, linear, angular, good)


@kernel(VOID, VECTOR, MATRIX, SCALAR, MATRIX_OUT)
def _ramps(stamps: Array, values: Array, time_constant: float, out: Array) -> None:
    """Fill `out` with the response to the polygon through `values`, from rest."""
    count, columns = values.shape
    a = 1.0 / (np.sqrt(2.0) * time_constant)
    rate = np.zeros(columns)
    for k in range(1, count):
        t = stamps[k] - stamps[k - 1]
        decay = np.exp(-a * t)
        cosine, sine = decay * np.cos(a * t), decay * np.sin(a * t)
        for j in range(columns):
            slope = (values[k, j] - values[k - 1, j]) / t
            away = out[k - 1, j] - slope
            out[k, j] = slope + away * (cosine + sine) + rate[j] * sine / a
            rate[j] = rate[j] * (cosine - sine) - 2.0 * a * away * sine
