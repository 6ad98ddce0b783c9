# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What sensors of the simulated SRS can suffer, and how the filter bears it.

40 s at 100 Hz, the IMU at the platform's origin, errors after 12 s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from stewart_estimation.arrangement import Arrangement
from stewart_estimation.estimate import EstimateSeries
from stewart_estimation.reinitialisation import estimate_from_legs, from_estimate
from stewart_estimation.replay import Loop, replay, Rows
from stewart_estimation.sensor_bound import bound_rms, sensor_bound
from stewart_estimation.series import ImuSeries, LegSeries
from stewart_estimation.settings import (
    Adaptation,
    DelayEstimation,
    FilterSettings,
    Gate,
    MisalignmentEstimation,
    Reinitialisation,
)
from stewart_estimation.simulated_srs import simulate, SimulatedRun
from stewart_estimation.tuning import settings_for
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.spatial import (
    compose_quaternions,
    exp_quaternion,
    invert_quaternion,
    log_quaternion,
)

DURATION, FIRST, LAST = 40.0, 1200, 3990
"""The last rows wait in vain for samples of a delayed IMU."""

GAP = slice(2000, 2100)
STUCK = slice(2000, 2200)
GROUPS = ('position', 'velocity', 'attitude')


@dataclass(frozen=True)
class Outcome:
    """Root mean squares of one run and what else was counted."""

    rms: Array
    extra: dict[str, float]


def platform_with_imu_at_origin() -> Platform:
    """Return the SRS of section 4 of the paper."""
    platform = Platform.from_yaml('srs')
    assert platform.imu is not None
    return replace(platform, imu=Pose(np.zeros(3), platform.imu.quaternion_xyzw))


def told(run: SimulatedRun, **refinements: object) -> FilterSettings:
    """Return settings with Q and R = diag σ²."""
    errors = run.errors
    return settings_for(
        run.platform,
        specific_force=errors.specific_force,
        angular_velocity=errors.angular_velocity,
        length=errors.length,
        **refinements,
    )


def deviations(found: EstimateSeries, run: SimulatedRun) -> Array:
    """Return true minus estimated, shape (n, 15)."""
    truth = run.truth
    turn = compose_quaternions(invert_quaternion(found.quaternion_xyzw), truth.quaternion_xyzw)
    return np.hstack(
        [
            truth.position - found.position,
            truth.linear_velocity - found.linear_velocity,
            log_quaternion(turn),
            run.errors.accelerometer_bias - found.accelerometer_bias,
            run.errors.gyroscope_bias - found.gyroscope_bias,
        ]
    )


def rms(found: EstimateSeries, run: SimulatedRun, rows: slice = slice(FIRST, LAST)) -> Array:
    """Return root mean squares over rows and axes, five of them."""
    squares = deviations(found, run)[rows] ** 2
    return np.asarray(np.sqrt(squares.reshape(len(squares), 5, 3).mean(axis=(0, 2))))


def filtered(run: SimulatedRun, settings: FilterSettings, **samples: object) -> EstimateSeries:
    """Filter a run, some of its samples replaced."""
    imu, legs = samples.get('imu', run.imu), samples.get('legs', run.legs)
    return replay(run.platform.geometry, settings, imu, legs)


def knowing(
    run: SimulatedRun, imu: ImuSeries, legs: LegSeries, bad: Array, hot: FilterSettings
) -> EstimateSeries:
    """Filter with the settings `hot` where samples are bad: the oracle."""
    usual = Arrangement.of(run.platform.geometry, told(run))
    special = Arrangement.of(run.platform.geometry, hot)
    state = from_estimate(usual, estimate_from_legs(usual, 0.0, legs.lengths[0]))
    values = np.hstack([imu.specific_forces, imu.angular_velocities])
    rows, lengths = Rows.empty(len(legs), usual.size, keep=False), np.array(legs.lengths)
    lengths[0] = np.nan
    edges = np.flatnonzero(np.diff(bad)) + 1
    parts = ('report', 'errors', 'rate_errors', 'verdicts', 'scales')
    for low, high in zip([0, *edges], [*edges, len(legs)], strict=True):
        Loop(
            special if bad[low] else usual,
            state,
            imu.stamps,
            values,
            legs.stamps[low:high],
            lengths[low:high],
            replace(rows, **{name: getattr(rows, name)[low:high] for name in parts}),
        ).run(0)
    return Loop(usual, state, imu.stamps, values, legs.stamps, lengths, rows).series(0, [])


