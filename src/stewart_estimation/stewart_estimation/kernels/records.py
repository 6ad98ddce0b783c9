# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the kernels share: the filter's state, its settings, what it remembers and writes.

The filter works at the IMU, in the stated axes of the sensor: moving the platform's joints there
(Miletovic et al. 2017, Eq. 23) makes every lever arm vanish from prediction and correction.

State, 21 numbers: position and velocity of the IMU in base axes, attitude (x, y, z, w; base from
stated sensor axes), accelerometer and gyroscope bias (real sensor axes), delay, misalignment
(rotation vector: stated from real sensor axes), delay of the external pose. Tangent, n = 15 to 20:
the same with a rotation vector on the right for the attitude, and of the last three only what is
estimated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from stewart_kinematics.kernels.compiled import MATRIX_OUT, STACK_OUT, VECTOR_OUT
from stewart_kinematics.motion import Array

STATE = 21
TURN, FORCE_BIAS, RATE_BIAS, DELAY, MOUNTING, EXTERNAL = 6, 10, 13, 16, 17, 20

TANGENT = 15
D_SPEED, D_TURN, D_FORCE_BIAS, D_RATE_BIAS = 3, 6, 9, 12


def record(*items: Any) -> Any:
    """Return a type whose fields are read as attributes, compiled or not."""
    return np.dtype((np.record, list(items)))


SETUP = record(
    # Joints in base axes, and from the IMU in stated sensor axes [m].
    ('base_joints', 'f8', (6, 3)),
    ('platform_joints', 'f8', (6, 3)),
    ('gravity', 'f8', 3),
    ('imu_variance', 'f8', 6),
    ('imu_period', 'f8'),
    ('walk_variance', 'f8', 6),
    ('leg_variance', 'f8', 6),
    # Sigma points lie `spread` columns of the Cholesky factor away; a pair weighs 1 / spread².
    # `centre` weighs the squared shift of the mean: beta - alpha².
    ('spread', 'f8'),
    ('centre', 'f8'),
    ('imu_timeout', 'f8'),
    ('silent_variance', 'f8', 6),
    # Rows of the delays and of the misalignment in the tangent, -1 where they are not estimated.
    ('delay_at', 'i8'),
    ('mounting_at', 'i8'),
    ('external_at', 'i8'),
    ('delay_walk', 'f8'),
    ('delay_moving', 'f8'),
    ('delay_lower', 'f8'),
    ('delay_upper', 'f8'),
    ('external_lower', 'f8'),
    ('external_upper', 'f8'),
    # Root mean square distance of the platform's joints from the IMU [m].
    ('delay_arm', 'f8'),
    # Greatest normalised innovation squared of 0 to 6 legs: to be used, and to count as a fit.
    ('gate', 'f8', 7),
    ('restart', 'f8', 7),
    # Greatest squared innovation of one leg given the others, in its variances, and the same for
    # a leg that repeats its value while others move.
    ('gate_leg', 'f8'),
    ('frozen', 'f8'),
    ('drift', 'f8'),
    ('most_doubt', 'f8'),
    ('fewest_legs', 'i8'),
    ('restart_after', 'f8'),
    # Windows are zero where the noise is not learnt.
    ('leg_window', 'f8'),
    ('leg_band', 'f8'),
    ('imu_window', 'f8'),
    ('imu_band', 'f8'),
    # Origin of platform_link from the IMU, and its axes, in stated sensor axes.
    ('origin', 'f8', 3),
    ('to_platform', 'f8', (3, 3)),
    ('to_platform_turn', 'f8', 4),
)
"""Geometry and settings."""

MEMORY = record(
    # Where the state is, on the clock of the IMU [s].
    ('time', 'f8'),
    # Samples in a row that did not fit.
    ('misfits', 'i8'),
    ('repairs', 'i8'),
    # Stamps of the last external pose that was met, and of the next one; infinite without one [s].
    ('posed', 'f8'),
    ('pose_due', 'f8'),
    # External poses in a row that were refused.
    ('refused', 'i8'),
    # Stamp of the latest IMU sample that its noise was learnt from, and the three before it,
    # newest first.
    ('noted', 'f8'),
    ('past', 'f8', (3, 6)),
    ('past_count', 'i8'),
    # Learnt variances over the stated ones.
    ('leg_scale', 'f8', 6),
    ('imu_scale', 'f8', 6),
    # What each leg said last [m]; 1 for a leg that is left out until it says something else; its
    # two cumulative sums, upwards and downwards.
    ('last', 'f8', 6),
    ('stuck', 'f8', 6),
    ('doubt', 'f8', (2, 6)),
    # Where the state was when legs were measured last, and how long after the time before; 0 if
    # that is not known [s].
    ('heard', 'f8'),
    ('stride', 'f8'),
    # 1 from a silence of both sensors on until the filter begins anew, 2 after a long one.
    ('adrift', 'i8'),
)
"""What changes besides state and covariance."""

SETUP_TYPE, MEMORY_TYPE = numba.from_dtype(SETUP), numba.from_dtype(MEMORY)


