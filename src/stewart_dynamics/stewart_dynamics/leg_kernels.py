# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""Kernels for the balance of one leg and of the platform.

Leg frame (``docs/conventions.md``): z along the leg, y along the universal joint's second axis.
In it the joint's base axis is :math:`a = (q, 0, c)`, and with the leg's unit vector :math:`d`

.. math::
    \omega = (-\dot d_y, \dot d_x, s), \qquad s = -\dot d_y\, c / q ,

for the joint forbids a rotation about the normal :math:`(-c, 0, q)` of its two axes.
"""

from __future__ import annotations

import math

import numpy as np
from stewart_kinematics.kernels.compiled import Array, part
from stewart_kinematics.kernels.rotations import rotate, rotate_back, Rotation9
from stewart_kinematics.kernels.vectors import (
    cross,
    dot,
    minus,
    plus,
    point_acceleration,
    put,
    row,
    times,
    Triple,
    triple,
)

# The thirty parameters (inertia.py) by body.
PLATFORM, CYLINDER, ROD = slice(0, 10), slice(10, 20), slice(20, 30)

# Ratio of the smallest to the largest pivot below which the forces have no correct digit left.
SMALLEST_PIVOT_RATIO = 1e-10

# Columns of the per-leg table that the kinematic pass hands to the parameter pass: axes of the leg
# frame, moment arm, length, universal joint's (q, c), angular velocity and acceleration,
# acceleration minus gravity of the two reference points, all in leg axes.
EX, EY, EZ, ARM, LENGTH, Q, C = 0, 3, 6, 9, 12, 13, 14
OMEGA, ALPHA, UPPER, LOWER, COLUMNS = 15, 18, 21, 24, 27


@part
def body_wrench(theta: Array, a: Triple, omega: Triple, alpha: Triple) -> tuple[Triple, Triple]:
    """Return force and moment about the reference point that move a body, in its axes.

    f = m a + alpha x h + omega x (omega x h), n = h x a + I alpha + omega x (I omega), where a is
    the reference point's acceleration less gravity.
    """
    h = triple(theta, 1)
    force = point_acceleration(times(theta[0], a), omega, alpha, h)
    gyroscopic = cross(omega, _inertia_times(theta, omega))
    moment = plus(cross(h, a), plus(_inertia_times(theta, alpha), gyroscopic))
    return force, moment


@part
def _inertia_times(theta: Array, v: Triple) -> Triple:
    ixx, ixy, ixz, iyy, iyz, izz = theta[4], theta[5], theta[6], theta[7], theta[8], theta[9]
    return dot((ixx, ixy, ixz), v), dot((ixy, iyy, iyz), v), dot((ixz, iyz, izz), v)


@part
def leg_kinematics(
    base: Triple, axis: Triple, gravity: Triple, arm: Triple, position: Triple, velocity: Triple,
    omega: Triple, acceleration: Triple, alpha: Triple, leg: Array,
) -> None:  # fmt: skip
    """Fill one row of the leg table from the platform's motion; `arm` is R times the joint."""
    upper_velocity = plus(velocity, cross(omega, arm))
    upper_acceleration = point_acceleration(acceleration, omega, alpha, arm)

    reach = minus(plus(position, arm), base)
    length = math.sqrt(dot(reach, reach))
    per_length = 1.0 / length
    d = times(per_length, reach)
    # y = d x a normalised, x = y x d
    y = cross(d, axis)
    q = math.sqrt(dot(y, y))
    per_q = 1.0 / q
    y = times(per_q, y)
    x = cross(y, d)
    c = dot(d, axis)

    rate = dot(upper_velocity, d)
    ux, uy = dot(upper_velocity, x) * per_length, dot(upper_velocity, y) * per_length
    ax, ay = dot(upper_acceleration, x), dot(upper_acceleration, y)
    az = dot(upper_acceleration, d)
    ddx, ddy = (ax - 2.0 * rate * ux) * per_length, (ay - 2.0 * rate * uy) * per_length
    slope = c * per_q
    spin = -uy * slope
    spin_rate = -ddy * slope - ux * uy * (1.0 + 2.0 * slope * slope)
    gx, gy, gz = dot(gravity, x), dot(gravity, y), dot(gravity, d)

    put(leg, EX, x)
    put(leg, EY, y)
    put(leg, EZ, d)
    put(leg, ARM, arm)
    leg[LENGTH], leg[Q], leg[C] = length, q, c
    put(leg, OMEGA, (-uy, ux, spin))
    put(leg, ALPHA, (-ddy + spin * ux, ddx + spin * uy, spin_rate))
    put(leg, UPPER, (ax - gx, ay - gy, az - gz))
    put(leg, LOWER, (-gx, -gy, -gz))


