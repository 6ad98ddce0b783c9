# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""
Kernels for the balance of one leg and of the platform.

Leg frame (``docs/conventions.md``): z along the leg, y along the universal joint's second axis.
In it the joint's base axis is :math:`a = (q, 0, c)`, and with the leg's unit vector :math:`d`

.. math::
    \omega = (-\dot d_y, \dot d_x, s), \qquad s = -\dot d_y\, c / q ,

for the joint forbids a rotation about the normal :math:`(-c, 0, q)` of its two axes.
"""

from __future__ import annotations

from numba import njit
import numpy as np

# The thirty parameters (inertia.py) by body.
PLATFORM, CYLINDER, ROD = slice(0, 10), slice(10, 20), slice(20, 30)

# Ratio of the smallest to the largest pivot below which the forces have no correct digit left.
SMALLEST_PIVOT_RATIO = 1e-10


@njit(cache=True)
def body_wrench(theta, ax, ay, az, wx, wy, wz, bx, by, bz):  # type: ignore[no-untyped-def]
    """Give force and moment about the reference point that move a body; b is alpha."""
    m, hx, hy, hz = theta[0], theta[1], theta[2], theta[3]
    ixx, ixy, ixz, iyy, iyz, izz = theta[4], theta[5], theta[6], theta[7], theta[8], theta[9]
    wh = wx * hx + wy * hy + wz * hz
    ww = wx * wx + wy * wy + wz * wz
    fx = m * ax + by * hz - bz * hy + wx * wh - hx * ww
    fy = m * ay + bz * hx - bx * hz + wy * wh - hy * ww
    fz = m * az + bx * hy - by * hx + wz * wh - hz * ww
    lx = ixx * wx + ixy * wy + ixz * wz
    ly = ixy * wx + iyy * wy + iyz * wz
    lz = ixz * wx + iyz * wy + izz * wz
    nx = hy * az - hz * ay + ixx * bx + ixy * by + ixz * bz + wy * lz - wz * ly
    ny = hz * ax - hx * az + ixy * bx + iyy * by + iyz * bz + wz * lx - wx * lz
    nz = hx * ay - hy * ax + ixz * bx + iyz * by + izz * bz + wx * ly - wy * lx
    return fx, fy, fz, nx, ny, nz


@njit(cache=True)
def rotation_matrix(quaternion, out):  # type: ignore[no-untyped-def]
    """Fill `out` with the rotation of a unit quaternion x, y, z, w."""
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    out[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    out[0, 1] = 2.0 * (x * y - z * w)
    out[0, 2] = 2.0 * (x * z + y * w)
    out[1, 0] = 2.0 * (x * y + z * w)
    out[1, 1] = 1.0 - 2.0 * (x * x + z * z)
    out[1, 2] = 2.0 * (y * z - x * w)
    out[2, 0] = 2.0 * (x * z - y * w)
    out[2, 1] = 2.0 * (y * z + x * w)
    out[2, 2] = 1.0 - 2.0 * (x * x + y * y)


# Columns of the per-leg table that the kinematic pass hands to the parameter pass: axes of the leg
# frame, moment arm, length, universal joint's (q, c), angular velocity and acceleration,
# acceleration minus gravity of the two reference points, all in leg axes.
EX, EY, EZ, ARM, LENGTH, Q, C = 0, 3, 6, 9, 12, 13, 14
OMEGA, ALPHA, UPPER, LOWER, COLUMNS = 15, 18, 21, 24, 27


@njit(cache=True)
def leg_kinematics(  # type: ignore[no-untyped-def]
    base, axis, gravity, arm, position, velocity, omega, acceleration, alpha, leg
):
    """Fill one row of the leg table from the platform's motion; `arm` is R times the joint."""
    wx, wy, wz = omega[0], omega[1], omega[2]
    bx, by, bz = alpha[0], alpha[1], alpha[2]
    rx, ry, rz = arm[0], arm[1], arm[2]
    vx = velocity[0] + wy * rz - wz * ry
    vy = velocity[1] + wz * rx - wx * rz
    vz = velocity[2] + wx * ry - wy * rx
    wr = wx * rx + wy * ry + wz * rz
    ww = wx * wx + wy * wy + wz * wz
    px = acceleration[0] + by * rz - bz * ry + wx * wr - rx * ww
    py = acceleration[1] + bz * rx - bx * rz + wy * wr - ry * ww
    pz = acceleration[2] + bx * ry - by * rx + wz * wr - rz * ww

    lx = position[0] + rx - base[0]
    ly = position[1] + ry - base[1]
    lz = position[2] + rz - base[2]
    length = np.sqrt(lx * lx + ly * ly + lz * lz)
    dx, dy, dz = lx / length, ly / length, lz / length
    # y = d x a normalised, x = y x d
    yx = dy * axis[2] - dz * axis[1]
    yy = dz * axis[0] - dx * axis[2]
    yz = dx * axis[1] - dy * axis[0]
    q = np.sqrt(yx * yx + yy * yy + yz * yz)
    yx, yy, yz = yx / q, yy / q, yz / q
    xx = yy * dz - yz * dy
    xy = yz * dx - yx * dz
    xz = yx * dy - yy * dx
    c = dx * axis[0] + dy * axis[1] + dz * axis[2]

    rate = vx * dx + vy * dy + vz * dz
    ux = (vx * xx + vy * xy + vz * xz) / length
    uy = (vx * yx + vy * yy + vz * yz) / length
    ax = px * xx + py * xy + pz * xz
    ay = px * yx + py * yy + pz * yz
    az = px * dx + py * dy + pz * dz
    ddx = (ax - 2.0 * rate * ux) / length
    ddy = (ay - 2.0 * rate * uy) / length
    spin = -uy * c / q
    spin_rate = -ddy * c / q - ux * uy * (1.0 + 2.0 * c * c / (q * q))

    gx = gravity[0] * xx + gravity[1] * xy + gravity[2] * xz
    gy = gravity[0] * yx + gravity[1] * yy + gravity[2] * yz
    gz = gravity[0] * dx + gravity[1] * dy + gravity[2] * dz

    leg[EX], leg[EX + 1], leg[EX + 2] = xx, xy, xz
    leg[EY], leg[EY + 1], leg[EY + 2] = yx, yy, yz
    leg[EZ], leg[EZ + 1], leg[EZ + 2] = dx, dy, dz
    leg[ARM], leg[ARM + 1], leg[ARM + 2] = rx, ry, rz
    leg[LENGTH], leg[Q], leg[C] = length, q, c
    leg[OMEGA], leg[OMEGA + 1], leg[OMEGA + 2] = -uy, ux, spin
    leg[ALPHA] = -ddy + spin * ux
    leg[ALPHA + 1] = ddx + spin * uy
    leg[ALPHA + 2] = spin_rate
    leg[UPPER], leg[UPPER + 1], leg[UPPER + 2] = ax - gx, ay - gy, az - gz
    leg[LOWER], leg[LOWER + 1], leg[LOWER + 2] = -gx, -gy, -gz


