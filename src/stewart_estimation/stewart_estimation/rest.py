# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether sensors rested while they were recorded, and how noisy they are then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import math
from typing import NamedTuple

import numpy as np
from stewart_estimation.allan import allan_deviation
from stewart_estimation.allan import LEAST_SAMPLES as CURVE_SAMPLES
from stewart_estimation.failure import LARGEST_BIASES
from stewart_estimation.samples import ImuSeries, LegSeries
from stewart_estimation.settings import ANGULAR_VELOCITY, LENGTH, SPECIFIC_FORCE
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.platform import STANDARD_GRAVITY
from stewart_kinematics.motion import Array

NEAR_GRAVITY = 0.1
"""Share by which the specific force at rest may differ from gravity: bias and scale."""

NOISIEST = 3e-3
"""No gyroscope has a density of noise, 0.17 deg/s/√Hz, that is larger [rad/s/√Hz]."""

WINDOW, SURE = 1.0, 10.0
"""Time of an average that must not change [s], beyond so many of its standard deviations and"""
STILL = np.repeat([0.1, 0.02], 3)
"""this much, which a bias may walk [m/s²], [rad/s]."""
LEGS_STILL = np.full(6, 1e-4)
"""How far a leg may creep at rest [m]."""

AXES = (*((name, 'm/s²') for name in ('fx', 'fy', 'fz')), *((name, 'rad/s') for name in 'pqr'))
LEGS = tuple((f'leg {leg}', 'm') for leg in range(1, 7))
"""What is measured, and its unit."""

STEP, LEAST_BLOCKS, LONGER = 7.0, 40, 4
"""In standard deviations, between averages two apart: neither noise nor a walk steps so far; over
so many averages or more, the next ones so many times longer."""

JUMP = 15.0
"""From one sample to the next, in usual steps: noise never goes so far."""

HELD = 0.2
"""Share of samples that may repeat the one before in all axes, beyond those by chance."""
COARSE = 0.5
"""Share of samples from which on an axis that repeats them has steps too coarse for its noise."""

LEAST_SAMPLES = 20
"""Fewer samples at rest than this give no standard deviation worth using."""

FINEST = 1e-9
"""Values nearer to each other than this differ by rounding [SI units]."""


class RestNoise(NamedTuple):
    """Noise of the sensors, found at rest.

    Attributes:
        specific_force, angular_velocity, length (3,), (3,), (6,): Standard deviations [m/s²],
            [rad/s], [m].
        error: Largest relative standard deviation of these, 1 / sqrt(2 (n - 1)) of n samples, or
            more where they are correlated.
        remarks: What makes them doubtful, one sentence each.
    """

    specific_force: Array
    angular_velocity: Array
    length: Array
    error: float
    remarks: tuple[str, ...]


