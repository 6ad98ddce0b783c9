# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether estimates cannot be trusted although there are some, and what is the likely cause."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import chdtri
from stewart_estimation.estimate import EstimateSeries, ExternalFit
from stewart_estimation.settings import FilterSettings
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.spatial import compose_quaternions, exp_quaternion, rpy_deg

MOST_REFUSED = 0.2
"""Share of leg samples that the gate may refuse: one leg of six, and some spikes; and of poses."""

RESTARTS, RESTART_EVERY = 3, 60.0
"""The filter may begin anew this often, and once more in so many seconds [s]."""

BEYOND, RARE, MOST_BEYOND = 3.0, 1e-3, 0.05
"""A sample is beyond its sigmas where these, times three, would leave one in a thousand outside;
so large a share of the samples may be."""

LEAST_POSES, OFF = 20, 1.5
"""Of so many poses from outside the median may be off by so many of their sigmas."""

LAST, MOST_LAST = 200, 0.5
"""Of so many leg samples at the end so large a share may be beyond, however long it went well."""

LARGEST_BIASES = (2.0, 0.2)
"""No sensor has more; one read in other axes, another unit or without gravity seems to [m/s²],
[rad/s]."""

MOST_TURNED = 4.0
"""A misalignment beyond so many of the sigmas at its start is no small angle."""

SUDDEN = 100.0
"""A sample that is so many times farther out than allowed, after one that was not, jumped."""

ADVICE = 'the IMU may be late (--delay) or turned (--misalignment), or noise set too small'
DISAGREE = (
    f'{ADVICE}, a clock may have stepped, the legs be in another order, or the platform be '
    'another one (--platform)'
)


def failure(filtered: EstimateSeries, settings: FilterSettings) -> str:
    """Say why estimates cannot be trusted; empty if nothing says so."""
    offered = np.isfinite(filtered.innovations)
    refused, count = int((offered & ~filtered.used).sum()), int(offered.sum())
    share = refused / max(count, 1)
    if share > MOST_REFUSED:
        return (
            f'the gate refused {100.0 * share:.0f} % of the leg samples, allowed are '
            f'{100.0 * MOST_REFUSED:.0f} %: {ADVICE}'
        )
    # After a gap the sensors are not to blame.
    span, restarts = float(np.ptp(filtered.stamps)), len(filtered.restarts) - len(filtered.gaps)
    if restarts > RESTARTS + span / RESTART_EVERY:
        return f'the filter began anew {restarts} times in {span:.0f} s: {ADVICE}'
    return (
        _biased(filtered)
        or _turned(filtered, settings)
        or _beyond(filtered, settings)
        or _strange(filtered)
    )


def unfinished(filtered: EstimateSeries) -> str:
    """Say that the last rows have no estimate; empty if they have."""
    known = np.flatnonzero(np.isfinite(filtered.position[:, 0]))
    if not known.size or known[-1] == len(filtered) - 1:
        return ''
    return (
        f'there is no estimate after {filtered.stamps[known[-1]]:.2f} s: then both sensors were '
        'silent, and since then no six lengths of one pose have come'
    )


def _biased(filtered: EstimateSeries) -> str:
    """Say that the last biases that were estimated are larger than a sensor's."""
    biases = np.hstack([filtered.accelerometer_bias, filtered.gyroscope_bias])
    known = biases[np.isfinite(biases).all(axis=1)]
    return beyond_any_sensor(known[-1]) if len(known) else ''


def beyond_any_sensor(biases: Array) -> str:
    """Say that a bias (6,) [m/s²], [rad/s] is larger than that of any sensor; empty if not."""
    pull, turn = (float(np.linalg.norm(part)) for part in (biases[:3], biases[3:]))
    if pull > LARGEST_BIASES[0]:
        # Rates in deg/s turn gravity so far that the accelerometer seems to be biased.
        what = f'accelerometer would be {pull:.3g} m/s²'
        unit = 'm/s², gravity in it, upwards, and are the rates in rad/s'
    elif turn > LARGEST_BIASES[1]:
        what, unit = f'gyroscope would be {turn:.3g} rad/s', 'rad/s'
    else:
        return ''
    return (
        f'the bias of the {what}, which no sensor has: is it in {unit}, in the axes that the '
        'platform file says, and are the legs in their order?'
    )