class FilterState(NamedTuple):
    """Everything that the kernels change, in place; a row per leg sample where there are many."""

    state: Array
    covariance: Array
    memory: Any

    @property
    def stamp(self) -> float:
        """Where the state is, on the clock of the IMU [s]."""
        # A field by its name takes a tenth of the time of an attribute.
        return float(self.memory['time'])

    def at(self, row: int) -> FilterState:
        """Return the filter before a leg sample."""
        return FilterState(self.state[row], self.covariance[row], self.memory[row])

    @classmethod
    def rows(cls, count: int, size: int) -> FilterState:
        """Return filters that are not there yet: their times are NaN."""
        memory = np.zeros(count, MEMORY)
        memory['time'] = np.nan
        return cls(np.empty((count, STATE)), np.empty((count, size, size)), memory)


class Steps(NamedTuple):
    """Every step of the filter in its own coordinates, for a smoother; m rows of them.

    Attributes:
        predicted, filtered (m, 21): States before and after the leg sample.
        predicted_covariance, filtered_covariance (m, n, n): Over the tangent.
        cross_covariance (m, n, n): Of row k - 1 filtered with row k predicted; zero in the first
            row and after a restart.
        inputs, angular_accelerations (m, 6), (m, 3): What the IMU says at the row's instant, and
            the slope of its angular velocity [rad/s²].
        noise (m, 3): Variance of that angular velocity [rad²/s²].
    """

    predicted: Array
    filtered: Array
    predicted_covariance: Array
    filtered_covariance: Array
    cross_covariance: Array
    inputs: Array
    angular_accelerations: Array
    noise: Array


NO_STEPS = Steps(*(np.empty((0,) * dimensions) for dimensions in (2, 2, 3, 3, 3, 2, 2, 2)))


class Rows(NamedTuple):
    """What `steps.run` writes, one row per leg sample.

    Attributes:
        report (n, 31): Pose, twist, linear acceleration, biases, delay, its sigma, misalignment,
            angular acceleration, 1 where the IMU is silent and 0 where it is not.
        errors (n, 15, 15): Covariance of the errors; (n, 1, 15) where only variances are kept.
        rate_errors (n, 3, 3): Covariance of the angular velocity; (n, 1, 3) likewise.
        verdicts (n, 19): Innovations, their sigmas, normalised innovation squared, legs used.
        scales (n, 12): Learnt variances of legs and IMU over the stated ones.
        steps: No rows where they are not kept.
    """

    report: Array
    errors: Array
    rate_errors: Array
    verdicts: Array
    scales: Array
    steps: Steps

    @classmethod
    def empty(cls, count: int, size: int, *, keep: bool = False, whole: bool = True) -> Rows:
        """Return rows of NaN for a tangent of some size."""
        steps = NO_STEPS
        if keep:
            square = (count, size, size)
            three, six, state = ((count, width) for width in (3, 6, STATE))
            shapes = [state, state, square, square, square, six, three, three]
            steps = Steps(*(np.full(shape, np.nan) for shape in shapes))
        squares = [(count, width if whole else 1, width) for width in (15, 3)]
        shapes = [(count, REPORT), *squares, (count, VERDICTS), (count, 12)]
        arrays = [np.empty(shape) for shape in shapes]
        for array in arrays:
            array.fill(np.nan)
        report, errors, rate_errors, verdicts, scales = arrays
        verdicts[:, V_USED:] = 0.0
        return cls(report, errors, rate_errors, verdicts, scales, steps)


# One row of a report.
R_POSITION, R_TURN, R_VELOCITY, R_RATE, R_ACCELERATION = 0, 3, 7, 10, 13
R_FORCE_BIAS, R_RATE_BIAS, R_DELAY, R_DELAY_SIGMA, R_MOUNTING, R_SPIN = 16, 19, 22, 23, 24, 27
R_SILENT, REPORT = 30, 31
# One row of verdicts: innovations, their sigmas, NIS, whether each leg was used.
V_SIGMA, V_NIS, V_USED, VERDICTS = 6, 12, 13, 19

FILTER_TYPE = numba.types.NamedTuple([VECTOR_OUT, MATRIX_OUT, MEMORY_TYPE], FilterState)
FILTERS_TYPE = numba.types.NamedTuple(
    [MATRIX_OUT, STACK_OUT, numba.types.Array(MEMORY_TYPE, 1, 'C')], FilterState
)
STEPS_TYPE = numba.types.NamedTuple(
    [MATRIX_OUT, MATRIX_OUT, STACK_OUT, STACK_OUT, STACK_OUT, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT],
    Steps,
)
ROWS_TYPE = numba.types.NamedTuple(
    [MATRIX_OUT, STACK_OUT, STACK_OUT, MATRIX_OUT, MATRIX_OUT, STEPS_TYPE], Rows
)

# How a run of the kernels ends.
DONE, INDEFINITE, MISFIT, WAITING, POSE, GAP, STRAYED = range(7)
