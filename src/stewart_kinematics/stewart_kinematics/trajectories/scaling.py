# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Making a sea fit a platform."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from stewart_kinematics.errors import MotionRefused, TrajectoryError
from stewart_kinematics.motion import Array
from stewart_kinematics.trajectories.trajectory import positive, Trajectory
from stewart_kinematics.trajectories.waves import AiryWave, OrbitalWave

if TYPE_CHECKING:
    from stewart_kinematics.motion_guard import MotionGuard

_HALVINGS, _DOUBLINGS = 24, 12


def froude(components: tuple[AiryWave, ...], scale: float) -> tuple[AiryWave, ...]:
    r"""
    Scale waves after Froude: a model of the sea under the same gravity.

    Parameters
    ----------
    components : tuple of AiryWave
        Waves at full scale.
    scale : float
        λ, full length over model length: lengths are divided by λ, times by √λ [-].

    Returns
    -------
    tuple of AiryWave
        Waves with the same slopes, accelerations and dispersion.

    """
    positive('scale', scale, '(lengths at full scale over model)')
    return tuple(
        AiryWave(w.amplitude / scale, w.period / np.sqrt(scale), w.length / scale, w.phase)
        for w in components
    )


def plain(components: tuple[AiryWave, ...], factor: float) -> tuple[AiryWave, ...]:
    """Return waves with their amplitudes multiplied by `factor`; times and lengths are kept."""
    positive('factor', factor, '(model over full amplitude)')
    return tuple(replace(w, amplitude=w.amplitude * factor) for w in components)


@dataclass(frozen=True, eq=False)
class FittedWave:
    """
    A wave that fits, and what was done to it.

    Attributes
    ----------
    wave : OrbitalWave
        The scaled wave.
    factor : float
        Model length over full length for Froude's scaling (1/λ), model over full amplitude for
        the plain one [-].
    largest : float
        Largest factor that still fits [-].

    """

    wave: OrbitalWave
    factor: float
    largest: float


def fit_plain(
    wave: OrbitalWave, guard: MotionGuard, fraction: float, *, duration: float, rate: float = 50.0
) -> FittedWave:
    """
    Multiply a wave's amplitudes so that it uses a fraction of the workspace.

    The largest factor at which a sampled run passes the guard counts as 1; `fraction` of it is
    taken. See `fit` for parameters, result and errors.
    """
    return fit(
        lambda factor: replace(wave, components=plain(wave.components, factor)),
        guard,
        fraction,
        duration=duration,
        rate=rate,
    )


def fit_froude(
    wave: OrbitalWave, guard: MotionGuard, fraction: float, *, duration: float, rate: float = 50.0
) -> FittedWave:
    """
    Choose Froude's scale so that a wave uses a fraction of the workspace.

    As `fit_plain`, but lengths and times shrink together; slopes and accelerations stay, so a sea
    that is too steep for the platform fits at no scale and is refused.
    """
    return fit(
        lambda factor: replace(
            wave,
            components=froude(wave.components, 1.0 / factor),
            position=wave.position * factor,
        ),
        guard,
        fraction,
        duration=duration,
        rate=rate,
    )


def fit(
    make: Callable[[float], OrbitalWave],
    guard: MotionGuard,
    fraction: float,
    *,
    duration: float,
    rate: float,
) -> FittedWave:
    """
    Find the largest factor that the guard allows and use a fraction of it.

    Parameters
    ----------
    make : callable
        Makes the wave of a factor; a smaller factor means a smaller motion.
    guard : MotionGuard
        Judge of every sample.
    fraction : float
        Fraction of the largest factor, in (0, 1].
    duration, rate : float
        Run that is judged [s] and its sampling rate [Hz].

    Returns
    -------
    FittedWave
        Wave, factor, and the largest one.

    Raises
    ------
    TrajectoryError
        If `fraction` is outside (0, 1], or no factor makes the wave fit: the message says what
        the smallest one tried would break.

    """
    if not 0.0 < fraction <= 1.0:
        raise TrajectoryError(f'fraction must be greater than 0 and at most 1, got {fraction}')
    low, high = 0.0, 1.0
    for _ in range(_DOUBLINGS):
        if _refusal(make, high, guard, duration, rate) is not None:
            break
        low, high = high, 2.0 * high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if _refusal(make, middle, guard, duration, rate) is None:
            low = middle
        else:
            high = middle
    if low == 0.0:
        reason = _refusal(make, high, guard, duration, rate)
        raise TrajectoryError(f'the sea fits at no scale; at {high:.3g} {reason}')
    wave = make(fraction * low)
    require_inside(wave, guard, duration=duration, rate=rate)
    return FittedWave(wave, fraction * low, low)


def require_inside(
    trajectory: Trajectory, guard: MotionGuard, *, duration: float, rate: float = 50.0
) -> None:
    """
    Refuse a trajectory that leaves what the platform may do.

    Parameters
    ----------
    trajectory : Trajectory
        What is judged.
    guard : MotionGuard
        Judge of every sample.
    duration, rate : float
        Run that is judged, at most the trajectory's own [s], and its sampling rate [Hz].

    Raises
    ------
    TrajectoryError
        If a sample is refused; the message gives its time and what it would break.

    """
    time = sample_times(min(duration, trajectory.duration), rate)
    try:
        guard.check(trajectory.sample(time))
    except MotionRefused as refusal:
        index = refusal.violation.index or 0
        raise TrajectoryError(f'after {time[index]:.3f} s {refusal}') from refusal


def sample_times(duration: float, rate: float) -> Array:
    """Return times from 0 to `duration` [s] at `rate` [Hz]."""
    positive('duration', duration, 's')
    positive('rate', rate, 'Hz')
    # The half sample keeps a duration that is a multiple of the period from losing its end.
    return np.asarray(np.arange(int(np.floor(duration * rate + 1e-6)) + 1) / rate)


def _refusal(
    make: Callable[[float], OrbitalWave],
    factor: float,
    guard: MotionGuard,
    duration: float,
    rate: float,
) -> TrajectoryError | None:
    """Return why the wave of a factor does not fit, or None."""
    try:
        require_inside(make(factor), guard, duration=duration, rate=rate)
    except TrajectoryError as error:
        return error
    return None
