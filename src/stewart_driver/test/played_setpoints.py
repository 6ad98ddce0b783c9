# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Setpoints on their way to an interpolator, and what it commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from stewart_driver.control.configuration import InterpolationSettings
from stewart_driver.legs import Array, LegLimits
from stewart_driver.path.interpolation import Interpolator
from stewart_driver.path.motion import LegMotion

T0 = 1000.0
CYCLE = 1e-3
PERIOD = 5e-3
SETTINGS = InterpolationSettings(playout_delay=0.02, extrapolation_time=0.02)
ZERO = np.zeros(6)
LIMITS = LegLimits(np.zeros(6), np.full(6, 0.6), rate=0.6, acceleration=6.0)
START = np.full(6, 0.3)
PHASES = np.array([0.0, 0.7, 1.9, 2.6, 4.0, 5.5])


@dataclass(frozen=True)
class Wave:
    """Different sines in six legs that begin at rest: the amplitude rises over one second."""

    amplitude: float = 0.08
    frequency: float = 0.5

    def setpoint(self, time: float, stamp: float) -> LegMotion:
        """Return the sample at a time since the beginning, with a stamp."""
        x = min(max(time, 0.0), 1.0)
        rise, rise_rate = x**3 * (10 - 15 * x + 6 * x**2), 30 * x**2 * (1 - x) ** 2
        omega = 2 * np.pi * self.frequency
        sine, cosine = np.sin(omega * time + PHASES), np.cos(omega * time + PHASES)
        strokes = START + self.amplitude * rise * sine
        rates = self.amplitude * (rise_rate * sine + rise * omega * cosine)
        return LegMotion(stamp, strokes, rates)


@dataclass(frozen=True, eq=False)
class Played:
    """What an interpolator commanded, cycle by cycle."""

    times: Array
    strokes: Array
    rates: Array
    starved: Array

    @property
    def stroke_steps(self) -> Array:
        """Change of the command from cycle to cycle, shape (n - 1, 6) [m]."""
        return np.diff(self.strokes, axis=0)

    @property
    def rate_steps(self) -> Array:
        """Change of the commanded rate from cycle to cycle, shape (n - 1, 6) [m/s]."""
        return np.diff(self.rates, axis=0)


def play(
    interpolator: Interpolator,
    arrivals: Sequence[tuple[float, LegMotion]],
    cycles: Array,
    during: Callable[[float], None] = lambda _now: None,
) -> Played:
    """Offer every setpoint in the first cycle after its arrival and record the commands."""
    waiting = sorted(arrivals, key=lambda item: item[0])
    commands, troubles = [], []
    for now in cycles:
        while waiting and waiting[0][0] <= now:
            interpolator.offer(waiting.pop(0)[1], float(now))
        during(float(now))
        commands.append(interpolator.command(float(now)))
        troubles.append(interpolator.trouble)
    return Played(
        np.asarray(cycles),
        np.array([command.strokes for command in commands]),
        np.array([command.rates for command in commands]),
        np.array([bool(trouble) for trouble in troubles]),
    )


def holding(strokes: np.ndarray = START) -> Interpolator:
    interpolator = Interpolator(LIMITS, SETTINGS, CYCLE)
    interpolator.hold(strokes)
    return interpolator


def stream(
    wave: Wave,
    duration: float,
    delays: np.ndarray | None = None,
    lost: frozenset[int] = frozenset(),
) -> list[tuple[float, LegMotion]]:
    """Return (arrival, setpoint) pairs; the stamps are exact, the arrivals late by `delays`."""
    count = int(duration / PERIOD)
    delays = np.full(count, 1e-3) if delays is None else delays
    return [
        (T0 + i * PERIOD + delays[i], wave.setpoint(i * PERIOD, T0 + i * PERIOD))
        for i in range(count)
        if i not in lost
    ]


def assert_smooth(played: Played, acceleration: float | None = None) -> None:
    """No step of the rate above margin times acceleration times cycle; stroke follows rate."""
    acceleration = SETTINGS.margin * LIMITS.acceleration if acceleration is None else acceleration
    cycles = np.diff(played.times)[:, None]
    # Catching up adds at most the rate per second.
    assert np.all(np.abs(played.rate_steps) <= (acceleration + LIMITS.rate) * cycles)
    mean = 0.5 * (played.rates[1:] + played.rates[:-1])
    assert np.all(np.abs(played.stroke_steps - mean * cycles) <= acceleration * cycles**2 + 1e-9)


def cycles(duration: float, cycle: float = CYCLE) -> np.ndarray:
    return T0 + cycle * np.arange(int(duration / cycle))
