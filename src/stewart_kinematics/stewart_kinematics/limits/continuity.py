# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether samples of a stream can follow each other."""

from __future__ import annotations

import math

import numpy as np
from stewart_kinematics.errors import Violation
from stewart_kinematics.kernels.compiled import (
    INTEGER,
    kernel,
    MOTION,
    part,
    SCALAR,
    VECTOR,
    VECTOR_OUT,
)
from stewart_kinematics.kernels.rotations import logarithm, multiply, quadruple
from stewart_kinematics.model.leg_kinds import LegKind
from stewart_kinematics.motion import Array, Motion, UNITS

# Rounding of stamps, poses and velocities in SI: a float64 of Unix time resolves 2.4e-7 s.
TOLERANCE = 1e-6
# Time by which two stamps may seem too close, when a jerk is judged [s]: at 200 Hz that concedes
# 0.02 % of the jerk, at 1 kHz 0.1 %.
STAMP_TOLERANCE = 1e-6
# What acceleration could do in more time than this is not conceded to a gap [s].
LONGEST_STEP = 0.1
# Rounding of stamps and rates, as far as a crank or a carriage is concerned [rad], [m].
JOINT_TOLERANCE = 1e-3
JUMPS = {
    'position': 'm',
    'attitude': 'rad',
    **{key.replace('_', ' '): unit for key, unit in list(UNITS.items())[2:]},
}
"""What may jump, in the order of the kernel, and its unit."""


@part
def differences(
    last_position: Array, last_quaternion: Array, last_twist: Array, last_acceleration: Array,
    before: int, position: Array, quaternion: Array, twist: Array, acceleration: Array, n: int,
    step: float, out: Array,
) -> None:  # fmt: skip
    """Write how far sample n is from the sample `before` moved on, in the order of JUMPS."""
    ax, ay, az, aw = quadruple(last_quaternion, before)
    turn = logarithm(multiply(quadruple(quaternion, n), (-ax, -ay, -az, aw)))
    out[:6] = 0.0
    for k in range(3):
        mean_linear = 0.5 * (last_twist[before, k] + twist[n, k])
        mean_angular = 0.5 * (last_twist[before, 3 + k] + twist[n, 3 + k])
        gap = position[n, k] - last_position[before, k] - mean_linear * step
        out[0] += gap**2
        out[1] += (turn[k] - mean_angular * step) ** 2
        for half in range(2):
            i = 3 * half + k
            out[2 + half] += (twist[n, i] - last_twist[before, i]) ** 2
            out[4 + half] += (acceleration[n, i] - last_acceleration[before, i]) ** 2
    for k in range(6):
        out[k] = math.sqrt(out[k])


@part
def conceded(limits: Array, step: float, out: Array) -> None:
    """Write how large the differences may be; see `first_jump`."""
    time = min(step, LONGEST_STEP)
    for k in range(2):
        out[6 + k] = limits[k] * 0.25 * time**2 + TOLERANCE
        out[8 + k] = limits[k] * time + TOLERANCE
        out[10 + k] = limits[2 + k] * (time + STAMP_TOLERANCE) + TOLERANCE


@kernel(INTEGER, SCALAR, *MOTION, VECTOR, *MOTION, VECTOR, VECTOR_OUT)
def broken_at(
    last_stamp, last_position, last_quaternion, last_twist, last_acceleration, stamps, position,
    quaternion, twist, acceleration, limits, out,
):  # fmt: skip
    """Return the first of n samples that does not follow the one before; -1: none."""
    for n in range(stamps.shape[0]):
        step = stamps[n] - (stamps[n - 1] if n else last_stamp)
        if not step > 0.0:
            return n
        if n:
            differences(
                position, quaternion, twist, acceleration, n - 1,
                position, quaternion, twist, acceleration, n, step, out,
            )  # fmt: skip
        else:
            differences(
                last_position, last_quaternion, last_twist, last_acceleration, 0,
                position, quaternion, twist, acceleration, 0, step, out,
            )  # fmt: skip
        conceded(limits, step, out)
        for k in range(6):
            if not out[k] <= out[6 + k]:
                return n
    return -1


def first_jump(
    last_stamp: float, last: Motion, stamps: Array, motion: Motion, limits: Array
) -> tuple[int, Violation | None]:
    """Compare successive samples with those before them.

    While the acceleration stays below a, the pose differs from the last pose moved on with the
    mean of both velocities by at most a dt²/4, and the velocities differ by at most a dt; while
    the jerk stays below j, the accelerations differ by at most j dt.

    Args:
        last_stamp, last: The sample before them, and when it holds [s].
        stamps (n,), motion: The samples [s]; a single one needs no leading axis.
        limits (4,): Greatest linear and angular acceleration [m/s²], [rad/s²], and jerk [m/s³],
            [rad/s³].

    Returns:
        How many samples continue the one before them, up to the first that does not.
        What cannot be in that one; None if there is none.
    """
    found = np.empty(12)
    first = broken_at(last_stamp, *last.rows(), stamps, *motion.rows(), limits, found)
    if first < 0:
        return len(stamps), None
    step = float(stamps[first] - (stamps[first - 1] if first else last_stamp))
    if not step > 0.0:
        return first, Violation('time step', step, 0.0, math.inf, 's')
    values, bounds = found.reshape(2, 6)
    k = int(np.argmin(values <= bounds))
    name, unit = list(JUMPS.items())[k]
    return first, Violation(f'{name} jump', float(values[k]), 0.0, float(bounds[k]), unit)


def first_turn(
    stamps: Array, positions: Array, rates: Array, kind: LegKind, acceleration: float
) -> tuple[int, Violation | None]:
    """Compare the joints of rods with those of the sample before, as `first_jump` does poses.

    A pose tells the angle of a crank up to whole turns. Where one goes through the gap of its
    range between two samples, the platform's motion is smooth and the angle jumps by a turn.

    Args:
        stamps (n,): Of successive samples [s].
        positions, rates (n, 6): Of the joints [m], [rad] and per s.
        kind: Of the joints.
        acceleration: Their greatest [m/s²], [rad/s²].

    Returns:
        The first sample whose joints cannot follow from the one before, or n.
        What cannot be in that one; None if there is none.
    """
    # One sample at a time, np.diff and np.where would take longer than all of the guard.
    step = (stamps[1:] - stamps[:-1])[:, None]
    moved = 0.5 * (rates[1:] + rates[:-1]) * step
    gap = np.abs(positions[1:] - positions[:-1] - moved)
    most = 0.25 * acceleration * np.minimum(step, LONGEST_STEP) ** 2 + JOINT_TOLERANCE
    within = gap <= most
    if within.all():
        return len(stamps), None
    row, leg = np.argwhere(~within)[0].tolist()
    bound = 0.0, float(most[row, 0])
    what = f'{kind.quantity} jump'
    return row + 1, Violation(what, float(gap[row, leg]), *bound, kind.unit, leg + 1)