def nominal(run: SimulatedRun, seed: int) -> Outcome:
    """Filter what sound sensors say."""
    found = filtered(run, told(run))
    fit = (found.innovations / found.sigmas)[FIRST:]
    last = deviations(found, run)[-1]
    whole = deviations(found, run)
    late = np.flatnonzero(np.abs(whole[:, :3]).max(axis=1) > 3e-5)
    return Outcome(
        rms(found, run),
        {
            'inside 2 sigma': float(np.mean(np.abs(fit) < 2.0)),
            'NIS': float(found.nis[FIRST:].mean()),
            'lag 1': float(np.mean(fit[1:] * fit[:-1])),
            'NEES': float(last @ np.linalg.solve(found.covariance[-1], last)),
            'last position error over 30 um [s]': float(late[-1] + 1) / 100.0
            if late.size
            else 0.0,
        },
    )


def delayed(run: SimulatedRun, seed: int) -> Outcome:
    """Let the IMU lag by 0 to 50 ms, another time every seed."""
    delay = 0.05 * (seed % 11) / 10.0
    late = simulate(
        profile_of(run), seed, platform=run.platform, duration=DURATION, imu_delay=delay
    )
    found = filtered(late, told(late, delay=DelayEstimation()))
    worst = float(np.abs(found.delay[2000:LAST] - delay).max())
    return Outcome(rms(found, late), {'worst delay error after 20 s [ms]': 1e3 * worst})


def spikes(run: SimulatedRun, seed: int) -> Outcome:
    """Spoil one length in a hundred by 1 mm; a spoilt start is left by a restart."""
    rng = np.random.default_rng(1000 + seed)
    hit = rng.random(run.legs.lengths.shape) < 0.01
    jump = np.where(hit, rng.choice([-1e-3, 1e-3], hit.shape), 0.0)
    found = filtered(
        run,
        told(run, gate=Gate(), reinitialisation=Reinitialisation()),
        legs=LegSeries(run.legs.stamps, run.legs.lengths + jump),
    )
    wrong = (found.used == hit)[40:]
    return Outcome(rms(found, run), {'wrongly used or refused': float(wrong.sum())})


def stuck(run: SimulatedRun, seed: int) -> Outcome:
    """Leave a leg where it was for 2 s; its sensor repeats itself."""
    lengths = np.array(run.legs.lengths)
    leg = seed % 6
    lengths[STUCK, leg] = lengths[STUCK.start - 1, leg]
    return without_leg(run, leg, lengths, Gate())


def stuck_and_noisy(run: SimulatedRun, seed: int) -> Outcome:
    """Leave a leg where it was for 2 s; the noise of its sensor goes on."""
    lengths = np.array(run.legs.lengths)
    leg, rng = seed % 6, np.random.default_rng(6000 + seed)
    noise = run.errors.length[leg] * rng.standard_normal(STUCK.stop - STUCK.start)
    lengths[STUCK, leg] = lengths[STUCK.start - 1, leg] + noise
    return without_leg(run, leg, lengths, Gate(drift=1.0))


def without_leg(run: SimulatedRun, leg: int, lengths: Array, gate: Gate) -> Outcome:
    """Hold the filter with a gate against one that knows which leg lies, and against the bound."""
    found = filtered(run, told(run, gate=gate), legs=LegSeries(run.legs.stamps, lengths))
    known = np.array(lengths)
    known[STUCK, leg] = np.nan
    best = rms(filtered(run, told(run), legs=LegSeries(run.legs.stamps, known)), run)
    mine, others = rms(found, run), np.delete(found.used, leg, axis=1)[20:]
    return Outcome(
        mine,
        {
            **{f'{name} over oracle': mine[i] / best[i] for i, name in enumerate(GROUPS)},
            **{f'bound over nominal: {name}': lost(run, leg)[i] for i, name in enumerate(GROUPS)},
            'samples of it used': float(found.used[STUCK, leg].sum()),
            'samples of others refused': float((~others).sum()),
        },
    )


def lost(run: SimulatedRun, leg: int) -> Array:
    """Return by how much the bound rises where a leg is missing for 2 s."""
    return _lost(profile_of(run), leg)


@cache
def _lost(profile: str, leg: int) -> Array:
    run = simulate(profile, 0, platform=platform_with_imu_at_origin(), duration=DURATION)
    used = np.ones((len(run.legs), 6), dtype=bool)
    used[STUCK, leg] = False
    rows = slice(FIRST, LAST)
    return bound_rms(sensor_bound(run, used)[rows]) / bound_rms(sensor_bound(run)[rows])


def profile_of(run: SimulatedRun) -> str:
    """Return the name of the motion: only MP1 stays at its height."""
    return 'MP1' if run.truth.position[1500, 2] == run.truth.position[0, 2] else 'MP2'


def without_legs(run: SimulatedRun, seed: int) -> Outcome:
    """Take all lengths away for 1 s; the errors are those of that second."""
    lengths = np.array(run.legs.lengths)
    lengths[GAP] = np.nan
    found = filtered(run, told(run), legs=LegSeries(run.legs.stamps, lengths))
    last = np.abs(deviations(found, run)[GAP.stop - 1, :3])
    return Outcome(rms(found, run, GAP), {'position at its end [um]': float(1e6 * last.mean())})


