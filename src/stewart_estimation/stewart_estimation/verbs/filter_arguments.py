# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How the filter is set up from the command line, and how a recording goes through it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from stewart_estimation.consistency import assess, Consistency, LEGS
from stewart_estimation.estimate import EstimateSeries
from stewart_estimation.failure import failure, unfinished
from stewart_estimation.replay import replay
from stewart_estimation.rest import noise_at_rest
from stewart_estimation.settings import (
    ANGULAR_VELOCITY,
    ExternalPose,
    FilterSettings,
    LENGTH,
    refinements,
    settings_for,
    SPECIFIC_FORCE,
)
from stewart_estimation.smoother import smooth
from stewart_estimation.verbs.measurements import (
    add_measurement_arguments,
    Measurements,
    read_measurements,
)
from stewart_estimation.verbs.right_platform import add_platform, check_platform
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_tables.numbers import not_negative, positive, positive_up_to
from stewart_tables.progress import between, Progress, tell

MOST_PASSES = 3
"""So often a recording is filtered for its delays alone."""


@dataclass(frozen=True, eq=False)
class Run:
    """A recording that went through the filter, and through the smoother where asked for.

    `sigma_error` is the relative standard deviation of noises that were measured at rest, and
    `named` tells whether somebody named the platform.
    """

    platform: Platform
    measurements: Measurements
    settings: FilterSettings
    filtered: EstimateSeries
    smoothed: EstimateSeries | None = None
    sigma_error: float = 0.0
    named: bool = True

    def judged(self, rows: Any = slice(None), **options: Any) -> Consistency:
        """Judge the innovations of some rows, with the options of `assess`."""
        found = self.filtered
        parts = (found.innovations, found.sigmas, found.nis, found.used)
        gate = self.settings.gate
        return assess(
            *(part[rows] for part in parts),
            sigma_error=self.sigma_error,
            gate=gate.probability if gate else 0.0,
            **options,
        )

    @property
    def problem(self) -> str:
        """Why the estimates cannot be trusted; empty if nothing says so."""
        found, wrong = self.measurements, self._failure
        if wrong and not self.named:
            wrong = f'{self.platform.name} was assumed, for no --platform was given, and {wrong}'
        return (
            wrong or unfinished(self.filtered) or found.tracker.unmet(found.poses, self.filtered)
        )

    @property
    def withheld(self) -> bool:
        """Whether poses are those of nothing: they fail on a platform that nobody named."""
        return not self.named and bool(self._failure)

    @cached_property
    def _failure(self) -> str:
        return failure(self.filtered, self.settings)

    def again(self, settings: FilterSettings) -> Run:
        """Filter the same measurements with other settings."""
        through = partial(_through, self.platform.geometry, self.measurements, keep=False)
        settings = _delays_first(settings, through)
        return replace(self, settings=settings, filtered=through(settings), smoothed=None)

    def beginning(self, most: int) -> Run:
        """Return the run of so many leg samples, this one where it has no more."""
        legs, imu = self.measurements.legs.ordered(), self.measurements.imu.ordered()
        if len(legs) <= most:
            return self
        heard = imu.stamps <= legs.stamps[most - 1]
        cut = replace(self.measurements, imu=imu[heard], legs=legs[:most])
        return replace(self, measurements=cut).again(self.settings)


def add_filter_arguments(parser: argparse.ArgumentParser) -> None:
    """Add input, platform, noises and refinements."""
    add_measurement_arguments(parser)
    add_platform(parser)
    title = 'noise of the sensors, standard deviation of one sample'
    add = parser.add_argument_group(title).add_argument
    add(
        '--imu-sigma',
        nargs=2,
        type=positive,
        metavar=('M/S2', 'RAD/S'),
        help='of the IMU [m/s2, rad/s]; else as its messages say, or '
        f'{SPECIFIC_FORCE:g} and {ANGULAR_VELOCITY:g}',
    )
    add(
        '--leg-sigma',
        nargs='+',
        type=positive_up_to(0.1),
        metavar='M',
        help=f'of the legs, one number for all or six [m] (default: {LENGTH:g})',
    )
    add(
        '--noise-from-rest',
        type=positive,
        metavar='S',
        help='measure all of them in the first S seconds, when the platform rests',
    )
    add(
        '--bias-walk',
        nargs=2,
        type=not_negative,
        default=(0.0, 0.0),
        metavar=('M/S2', 'RAD/S'),
        help='random walk of the biases within a second [m/s2, rad/s] (default: none)',
    )
    add = parser.add_argument_group('refinements, off unless given').add_argument
    for name, purpose in (
        ('gate', 'refuse single legs that do not fit'),
        ('delay', 'find how late the IMU is'),
        ('misalignment', 'find how the IMU is turned'),
        ('adapt', 'learn the noise of IMU and legs on the way'),
        ('restart', 'begin anew where nothing fits any more'),
    ):
        add(f'--{name}', action='store_true', help=purpose)


