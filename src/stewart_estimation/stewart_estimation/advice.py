# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which options would make a filter consistent: noises, a delay, a gate, biases that walk.

What a wrong noise does to the gain is in no formula of the innovations, so it is tried: one noise
is scaled until the mean NIS is six, and what is advised has been judged with the rounded numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from stewart_estimation.consistency import Consistency, LEGS
from stewart_estimation.settings import DelayEstimation, FilterSettings, Gate
from stewart_kinematics.errors import StewartError
from stewart_kinematics.motion import Array

Judge = Callable[[FilterSettings], Consistency]
Scaled = Callable[[Array], FilterSettings]

PASSES = 7
"""So often one noise is scaled."""

NEAR = 0.02
"""Logarithm of mean NIS over six that is near enough."""

LARGEST = 6.0
"""Largest logarithm of a scale."""

DIGITS = 2
"""Of an advised number."""


WALKS = (3e-3, 3e-4), (1e-2, 1e-3), (3e-2, 3e-3)
"""Random walks of the biases that are tried: of sensors that are good, usual, warming up [m/s²],
[rad/s]."""


@dataclass(frozen=True)
class Advice:
    """Options that were tried.

    Attributes:
        options: As they are typed.
        settings: The same for the filter.
        found: What the tests say with them.
    """

    options: tuple[str, ...]
    settings: FilterSettings
    found: Consistency

    @property
    def said(self) -> str:
        """What came of it."""
        broken, tests = self.found.broken, 'every test held'
        if broken:
            tests = f'{len(broken)} of {len(self.found.verdicts)} broken'
        return f'{tests}, mean NIS {self.found.mean_nis:.2f}'

    def __str__(self) -> str:
        """Name options and result."""
        return f'with {" ".join(self.options)} (tried): {self.said}'


def better(advice: Advice | None, found: Consistency) -> bool:
    """Tell whether there is advice with which the tests hold better."""
    return advice is not None and _badness(advice.found) < _badness(found)


def advise(settings: FilterSettings, found: Consistency, judge: Judge) -> Advice | None:
    """Return the fewest options with which all tests hold, else those with which fewest break.

    Args:
        settings: With which the filter ran.
        found: What the tests said then.
        judge: Filters and tests with other settings.

    Returns:
        None where nothing that was tried breaks fewer tests.
    """
    best: Advice | None = None
    for make in _tries(settings, judge):
        try:
            tried = make()
            advice = Advice(_options(settings, tried), tried, judge(tried))
        except StewartError:
            # A gate that refuses nearly everything leaves nothing to be judged.
            continue
        if better(advice, found if best is None else best.found):
            best = advice
        if advice.found.held:
            break
    return best


def _badness(found: Consistency) -> tuple[int, float]:
    """Order results: tests broken, then how far the mean NIS is off."""
    return len(found.broken), round(abs(_off(found)), 1)


def _off(found: Consistency) -> float:
    return float(np.log(max(found.mean_nis, 1e-12) / LEGS))


def _tries(settings: FilterSettings, judge: Judge) -> Iterator[Callable[[], FilterSettings]]:
    """Give what makes settings to try, from few changes to many."""
    late = replace(settings, delay=settings.delay or DelayEstimation())
    bases = [settings] if settings.delay else [settings, late]
    if not settings.delay:
        yield lambda: late
    if not settings.gate:
        yield partial(replace, settings, gate=Gate())
    for scaled in (_legs, _imu):
        for base in bases:
            yield partial(_fitted, partial(scaled, base), judge)
    yield partial(_each_leg, late, judge)
    noise = settings.imu_noise
    if not (noise.accelerometer_walk.any() or noise.gyroscope_walk.any()):
        for pull, turn in WALKS:
            walking = replace(
                noise, accelerometer_walk=np.full(3, pull), gyroscope_walk=np.full(3, turn)
            )
            yield partial(replace, settings, imu_noise=walking)


def _legs(settings: FilterSettings, scale: Array) -> FilterSettings:
    return replace(settings, leg_noise=_rounded(settings.leg_noise * scale))


def _imu(settings: FilterSettings, scale: Array) -> FilterSettings:
    """Scale both noises of the IMU, each the same for its axes, as the option has them."""
    noise = settings.imu_noise
    force, rate = (
        _rounded(np.exp(np.mean(np.log(values))) * scale)
        for values in (noise.specific_force, noise.angular_velocity)
    )
    return replace(settings, imu_noise=replace(noise, specific_force=force, angular_velocity=rate))


def _fitted(scaled: Scaled, judge: Judge) -> FilterSettings:
    """Scale until the mean NIS is six, by secants of its logarithm over that of the scale."""
    at, slope = 0.0, -2.0
    off = _off(judge(scaled(np.ones(1))))
    for _ in range(PASSES):
        if abs(off) < NEAR or abs(at) == LARGEST:
            break
        step = float(np.clip(-off / slope, -2.0, 2.0))
        there = float(np.clip(at + step, -LARGEST, LARGEST))
        new = _off(judge(scaled(np.exp(np.array([there])))))
        # NIS falls with the noise, at most with its square; no flatter than a tenth is believed.
        slope = float(np.clip((new - off) / (there - at), -2.0, -0.1))
        at, off = there, new
    return scaled(np.exp(np.array([at])))


def _each_leg(settings: FilterSettings, judge: Judge) -> FilterSettings:
    """Scale the noise of each leg by the size of its own innovations."""
    scale = np.ones(LEGS)
    for _ in range(PASSES):
        z = judge(_legs(settings, scale)).normalised
        # Nothing is known of a leg that was refused throughout.
        size = np.nansum(z**2, axis=0) / np.maximum(np.isfinite(z).sum(axis=0), 1)
        scale = np.clip(scale * np.sqrt(np.where(size > 0.0, size, 1.0)), 1e-3, 1e3)
    return _legs(settings, scale)


def _rounded(values: Array) -> Array:
    return np.array([float(f'{value:.{DIGITS - 1}e}') for value in np.atleast_1d(values)])


def _options(before: FilterSettings, after: FilterSettings) -> tuple[str, ...]:
    """Return the options that make one of the other."""
    words: list[str] = []
    if not np.array_equal(before.leg_noise, after.leg_noise):
        legs = after.leg_noise
        numbers = legs[:1] if np.ptp(legs) == 0.0 else legs
        words += ['--leg-sigma', *(f'{value:g}' for value in numbers)]
    old, new = before.imu_noise, after.imu_noise
    if not np.array_equal(old.gyroscope_walk, new.gyroscope_walk):
        words += ['--bias-walk', f'{new.accelerometer_walk[0]:g}', f'{new.gyroscope_walk[0]:g}']
    elif old is not new:
        words += ['--imu-sigma', f'{new.specific_force[0]:g}', f'{new.angular_velocity[0]:g}']
    if after.delay and not before.delay:
        words.append('--delay')
    if after.gate and not before.gate:
        words.append('--gate')
    return tuple(words)