def imu_loss(run: SimulatedRun, seed: int) -> Outcome:
    """Lose one IMU sample in twenty."""
    kept = np.random.default_rng(2000 + seed).random(len(run.imu)) > 0.05
    kept[0] = True
    imu = run.imu
    some = ImuSeries(imu.stamps[kept], imu.specific_forces[kept], imu.angular_velocities[kept])
    return Outcome(rms(filtered(run, told(run), imu=some), run), {})


def bursts(count: int) -> Array:
    """Return the rows of bursts: 2 s out of every 5 s."""
    rows = np.arange(count)
    return np.asarray((rows % 500 < 200) & (rows > FIRST))


def noisy_legs(run: SimulatedRun, seed: int) -> Outcome:
    """Raise the noise of all legs eight times, in bursts."""
    rng, bad = np.random.default_rng(3000 + seed), bursts(len(run.legs))
    extra = np.sqrt(63.0) * run.errors.length * rng.standard_normal(run.legs.lengths.shape)
    legs = LegSeries(run.legs.stamps, run.legs.lengths + np.where(bad[:, None], extra, 0.0))
    found = rms(filtered(run, told(run, adaptive_legs=Adaptation()), legs=legs), run)
    best = rms(knowing(run, run.imu, legs, bad, told(run).scaled(legs=64.0)), run)
    fixed = rms(filtered(run, told(run), legs=legs), run)
    return Outcome(found, against(found, best, fixed))


def noisy_imu(run: SimulatedRun, seed: int) -> Outcome:
    """Raise the noise of the IMU ten times, in bursts."""
    rng, bad = np.random.default_rng(4000 + seed), bursts(len(run.imu))
    more = np.where(bad[:, None], np.sqrt(99.0), 0.0)
    shape = run.imu.specific_forces.shape
    imu = ImuSeries(
        run.imu.stamps,
        run.imu.specific_forces + more * run.errors.specific_force * rng.standard_normal(shape),
        run.imu.angular_velocities
        + more * run.errors.angular_velocity * rng.standard_normal(shape),
    )
    found = rms(filtered(run, told(run, adaptive_imu=Adaptation()), imu=imu), run)
    best = rms(knowing(run, imu, run.legs, bad, told(run).scaled(imu=100.0)), run)
    fixed = rms(filtered(run, told(run), imu=imu), run)
    return Outcome(found, against(found, best, fixed))


def against(found: Array, best: Array, fixed: Array) -> dict[str, float]:
    """Say how the adaptive filter stands to the oracle, and the fixed one."""
    return {
        **{f'{name} over oracle': found[i] / best[i] for i, name in enumerate(GROUPS)},
        'fixed noise: velocity over oracle': float(fixed[1] / best[1]),
    }


def misaligned(run: SimulatedRun, seed: int) -> Outcome:
    """Turn the IMU by about one degree about each axis."""
    turn = 0.02 * np.random.default_rng(5000 + seed).standard_normal(3)
    assert run.platform.imu is not None
    mounting = compose_quaternions(run.platform.imu.quaternion_xyzw, exp_quaternion(turn))
    askew = replace(run.platform, imu=Pose(run.platform.imu.position, mounting))
    real = simulate(profile_of(run), seed, platform=askew, duration=DURATION)
    settings = replace(told(real, misalignment=MisalignmentEstimation()), imu=run.platform.imu)
    found = filtered(real, settings)
    worst = float(np.abs(found.misalignment[-1] - turn).max())
    return Outcome(rms(found, real), {'angle error at the end [mrad]': 1e3 * worst})


def biased_encoder(run: SimulatedRun, seed: int) -> Outcome:
    """Spoil one encoder by 0.3 mm all the time."""
    lengths = np.array(run.legs.lengths)
    lengths[:, seed % 6] += 3e-4
    found = filtered(run, told(run, gate=Gate()), legs=LegSeries(run.legs.stamps, lengths))
    return Outcome(
        rms(found, run),
        {
            'NIS': float(np.nanmean(found.nis[FIRST:])),
            'lengths refused': float((~found.used[20:]).sum()),
        },
    )


CASES: dict[str, Callable[[SimulatedRun, int], Outcome]] = {
    'nominal': nominal,
    'IMU late, delay estimated': delayed,
    '1 mm spikes, gate': spikes,
    'a leg stuck for 2 s, gate': stuck,
    'the same, its noise goes on': stuck_and_noisy,
    '1 s without legs': without_legs,
    '5 % of the IMU lost': imu_loss,
    'legs x 8 in bursts, adaptive': noisy_legs,
    'IMU x 10 in bursts, adaptive': noisy_imu,
    'IMU askew, estimated': misaligned,
    'encoder bias 0.3 mm, gate': biased_encoder,
}
