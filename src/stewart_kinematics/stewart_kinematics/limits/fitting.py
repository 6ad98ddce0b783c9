# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Making a sea fit a platform."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, TYPE_CHECKING

import numpy as np
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.trajectories.trajectory import positive
from stewart_kinematics.trajectories.waves import AiryWave, OrbitalWave
from stewart_tables.progress import silent

if TYPE_CHECKING:
    from stewart_kinematics.limits.guard import Flags, MotionGuard

# Froude's scaling fits in a window (too small a sea tilts too fast), so a scan comes first.
RATE = 50.0  # of the samples that are judged [Hz]
_RATIO = 1.2
_FACTORS = _RATIO ** np.arange(-50.0, 38.0)
_HALVINGS = 16
_STRIDE = 16
_ALL = slice(None)

Scaling = Literal['plain', 'froude']

Used = Callable[[float, 'slice | Flags'], tuple[Array, str]]
"""Of a factor and some samples: the used fractions (n,) of a margin, and which margin it is."""

RESERVE = 1.001  # between two instants of a check a peak can be higher by 0.05 % [-]

MOST_SAMPLES = 5_000_000  # longest run that is sampled at once; an hour at 1 kHz has fewer


def froude(components: tuple[AiryWave, ...], scale: float) -> tuple[AiryWave, ...]:
    """Scale waves after Froude: a model of the sea under the same gravity.

    `scale` is λ, full length over model length: lengths are divided by λ, times by √λ; slopes,
    accelerations and dispersion stay.
    """
    positive('scale', scale, '(lengths at full scale over model)')
    root = float(np.sqrt(scale))
    return tuple(
        AiryWave(w.amplitude / scale, w.period / root, w.length / scale, w.phase)
        for w in components
    )


def plain(components: tuple[AiryWave, ...], factor: float) -> tuple[AiryWave, ...]:
    """Return waves with their amplitudes multiplied by `factor`; times and lengths are kept."""
    positive('factor', factor, '(model over full amplitude)')
    return tuple(replace(w, amplitude=w.amplitude * factor) for w in components)


def fit_wave(
    wave: OrbitalWave,
    guard: MotionGuard,
    fraction: float,
    scaling: Scaling,
    *,
    duration: float,
    progress: Callable[[float], None] = silent,
) -> tuple[OrbitalWave, float]:
    """Scale a wave so that it uses a fraction of the workspace, by a scan and a bisection.

    After Froude lengths and times shrink together: slopes and accelerations stay and angular
    velocities grow, so a sea that is too steep for the platform fits at no scale.

    Args:
        fraction: How much may be used, in (0, 1], of any margin that the platform has at the
            wave's centre: of the way to the nearer end of the stroke, of the leg rate, ...; of 1
            the reserve is left that `plan_fades` asks for.
        duration: Of the run that is judged [s].

    Returns:
        The largest wave that keeps to the fraction, and its factor: model over full amplitude, or
        length (1/λ) [-].

    Raises:
        TrajectoryError: If `fraction` cannot be used, the centre itself has no margin, or no
            factor from 1e-4 to 1e3 makes the wave fit; the message says which margin is exceeded.
    """
    if not 0.0 < fraction <= 1.0:
        raise TrajectoryError(f'fraction must be greater than 0 and at most 1, got {fraction}')
    whole = _centre_margins(wave.centre, guard)

    def scaled(factor: float) -> OrbitalWave:
        if scaling == 'plain':
            return replace(wave, components=plain(wave.components, factor))
        components = froude(wave.components, 1.0 / factor)
        return replace(wave, components=components, position=wave.position * factor)

    time = sample_times(min(duration, wave.duration), RATE)

    def used(factor: float, samples: slice | Flags) -> tuple[Array, str]:
        try:
            candidate = scaled(factor)
        except TrajectoryError as error:
            return np.array([np.inf]), str(error)
        return _used(candidate, guard, whole, time[samples])

    factor = _largest_factor(used, time.size, min(fraction, 1.0 / RESERVE), progress)
    return scaled(factor), factor


