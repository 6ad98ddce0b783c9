# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled inner loop of steering: transitions of velocity, and the motion along them.

A way y (6,) has the displacement of the platform's origin [m] and twice the tangent of half the
turn [rad], a vector along its axis; at y = 0 its first two derivatives are twist and acceleration.
"""

from __future__ import annotations

import math

from stewart_kinematics.kernels.attitudes import put_path
from stewart_kinematics.kernels.compiled import (
    Array,
    FLAG,
    kernel,
    MATRIX,
    MATRIX_OUT,
    MOTION_OUT,
    part,
    SCALAR,
    VECTOR,
    VOID,
)
from stewart_kinematics.kernels.rotations import multiply, quadruple

START, POWERS = 0, 1
COLUMNS = 16
"""Of a row of a plan: when it begins [s], and for each axis the five coefficients of a quartic."""

PIECES = 4
"""Transition, cruise, stop, rest; the linear half has the first four rows, the angular the others.
"""

GROWTH, TRIALS, REFINEMENTS, INSTANTS = 1.2, 120, 6, 8
"""Of the search for a duration: growth from trial to trial, their number, bisections, and the
instants at which an acceleration is looked at."""


@kernel(FLAG, VECTOR, VECTOR, SCALAR, SCALAR, SCALAR)
def keeps(change: Array, start: Array, duration: float, acceleration: float, jerk: float) -> bool:
    """Tell whether a cubic transition of velocity keeps bounds of acceleration and jerk.

    It changes the velocity by `change` (3,), begins with the acceleration `start` (3,), and ends
    with none. Its jerk is linear in time, so its magnitude is greatest at an end. An acceleration
    that is beyond its bound from the start on must not grow.
    """
    first = last = own = 0.0
    for k in range(3):
        first += (6.0 * change[k] / duration - 4.0 * start[k]) ** 2
        last += (6.0 * change[k] / duration - 2.0 * start[k]) ** 2
        own += start[k] ** 2
    if not max(first, last) <= (jerk * duration) ** 2:
        return False
    bound = max(acceleration**2, own * (1.0 + 1e-12))
    for n in range(1, INSTANTS):
        x, square = n / INSTANTS, 0.0
        for k in range(3):
            value = 6.0 * x * (1.0 - x) * change[k] / duration
            square += (value + (3.0 * x * x - 4.0 * x + 1.0) * start[k]) ** 2
        if square > bound:
            return False
    return True


@kernel(SCALAR, VECTOR, VECTOR, SCALAR, SCALAR, SCALAR)
def shortest(change: Array, start: Array, least: float, acceleration: float, jerk: float) -> float:
    """Return the shortest duration found, from `least` on, that `keeps` accepts [s]."""
    duration = least
    for _ in range(TRIALS):
        if keeps(change, start, duration, acceleration, jerk):
            break
        duration *= GROWTH
    if duration == least:
        return duration
    short, enough = duration / GROWTH, duration
    for _ in range(REFINEMENTS):
        middle = 0.5 * (short + enough)
        if keeps(change, start, middle, acceleration, jerk):
            enough = middle
        else:
            short = middle
    return enough


@part
def put_piece(
    plan: Array, n: int, begin: float, way: Array, velocity: Array, start: Array,
    change: Array, duration: float,
) -> None:  # fmt: skip
    """Write a transition that begins at a way with a velocity and an acceleration, (3,) each."""
    plan[n, START] = begin
    for k in range(3):
        c = POWERS + 5 * k
        plan[n, c], plan[n, c + 1], plan[n, c + 2] = way[k], velocity[k], 0.5 * start[k]
        plan[n, c + 3] = (change[k] / duration - 2.0 / 3.0 * start[k]) / duration
        plan[n, c + 4] = (-0.5 * change[k] / duration + 0.25 * start[k]) / duration**2


@part
def evaluate(plan: Array, n: int, k: int, time: float) -> tuple[float, float, float]:
    """Return way, velocity and acceleration of axis k of row n."""
    c, t = POWERS + 5 * k, time - plan[n, START]
    a, b, d, e, f = plan[n, c], plan[n, c + 1], plan[n, c + 2], plan[n, c + 3], plan[n, c + 4]
    return (
        a + t * (b + t * (d + t * (e + t * f))),
        b + t * (2.0 * d + t * (3.0 * e + t * 4.0 * f)),
        2.0 * d + t * (6.0 * e + t * 12.0 * f),
    )


@kernel(SCALAR, MATRIX, MATRIX, SCALAR, SCALAR, SCALAR, MATRIX, MATRIX_OUT, MATRIX_OUT)
def make_plan(state, target, horizon, least, stop_least, bounds, plan, work):
    """Write a plan: towards a velocity until the horizon, then to rest; return when it rests [s].

    Args:
        state (4, 3): Linear and angular velocity, linear and angular acceleration at its begin.
        target (2, 3): Linear and angular velocity aimed at.
        horizon: How long it is aimed at [s]; 0: stop at once.
        least, stop_least: Shortest duration of a transition, and of a stop [s].
        bounds (2, 2): Acceleration and jerk, linear and angular [SI].
        plan (8, 16), work (5, 3): Results and room.
    """
    end = 0.0
    way, velocity, acceleration, change, zero = work[0], work[1], work[2], work[3], work[4]
    for half in range(2):
        rows, a, j = PIECES * half, bounds[half, 0], bounds[half, 1]
        for k in range(3):
            way[k] = zero[k] = 0.0
            velocity[k], acceleration[k] = state[half, k], state[2 + half, k]
            change[k] = target[half, k] - velocity[k]
        reach = shortest(change, acceleration, least, a, j)
        put_piece(plan, rows, 0.0, way, velocity, acceleration, change, reach)
        for k in range(3):
            way[k] = evaluate(plan, rows, k, reach)[0]
            velocity[k], change[k] = target[half, k], 0.0
        put_piece(plan, rows + 1, reach, way, velocity, zero, change, 1.0)
        last = rows if reach >= horizon else rows + 1
        for k in range(3):
            way[k], velocity[k], acceleration[k] = evaluate(plan, last, k, horizon)
            change[k] = -velocity[k]
        rest = shortest(change, acceleration, stop_least, a, j)
        put_piece(plan, rows + 2, horizon, way, velocity, acceleration, change, rest)
        for k in range(3):
            way[k] = evaluate(plan, rows + 2, k, horizon + rest)[0]
            velocity[k] = change[k] = 0.0
        put_piece(plan, rows + 3, horizon + rest, way, velocity, zero, change, 1.0)
        plan[rows + 1, START] = min(reach, horizon)
        end = max(end, horizon + rest)
    return end


@kernel(VOID, MATRIX, VECTOR, MATRIX, VECTOR, *MOTION_OUT)
def follow_plan(plan, origin, attitude, time, position, quaternion, twist, acceleration):
    """Write the motion of a plan from a position (3,) and an attitude (1, 4) at n times [s]."""
    row = [0, 0]
    y, dy, ddy = [0.0] * 6, [0.0] * 6, [0.0] * 6
    for n in range(time.shape[0]):
        for half in range(2):
            row[half] = PIECES * half
            for k in range(1, PIECES):
                if time[n] >= plan[PIECES * half + k, START]:
                    row[half] = PIECES * half + k
        for k in range(6):
            y[k], dy[k], ddy[k] = evaluate(plan, row[k // 3], k % 3, time[n])
        for k in range(3):
            position[n, k] = origin[k] + y[k]
            twist[n, k], acceleration[n, k] = dy[k], ddy[k]
        put_path(
            n,
            (0.5 * y[3], 0.5 * y[4], 0.5 * y[5], 1.0),
            (0.5 * dy[3], 0.5 * dy[4], 0.5 * dy[5], 0.0),
            (0.5 * ddy[3], 0.5 * ddy[4], 0.5 * ddy[5], 0.0),
            quaternion, twist, acceleration,
        )  # fmt: skip
        turned = multiply(quadruple(quaternion, n), quadruple(attitude, 0))
        norm = math.sqrt(turned[0] ** 2 + turned[1] ** 2 + turned[2] ** 2 + turned[3] ** 2)
        for k in range(4):
            quaternion[n, k] = turned[k] / norm