def _turned(filtered: EstimateSeries, settings: FilterSettings) -> str:
    """Say that the IMU is turned by more than three small angles can follow."""
    if settings.misalignment is None:
        return ''
    # Late: it needs scipy.stats, which takes 0.4 s to import, and a live estimator has no use for.
    from stewart_estimation.consistency import LEGS, TOLERATED

    known = filtered.misalignment[np.isfinite(filtered.misalignment).all(axis=1)]
    turn = known[-1] if len(known) else np.zeros(3)
    most = MOST_TURNED * settings.misalignment.sigma
    angle = float(np.linalg.norm(turn))
    nis = LEGS * float(np.nansum(filtered.nis)) / max(int(filtered.used.sum()), 1)
    if angle <= most or nis <= TOLERATED['mean NIS'][1]:
        return ''
    mounting = compose_quaternions(settings.imu.quaternion_xyzw, exp_quaternion(turn))
    rpy = ', '.join(f'{x:.1f}' for x in rpy_deg(Pose(settings.imu.position, mounting)))
    return (
        f'the estimate is not consistent (mean NIS {nis:.3g}, expected is {LEGS}), for the IMU '
        f'seems to be turned by {np.degrees(angle):.2g}°, and --misalignment finds up to '
        f'{np.degrees(most):.2g}°: write imu.rpy_deg, about [{rpy}], into the platform file and '
        'try again'
    )


def _beyond(filtered: EstimateSeries, settings: FilterSettings) -> str:
    """Say that innovations are far larger than their standard deviations."""
    met = np.isfinite(filtered.nis)
    limit = BEYOND**2 * chdtri(np.maximum(filtered.used[met].sum(axis=1), 1), RARE)
    beyond = filtered.nis[met] > limit
    stamps, share = filtered.stamps[met], float(np.mean(beyond)) if beyond.size else 0.0
    jumped = (filtered.nis[met][1:] > SUDDEN * limit[1:]) & ~beyond[:-1]
    which = 'leg samples'
    if share <= MOST_BEYOND:
        # A long recording that went well does not make its end right.
        stamps, beyond, which = stamps[-LAST:], beyond[-LAST:], f'last {LAST} leg samples'
        share = float(np.mean(beyond)) if beyond.size else 0.0
        if share <= MOST_LAST:
            return ''
    delay = settings.delay
    found = filtered.delay[np.isfinite(filtered.delay)] if delay is not None else np.empty(0)
    last = float(found[-1]) if len(found) else math.nan
    at_bound = delay is not None and any(
        math.isclose(last, bound) for bound in (delay.lower, delay.upper)
    )
    why = f'the delay is at its bound of {last:g} s, and ' if at_bound else ''
    noise = settings.imu_noise
    if settings.gate is None and jumped.sum() > 1:
        why += f'lengths jump {jumped.sum()} times (--gate refuses single ones), or '
    elif not (noise.accelerometer_walk.any() or noise.gyroscope_walk.any()):
        why += 'the biases may drift (--bias-walk), or '
    return (
        f'{100.0 * share:.0f} % of the {which} lie far beyond their sigmas, the first at '
        f'{stamps[beyond][0]:.2f} s: {why}{DISAGREE}'
    )


def _strange(filtered: EstimateSeries) -> str:
    """Say that poses from outside do not fit."""
    if filtered.external is None or not len(filtered.external.used):
        return ''
    share = float(np.mean(~filtered.external.used))
    if share > MOST_REFUSED:
        what = f'{100.0 * share:.0f} % of the poses from outside were refused'
    else:
        what = off_from_outside(filtered.external)
    if not what:
        return ''
    return (
        f'{what}: are they those of platform_link in base_link, quaternions x, y, z, w, as noisy '
        'as they say, and less late than 0.4 s? Those of a tracker that stands anywhere are for '
        'stewart calibrate: leave them out here (--no-external-pose)'
    )


def off_from_outside(fit: ExternalFit) -> str:
    """Say that poses from outside are off by more than they say, as a whole; empty if not.

    Medians tell, which single poses that were refused do not move.
    """
    if len(fit.used) < LEAST_POSES:
        return ''
    off = np.median(fit.innovations / fit.sigmas, axis=0)
    worst = int(np.argmax(np.abs(off)))
    if abs(off[worst]) > OFF:
        size = 1e3 * float(np.median(fit.innovations[:, worst]))
        unit, kind = ('mm', 'along') if worst < 3 else ('mrad', 'about')
        return (
            f'poses from outside are off by {size:.3g} {unit} {kind} {"xyz"[worst % 3]} all the '
            f'time, {abs(off[worst]):.2g} times their sigma'
        )
    scatter = float(np.sqrt(np.median(fit.nis) / chdtri(6, 0.5)))
    if scatter > OFF:
        return f'poses from outside scatter {scatter:.2g} times as far as their sigmas'
    return ''
