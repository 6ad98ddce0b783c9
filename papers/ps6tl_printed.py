# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Formulas of the PS-6TL paper as they are printed, each with the repair that makes it right.

The paper mixes three conventions: Eq. 3 is R_z(psi) R_y(theta) R_x(phi), Eqs. 11 to 15 belong to
R_y R_x R_z, Eqs. 17 to 24 to R_x(alpha) R_y(beta) R_z(gamma), which the text never names. The
package derives everything from Eq. 3; nothing of it is used here.
"""

from __future__ import annotations

import numpy as np
from stewart_kinematics.motion import Array


def mass_block(angles: Array, moments: Array) -> Array:
    """Return the rotational block of Eq. 17, angles alpha, beta, gamma, shape (n, 3, 3)."""
    ix, iy, iz = moments
    (cb, sb), (cg, sg) = _cos_sin(angles[:, 1]), _cos_sin(angles[:, 2])
    block = np.zeros((len(angles), 3, 3))
    block[:, 0, 0] = ix * cb**2 * cg**2 + iy * cb**2 * sg**2 + iz * sb**2
    block[:, 0, 1] = block[:, 1, 0] = (ix - iy) * cb * cg * sg
    block[:, 0, 2] = block[:, 2, 0] = iz * sb
    block[:, 1, 1] = ix * sg**2 + iy * cg**2
    block[:, 2, 2] = iz
    return block


def coriolis_block(angles: Array, rates: Array, moments: Array, *, repaired: bool) -> Array:
    """Return C_22 of Eqs. 23 and 24, shape (n, 3, 3).

    Args:
        angles, rates (n, 3): Alpha, beta, gamma and their rates [rad], [rad/s].
        moments (3,): [kg m²].
        repaired: With C_3 = sin b cos g sin g (I_x − I_y) for the printed cos g sin² g (I_x −
            I_y), and with the terms I_z cos b / 2, which are not printed at all.

    Returns:
        (n, 3, 3): [kg m²/s].
    """
    ix, iy, iz = moments
    (cb, sb), (cg, sg) = _cos_sin(angles[:, 1]), _cos_sin(angles[:, 2])
    da, db, dg = rates.T
    c1 = cb * sb * (cg**2 * ix + sg**2 * iy - iz)
    c2 = cb**2 * cg * sg * (ix - iy)
    c3 = (sb * cg * sg if repaired else cg * sg**2) * (ix - iy)
    c4 = 0.5 * cb * (cg**2 - sg**2) * (ix - iy)
    c5 = cg * sg * (ix - iy)
    c6 = 0.5 * iz * cb if repaired else np.zeros_like(cb)
    rows = [
        [-c1 * db - c2 * dg, -c1 * da - c3 * db + (c4 + c6) * dg, -c2 * da + (c4 + c6) * db],
        [c1 * da + (c4 - c6) * dg, c5 * dg, (c4 - c6) * da + c5 * db],
        [c2 * da - (c4 - c6) * db, -(c4 - c6) * da - c5 * db, np.zeros_like(da)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def angular_velocity(angles: Array, rates: Array, *, repaired: bool) -> Array:
    """Return the plate's angular velocity of Eq. 15, shape (n, 3) [rad/s].

    Args:
        angles, rates (n, 3): Phi, theta, psi and their rates [rad], [rad/s].
        repaired: With R_y R_x Z as the axis of psi in Eq. 12, instead of R_x R_z Z.

    Returns:
        (n, 3): In the plate's axes, for R = R_y(theta) R_x(phi) R_z(psi).
    """
    (cf, sf), (ct, st), (cp, sp) = (_cos_sin(column) for column in angles.T)
    zero, one = np.zeros_like(cf), np.ones_like(cf)
    if repaired:
        columns = np.array([[ct, zero, st * cf], [zero, one, -sf], [-st, zero, ct * cf]])
        axes = np.moveaxis(columns, -1, 0)
        x = np.array([[one, zero, zero], [zero, cf, sf], [zero, -sf, cf]])
        y = np.array([[ct, zero, -st], [zero, one, zero], [st, zero, ct]])
        z = np.array([[cp, sp, zero], [-sp, cp, zero], [zero, zero, one]])
        turn = np.einsum('ijn,jkn,kln->nil', z, x, y)
        matrix = turn @ axes
    else:
        rows = [
            [cp, cf * sp, -cf * cp * st - cf * sf * sp + cf * ct * sf * sp],
            [-sp, cf * cp, -cf * cp * sf + cf * st * sp + cf * ct * sf * cp],
            [zero, -sf, sf**2 + cf**2 * ct],
        ]
        matrix = np.moveaxis(np.array(rows), -1, 0)
    return np.einsum('nij,nj->ni', matrix, rates)


def leg_lengths(base: Array, platform: Array, coordinates: Array) -> Array:
    """Return the lengths of Eq. 6, shape (n, 6) [m]; rings in their own planes."""
    r, (x, y, z) = _eq_3(coordinates), (coordinates[:, k, None] for k in range(3))
    (px, py), (bx, by) = platform[:, :2].T, base[:, :2].T
    radii = np.hypot(px, py) ** 2 + np.hypot(bx, by) ** 2
    squared = (
        x**2
        + y**2
        + z**2
        + radii
        + 2.0 * (r[0, 0] * px + r[0, 1] * py) * (x - bx)
        + 2.0 * (r[1, 0] * px + r[1, 1] * py) * (y - by)
        + 2.0 * (r[2, 0] * px + r[2, 1] * py) * z
        - 2.0 * (x * bx + y * by)
    )
    return np.asarray(np.sqrt(squared))


def jacobian(base: Array, platform: Array, coordinates: Array, *, repaired: bool) -> Array:
    """Return J of Eq. 25, shape (n, 6, 6).

    Args:
        base, platform (6, 3): Joints, in the planes of their frames [m].
        coordinates (n, 6): x, y, z, phi, theta, psi [m], [rad].
        repaired: With r_32 sin psi for r_23 sin psi in J(i,5) and −P_iy r_22 for P_iy r_22 in
            J(i,6).

    Returns:
        (n, 6, 6): J(i,4) is not printed; it is P_iy (r_13 x̄ + r_23 ȳ + r_33 z) / l_i either way.
    """
    r, (x, y, z) = _eq_3(coordinates), (coordinates[:, k, None] for k in range(3))
    (px, py), (bx, by) = platform[:, :2].T, base[:, :2].T
    (_, sf), (ct, st), (cp, sp) = (_cos_sin(coordinates[:, k, None]) for k in (3, 4, 5))
    xb, yb = x - bx, y - by
    fifth, sixth = (r[2, 1], -r[1, 1]) if repaired else (r[1, 2], r[1, 1])
    columns = [
        x + px * r[0, 0] + py * r[0, 1] - bx,
        y + px * r[1, 0] + py * r[1, 1] - by,
        z + px * r[2, 0] + py * r[2, 1],
        py * (r[0, 2] * xb + r[1, 2] * yb + r[2, 2] * z),
        (-px * st * cp + py * r[2, 1] * cp) * xb
        + (-px * st * sp + py * fifth * sp) * yb
        + (-px * ct - py * sf * st) * z,
        (-px * r[1, 0] + py * sixth) * xb + (px * r[0, 0] + py * r[0, 1]) * yb,
    ]
    lengths = leg_lengths(base, platform, coordinates)
    return np.stack(columns, axis=-1) / lengths[..., None]


def _cos_sin(angle: Array) -> tuple[Array, Array]:
    """Return the cosine and the sine of an angle."""
    return np.cos(angle), np.sin(angle)


def _eq_3(coordinates: Array) -> Array:
    """Return the matrix of Eq. 3 entry by entry, shape (3, 3, n, 1)."""
    (cf, sf), (ct, st), (cp, sp) = (_cos_sin(coordinates[:, k]) for k in (3, 4, 5))
    return np.array(
        [
            [cp * ct, cp * st * sf - sp * cf, cp * st * cf + sp * sf],
            [sp * ct, sp * st * sf + cp * cf, sp * st * cf - cp * sf],
            [-st, ct * sf, ct * cf],
        ]
    )[..., None]