@part
def leg_balance(cylinder: Array, rod: Array, leg: Array, out: Array) -> None:
    """Balance one leg for given parameters.

    `out` (leg axes): transverse force on the rod at its upper joint (2), the rod's own axial
    force, the universal joint's moment, then force of cylinder (3) and rod (3) for the reactions.
    """
    omega, alpha = triple(leg, OMEGA), triple(leg, ALPHA)
    length, q, c = leg[LENGTH], leg[Q], leg[C]
    lower, m = body_wrench(cylinder, triple(leg, LOWER), omega, alpha)
    upper, n = body_wrench(rod, triple(leg, UPPER), omega, alpha)
    # about the base joint: the rod's force acts at the upper end, (0, 0, length)
    mx, my, mz = plus(plus(m, n), (-length * upper[1], length * upper[0], 0.0))
    moment = mz / q
    out[0] = my / length
    out[1] = -(mx + moment * c) / length
    out[2] = upper[2]
    out[3] = moment
    put(out, 4, lower)
    put(out, 7, upper)


@part
def platform_wrench(
    theta: Array, rotation: Rotation9, gravity: Triple, omega: Triple, acceleration: Triple,
    alpha: Triple, out: Array,
) -> None:  # fmt: skip
    """Force and moment about platform_link's origin that move the platform, in base axes."""
    force, moment = body_wrench(
        theta,
        rotate_back(rotation, minus(acceleration, gravity)),
        rotate_back(rotation, omega),
        rotate_back(rotation, alpha),
    )
    put(out, 0, rotate(rotation, force))
    put(out, 3, rotate(rotation, moment))


@part
def kinematic_pass(
    base_joints: Array, platform_joints: Array, axes: Array, gravity: Triple, position: Triple,
    rotation: Rotation9, velocity: Triple, omega: Triple, acceleration: Triple, alpha: Triple,
    legs: Array,
) -> None:  # fmt: skip
    """Fill the table of all six legs for one sample."""
    for i in range(6):
        leg_kinematics(
            row(base_joints, i),
            row(axes, i),
            gravity,
            rotate(rotation, row(platform_joints, i)),
            position,
            velocity,
            omega,
            acceleration,
            alpha,
            legs[i],
        )


@part
def add_transverse(leg: Array, force: Array, wrench: Array) -> None:
    """Add what the platform must give to the leg's upper joint across the leg."""
    across = plus(times(force[0], triple(leg, EX)), times(force[1], triple(leg, EY)))
    put(wrench, 0, plus(triple(wrench, 0), across))
    put(wrench, 3, plus(triple(wrench, 3), cross(triple(leg, ARM), across)))


@part
def legs_wrench(theta: Array, legs: Array, push: Array, wrench: Array) -> None:
    """Add to a wrench what the legs' balances ask of the platform."""
    force = np.empty(10)
    for i in range(6):
        leg_balance(theta[CYLINDER], theta[ROD], legs[i], force)
        add_transverse(legs[i], force, wrench)
        for k in range(6):
            wrench[k] += push[k, i] * force[2]


@part
def wrench_matrix(legs: Array, out: Array) -> None:
    """Transposed Jacobian: column i is the wrench of a unit push of leg i."""
    for i in range(6):
        d = triple(legs[i], EZ)
        moment = cross(triple(legs[i], ARM), d)
        out[0, i], out[1, i], out[2, i] = d
        out[3, i], out[4, i], out[5, i] = moment


