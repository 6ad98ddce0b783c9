# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The twelve constraints of one leg: their values, their Jacobian and Q_d.

Rows 0-3 universal joint base-cylinder (Eq. 15), 4-8 prismatic joint cylinder-rod (Eq. 13), 9-11
spherical joint rod-platform (Eq. 12). The leg's coordinates are those of cylinder, then rod:
centre of mass and three angles each. The cylinder's second universal axis is its y (the paper's
-X_cly, which must be normalised), so the joint asks X_M . y = 0.
"""

from __future__ import annotations

import numpy as np
from stewart_kinematics.kernels.compiled import (
    inferred,
    kernel,
    MATRIX,
    MATRIX_OUT,
    tuple_of,
    VECTOR,
    VECTOR_OUT,
    VOID,
)
from stewart_kinematics.kernels.vectors import cross, dot

# Centre of mass and attitude; velocity, angular velocity and angular acceleration.
BODY, RATES = tuple_of(VECTOR, MATRIX), tuple_of(VECTOR, VECTOR, VECTOR)


@inferred
def _axis(rotation, k):  # type: ignore[no-untyped-def]
    return (rotation[0, k], rotation[1, k], rotation[2, k])


@inferred
def _turned(rotation, local):  # type: ignore[no-untyped-def]
    return dot(rotation[0], local), dot(rotation[1], local), dot(rotation[2], local)


@inferred
def _along(vector, axes, row, column, sign, out):  # type: ignore[no-untyped-def]
    """Put the derivative of a rotation's scalar, vector . G, into three columns."""
    for k in range(3):
        out[row, column + k] = sign * (
            vector[0] * axes[0, k] + vector[1] * axes[1, k] + vector[2] * axes[2, k]
        )


@inferred
def _point_rows(arm, axes, row, column, sign, out):  # type: ignore[no-untyped-def]
    """Put in the derivative of a body's point, R + A u: identity and -[A u]x G, times `sign`."""
    for k in range(3):
        out[row + k, column + k] = sign
        g = (axes[0, k], axes[1, k], axes[2, k])
        turn = cross(g, arm)
        for i in range(3):
            out[row + i, column + 3 + k] = sign * turn[i]


@kernel(VOID, VECTOR, VECTOR, VECTOR, BODY, VECTOR, BODY, VECTOR, VECTOR_OUT)
def leg_constraints(  # type: ignore[no-untyped-def]
    base, universal_axis, base_arm, cylinder, rod_arm, rod, upper_point, out
):
    """Values of the twelve constraints.

    `cylinder` and `rod` are (centre of mass, attitude); `base_arm` leads from the cylinder's
    centre to the base joint, `rod_arm` from the rod's to the upper joint, both in body axes.
    """
    rc, ac = cylinder
    rr, ar = rod
    lower, upper = _turned(ac, base_arm), _turned(ar, rod_arm)
    reach = np.empty(3)
    for k in range(3):
        out[k] = rc[k] + lower[k] - base[k]
        reach[k] = rr[k] + upper[k] - rc[k] - lower[k]
        out[9 + k] = upper_point[k] - rr[k] - upper[k]
    xc, yc = _axis(ac, 0), _axis(ac, 1)
    zr, yr = _axis(ar, 2), _axis(ar, 1)
    out[3] = dot(universal_axis, yc)
    out[4], out[5] = dot(xc, reach), dot(yc, reach)
    out[6], out[7], out[8] = dot(xc, zr), dot(yc, zr), dot(xc, yr)


@inferred
def _parallel_row(a, b, gc, gr, row, out):  # type: ignore[no-untyped-def]
    """Put in the derivative of a . b, a fixed in the cylinder and b in the rod."""
    turn = cross(a, b)
    _along(turn, gc, row, 3, 1.0, out)
    _along(turn, gr, row, 9, -1.0, out)


