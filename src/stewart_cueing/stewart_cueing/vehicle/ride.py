# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A whole ride on a platform: played within its limits, scaled to it, and judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from stewart_cueing.errors import VehicleInputError
from stewart_cueing.vehicle.inputs import FASTEST, STRONGEST, VehicleRide
from stewart_cueing.vehicle.methods import cueing
from stewart_cueing.vehicle.perception import false_cues, FalseCues, felt, perceived, THRESHOLDS
from stewart_cueing.vehicle.washout import LEVEL, PRESETS, Washout, WashoutSettings
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.inverse import inverse
from stewart_tables.progress import Progress, silent
from stewart_tables.yaml_models import read_model

RATE = 200.0
"""Setpoints per second [Hz]."""

MOST_GAIN = 100.0
LARGEST = {
    'head': (10.0, 'm'),
    'force_limit': (STRONGEST, 'm/s²'),
    'rate_limit': (FASTEST, 'rad/s'),
    'tilt_rate': (1.0, 'rad/s'),
}
"""What is larger in a file of settings is in another unit."""

USED = 0.95
"""Part of the bounds, and of every margin at the centre, that `fitted` may use [-]."""

HALVINGS = 10
"""How often `fitted` halves what is left."""

TOLD = 500
"""Samples after which progress is told."""


@dataclass(frozen=True, eq=False)
class CuedRide:
    """What a platform plays of a ride.

    Attributes:
        time (n,): [s].
        wanted (n, 6): Specific force and rate of the vehicle.
        wanted_perceived, given_perceived (n, 6): What the vestibular organs pass on of it, and of
            what there is at the head on the platform.
        motion: Of the platform, n samples.
        held (n,): Part of the wanted change that the governor made [-].
        beyond (2,): Parts of the samples that were cut to `force_limit` and `rate_limit` [-].
        workspace: Greatest part of half a leg's range that was used [-].
        cues: False ones.
    """

    time: Array
    wanted: Array
    wanted_perceived: Array
    given_perceived: Array
    motion: Motion
    held: Array
    beyond: Array
    workspace: float
    cues: FalseCues


def settings_for(platform: str, gain: float = 1.0, washout: str = '') -> WashoutSettings:
    """Return the settings of a platform with their scales multiplied.

    Args:
        platform: By its name; one without a preset has the defaults.
        gain: Factor of the scales [-].
        washout: Name of a preset to be used instead, or a YAML file with those fields of
            `WashoutSettings` that are other than in the platform's preset.

    Raises:
        ConfigurationError: If the gain is not above 0 and at most 100, or the file has an unknown
            key, a value that makes no filter or one beyond `LARGEST`.
    """
    if not 0.0 < gain <= MOST_GAIN:
        raise ConfigurationError('gain', gain, f'a number above 0 and at most {MOST_GAIN:g}')
    settings = PRESETS.get(washout or platform, PRESETS.get(platform, WashoutSettings()))
    if washout and washout not in PRESETS:
        if not Path(washout).suffix and not Path(washout).exists():
            expected = f'one of {", ".join(PRESETS)} or the path of a .yaml file'
            raise ConfigurationError('washout', washout, expected)
        settings = read_model(washout, WashoutSettings, settings)
        for name, (most, unit) in LARGEST.items():
            value = getattr(settings, name)
            if np.abs(value).max() > most:
                expected = f'numbers up to {most:g} {unit}'
                raise ConfigurationError(f'{washout}: {name}', value, expected)
    return scaled(settings, gain)


def scaled(settings: WashoutSettings, factor: float) -> WashoutSettings:
    """Return settings with the scales of force and rate multiplied."""
    fx, fy, fz = (factor * value for value in settings.force_scale)
    p, q, r = (factor * value for value in settings.rate_scale)
    return replace(settings, force_scale=(fx, fy, fz), rate_scale=(p, q, r))


def cued(
    ride: VehicleRide,
    platform: Platform,
    settings: WashoutSettings,
    *,
    method: str = 'washout',
    progress: Progress = silent,
) -> CuedRide:
    """Play a ride by one of `METHODS`, within every limit."""
    time, inputs = ride.at_rate(RATE)
    period = 1.0 / RATE
    player, held = cueing(method, MotionGuard(platform), settings, period), np.empty(time.size)
    # A motion for each row would take a gigabyte an hour.
    rows = np.empty((time.size, 19))
    for n in range(time.size):
        np.concatenate(player.advance(float(time[n]), inputs[n]).parts(), out=rows[n])
        held[n] = player.governor.share
        if n % TOLD == 0:
            progress(n / time.size)
    motion = Motion(*np.split(rows, [3, 7, 13], axis=1))
    at_head = felt(motion, np.array(settings.head))
    senses = perceived(inputs, period), perceived(at_head, period)
    beyond = np.abs(settings.scales * (inputs - LEVEL)) > settings.bounds
    bounds = platform.limits.stroke
    away = inverse(platform.geometry, motion).stroke - bounds.mean(axis=1)
    return CuedRide(
        time,
        inputs,
        *senses,
        motion,
        held,
        beyond.reshape(-1, 2, 3).any(axis=2).mean(axis=0),
        float(np.abs(away / (0.5 * np.ptp(bounds, axis=1))).max()),
        false_cues(*senses, period),
    )


def fitted(
    ride: VehicleRide, platform: Platform, settings: WashoutSettings
) -> tuple[WashoutSettings, float, str]:
    """Return settings with which the washout alone keeps every limit, their factor, and why.

    Nothing is played larger than it is in the vehicle. An axis whose scale or limit is 0 is not
    played and does not count.

    Raises:
        VehicleInputError: If the ride does not move, or if not even a thousandth of it can be
            played.
    """
    guard, centre = MotionGuard(platform), platform.geometry.neutral_pose
    time, inputs = ride.at_rate(RATE)
    rest = {name: float(m) for name, m in guard.margins(Motion.at_rest(centre)).items()}

    def keeps(factor: float) -> bool:
        motion = Washout(scaled(settings, factor), centre, 1.0 / RATE).run(inputs)
        margins = {**guard.margins(motion), **guard.jerk_margins(motion, time)}
        left = 1.0 - USED
        return all(
            bool((values >= left * rest.get(name, 1.0)).all()) for name, values in margins.items()
        )

    high, reason = _largest(inputs, settings)
    low = 0.0
    if keeps(high):
        return scaled(settings, high), high, reason
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if keeps(middle) else (low, middle)
    if low == 0.0:
        raise VehicleInputError(
            f'not even {high:.3g} of this ride keeps the limits of {platform.name}: is it smooth, '
            'and does it begin at rest?'
        )
    return scaled(settings, low), low, f'the limits of {platform.name}'


def _largest(inputs: Array, settings: WashoutSettings) -> tuple[float, str]:
    """Return the largest factor of the scales that inputs (n, 6) allow, and why no larger one.

    Raises:
        VehicleInputError: If nothing that is played can be felt.
    """
    away = np.abs(inputs - LEVEL).max(axis=0)
    played = (settings.scales > 0.0) & (settings.bounds > 0.0)
    if not (away > THRESHOLDS)[played].any():
        raise VehicleInputError('nothing to fit: the ride does not move')
    peaks = np.where(played, settings.scales * away, 0.0)
    room = np.divide(USED * settings.bounds, peaks, out=np.full(6, np.inf), where=peaks > 0.0)
    force, rate = room.reshape(2, 3).min(axis=1)
    whole = 1.0 / float(settings.scales[played].max())
    return min((whole, 'full scale'), (float(force), 'force_limit'), (float(rate), 'rate_limit'))
