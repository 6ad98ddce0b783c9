# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Frequency responses from a vehicle to the pilot's head on the platform.

Inputs, outputs and frequencies are those of the ten objective motion cueing tests of ICAO 9625;
docs/motion_cueing.md says what of that test is missing. Rotations of the vehicle are excited
without a change of specific force. Units are SI.
"""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from stewart_cueing.vehicle.methods import cueing
from stewart_cueing.vehicle.perception import felt
from stewart_cueing.vehicle.washout import LEVEL, Washout, WashoutSettings
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion
from stewart_tables.progress import Progress, silent

FREQUENCIES = 10.0 ** np.arange(-1.0, 1.3, 0.2)
"""0.1 to 15.849 rad/s."""

PERIOD = 0.005
"""Between two samples [s]."""

AMPLITUDES = (0.05, 0.05, 0.05, 0.005, 0.005, 0.005)
"""Of each sine by column [m/s²], [rad/s]; ours, small enough for a linear response."""

SETTLING, TURNS = 30.0, 2.0
"""Time before the response is evaluated [s], and periods of the slowest sine evaluated."""

Complex = NDArray[np.complex128]
Play = Callable[[Array], Motion]


class Pair(NamedTuple):
    """One test: columns of its input and output among specific force and rate (6,)."""

    number: int
    name: str
    source: int
    result: int


PAIRS = (
    Pair(1, 'pitch to pitch', 4, 4),
    Pair(2, 'pitch to surge', 4, 0),
    Pair(3, 'roll to roll', 3, 3),
    Pair(4, 'roll to sway', 3, 1),
    Pair(5, 'yaw to yaw', 5, 5),
    Pair(6, 'surge to surge', 0, 0),
    Pair(7, 'surge to pitch', 0, 4),
    Pair(8, 'sway to sway', 1, 1),
    Pair(9, 'sway to roll', 1, 3),
    Pair(10, 'heave to heave', 2, 2),
)
"""In the order of the tests."""


def measured(
    play: Play, head: Array, source: int, frequencies: Array, amplitude: float
) -> Complex:
    """Return responses (n, 6) of specific force and rate at the head to n sines of one column.

    Args:
        play: Returns the motion of a platform from rest for samples (m, 6) of a vehicle.
        head: In platform_link (3,) [m].
        source: Column of the input.
        frequencies (n,): Excited at the same time [rad/s].
        amplitude: Of each sine [m/s²] or [rad/s].
    """
    length = TURNS * 2.0 * math.pi / frequencies.min()
    time = PERIOD * np.arange(math.ceil((SETTLING + length) / PERIOD) + 1)
    # Schroeder phases keep the peak of the sum low.
    offsets = np.pi * np.arange(frequencies.size) ** 2 / frequencies.size
    phases = np.outer(time, frequencies) - offsets
    fade = 0.5 - 0.5 * np.cos(np.pi * np.minimum(2.0 * time / SETTLING, 1.0))
    samples = np.tile(LEVEL, (time.size, 1))
    samples[:, source] += amplitude * fade * np.sin(phases).sum(axis=1)
    settled = time >= SETTLING
    given, phases = felt(play(samples), head)[settled] - LEVEL, phases[settled]
    basis = np.hstack([np.sin(phases), np.cos(phases), np.ones((len(phases), 1))])
    found = np.linalg.lstsq(basis, given, rcond=None)[0]
    sine, cosine = found[:-1].reshape(2, -1, 6)
    return np.asarray((sine + 1j * cosine) / amplitude)


def played(method: str, guard: MotionGuard, settings: WashoutSettings, samples: Array) -> Motion:
    """Return the motion from rest by samples (m, 6); of the washout, what its filters ask for."""
    if method == 'washout':
        return Washout(settings, guard.platform.geometry.neutral_pose, PERIOD).run(samples)
    player = cueing(method, guard, settings, PERIOD)
    rows = [player.advance(n * PERIOD, row) for n, row in enumerate(samples)]
    return Motion(*(np.stack(part) for part in zip(*(r.parts() for r in rows), strict=True)))


def responses(
    method: str, platform: Platform, settings: WashoutSettings, progress: Progress = silent
) -> Complex:
    """Return the responses (10, 12) of a method by `PAIRS` and `FREQUENCIES` to small inputs.

    For the washout these are its filters alone; the governor adds a delay of one period.
    """
    guard = MotionGuard(platform)

    def play(samples: Array) -> Motion:
        return played(method, guard, settings, samples)

    found = []
    for source, amplitude in enumerate(AMPLITUDES):
        found.append(measured(play, np.array(settings.head), source, FREQUENCIES, amplitude))
        progress((source + 1) / len(AMPLITUDES))
    return np.stack([found[pair.source][:, pair.result] for pair in PAIRS])