def noise_at_rest(imu: ImuSeries, legs: LegSeries, seconds: float) -> RestNoise:
    """Measure the noise of the sensors while the platform rests.

    What a sensor rounds may hide at rest: no noise is less than that of the smallest step that its
    values show in the whole recording, q / sqrt(12). Where they show none, it is the one assumed.
    Of an IMU with a low pass it is what independent samples with its density have.

    Args:
        imu, legs: Samples whose beginning was recorded at rest.
        seconds: Length of that beginning [s].

    Raises:
        ConfigurationError: If the beginning has fewer than `LEAST_SAMPLES` samples of a sensor, is
            longer than what was recorded, or the platform moves in it.
    """
    imu, legs = imu.ordered(), legs.ordered()
    if not len(imu):
        raise ConfigurationError('samples of the IMU at rest', 0, 'some that are complete')
    longest = min(imu.stamps[-1], legs.stamps[-1]) - max(imu.stamps[0], legs.stamps[0])
    if not seconds <= longest:
        expected = f'no more than the recording has, {longest:.4g} s'
        raise ConfigurationError('noise from rest', seconds, expected)
    end = max(imu.stamps[0], legs.stamps[0]) + seconds
    found, fewest, error, remarks = [], math.inf, 0.0, list[str]()
    felt = np.repeat([SPECIFIC_FORCE, ANGULAR_VELOCITY], 3)
    for name, axes, still, assumed, stamps, values in (
        ('IMU', AXES, STILL, felt, imu.stamps, imu.values),
        ('legs', LEGS, LEGS_STILL, np.full(6, LENGTH), legs.stamps, legs.lengths),
    ):
        rest = values[stamps <= end]
        if len(rest) < LEAST_SAMPLES:
            expected = f'a rest with {LEAST_SAMPLES} samples or more'
            raise ConfigurationError(f'samples of the {name} at rest', len(rest), expected)
        fewest = min(fewest, len(rest))
        floor, sigma = _rounding(values), assumed.copy()
        # Lost values apart: what is left out of a column tells nothing of the others.
        shown = np.flatnonzero(np.isfinite(floor) & (np.isfinite(rest).sum(axis=0) > 1))
        for place in sorted({*range(len(axes))} - {*shown.tolist()}):
            what, unit = axes[place]
            remarks.append(f'{what} shows no noise: assumed is {assumed[place]:g} {unit}')
        sigma[shown] = np.maximum(np.nanstd(rest[:, shown], axis=0, ddof=1), floor[shown])
        found.append(sigma)
        whole = rest[:, shown][np.isfinite(rest[:, shown]).all(axis=1)]
        names, period = [axes[place] for place in shown], float(np.median(np.diff(stamps)))
        if name == 'IMU' and len(whole) >= CURVE_SAMPLES:
            sigma[shown], error = _of_means(sigma[shown], whole, period)
        for moved in _moves(whole, period, still[shown], names):
            raise ConfigurationError('noise from rest', seconds, f'a time at rest, but {moved}')
    remarks += oddities(imu[imu.stamps <= end], float(np.median(np.diff(imu.stamps))))
    error = max(error, 1.0 / math.sqrt(2.0 * (fewest - 1)))
    return RestNoise(found[0][:3], found[0][3:], found[1], error, tuple(remarks))


def _of_means(sigma: Array, values: Array, period: float) -> tuple[Array, float]:
    """Return noise (k,) that explains the means of samples (n, k), and its relative error.

    The filter takes samples for independent. Where they are, `sigma` and 0 are returned.
    """
    found, error = sigma.copy(), 0.0
    for place, column in enumerate(values.T):
        curve = allan_deviation(column, period)
        if curve.white_from > period and curve.density > 0.0:
            found[place] = curve.density / math.sqrt(period)
            error = max(error, curve.density_error / curve.density)
    return found, error


def _rounding(values: Array) -> Array:
    """Return the noise of rounding to the smallest step of each column; infinite without any."""
    found = np.full(values.shape[1], np.inf)
    for place, column in enumerate(values.T):
        steps = np.diff(np.unique(column[np.isfinite(column)]))
        steps = steps[steps > FINEST]
        if steps.size:
            found[place] = steps.min() / math.sqrt(12.0)
    return found


