# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled inner loops of legs that are rods of constant length on a crank or on a carriage.

The position q of a leg's joint says where the rod begins: on a crank at B(q) = c + f cos q + g sin
q, with the crank's two directions f and g as long as its radius, on a carriage at B(q) = c + f q.
With the platform joint P = p + R b and the rod L = P - B, |L| is constant, so

    L . (P' - B_q q') = 0
    L . (P'' - B_q q'' - B_qq q'^2) + |P' - B_q q'|^2 = 0

where B_q, B_qq are derivatives by q. L . B_q, the leg's transmission times the rod's length, is 0
at a dead centre. Of two positions with the same P, the branch (1 or -1) is the sign of L . B_q.
"""

from __future__ import annotations

import math

import numpy as np
from stewart_kinematics.kernels.compiled import (
    Array,
    INTEGERS_OUT,
    kernel,
    MATRIX,
    MATRIX_OUT,
    MOTION,
    part,
    SCALAR,
    STACK,
    STACK_OUT,
    VECTOR,
    VOID,
)
from stewart_kinematics.kernels.guard import (
    ACCELERATION,
    BASE_ANGLE,
    guarded_quantities,
    RATE,
    STROKE,
    WIDTH,
)
from stewart_kinematics.kernels.legs import pose
from stewart_kinematics.kernels.newton import definite, Eight, iterate, NO_LENGTHS
from stewart_kinematics.kernels.rotations import rotate, Rotation9
from stewart_kinematics.kernels.vectors import cross, dot, minus, plus, row, times, Triple, triple

# Places in the row of a leg.
ORIGIN, FIRST, SECOND, LENGTH, BRANCH, MIDDLE, ROTARY = 0, 3, 6, 9, 10, 11, 12
COLUMNS = 13

PRESSURE, REACH = WIDTH, WIDTH + 6
"""Columns of the guard behind those of every leg: the pressure angle [rad], and how far the rod is
from what the joint can reach; the rod has a place while that is within -1 and 1."""

GUARDED = WIDTH + 12


@part
def reach_of(rods: Array, i: int, arm: Triple) -> float:
    """Return a number that is within -1 and 1 where a rod reaches P = c + arm."""
    first, second, length = triple(rods[i], FIRST), triple(rods[i], SECOND), rods[i, LENGTH]
    if rods[i, ROTARY] > 0.0:
        a, b = dot(arm, first), dot(arm, second)
        excess = dot(arm, arm) + dot(first, first) - length * length
        return 0.5 * excess / math.sqrt(a * a + b * b)
    along = dot(arm, first)
    return math.sqrt(max(dot(arm, arm) - along * along, 0.0)) / length


@part
def position_of(rods: Array, i: int, arm: Triple) -> float:
    """Return the joint position at which a rod reaches P = c + arm; NaN where it does not.

    An angle lies within half a turn of the middle of its range.
    """
    first, second, reach = triple(rods[i], FIRST), triple(rods[i], SECOND), reach_of(rods, i, arm)
    if not abs(reach) <= 1.0:
        return math.nan
    if rods[i, ROTARY] > 0.0:
        q = math.atan2(dot(arm, second), dot(arm, first)) - rods[i, BRANCH] * math.acos(reach)
        away = q - rods[i, MIDDLE]
        return q - 2.0 * math.pi * math.floor(away / (2.0 * math.pi) + 0.5)
    length = rods[i, LENGTH]
    return dot(arm, first) - rods[i, BRANCH] * length * math.sqrt(1.0 - reach * reach)


@part
def crank(rods: Array, i: int, q: float) -> tuple[Triple, Triple, Triple]:
    """Return B(q) - c, and its first and second derivative by q."""
    first, second = triple(rods[i], FIRST), triple(rods[i], SECOND)
    if rods[i, ROTARY] > 0.0:
        cosine, sine = math.cos(q), math.sin(q)
        end = plus(times(cosine, first), times(sine, second))
        return end, plus(times(-sine, first), times(cosine, second)), times(-1.0, end)
    return times(q, first), first, (0.0, 0.0, 0.0)


@part
def arm_of(rods: Array, platform: Array, p: Triple, r: Rotation9, i: int) -> tuple[Triple, Triple]:
    """Return s = R b and P - c."""
    s = rotate(r, row(platform, i))
    return s, minus(plus(p, s), triple(rods[i], ORIGIN))


@kernel(VOID, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX_OUT)
def positions(rods, platform, position, quaternion, out):
    """Write the joint positions, shape (n, 6); NaN where a rod does not reach."""
    for n in range(position.shape[0]):
        p, r = pose(position, quaternion, n)
        for i in range(6):
            _, arm = arm_of(rods, platform, p, r, i)
            out[n, i] = position_of(rods, i, arm)


@kernel(VOID, MATRIX, MATRIX, STACK_OUT)
def ends(rods, values, out):
    """Write where the rods begin, shape (n, 6, 3), for joint positions (n, 6)."""
    for n in range(values.shape[0]):
        for i in range(6):
            end, _, _ = crank(rods, i, values[n, i])
            for k in range(3):
                out[n, i, k] = rods[i, ORIGIN + k] + end[k]


@kernel(VOID, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, STACK_OUT)
def motion(rods, platform, position, quaternion, twist, acceleration, out):
    """Write positions, rates and accelerations of the joints, (3, n, 6); see the module."""
    for n in range(position.shape[0]):
        p, r = pose(position, quaternion, n)
        v, w = triple(twist[n], 0), triple(twist[n], 3)
        a, alpha = triple(acceleration[n], 0), triple(acceleration[n], 3)
        for i in range(6):
            s, arm = arm_of(rods, platform, p, r, i)
            q = position_of(rods, i, arm)
            end, slope, bend = crank(rods, i, q)
            leg, turn = minus(arm, end), cross(w, s)
            first = plus(v, turn)
            second = plus(a, plus(cross(alpha, s), cross(w, turn)))
            transmission = dot(leg, slope)
            rate = dot(leg, first) / transmission
            swing = minus(first, times(rate, slope))
            pull = dot(leg, minus(second, times(rate * rate, bend)))
            out[0, n, i], out[1, n, i] = q, rate
            out[2, n, i] = (pull + dot(swing, swing)) / transmission


@kernel(VOID, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, STACK_OUT, STACK_OUT, MATRIX_OUT)
def jacobians(rods, platform, position, quaternion, twist, out, change, transmission):
    """Write the rows (d, s x d) / (d . B_q), (n, 6, 6), their time derivative, and d . B_q.

    With the direction d of the rod: d' = L' / |L|, and (d . B_q)' = d' . B_q + d . B_qq q'.
    """
    for n in range(position.shape[0]):
        p, r = pose(position, quaternion, n)
        v, w = triple(twist[n], 0), triple(twist[n], 3)
        for i in range(6):
            s, arm = arm_of(rods, platform, p, r, i)
            end, slope, bend = crank(rods, i, position_of(rods, i, arm))
            k = 1.0 / rods[i, LENGTH]
            d, turn = times(k, minus(arm, end)), cross(w, s)
            first, gear = plus(v, turn), dot(d, slope)
            rate = dot(d, first) / gear
            dd = times(k, minus(first, times(rate, slope)))
            drift = (dot(dd, slope) + rate * dot(d, bend)) / gear
            moment, moving = cross(s, d), plus(cross(turn, d), cross(s, dd))
            transmission[n, i] = gear
            for j in range(3):
                out[n, i, j], out[n, i, 3 + j] = d[j] / gear, moment[j] / gear
                change[n, i, j] = (dd[j] - drift * d[j]) / gear
                change[n, i, 3 + j] = (moving[j] - drift * moment[j]) / gear


@kernel(VOID, MATRIX, MATRIX, MATRIX, SCALAR, *MOTION, STACK_OUT, MATRIX_OUT)
def guarded(
    rods, platform, axes, scale, position, quaternion, twist, acceleration, legs, out,
):  # fmt: skip
    """Write rod lengths, rates, accelerations and positions (4, n, 6) and guarded quantities.

    As `guard.guarded_quantities`, whose legs the rods are, with `GUARDED` columns, (n, 67). On a
    crank the base joint's angle is the one between the rod and the crank's plane.
    """
    own, none = np.empty((4, 1, 6)), np.zeros(6)
    begin, found, joints = np.empty((6, 3)), np.empty((1, WIDTH)), np.empty((3, 1, 6))
    for n in range(position.shape[0]):
        at = slice(n, n + 1)
        sample = position[at], quaternion[at], twist[at], acceleration[at]
        motion(rods, platform, *sample, joints)
        for i in range(6):
            end, _, _ = crank(rods, i, joints[0, 0, i])
            for k in range(3):
                begin[i, k] = rods[i, ORIGIN + k] + end[k]
        guarded_quantities(begin, platform, axes, none, scale, *sample, own, found)
        p, r = pose(position, quaternion, n)
        for k in range(WIDTH):
            out[n, k] = found[0, k]
        for i in range(6):
            _, arm = arm_of(rods, platform, p, r, i)
            end, slope, _ = crank(rods, i, joints[0, 0, i])
            k = 1.0 / rods[i, LENGTH]
            d = times(k, minus(arm, end))
            legs[0, n, i] = own[0, 0, i]
            legs[1, n, i], legs[2, n, i] = joints[1, 0, i], joints[2, 0, i]
            legs[3, n, i] = joints[0, 0, i]
            out[n, STROKE + i] = joints[0, 0, i]
            out[n, RATE + i], out[n, ACCELERATION + i] = joints[1, 0, i], joints[2, 0, i]
            if rods[i, ROTARY] > 0.0:
                normal = cross(triple(rods[i], FIRST), triple(rods[i], SECOND))
                across = abs(dot(normal, d)) / math.sqrt(dot(normal, normal))
                out[n, BASE_ANGLE + i] = math.asin(min(across, 1.0))
            gear = abs(dot(d, slope)) / math.sqrt(dot(slope, slope))
            out[n, PRESSURE + i] = math.acos(min(gear, 1.0))
            out[n, REACH + i] = reach_of(rods, i, arm)


@kernel(VOID, STACK, MATRIX, VECTOR, MATRIX, MATRIX, MATRIX_OUT, MATRIX_OUT, INTEGERS_OUT)
def newton(bases, platform, constants, length, first, poses, figures, status):
    """Find poses with rods that begin at `bases` (n, 6, 3), each from its first pose (n, 7).

    As `newton.forward`, whose region is not looked at: CONVERGED says that the rods fit.
    """
    a, form = np.empty((6, 7)), np.empty((8, 8))
    nowhere = np.zeros((36, 8))
    for n in range(bases.shape[0]):
        poses[n] = first[n]
        if not math.isfinite(bases[n].sum()):
            status[n] = NO_LENGTHS
            continue
        status[n] = iterate(
            bases[n], platform, constants, nowhere, length, 0, poses[n], a, form, figures[n]
        )


@part
def between(x: Array, y: Array, share: float) -> Eight:
    """Return a share of x and the rest of y."""
    rest = 1.0 - share
    return (
        share * x[0] + rest * y[0], share * x[1] + rest * y[1], share * x[2] + rest * y[2],
        share * x[3] + rest * y[3], share * x[4] + rest * y[4], share * x[5] + rest * y[5],
        share * x[6] + rest * y[6], share * x[7] + rest * y[7],
    )  # fmt: skip


@kernel(VOID, MATRIX, MATRIX, MATRIX, STACK, INTEGERS_OUT)
def covered(corners, found, shares, cones, out):
    """Tell, 1 or 0, which cones (n, 36, 8) hold all that lies between a point and corners.

    Of the points (n, 8) there are the least and the greatest share (n, 2); corners are (m, 8).
    """
    a = np.empty((8, 8))
    for n in range(cones.shape[0]):
        out[n] = 1
        for m in range(corners.shape[0]):
            one = between(found[n], corners[m], shares[n, 0])
            other = between(found[n], corners[m], shares[n, 1])
            if not (definite(one, cones[n], a) and definite(other, cones[n], a)):
                out[n] = 0
                break
