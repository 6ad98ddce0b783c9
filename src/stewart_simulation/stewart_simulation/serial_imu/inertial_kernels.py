# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What an inertial sensor feels and measures, compiled: hundreds of samples a second."""

from __future__ import annotations

import math

import numpy as np
from stewart_kinematics.kernels.compiled import (
    Array,
    kernel,
    MATRIX,
    MATRIX_OUT,
    SCALAR,
    VECTOR,
    VECTOR_OUT,
    VOID,
)
from stewart_kinematics.kernels.rotations import multiply, rotate, rotate_back, rotation
from stewart_kinematics.kernels.vectors import (
    cross,
    dot,
    minus,
    plus,
    point_acceleration,
    put,
    times,
    triple,
)

# Ends of a converter with sixteen bits.
LOW, HIGH = -32768.0, 32767.0


@kernel(VOID, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR_OUT)
def feel(
    state: Array,
    accelerations: Array,
    mounting_position: Array,
    mounting_quaternion: Array,
    gravity: Array,
    field: Array,
    out: Array,
) -> None:
    """Fill in specific force, angular velocity, attitude and magnetic field in sensor axes.

    `state` is pose and twist of the platform, `accelerations` linear and angular, `gravity` and
    `field` in base axes; `out` has 3, 3, 4 (x, y, z, w, sensor to base axes) and 3 numbers.
    """
    attitude = state[3], state[4], state[5], state[6]
    m = mounting_quaternion
    to_base = multiply(attitude, (m[0], m[1], m[2], m[3]))
    out[6], out[7], out[8], out[9] = to_base
    r, sensor = rotation(*attitude), rotation(*to_base)
    arm, omega = rotate(r, triple(mounting_position, 0)), triple(state, 10)
    there = point_acceleration(triple(accelerations, 0), omega, triple(accelerations, 3), arm)
    put(out, 0, rotate_back(sensor, minus(there, triple(gravity, 0))))
    put(out, 3, rotate_back(sensor, omega))
    put(out, 10, rotate_back(sensor, triple(field, 0)))


@kernel(VOID, VECTOR, VECTOR, SCALAR, VECTOR_OUT, VECTOR_OUT)
def mean_motion(
    before: Array, after: Array, interval: float, middle: Array, accelerations: Array
) -> None:
    """Fill in the mean state between two states `interval` apart, and the mean accelerations."""
    for k in range(13):
        middle[k] = 0.5 * (before[k] + after[k])
    for k in range(6):
        accelerations[k] = (after[7 + k] - before[7 + k]) / interval
    # The two attitudes are so near that their mean is the one in the middle.
    norm = math.sqrt(middle[3] ** 2 + middle[4] ** 2 + middle[5] ** 2 + middle[6] ** 2)
    for k in range(3, 7):
        middle[k] /= norm
    # The mean rate is what turns the first attitude into the second: vector part of q1 q0*.
    first, second = triple(before, 3), triple(after, 3)
    aside = minus(times(before[6], second), plus(times(after[6], first), cross(second, first)))
    along = after[6] * before[6] + dot(second, first)
    if along < 0.0:
        along, aside = -along, times(-1.0, aside)
    size = math.sqrt(dot(aside, aside))
    turn = 2.0 if size < 1e-12 else 2.0 * math.atan2(size, along) / size
    put(middle, 10, times(turn / interval, aside))


@kernel(VOID, VECTOR, SCALAR, VECTOR, VECTOR_OUT, MATRIX_OUT)
def limit(times: Array, constant: float, ranges: Array, memory: Array, samples: Array) -> None:
    """Let specific force and angular velocity through a low pass of first order, into ranges.

    Between two `times` (n,) the truth is taken for a straight line. `memory` has the last time,
    the last six values and those behind the low pass; the first six columns of `samples` change.
    """
    for i in range(times.size):
        passed = times[i] - memory[0]
        left = lag = 0.0
        if passed > 0.0:
            left, lag = math.exp(-passed / constant), constant / passed
        for k in range(6):
            old, new = memory[1 + k], samples[i, k]
            if passed > 0.0:
                behind = (new - old) * lag
                memory[7 + k] = new - behind + (memory[7 + k] - old + behind) * left
            memory[1 + k] = new
            samples[i, k] = max(-ranges[k], min(ranges[k], memory[7 + k]))
        memory[0] = times[i]


@kernel(VOID, VECTOR, MATRIX, VECTOR, VECTOR, MATRIX, MATRIX_OUT, MATRIX_OUT)
def spoil(
    yaws: Array, noise: Array, sigmas: Array, bias: Array, scales: Array, samples: Array,
    codes: Array,
) -> None:  # fmt: skip
    """Add bias (6,) and noise (n, 9) to samples (n, 13), and turn their attitudes by yaws (n,).

    A sample has specific force, angular velocity, magnetic field and attitude (x, y, z, w).
    `codes` (n, 13) gets what the converter makes of it, by `scales` (2, 13): what so many steps
    are, and how many.
    """
    for i in range(yaws.size):
        for k in range(9):
            offset = bias[k] if k < 6 else 0.0
            samples[i, k] = samples[i, k] + offset + sigmas[k] * noise[i, k]
        sine, cosine = math.sin(0.5 * yaws[i]), math.cos(0.5 * yaws[i])
        x, y, z, w = samples[i, 9], samples[i, 10], samples[i, 11], samples[i, 12]
        samples[i, 9], samples[i, 10] = cosine * x - sine * y, cosine * y + sine * x
        samples[i, 11], samples[i, 12] = cosine * z + sine * w, cosine * w - sine * z
        for k in range(13):
            code = np.rint(samples[i, k] / scales[0, k] * scales[1, k])
            codes[i, k] = min(max(code, LOW), HIGH)
