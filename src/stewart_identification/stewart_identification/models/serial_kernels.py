# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""Kernel of the serial robots: recursive Newton-Euler over standard Denavit-Hartenberg links.

Joint i turns about or slides along z of frame i - 1; frame i is fixed at the end of link i,
Joint i turns about, or slides along, z of frame i - 1; frame i is fixed at the end of link i,
about frame i's origin, in its axes.
"""

from __future__ import annotations

import math

import numpy as np
from stewart_dynamics.leg_kernels import body_wrench
from stewart_kinematics.kernels.compiled import kernel, MATRIX, part, STACK_OUT, VECTOR, VOID
from stewart_kinematics.kernels.vectors import cross, dot, minus, plus, put, times, Triple, triple
from stewart_kinematics.motion import Array

A, ALPHA, D, THETA, SLIDES = 0, 1, 2, 3, 4
"""Columns of the table of joints; the last is 1 where the joint slides, else 0."""

# Columns of the per-link table: rotation to the frame before by rows, offset from its origin,
# angular velocity and acceleration, acceleration less gravity; the last four in link axes.
ROTATION, OFFSET, OMEGA, OMEGA_DOT, ACCELERATION, COLUMNS = 0, 9, 12, 15, 18, 21


@part
def _forth(link: Array, v: Triple) -> Triple:
    """Return a vector of the link's axes in those of the frame before."""
    return dot(triple(link, 0), v), dot(triple(link, 3), v), dot(triple(link, 6), v)


@part
def _back(link: Array, v: Triple) -> Triple:
    """Return a vector of the frame before in the link's axes."""
    x = times(v[0], triple(link, 0))
    return plus(x, plus(times(v[1], triple(link, 3)), times(v[2], triple(link, 6))))


@part
def _place(joint: Array, q: float, link: Array) -> None:
    """Fill rotation and offset of one link."""
    slides = joint[SLIDES] > 0.5
    theta = joint[THETA] if slides else joint[THETA] + q
    d = joint[D] + q if slides else joint[D]
    c, s = math.cos(theta), math.sin(theta)
    ca, sa = math.cos(joint[ALPHA]), math.sin(joint[ALPHA])
    put(link, 0, (c, -s * ca, s * sa))
    put(link, 3, (s, c * ca, -c * sa))
    put(link, 6, (0.0, sa, ca))
    put(link, OFFSET, (joint[A], d * sa, d * ca))


@part
def _move(
    joint: Array,
    link: Array,
    rate: float,
    rate_dot: float,
    omega: Triple,
    omega_dot: Triple,
    acceleration: Triple,
) -> None:
    """Fill the motion of one link from that of the frame before, given in that frame."""
    z = (0.0, 0.0, 1.0)
    if joint[SLIDES] > 0.5:
        w, wd = _back(link, omega), _back(link, omega_dot)
        slide = times(2.0 * rate, cross(w, _back(link, z)))
        base = plus(_back(link, plus(acceleration, (0.0, 0.0, rate_dot))), slide)
    else:
        turning = plus(plus(omega_dot, (0.0, 0.0, rate_dot)), times(rate, cross(omega, z)))
        w, wd = _back(link, plus(omega, (0.0, 0.0, rate))), _back(link, turning)
        base = _back(link, acceleration)
    p = triple(link, OFFSET)
    put(link, OMEGA, w)
    put(link, OMEGA_DOT, wd)
    put(link, ACCELERATION, plus(base, plus(cross(wd, p), cross(w, cross(w, p)))))


@kernel(VOID, MATRIX, VECTOR, MATRIX, MATRIX, MATRIX, MATRIX, STACK_OUT)
def joint_forces(
    joints: Array,
    gravity: Array,
    parameters: Array,
    position: Array,
    velocity: Array,
    acceleration: Array,
    forces: Array,
) -> None:
    """Fill the joints' forces and torques for all samples and `parameters`, (samples, rows, d).

    `joints` (d, 5), `gravity` (3,) in base axes, `parameters` (rows, 10 d), motion (samples, d).
    """
    count = joints.shape[0]
    links = np.empty((count, COLUMNS))
    still = (0.0, 0.0, 0.0)
    for n in range(position.shape[0]):
        w, wd, a = still, still, minus(still, triple(gravity, 0))
        for i in range(count):
            _place(joints[i], position[n, i], links[i])
            _move(joints[i], links[i], velocity[n, i], acceleration[n, i], w, wd, a)
            w, wd = triple(links[i], OMEGA), triple(links[i], OMEGA_DOT)
            a = triple(links[i], ACCELERATION)
        for k in range(parameters.shape[0]):
            force, moment = still, still
            for i in range(count - 1, -1, -1):
                link = links[i]
                theta = parameters[k, 10 * i : 10 * i + 10]
                own, turn = body_wrench(
                    theta,
                    triple(link, ACCELERATION),
                    triple(link, OMEGA),
                    triple(link, OMEGA_DOT),
                )
                force = plus(force, own)
                moment = plus(plus(moment, turn), cross(triple(link, OFFSET), force))
                # moment is now about the origin of the frame before, in link axes
                axis = triple(link, 6)
                if joints[i, SLIDES] > 0.5:
                    forces[n, k, i] = dot(axis, force)
                else:
                    forces[n, k, i] = dot(axis, moment)
                force, moment = _forth(link, force), _forth(link, moment)