@part
def _tip_forces(
    cylinder: Array, rod: Array, length: float, q: float, c: float
) -> tuple[Triple, Triple, Triple]:
    """Forces on a leg's upper joint, in leg axes, that accelerate it from rest without gravity.

    One for each unit acceleration along x, y and z: what `leg_balance` gives for such a leg, with
    all that is zero left out.
    """
    per, slope, m = 1.0 / length, c / q, rod[0]
    hx, hy, hz = triple(rod, 1)
    ixx, ixy, ixz = cylinder[4] + rod[4], cylinder[5] + rod[5], cylinder[6] + rod[6]
    iyy, iyz, izz = cylinder[7] + rod[7], cylinder[8] + rod[8], cylinder[9] + rod[9]
    # Turns with (0, 1, 0) / length.
    mx, my, mz = per * ixy, per * iyy + hz + length * (m + per * hz), per * iyz - hy
    along_x = per * my, -per * (mx + mz * slope), -per * hx
    # Turns with (-1, 0, -slope) / length.
    across = m + per * (hz - slope * hx)
    mx = -per * (ixx + slope * ixz) - hz - length * across
    my, mz = slope * hy - per * (ixy + slope * iyz), hx - per * (ixz + slope * izz)
    along_y = per * my, -per * (mx + mz * slope), -per * hy
    return along_x, along_y, (-per * hx, -per * hy, m)


@part
def add_tip_inertia(cylinder: Array, rod: Array, leg: Array, mass: Array) -> None:
    """Add a leg's share of the platform's 6x6 mass matrix.

    The leg resists an acceleration of its upper joint, at rest and without gravity, with a force
    that is linear in it: three unit accelerations give a 3x3 matrix S, and with the joint's arm r

    S, -S [r]x; [r]x S, -[r]x S [r]x.
    """
    x, y, z, arm = triple(leg, EX), triple(leg, EY), triple(leg, EZ), triple(leg, ARM)
    tip_x, tip_y, tip_z = _tip_forces(cylinder, rod, leg[LENGTH], leg[Q], leg[C])
    in_x = plus(times(tip_x[0], x), plus(times(tip_x[1], y), times(tip_x[2], z)))
    in_y = plus(times(tip_y[0], x), plus(times(tip_y[1], y), times(tip_y[2], z)))
    in_z = plus(times(tip_z[0], x), plus(times(tip_z[1], y), times(tip_z[2], z)))
    # Columns of S: unit accelerations in base axes.
    s0 = plus(times(x[0], in_x), plus(times(y[0], in_y), times(z[0], in_z)))
    s1 = plus(times(x[1], in_x), plus(times(y[1], in_y), times(z[1], in_z)))
    s2 = plus(times(x[2], in_x), plus(times(y[2], in_y), times(z[2], in_z)))
    _add_column(mass, 0, s0, arm)
    _add_column(mass, 1, s1, arm)
    _add_column(mass, 2, s2, arm)
    # A turn w about each axis moves the joint by w x r.
    _add_column(mass, 3, minus(times(arm[1], s2), times(arm[2], s1)), arm)
    _add_column(mass, 4, minus(times(arm[2], s0), times(arm[0], s2)), arm)
    _add_column(mass, 5, minus(times(arm[0], s1), times(arm[1], s0)), arm)


@part
def _add_column(mass: Array, j: int, force: Triple, arm: Triple) -> None:
    """Add a force at the end of an arm, and its moment, to a column of a 6x6 matrix."""
    moment = cross(arm, force)
    mass[0, j] += force[0]
    mass[1, j] += force[1]
    mass[2, j] += force[2]
    mass[3, j] += moment[0]
    mass[4, j] += moment[1]
    mass[5, j] += moment[2]


@part
def platform_mass_matrix(theta: Array, rotation: Rotation9, mass: Array) -> None:
    """Fill `mass` with the 6x6 matrix of the platform alone, about its origin in base axes."""
    first = rotate(rotation, triple(theta, 1))
    for j in range(3):
        unit = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
        _put_column(mass, j, times(theta[0], unit), cross(first, unit))
        turn = rotate(rotation, _inertia_times(theta, rotate_back(rotation, unit)))
        _put_column(mass, 3 + j, cross(unit, first), turn)


@part
def _put_column(mass: Array, j: int, force: Triple, moment: Triple) -> None:
    """Write force and moment into a column of a 6x6 matrix."""
    mass[0, j], mass[1, j], mass[2, j] = force
    mass[3, j], mass[4, j], mass[5, j] = moment
