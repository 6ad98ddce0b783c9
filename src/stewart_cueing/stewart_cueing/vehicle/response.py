# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Frequency response from a vehicle to the head on the platform, measured and by the filters.

The ten pairs of the objective motion cueing test (ICAO 9625) at its twelve frequencies; as for its
amplitudes and bounds, see docs/motion_cueing.md. A turn of the vehicle comes without specific
force. Responses are in SI: rates over rates [-], forces over forces [-], and what couples the two.
"""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from stewart_cueing.vehicle.methods import cueing
from stewart_cueing.vehicle.perception import felt
from stewart_cueing.vehicle.washout import GRAVITY, LEVEL, Washout, WashoutSettings
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion
from stewart_tables.progress import Progress, silent

FREQUENCIES = 10.0 ** np.arange(-1.0, 1.3, 0.2)
"""0.1 to 15.849 rad/s."""

PERIOD = 0.005
"""Between two samples [s]."""

AMPLITUDES = (0.05, 0.05, 0.05, 0.005, 0.005, 0.005)
"""Of each sine by column, ours: so small that no bound is met [m/s²], [rad/s]."""

SETTLING, TURNS = 30.0, 2.0
"""Time before a response is looked at [s], and how many turns of the slowest sine then are."""

Complex = NDArray[np.complex128]
Play = Callable[[Array], Motion]


class Pair(NamedTuple):
    """What is excited and what is looked at: columns of specific force and rate (6,)."""

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
"""As the test numbers them."""


def measured(
    play: Play, head: Array, source: int, frequencies: Array, amplitude: float
) -> Complex:
    """Return responses (n, 6) of specific force and rate at the head to sines of one column.

    Args:
        play: Returns the motion of a platform, at rest at first, for samples (m, 6) of a vehicle.
        head: In platform_link (3,) [m].
        source: Column of the input.
        frequencies: n, all at once [rad/s].
        amplitude: Of each [m/s²] or [rad/s]. They fade in over half of `SETTLING`.
    """
    length = TURNS * 2.0 * math.pi / frequencies.min()
    time = PERIOD * np.arange(math.ceil((SETTLING + length) / PERIOD) + 1)
    # Phases that keep the peak of the sum low (M. Schroeder, 1970).
    phases = np.outer(time, frequencies) - np.pi * np.arange(frequencies.size) ** 2 / len(
        frequencies
    )
    fade = 0.5 - 0.5 * np.cos(np.pi * np.minimum(2.0 * time / SETTLING, 1.0))
    samples = np.tile(LEVEL, (time.size, 1))
    samples[:, source] += amplitude * fade * np.sin(phases).sum(axis=1)
    settled = time >= SETTLING
    given, phases = felt(play(samples), head)[settled] - LEVEL, phases[settled]
    basis = np.hstack([np.sin(phases), np.cos(phases), np.ones((len(phases), 1))])
    found = np.linalg.lstsq(basis, given, rcond=None)[0]
    sine, cosine = found[:-1].reshape(2, -1, 6)
    return np.asarray((sine + 1j * cosine) / amplitude)


def responses(
    method: str, platform: Platform, settings: WashoutSettings, progress: Progress = silent
) -> Complex:
    """Return the responses (10, 12) of a method by `PAIRS` and `FREQUENCIES`, small inputs.

    The washout is that of its filters; the governor behind it adds a period of delay.
    """

    def play(samples: Array) -> Motion:
        if method == 'washout':
            return Washout(settings, platform.geometry.neutral_pose, PERIOD).run(samples)
        player = cueing(method, MotionGuard(platform), settings, PERIOD)
        rows = [player.advance(n * PERIOD, row) for n, row in enumerate(samples)]
        return Motion(*(np.stack(part) for part in zip(*(r.parts() for r in rows), strict=True)))

    found = []
    for source, amplitude in enumerate(AMPLITUDES):
        found.append(measured(play, np.array(settings.head), source, FREQUENCIES, amplitude))
        progress((source + 1) / len(AMPLITUDES))
    return np.stack([found[pair.source][:, pair.result] for pair in PAIRS])


def closed_form(settings: WashoutSettings, pair: Pair, frequency: float, period: float) -> complex:
    """Return the response of the washout's filters to small inputs.

    Tilt and turns θ bring gravity into the filters of the forces, so a force F gives
    H F (1 - D L) + L F, with high-pass H and tilt's low-pass L, and a pitch θ gives
    (D H - 1) g θ. D is one period: a force is turned by the attitude of the sample before.
    """
    s, source = 1j * frequency, pair.source
    delay = np.exp(-s * period)
    lag = 1.0 / (1.0 + settings.smoothing * s)
    axis = pair.result if pair.result < 3 else 0
    w, wb = settings.force_frequency[axis], settings.return_frequency[axis]
    high = lag * s**3 / ((s * s + 2.0 * settings.force_damping * w * s + w * w) * (s + wb))
    t = settings.tilt_frequency
    low = t * t / (s * s + 2.0 * settings.tilt_damping * t * s + t * t)
    if source >= 3:
        w = settings.turn_frequency[source - 3]
        scale = settings.rate_scale[source - 3]
        angle = scale * lag * s / (s * s + 2.0 * settings.turn_damping * w * s + w * w)
        if pair.result >= 3:
            return complex(s * angle)
        return complex((1.0 if source == 4 else -1.0) * (delay * high - 1.0) * GRAVITY * angle)
    scale = settings.force_scale[source]
    if pair.result >= 3:
        return complex((-1.0 if source == 0 else 1.0) * scale * s * low / GRAVITY)
    return complex(scale * (high if source == 2 else high * (1.0 - delay * low) + low))
