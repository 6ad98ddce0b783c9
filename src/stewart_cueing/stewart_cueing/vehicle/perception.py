# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a pilot feels on the platform, and what of it the vestibular organs pass on.

The canals turn angular rate into τ τ_a s² / ((1 + τ s)(1 + τ_a s)), with τ = 5.7 s and τ_a = 80 s
(Rader, Oman, Merfeld, J. Neurophysiol. 102 (2009) 2232, Table 4). The otoliths turn specific force
into (1 + τ_n s) / ((1 + τ_1 s)(1 + τ_2 s)); its times 1, 0.5 and 0.016 s are those of a public
course's script, whose paper we have not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its part for signals is loaded at the first use, and takes 0.5 s
from stewart_cueing.vehicle.washout import GRAVITY, LEVEL
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.spatial import matrix_from_quaternion

CANAL, ADAPTATION = 5.7, 80.0
"""Time constants of the semicircular canals [s]."""

OTOLITH_LEAD, OTOLITH_LAG, OTOLITH_FAST = 1.0, 0.5, 0.016
"""Time constants of the otoliths [s]."""

THRESHOLDS = np.repeat([0.2, 0.05], 3)
"""Perceived specific force [m/s²] and rate [rad/s] that count as a cue; ours."""


def felt(motion: Motion, head: Array) -> Array:
    """Return specific force and rate (n, 6) at a head in ``platform_link``, in its axes."""
    rotation = matrix_from_quaternion(motion.quaternion_xyzw)
    turning, arm = motion.angular_velocity, rotation @ head
    force = motion.linear_acceleration + np.cross(motion.angular_acceleration, arm)
    force = force + np.cross(turning, np.cross(turning, arm)) + [0.0, 0.0, GRAVITY]
    halves = (np.einsum('nji,nj->ni', rotation, values) for values in (force, turning))
    return np.concatenate(list(halves), axis=1)


def perceived(samples: Array, period: float) -> Array:
    """Return what the vestibular organs pass on of n samples (n, 6), from rest on.

    Specific force counts from rest, so it is (0, 0, 0) there.
    """
    otolith = [OTOLITH_LEAD, 1.0], np.polymul([OTOLITH_LAG, 1.0], [OTOLITH_FAST, 1.0])
    canal = [CANAL * ADAPTATION, 0.0, 0.0], np.polymul([CANAL, 1.0], [ADAPTATION, 1.0])
    result = np.empty(samples.shape)
    for columns, system in ((slice(0, 3), otolith), (slice(3, 6), canal)):
        numerator, denominator = scipy.signal.bilinear(*system, fs=1.0 / period)
        change = (samples - LEVEL)[:, columns]
        result[:, columns] = scipy.signal.lfilter(numerator, denominator, change, axis=0)
    return result


@dataclass(frozen=True)
class FalseCues:
    """Cues that the vehicle did not give: their number and how long they lasted [s], all axes."""

    count: int
    seconds: float


def false_cues(wanted: Array, given: Array, period: float) -> FalseCues:
    """Count perceived cues (n, 6) above `THRESHOLDS` against the wanted ones' direction.

    A cue is false where it is above its threshold and points the other way, or where the wanted
    one is below half of the threshold.
    """
    strong = np.abs(given) > THRESHOLDS
    wrong = strong & ((given * wanted < 0.0) | (np.abs(wanted) < 0.5 * THRESHOLDS))
    begins = wrong & ~np.vstack([np.zeros((1, 6), dtype=bool), wrong[:-1]])
    return FalseCues(int(begins.sum()), float(wrong.sum() * period))
