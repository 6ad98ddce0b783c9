# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
Six servo drives acting on the rigid-body plant, one kernel for both.

Cascade of every drive: a proportional position loop with the target rate fed forward, a
proportional-integral rate loop with the feed-forward force added, a current loop of first order.
"""

from __future__ import annotations

from numba import njit
import numpy as np
from stewart_dynamics.forward_kernels import advance_in_place, Plant
from stewart_dynamics.vectors import rotation_matrix

# A mechanical end stop: stiff, damped, and slow enough for the servo's step [N/m], [N s/m].
STOP_STIFFNESS, STOP_DAMPING = 2e6, 2e3


@njit(cache=True)
def leg_motion(base_joints, platform_joints, state, lengths, rates):  # type: ignore[no-untyped-def]
    """Fill lengths [m] and rates [m/s] of the six legs for a plant state."""
    rotation = np.empty((3, 3))
    rotation_matrix(state[3:7], rotation)
    for i in range(6):
        length = rate = 0.0
        arm = rotation @ platform_joints[i]
        turn = np.cross(state[10:13], arm)
        for k in range(3):
            reach = state[k] + arm[k] - base_joints[i, k]
            length += reach * reach
            rate += reach * (state[7 + k] + turn[k])
        lengths[i] = np.sqrt(length)
        rates[i] = rate / lengths[i]


@njit(cache=True)
def run_servos(  # type: ignore[no-untyped-def]
    plant: Plant,
    retracted,
    ends,
    gains,
    targets,
    target_rates,
    feed_forward,
    integrals,
    forces,
    state,
    step,
    count,
):
    """
    Let drives and plant run for `count` steps; False if the plant became singular.

    `plant` are the leading arguments of ``forward_kernels.advance_in_place``; `gains` are position
    gain [1/s], rate gain [N s/m], integral gain [N/m], force limit [N], current lag [s] and how
    long a target's rate is followed [s]. The integrals [N], the delivered forces [N] and the plant
    state change in place.
    """
    position_gain, rate_gain, integral_gain, limit, lag, hold_after = gains
    lengths, rates, acting = np.empty(6), np.empty(6), np.empty(6)
    follow = 1.0 - np.exp(-step / lag)
    for n in range(count):
        leg_motion(plant[0], plant[1], state, lengths, rates)
        age = n * step
        for i in range(6):
            stroke = lengths[i] - retracted[i]
            target = targets[i] + target_rates[i] * min(age, hold_after)
            target_rate = target_rates[i] if age <= hold_after else 0.0
            error = target_rate + position_gain * (target - stroke) - rates[i]
            asked = rate_gain * error + integrals[i] + feed_forward[i]
            given = min(max(asked, -limit), limit)
            if asked == given:  # the integral rests while the force is at its limit
                integrals[i] += integral_gain * error * step
            forces[i] += follow * (given - forces[i])
            acting[i] = forces[i]
            over = max(stroke - ends[1, i], 0.0) + min(stroke - ends[0, i], 0.0)
            if over != 0.0:
                acting[i] -= STOP_STIFFNESS * over + STOP_DAMPING * rates[i]
        if not advance_in_place(*plant, state, acting, step, 1):
            return False
    return True