@njit(cache=True)
def leg_balance(cylinder, rod, leg, out):  # type: ignore[no-untyped-def]
    """
    Balance one leg for given parameters.

    `out` (leg axes): transverse force on the rod at its upper joint (2), the rod's own axial
    force, the universal joint's moment, then force of cylinder (3) and rod (3) for the reactions.
    """
    wx, wy, wz = leg[OMEGA], leg[OMEGA + 1], leg[OMEGA + 2]
    bx, by, bz = leg[ALPHA], leg[ALPHA + 1], leg[ALPHA + 2]
    length, q, c = leg[LENGTH], leg[Q], leg[C]
    cx, cy, cz, mx, my, mz = body_wrench(
        cylinder, leg[LOWER], leg[LOWER + 1], leg[LOWER + 2], wx, wy, wz, bx, by, bz
    )
    rx, ry, rz, nx, ny, nz = body_wrench(
        rod, leg[UPPER], leg[UPPER + 1], leg[UPPER + 2], wx, wy, wz, bx, by, bz
    )
    mx += nx - length * ry
    my += ny + length * rx
    mz += nz
    moment = mz / q
    out[0] = my / length
    out[1] = -(mx + moment * c) / length
    out[2] = rz
    out[3] = moment
    out[4], out[5], out[6] = cx, cy, cz
    out[7], out[8], out[9] = rx, ry, rz


@njit(cache=True)
def platform_wrench(  # type: ignore[no-untyped-def]
    theta, rotation, gravity, omega, acceleration, alpha, out
):
    """Force and moment about platform_link's origin that move the platform, in base axes."""
    local = np.empty(9)
    for i in range(3):
        ai = wi = bi = 0.0
        for k in range(3):
            ai += rotation[k, i] * (acceleration[k] - gravity[k])
            wi += rotation[k, i] * omega[k]
            bi += rotation[k, i] * alpha[k]
        local[i], local[3 + i], local[6 + i] = ai, wi, bi
    fx, fy, fz, nx, ny, nz = body_wrench(
        theta,
        local[0],
        local[1],
        local[2],
        local[3],
        local[4],
        local[5],
        local[6],
        local[7],
        local[8],
    )
    for i in range(3):
        out[i] = rotation[i, 0] * fx + rotation[i, 1] * fy + rotation[i, 2] * fz
        out[3 + i] = rotation[i, 0] * nx + rotation[i, 1] * ny + rotation[i, 2] * nz