def oddities(imu: ImuSeries, period: float) -> Iterator[str]:
    """Say what makes noise found in a recording doubtful, one sentence each.

    Args:
        imu: Complete samples by stamp, n of them.
        period: Time between two of them [s].
    """
    values = imu.values
    norm = float(np.linalg.norm(np.median(imu.specific_forces, axis=0)))
    gravity = float(np.linalg.norm(STANDARD_GRAVITY))
    if abs(norm - gravity) > NEAR_GRAVITY * gravity:
        yield (
            f'the specific force is {norm:.3g} m/s² at rest, gravity is {gravity:.3g}: is it in '
            'another unit, or is gravity taken off?'
        )
    steps = np.abs(np.diff(values, axis=0))
    usual = _usual(values)
    turn = float(np.linalg.norm(np.median(imu.angular_velocities, axis=0)))
    density = float(usual[3:].max()) * math.sqrt(period)
    if turn > LARGEST_BIASES[1] or density > NOISIEST:
        yield (
            f'the rates are {turn:.3g} rad/s at rest with a noise of {density:.2g} rad/s/√Hz, no '
            f'gyroscope has more than {LARGEST_BIASES[1]:g} and {NOISIEST:g}: are they in deg/s?'
        )
    jumps = int((steps > JUMP * usual).any(axis=1).sum())
    if jumps:
        yield f'{jumps} samples jump by more than {JUMP:g} usual steps, which is no noise'
    same = steps == 0.0
    held, shares = float(np.mean(same.all(axis=1))), same.mean(axis=0)
    # Axes with coarse steps repeat together by chance.
    if held - float(shares.prod()) > HELD:
        yield (
            f'{100.0 * held:.0f} % of the samples repeat the one before: the sensor is slower '
            'than its recording, and its noise is less than what is found'
        )
    elif coarse := [AXES[k][0] for k in np.flatnonzero((shares > COARSE) & (shares < 1.0))]:
        yield (
            f'{", ".join(coarse)} mostly repeat the value before: steps are coarse beside the '
            'noise, which may differ from what is found'
        )
    if stepped := _step(values, period):
        place, change, (name, unit) = stepped
        # Some samples may be lost.
        at = imu.stamps[place] - imu.stamps[0]
        yield (
            f'{name} steps by {change:.3g} {unit} about {at:.4g} s after the rest begins, as '
            'after a knock, in another temperature or where it was moved: that is no walk of a '
            'bias, which only a rest before or after it tells'
        )
        return
    for text in _moves(values, period, STILL, AXES):
        yield f'{text}: the IMU does not rest'


def _usual(values: Array) -> Array:
    """Return how far each column usually goes from one sample to the next."""
    steps = np.abs(np.diff(values, axis=0))
    usual = np.median(steps, axis=0)
    return np.where(usual > 0.0, usual, steps.std(axis=0))


def _step(values: Array, period: float) -> tuple[int, float, tuple[str, str]] | None:
    """Return at which sample and by how much a bias stepped, and its axis; the clearest, if any.

    Medians of blocks change by noise and walk, which differ little in size from one to the next.
    """
    size = max(min(round(WINDOW / period), len(values) // LEAST_BLOCKS), 1)
    usual, rounding, clearest, found = _usual(values), _rounding(values), STEP, None
    while len(values) >= LEAST_BLOCKS * size:
        whole = len(values) // size * size
        medians = np.median(values[:whole].reshape(-1, size, len(AXES)), axis=1)
        # A step within a block is whole between its neighbours.
        changes = medians[2:] - medians[:-2]
        drift = np.median(changes, axis=0)
        away = np.abs(changes - drift)
        # Of normal noise a step between samples is 0.95 sigma by the median, a median of n has
        # 1.25 sigma / sqrt(n), and a median of absolutes is 0.67 sigma.
        sigma = np.maximum(np.median(away, axis=0) / 0.67, 1.86 * usual / np.sqrt(size))
        # A median of coarse values hops by a whole step of them.
        ratio = away / np.maximum(sigma, rounding)
        row, axis = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
        if ratio[row, axis] > clearest:
            clearest = float(ratio[row, axis])
            place = int(row) * size + 3 * size // 2
            found = place, float(abs(changes[row, axis])), AXES[axis]
        size *= LONGER
    return found


def _moves(
    values: Array, period: float, still: Array, axes: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Say that the mean of a second changes, by the median, which single samples do not move."""
    # A short rest shows it, too.
    size = max(min(round(WINDOW / period), len(values) // 4), 1)
    whole = len(values) // size * size
    if whole < 2 * size or not len(axes):
        return
    usual = _usual(values)
    medians = np.median(values[:whole].reshape(-1, size, values.shape[1]), axis=1)
    change, most = np.ptp(medians, axis=0), still + SURE * usual / np.sqrt(size)
    worst = int(np.argmax(change / most))
    if change[worst] > most[worst]:
        name, unit = axes[worst]
        yield f'{name} changes by {change[worst]:.3g} {unit}'