def _largest_factor(
    used: Used, samples: int, fraction: float, progress: Callable[[float], None]
) -> float:
    """Return the largest factor by which no sample uses more than a fraction."""
    # Few samples bind: the search looks at some, and those that its answer breaks join them.
    some: Flags = np.arange(samples) % _STRIDE == 0
    factors = _FACTORS[::-1].tolist()
    steps, tried = len(factors) + _HALVINGS, 0
    while True:
        while used(factors[tried], some)[0].max() > fraction:
            tried += 1
            progress(tried / steps)
            if tried == len(factors):
                raise TrajectoryError(_no_scale(used, factors, fraction))
        low, high = factors[tried], factors[tried] * _RATIO
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            fits = used(middle, some)[0].max() <= fraction
            low, high = (middle, high) if fits else (low, middle)
        broken = np.flatnonzero(used(low, _ALL)[0] > fraction)
        if not broken.size:
            progress(1.0)
            return low
        # A peak moves with the factor.
        for sample in broken:
            some[max(sample - _STRIDE, 0) : sample + _STRIDE] = True


def _no_scale(used: Used, factors: list[float], fraction: float) -> str:
    """Tell of the factor that uses the least how much that is, and of which margin."""
    shares = [used(factor, _ALL) for factor in factors]
    most, quantity, factor = min(
        (float(share.max()), quantity, factor)
        for (share, quantity), factor in zip(shares, factors, strict=True)
    )
    return (
        f'the sea fits at no scale: at {factor:.3g} it uses {100.0 * most:.4g} % of the margin '
        f'in {quantity}, allowed are 0 to {100.0 * fraction:.4g} %'
    )


def _centre_margins(centre: Pose, guard: MotionGuard) -> dict[str, float]:
    """Return the margins at rest in a wave's centre; refuse a centre without one."""
    margins = {name: float(m) for name, m in guard.margins(Motion.at_rest(centre)).items()}
    quantity = min(margins, key=lambda name: margins[name])
    if margins[quantity] <= 0.0:
        raise TrajectoryError(
            f'no sea fits about a centre with a margin of {margins[quantity]:.3g} in {quantity}, '
            f'needed is more than 0'
        )
    return margins


def _used(
    wave: OrbitalWave, guard: MotionGuard, whole: dict[str, float], time: Array
) -> tuple[Array, str]:
    """Return the largest used fraction of a margin at each time (n,), and the quantity at most."""
    motion = wave.sample(time)
    used = {name: 1.0 - m / whole[name] for name, m in guard.margins(motion).items()}
    for name, margin in guard.jerk_margins(motion, time).items():
        # A jerk belongs to the samples at both ends of its interval.
        between = np.concatenate([[-np.inf], 1.0 - margin, [-np.inf]])
        used[name] = np.maximum(between[:-1], between[1:])
    # Where a crank can't reach, its other quantities are not numbers.
    most = {name: np.fmax.reduce(share, initial=-np.inf) for name, share in used.items()}
    return np.fmax.reduce(list(used.values())), max(most, key=lambda name: most[name])


def require_few_samples(duration: float, rate: float) -> None:
    """Raise TrajectoryError if a time [s] at a rate [Hz] has more samples than fit in memory."""
    if duration * rate > MOST_SAMPLES:
        raise TrajectoryError(
            f'{duration:g} s at {rate:g} Hz are {duration * rate:.3g} samples, '
            f'allowed are at most {MOST_SAMPLES:.3g}'
        )


def sample_times(duration: float, rate: float) -> Array:
    """Return times from 0 to `duration` [s] at `rate` [Hz]."""
    positive('duration', duration, 's')
    positive('rate', rate, 'Hz')
    require_few_samples(duration, rate)
    # The half sample keeps a duration that is a multiple of the period from losing its end.
    return np.asarray(np.arange(int(np.floor(duration * rate + 1e-6)) + 1) / rate)