def run_filter(arguments: argparse.Namespace, show: Progress, *, smoothed: bool = False) -> Run:
    """Read the input that the arguments name, filter it, and smooth it where asked for.

    Raises:
        StewartError, BagError: If something cannot be used; row or topic, and time, are named.
        OSError: If a file cannot be read.
    """
    platform = Platform.from_yaml(arguments.platform)
    measurements = read_measurements(arguments, platform.geometry, between(show, 0.0, 0.3))
    source, named = arguments.bag or arguments.legs, arguments.platform_named
    check_platform(source, measurements, platform, named=named)
    settings, sigma_error = _settings(arguments, platform, measurements)
    show(0.3)

    through = partial(_through, platform.geometry, measurements)
    settings = _delays_first(settings, partial(through, keep=False))
    filtered = through(settings, keep=smoothed)
    show(0.7)
    after = smooth(platform.geometry, settings, filtered) if smoothed else None
    show(0.9)
    return Run(platform, measurements, settings, filtered, after, sigma_error, named)


def _through(
    geometry: Geometry, measurements: Measurements, settings: FilterSettings, *, keep: bool
) -> EstimateSeries:
    imu, legs, poses = measurements.imu, measurements.legs, measurements.poses
    # Whole covariances are three quarters of what a long recording takes of the memory.
    return replay(geometry, settings, imu, legs, poses=poses, keep=keep, whole=False)


def _delays_first(
    settings: FilterSettings, through: Callable[[FilterSettings], EstimateSeries]
) -> FilterSettings:
    """Return settings that begin at the delays that the whole recording shows, trusted no more.

    Far from them the filter is linear about the wrong instants until the platform has moved for a
    while, and its innovations show that.
    """
    for _ in range(MOST_PASSES):
        if settings.delay is None and settings.external is None:
            break
        found, moved, told = through(settings), False, settings
        if settings.delay is not None:
            # A recording may end without an estimate, and that is told later.
            known = np.flatnonzero(np.isfinite(found.delay))
            if not known.size:
                break
            delay, sigma = (float(x[known[-1]]) for x in (found.delay, found.delay_sigma))
            moved = abs(delay - settings.delay.start) > sigma
            told = replace(told, delay=replace(settings.delay, start=delay))
        if settings.external is not None and found.external is not None:
            late = found.external
            moved |= abs(late.delay - settings.external.start) > late.delay_sigma
            told = replace(told, external=replace(settings.external, start=late.delay))
        if not moved:
            break
        settings = told
        # Two passes at once take twice the memory.
        del found
    return settings


def _settings(
    arguments: argparse.Namespace, platform: Platform, measurements: Measurements
) -> tuple[FilterSettings, float]:
    """Return what the filter is told, and how far that may be off, relative."""
    error = 0.0
    options: dict[str, Any] = {
        'specific_force': measurements.specific_force,
        'angular_velocity': measurements.angular_velocity,
    }
    if arguments.noise_from_rest is not None:
        seconds = arguments.noise_from_rest
        rest = noise_at_rest(measurements.imu, measurements.legs, seconds)
        for text in rest.remarks:
            tell(f'warning: {text}')
        options |= {
            'specific_force': rest.specific_force,
            'angular_velocity': rest.angular_velocity,
            'length': rest.length,
        }
        error = rest.error
    if arguments.imu_sigma is not None:
        options['specific_force'], options['angular_velocity'] = arguments.imu_sigma
    if arguments.leg_sigma is not None:
        if len(arguments.leg_sigma) not in {1, LEGS}:
            raise ConfigurationError('--leg-sigma', arguments.leg_sigma, 'one number, or six')
        options['length'] = arguments.leg_sigma
    settings = settings_for(
        platform,
        period=measurements.imu_period,
        accelerometer_walk=arguments.bias_walk[0],
        gyroscope_walk=arguments.bias_walk[1],
        external=ExternalPose() if len(measurements.poses) else None,
        **refinements(arguments),
        **options,
    )
    return settings, error