@njit(cache=True)
def kinematic_pass(  # type: ignore[no-untyped-def]
    base_joints,
    platform_joints,
    axes,
    gravity,
    position,
    rotation,
    velocity,
    omega,
    acceleration,
    alpha,
    legs,
):
    """Fill the table of all six legs for one sample."""
    arm = np.empty(3)
    for i in range(6):
        for k in range(3):
            arm[k] = (
                rotation[k, 0] * platform_joints[i, 0]
                + rotation[k, 1] * platform_joints[i, 1]
                + rotation[k, 2] * platform_joints[i, 2]
            )
        leg_kinematics(
            base_joints[i],
            axes[i],
            gravity,
            arm,
            position,
            velocity,
            omega,
            acceleration,
            alpha,
            legs[i],
        )


@njit(cache=True)
def add_transverse(leg, force, wrench):  # type: ignore[no-untyped-def]
    """Add what the platform must give to the leg's upper joint across the leg."""
    tx = force[0] * leg[EX] + force[1] * leg[EY]
    ty = force[0] * leg[EX + 1] + force[1] * leg[EY + 1]
    tz = force[0] * leg[EX + 2] + force[1] * leg[EY + 2]
    rx, ry, rz = leg[ARM], leg[ARM + 1], leg[ARM + 2]
    wrench[0] += tx
    wrench[1] += ty
    wrench[2] += tz
    wrench[3] += ry * tz - rz * ty
    wrench[4] += rz * tx - rx * tz
    wrench[5] += rx * ty - ry * tx


@njit(cache=True)
def wrench_matrix(legs, out):  # type: ignore[no-untyped-def]
    """Transposed Jacobian: column i is the wrench of a unit push of leg i."""
    for i in range(6):
        dx, dy, dz = legs[i, EZ], legs[i, EZ + 1], legs[i, EZ + 2]
        rx, ry, rz = legs[i, ARM], legs[i, ARM + 1], legs[i, ARM + 2]
        out[0, i], out[1, i], out[2, i] = dx, dy, dz
        out[3, i] = ry * dz - rz * dy
        out[4, i] = rz * dx - rx * dz
        out[5, i] = rx * dy - ry * dx


@njit(cache=True)
def add_tip_inertia(cylinder, rod, leg, scratch, force, mass):  # type: ignore[no-untyped-def]
    """
    Add a leg's share of the platform's 6x6 mass matrix.

    The leg resists an acceleration of its upper joint, at rest and without gravity, with a force
    that is linear in it: three unit accelerations give a 3x3 matrix, the moment arm the rest.
    `scratch` is a leg's row, `force` the ten numbers of `leg_balance`.
    """
    tip = np.empty((3, 3))
    scratch[:] = leg
    scratch[OMEGA : OMEGA + 3] = 0.0
    scratch[LOWER : LOWER + 3] = 0.0
    length, c_over_q = leg[LENGTH], leg[C] / leg[Q]
    for k in range(3):
        scratch[UPPER : UPPER + 3] = 0.0
        scratch[UPPER + k] = 1.0
        ax, ay = scratch[UPPER], scratch[UPPER + 1]
        scratch[ALPHA], scratch[ALPHA + 1] = -ay / length, ax / length
        scratch[ALPHA + 2] = -ay / length * c_over_q
        leg_balance(cylinder, rod, scratch, force)
        tip[0, k], tip[1, k], tip[2, k] = force[0], force[1], force[2]
    # motion[k] is the row of the joint's velocity along leg axis k: the axis and its moment
    motion = np.empty((3, 6))
    rx, ry, rz = leg[ARM], leg[ARM + 1], leg[ARM + 2]
    for k in range(3):
        ex, ey, ez = leg[3 * k], leg[3 * k + 1], leg[3 * k + 2]
        motion[k, 0], motion[k, 1], motion[k, 2] = ex, ey, ez
        motion[k, 3] = ry * ez - rz * ey
        motion[k, 4] = rz * ex - rx * ez
        motion[k, 5] = rx * ey - ry * ex
    for k in range(3):
        for j in range(6):
            value = tip[k, 0] * motion[0, j] + tip[k, 1] * motion[1, j] + tip[k, 2] * motion[2, j]
            for i in range(6):
                mass[i, j] += motion[k, i] * value


@njit(cache=True)
def platform_mass_matrix(theta, rotation, mass):  # type: ignore[no-untyped-def]
    """Fill `mass` with the 6x6 matrix of the platform alone, about its origin in base axes."""
    still, unit, column = np.zeros(3), np.zeros(6), np.empty(6)
    for j in range(6):
        unit[j] = 1.0
        platform_wrench(theta, rotation, still, still, unit[:3], unit[3:], column)
        unit[j] = 0.0
        for i in range(6):
            mass[i, j] = column[i]
