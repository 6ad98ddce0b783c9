# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""Following the solutions of quadratic equations while their coefficients change.

Seven quadratic forms :math:`x^T N_i x = 0` of eight homogeneous unknowns have isolated solutions.
While the matrices go from one set to another, :math:`N(s) = N_0 + s N_1 + s^2 N_2` for s from 0
to 1, the solutions move along smooth paths, which meet nowhere if the first set is complex and
generic [1]. Each path is followed by the Runge-Kutta method and Newton's, on the sphere
:math:`|x| = 1`, with steps of its own.

References:
    [1] A. J. Sommese and C. W. Wampler, "The Numerical Solution of Systems of Polynomials Arising
       in Engineering and Science", World Scientific, 2005, chapters 2 and 7.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Complex = NDArray[np.complex128]

FIRST_STEP, LEAST_STEP = 0.02, 1e-11
"""Step at the beginning, and the one below which a path is given up [-]."""

SHRINK, GROW = 0.35, 3.0  # how much a step changes at most from one to the next [-]

CONTRACTION, ROUNDING = 1e-2, 1e-7
"""A second Newton step is at most this part of the first one and this, for rounding [-]."""

ROUNDS = 2000  # most steps of a path, those taken again included
NEAR_END = 1e-6  # what may be missing of a path to an end that is singular [-]
LAST_STEPS = 50  # Newton steps at the end: a singular end is approached by halves
SMALL = 1e-13  # residual of a solution |x| = 1 whose matrices are of norm 1 [-]


def follow(
    path: Complex, points: Complex, tolerance: float
) -> tuple[Complex, NDArray[np.float64]]:
    """Follow solutions (n, 8) at s = 0 along N_0, N_1, N_2, `path` (3, 7, 8, 8), to s = 1.

    `tolerance` is the largest distance from a path that a predicted point may have [-].

    Returns:
        (n, 8): Where each path ended, |x| = 1.
        (n,): s there: 1 where it is a solution, less where the path was given up.
    """
    x = points / np.linalg.norm(points, axis=1, keepdims=True)
    s, step = np.zeros(len(x)), np.full(len(x), FIRST_STEP)
    for _ in range(ROUNDS):
        live = np.flatnonzero((s < 1.0) & (step > LEAST_STEP))
        if live.size == 0:
            break
        begin, h = s[live], np.minimum(step[live], 1.0 - s[live])
        ahead, off, off_again = _step(path, x[live], begin, h)
        good = (off < tolerance) & (off_again <= CONTRACTION * off + ROUNDING)
        x[live[good]] = ahead[good]
        # A full last step must end at 1 exactly, whatever the rounding of begin + h.
        s[live[good]] = np.where(h == 1.0 - begin, 1.0, begin + h)[good]
        factor = np.clip(0.8 * (tolerance / np.maximum(off, 1e-30)) ** 0.2, SHRINK, GROW)
        step[live] = h * np.where(good, factor, SHRINK)
    near = np.flatnonzero(s > 1.0 - NEAR_END)
    x[near], solved = _refined(path.sum(axis=0), x[near])
    s[near] = np.where(solved, 1.0, 1.0 - NEAR_END)
    return x, s


def _step(
    path: Complex, x: Complex, s: NDArray[np.float64], h: NDArray[np.float64]
) -> tuple[Complex, NDArray[np.float64], NDArray[np.float64]]:
    """Return the points a step ahead and the lengths of the two Newton steps that led there."""
    k, half = h[:, None], s + 0.5 * h
    first = _solve(path, x, s, x, 1)
    second = _solve(path, x + 0.5 * k * first, half, x, 1)
    third = _solve(path, x + 0.5 * k * second, half, x, 1)
    fourth = _solve(path, x + k * third, s + h, x, 1)
    ahead = x + k / 6.0 * (first + 2.0 * second + 2.0 * third + fourth)
    off = _solve(path, ahead, s + h, x, 0)
    ahead = ahead + off
    off_again = _solve(path, ahead, s + h, x, 0)
    ahead = ahead + off_again
    return (
        ahead / np.linalg.norm(ahead, axis=1, keepdims=True),
        np.linalg.norm(off, axis=1),
        np.linalg.norm(off_again, axis=1),
    )


def _solve(
    path: Complex, x: Complex, s: NDArray[np.float64], normal: Complex, order: int
) -> Complex:
    """Return the Newton step (order 0) or the slope of the paths (order 1) across `normal`."""
    parts = (x @ path.reshape(-1, 8).T).reshape(len(x), 3, 7, 8)
    s = s[:, None, None]
    rows = parts[:, 0] + s * (parts[:, 1] + s * parts[:, 2])
    change = parts[:, 1] + 2.0 * s * parts[:, 2] if order else rows
    matrix = np.concatenate([2.0 * rows, normal.conj()[:, None]], axis=1)
    right = np.zeros((len(x), 8, 1), dtype=complex)
    right[:, :7] = -change @ x[:, :, None]
    try:
        return np.asarray(np.linalg.solve(matrix, right)[..., 0])
    except np.linalg.LinAlgError:
        return np.asarray((np.linalg.pinv(matrix) @ right)[..., 0])


def _refined(forms: Complex, x: Complex) -> tuple[Complex, NDArray[np.bool_]]:
    """Return solutions by Newton's method, and whether each is one."""
    path = np.stack([forms, 0.0 * forms, 0.0 * forms])
    still = np.zeros(len(x))
    for _ in range(LAST_STEPS):
        ahead = x + _solve(path, x, still, x, 0)
        ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
        better = residual(forms, ahead) < residual(forms, x)
        x = np.where(better[:, None], ahead, x)
        if not np.any(better):
            break
    return x, residual(forms, x) < SMALL


def residual(forms: Complex, x: Complex) -> NDArray[np.float64]:
    """Return the largest form of points (n, 8), each in parts of its matrix' norm, (n,)."""
    norms = np.linalg.norm(forms, axis=(1, 2))
    values = np.einsum('pi,kij,pj->pk', x, forms, x) / norms
    return np.asarray(np.max(np.abs(values), axis=1, initial=0.0))