@kernel(VOID, VECTOR, VECTOR, BODY, MATRIX, VECTOR, BODY, MATRIX, MATRIX_OUT)
def leg_jacobian(  # type: ignore[no-untyped-def]
    universal_axis, base_arm, cylinder, gc, rod_arm, rod, gr, out
):
    """Give the derivative of the twelve constraints by the leg's twelve coordinates."""
    rc, ac = cylinder
    rr, ar = rod
    out[:, :] = 0.0
    lower, upper = _turned(ac, base_arm), _turned(ar, rod_arm)
    reach = (
        rr[0] + upper[0] - rc[0] - lower[0],
        rr[1] + upper[1] - rc[1] - lower[1],
        rr[2] + upper[2] - rc[2] - lower[2],
    )
    _point_rows(lower, gc, 0, 0, 1.0, out)
    _along(cross(_axis(ac, 1), universal_axis), gc, 3, 3, 1.0, out)
    for row in range(2):
        v = _axis(ac, row)
        turn = cross(v, reach)
        own = cross(lower, v)
        far = cross(upper, v)
        for k in range(3):
            out[4 + row, k] = -v[k]
            out[4 + row, 6 + k] = v[k]
            out[4 + row, 3 + k] = (
                (turn[0] - own[0]) * gc[0, k]
                + (turn[1] - own[1]) * gc[1, k]
                + (turn[2] - own[2]) * gc[2, k]
            )
        _along(far, gr, 4 + row, 9, 1.0, out)
    _parallel_row(_axis(ac, 0), _axis(ar, 2), gc, gr, 6, out)
    _parallel_row(_axis(ac, 1), _axis(ar, 2), gc, gr, 7, out)
    _parallel_row(_axis(ac, 0), _axis(ar, 1), gc, gr, 8, out)
    _point_rows(upper, gr, 9, 6, -1.0, out)


@inferred
def _rates(vector, omega, alpha):  # type: ignore[no-untyped-def]
    """First and second time derivative of a body-fixed vector."""
    first = cross(omega, vector)
    turn, swing = cross(omega, first), cross(alpha, vector)
    return first, (turn[0] + swing[0], turn[1] + swing[1], turn[2] + swing[2])


@inferred
def _dot_second(a, da, dda, b, db, ddb):  # type: ignore[no-untyped-def]
    return dot(dda, b) + 2.0 * dot(da, db) + dot(a, ddb)


@kernel(VOID, VECTOR, VECTOR, BODY, RATES, VECTOR, BODY, RATES, VECTOR_OUT)
def leg_quadratic(  # type: ignore[no-untyped-def]
    universal_axis, base_arm, cylinder, cylinder_rates, rod_arm, rod, rod_rates, out
):
    """Q_d of the leg's own coordinates: minus the constraints' second derivative at q'' = 0.

    `cylinder_rates` and `rod_rates` are (velocity, angular velocity, angular acceleration at
    q'' = 0). The platform's part of rows 9-11 is the caller's.
    """
    rc, ac = cylinder
    rr, ar = rod
    vc, wc, bc = cylinder_rates
    vr, wr, br = rod_rates
    lower, upper = _turned(ac, base_arm), _turned(ar, rod_arm)
    dlower, ddlower = _rates(lower, wc, bc)
    dupper, ddupper = _rates(upper, wr, br)
    reach, dreach, ddreach = np.empty(3), np.empty(3), np.empty(3)
    for k in range(3):
        reach[k] = rr[k] + upper[k] - rc[k] - lower[k]
        dreach[k] = vr[k] + dupper[k] - vc[k] - dlower[k]
        ddreach[k] = ddupper[k] - ddlower[k]
        out[k] = -ddlower[k]
        out[9 + k] = ddupper[k]
    xc, yc, yr, zr = _axis(ac, 0), _axis(ac, 1), _axis(ar, 1), _axis(ar, 2)
    dxc, ddxc = _rates(xc, wc, bc)
    dyc, ddyc = _rates(yc, wc, bc)
    dyr, ddyr = _rates(yr, wr, br)
    dzr, ddzr = _rates(zr, wr, br)
    out[3] = -dot(universal_axis, ddyc)
    out[4] = -_dot_second(xc, dxc, ddxc, reach, dreach, ddreach)
    out[5] = -_dot_second(yc, dyc, ddyc, reach, dreach, ddreach)
    out[6] = -_dot_second(xc, dxc, ddxc, zr, dzr, ddzr)
    out[7] = -_dot_second(yc, dyc, ddyc, zr, dzr, ddzr)
    out[8] = -_dot_second(xc, dxc, ddxc, yr, dyr, ddyr)


@inferred
def length_gradient(base_arm, cylinder, gc, rod_arm, rod, gr, out):  # type: ignore[no-untyped-def]
    """Give the length's derivative by the leg's coordinates: a unit actuator force on them."""
    rc, ac = cylinder
    rr, ar = rod
    lower, upper = _turned(ac, base_arm), _turned(ar, rod_arm)
    reach = np.empty(3)
    for k in range(3):
        reach[k] = rr[k] + upper[k] - rc[k] - lower[k]
    reach /= np.sqrt(dot(reach, reach))
    own, far = cross(lower, reach), cross(upper, reach)
    for k in range(3):
        out[k], out[6 + k] = -reach[k], reach[k]
        out[3 + k] = -(own[0] * gc[0, k] + own[1] * gc[1, k] + own[2] * gc[2, k])
        out[9 + k] = far[0] * gr[0, k] + far[1] * gr[1, k] + far[2] * gr[2, k]
