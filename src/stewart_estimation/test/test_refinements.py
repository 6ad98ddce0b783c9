# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from dataclasses import replace

from estimation_cases import knowing
import numpy as np
import pytest
from srs_simulated import simulate
from srs_study import scaled
from stewart_estimation.consistency import assess
from stewart_estimation.replay import replay
from stewart_estimation.samples import ImuSeries, LegSeries
from stewart_estimation.settings import (
    Adaptation,
    DelayEstimation,
    Gate,
    MisalignmentEstimation,
    Reinitialisation,
)
from stewart_kinematics.motion import Pose
from stewart_kinematics.spatial import compose_quaternions, exp_quaternion

ROWS = slice(1200, 2990)
"""After the lead-in; the last rows wait for a delayed IMU in vain."""


@pytest.fixture(scope='module')
def nominal(srs, mp1):
    return srs.rms(replay(srs.geometry, srs.settings(mp1), mp1.imu, mp1.legs), mp1, ROWS)


def with_lengths(run, lengths):
    return LegSeries(run.legs.stamps, lengths)


@pytest.mark.parametrize('motion', ['MP1', 'MP2'])
@pytest.mark.parametrize('delay', [0.0, 0.017, 0.05])
def test_delay_of_the_imu_is_found_while_moving(srs, nominal, motion, delay):
    run = simulate(motion, 9, platform=srs.platform, duration=30.0, imu_delay=delay)
    found = replay(srs.geometry, srs.settings(run, delay=DelayEstimation()), run.imu, run.legs)
    assert np.abs(found.delay[2000:2990] - delay).max() < 1e-4
    assert np.abs(found.delay[2990] - delay) < 4.0 * found.delay_sigma[2990]
    rms = srs.rms(found, run, slice(2000, 2990))
    assert rms[1] < 1.5 * nominal[1]
    assert rms[0] < 1.5 * nominal[0]
    if delay:
        unaware = replay(srs.geometry, srs.settings(run), run.imu, run.legs)
        assert srs.rms(unaware, run, slice(2000, 2990))[1] > 20.0 * rms[1]


def test_delay_is_not_claimed_to_be_known_at_rest(srs):
    run = simulate('MP1', 10, platform=srs.platform, duration=30.0)
    still = np.repeat(run.legs.lengths[:1], 300, axis=0)
    rng = np.random.default_rng(3)
    legs = LegSeries(
        run.legs.stamps[:300], still + run.errors.length * rng.normal(size=still.shape)
    )
    imu = ImuSeries(
        run.imu.stamps[:300],
        np.tile([0.0, 0.0, -9.80665], (300, 1))
        + run.errors.specific_force * rng.normal(size=(300, 3)),
        run.errors.angular_velocity * rng.normal(size=(300, 3)),
    )
    settings = srs.settings(run, delay=DelayEstimation())
    found = replay(srs.geometry, settings, imu, legs)
    assert found.delay_sigma[-1] > 0.5 * settings.delay.sigma
    assert found.delay[-1] == 0.0
    assert 5.0 < np.nanmean(found.nis) < 7.0


def test_misalignment_is_found_and_holds_when_written_into_the_mounting(srs, nominal):
    turn = np.array([0.01, -0.02, 0.015])
    mounting = compose_quaternions(srs.platform.imu.quaternion_xyzw, exp_quaternion(turn))
    askew = replace(srs.platform, imu=Pose(srs.platform.imu.position, mounting))
    run = simulate('MP1', 11, platform=askew, duration=30.0)
    stated = replace(srs.settings(run), imu=srs.platform.imu)
    told = replace(stated, misalignment=MisalignmentEstimation())
    found = replay(srs.geometry, told, run.imu, run.legs)
    np.testing.assert_allclose(found.misalignment[-1], turn, atol=1e-4)
    assert srs.rms(found, run, ROWS)[1] < 1.3 * nominal[1]
    real = exp_quaternion(found.misalignment[-1])
    real = compose_quaternions(stated.imu.quaternion_xyzw, real)
    calibrated = replace(stated, imu=Pose(stated.imu.position, real))
    again = replay(srs.geometry, calibrated, run.imu, run.legs)
    assert np.all(srs.rms(again, run, ROWS)[:3] < 1.2 * nominal[:3])
    unaware = replay(srs.geometry, stated, run.imu, run.legs)
    assert srs.rms(unaware, run, ROWS)[1] > 20.0 * nominal[1]


def turned_by(srs, angle, seed):
    """The platform with its IMU turned about a drawn axis."""
    axis = np.random.default_rng(seed).normal(size=3)
    turn = angle * axis / np.linalg.norm(axis)
    mounting = compose_quaternions(srs.platform.imu.quaternion_xyzw, exp_quaternion(turn))
    return replace(srs.platform, imu=Pose(srs.platform.imu.position, mounting)), turn


def estimated_misalignment(srs, motion, angle, seed):
    """Whether the innovations are consistent, and the worst bias in its own sigmas."""
    askew, _ = turned_by(srs, angle, seed)
    run = simulate(motion, 100 + seed, platform=askew, duration=40.0)
    settings = srs.settings(run, misalignment=MisalignmentEstimation())
    told = replace(settings, imu=srs.platform.imu)
    found = replay(srs.geometry, told, run.imu, run.legs)
    rows = slice(200, None)
    judged = assess(found.innovations[rows], found.sigmas[rows], found.nis[rows], found.used[rows])
    sigmas = np.sqrt(np.diagonal(found.covariance[-1]))[9:]
    return judged.held, np.abs(srs.errors(found, run)[-1, 9:] / sigmas).max()


@pytest.mark.parametrize('angle', [0.0, 0.02])
def test_looking_for_a_misalignment_leaves_the_biases_right(srs, angle):
    held, worst = estimated_misalignment(srs, 'MP2', angle, 0)
    assert held
    assert worst < 4.0


@pytest.mark.slow
@pytest.mark.parametrize('angle', [0.0, 0.02])
def test_misalignment_is_consistent_in_38_of_40_runs(srs, angle):
    found = [
        estimated_misalignment(srs, motion, angle, seed)
        for seed in range(20)
        for motion in ('MP1', 'MP2')
    ]
    assert sum(held for held, _ in found) >= 38
    assert max(worst for _, worst in found) < 4.0


def test_spikes_are_refused_and_nothing_else(srs, mp1, nominal):
    rng = np.random.default_rng(4)
    hit = rng.random(mp1.legs.lengths.shape) < 0.01
    legs = with_lengths(
        mp1, mp1.legs.lengths + np.where(hit, rng.choice([-1e-3, 1e-3], hit.shape), 0)
    )
    found = replay(srs.geometry, srs.settings(mp1, gate=Gate()), mp1.imu, legs)
    np.testing.assert_array_equal(found.used[20:], ~hit[20:])
    assert np.all(srs.rms(found, mp1, ROWS)[:3] < 1.1 * nominal[:3])
    open_gate = replay(srs.geometry, srs.settings(mp1), mp1.imu, legs)
    assert srs.rms(open_gate, mp1, ROWS)[0] > 3.0 * nominal[0]


@pytest.mark.parametrize(('name', 'leg'), [('mp1', 2), ('mp2', 2), ('mp2', 4)])
def test_stuck_leg_alone_is_refused(srs, name, leg, request):
    run, stuck = request.getfixturevalue(name), slice(2000, 2200)
    lengths = np.array(run.legs.lengths)
    lengths[stuck, leg] = lengths[1999, leg]
    found = replay(
        srs.geometry, srs.settings(run, gate=Gate()), run.imu, with_lengths(run, lengths)
    )
    refused = ~found.used[20:]
    assert np.delete(refused, leg, axis=1).sum() == 0
    assert refused[:1980, leg].sum() == 0
    # Where it stands nearly still a few samples go by before it shows; then it is out for good.
    assert refused[1980:2180, leg].sum() >= 195
    assert np.all(np.diff(refused[1980:2180, leg].astype(int)) >= 0)
    assert refused[2180:, leg].sum() == 0
    lengths[stuck, leg] = np.nan
    best = replay(srs.geometry, srs.settings(run), run.imu, with_lengths(run, lengths))
    rms = srs.rms(found, run, ROWS)
    assert np.all(rms < 1.1 * srs.rms(best, run, ROWS))
    # Five legs do not hold a platform: the sixth direction is dead reckoning for two seconds.
    sound = replay(srs.geometry, srs.settings(run), run.imu, run.legs)
    assert rms[1] < 1.1 * srs.rms(sound, run, ROWS)[1]


def test_a_leg_that_was_refused_for_long_has_to_fit_for_a_while(srs, mp2):
    # Stuck, but its noise goes on: now and then the true length passes by.
    stuck, rng = slice(1500, 2500), np.random.default_rng(8)
    lengths = np.array(mp2.legs.lengths)
    lengths[stuck, 4] = lengths[1499, 4] + mp2.errors.length[4] * rng.normal(size=1000)
    legs = with_lengths(mp2, lengths)
    found, eager = (
        replay(srs.geometry, srs.settings(mp2, gate=gate), mp2.imu, legs)
        for gate in (Gate(drift=1.0), Gate(drift=1.0, doubt=0))
    )
    believed = found.used[1520:2500, 4].sum(), eager.used[1520:2500, 4].sum()
    assert believed[0] < believed[1]
    assert np.delete(~found.used[20:], 4, axis=1).sum() == 0
    assert found.used[2530:, 4].all()


def test_legs_that_rest_together_are_not_stuck(srs, mp1):
    rows = 300
    still = np.repeat(mp1.legs.lengths[:1], rows, axis=0)
    rng = np.random.default_rng(9)
    imu = ImuSeries(
        mp1.imu.stamps[:rows],
        np.tile([0.0, 0.0, -9.80665], (rows, 1)) + 0.01 * rng.normal(size=(rows, 3)),
        1e-3 * rng.normal(size=(rows, 3)),
    )
    noise = replace(
        srs.settings(mp1).imu_noise,
        specific_force=np.full(3, 0.01),
        angular_velocity=np.full(3, 1e-3),
    )
    settings = replace(srs.settings(mp1, gate=Gate(frozen=1e-3)), imu_noise=noise)
    found = replay(srs.geometry, settings, imu, LegSeries(mp1.legs.stamps[:rows], still))
    assert found.used[1:].all()


def test_biases_that_walk_are_followed_where_it_is_said(srs, mp1):
    rng = np.random.default_rng(10)
    steps = 3e-4 * rng.normal(size=(len(mp1.imu), 3))
    drift = np.cumsum(steps, axis=0)
    imu = ImuSeries(mp1.imu.stamps, mp1.imu.specific_forces, mp1.imu.angular_velocities + drift)
    usual = srs.settings(mp1)
    told = replace(usual, imu_noise=replace(usual.imu_noise, gyroscope_walk=3e-3))
    found, constant = (replay(srs.geometry, s, imu, mp1.legs) for s in (told, usual))
    late = slice(2000, 2990)
    off = [
        item.gyroscope_bias[late] - mp1.errors.gyroscope_bias - drift[late]
        for item in (found, constant)
    ]
    sigma = np.sqrt(np.diagonal(found.covariance[late], axis1=1, axis2=2)[:, 12:])
    assert 0.8 < np.sqrt(np.mean((off[0] / sigma) ** 2)) < 1.25
    assert np.sqrt(np.mean(off[1] ** 2)) > 3.0 * np.sqrt(np.mean(off[0] ** 2))
    assert 5.5 < np.nanmean(found.nis[late]) < 6.6


def test_a_second_without_legs_is_bridged(srs, mp1):
    lengths = np.array(mp1.legs.lengths)
    gap = slice(2000, 2100)
    lengths[gap] = np.nan
    found = replay(srs.geometry, srs.settings(mp1), mp1.imu, with_lengths(mp1, lengths))
    assert srs.rms(found, mp1, gap)[0] < 40e-6
    assert np.isnan(found.nis[gap]).all()
    errors = srs.errors(found, mp1)[2099, :3]
    assert np.all(np.abs(errors) < 4.0 * np.sqrt(np.diagonal(found.covariance[2099])[:3]))


def test_lost_imu_samples_hardly_matter(srs, mp1, nominal):
    kept = np.random.default_rng(5).random(len(mp1.imu)) > 0.05
    kept[0] = True
    forces = np.array(mp1.imu.specific_forces)
    # Half of them come as NaN, half do not come at all.
    nan = ~kept & (np.arange(kept.size) % 2 == 0)
    forces[nan] = np.nan
    some = kept | nan
    imu = ImuSeries(mp1.imu.stamps[some], forces[some], mp1.imu.angular_velocities[some])
    found = replay(srs.geometry, srs.settings(mp1), imu, mp1.legs)
    assert np.all(srs.rms(found, mp1, ROWS)[:3] < 1.15 * nominal[:3])
    assert 5.5 < found.nis[300:].mean() < 6.5


def test_a_silent_imu_is_bridged_by_the_legs(srs, mp1):
    kept = (mp1.imu.stamps < 20.0) | (mp1.imu.stamps > 21.0)
    imu = ImuSeries(
        mp1.imu.stamps[kept], mp1.imu.specific_forces[kept], mp1.imu.angular_velocities[kept]
    )
    found = replay(srs.geometry, srs.settings(mp1), imu, mp1.legs)
    assert srs.rms(found, mp1, slice(2000, 2100))[0] < 2e-5
    assert srs.rms(found, mp1, slice(2150, 2990))[1] < 6e-5


def test_noise_bursts_of_the_legs_are_learnt(srs, mp1):
    rng = np.random.default_rng(6)
    bad = (np.arange(len(mp1.legs)) % 500 < 200) & (np.arange(len(mp1.legs)) > 1200)
    extra = mp1.errors.length * np.sqrt(63.0) * rng.normal(size=mp1.legs.lengths.shape)
    legs = with_lengths(mp1, mp1.legs.lengths + np.where(bad[:, None], extra, 0.0))
    adaptive = srs.settings(mp1, adaptive_legs=Adaptation())
    found = replay(srs.geometry, adaptive, mp1.imu, legs)
    told = knowing(mp1, mp1.imu, legs, bad, scaled(srs.settings(mp1), legs=64.0))
    assert np.all(srs.rms(found, mp1, ROWS)[:3] < 1.15 * srs.rms(told, mp1, ROWS)[:3])
    fixed = replay(srs.geometry, srs.settings(mp1), mp1.imu, legs)
    assert srs.rms(fixed, mp1, ROWS)[1] > 1.5 * srs.rms(found, mp1, ROWS)[1]
    assert 40.0 < np.median(found.leg_scale[1650:1700]) < 100.0


@pytest.mark.parametrize('sensor', ['legs', 'imu'])
def test_noise_that_is_stated_too_large_is_learnt(srs, mp1, sensor):
    right = srs.settings(mp1)
    wrong = scaled(right, **{sensor: 100.0})
    adaptive = replace(wrong, **{f'adaptive_{sensor}': Adaptation()})
    found, fixed = (replay(srs.geometry, s, mp1.imu, mp1.legs) for s in (adaptive, wrong))
    best = srs.rms(replay(srs.geometry, right, mp1.imu, mp1.legs), mp1, ROWS)
    quantity = 0 if sensor == 'legs' else 1
    assert srs.rms(found, mp1, ROWS)[quantity] < 1.15 * best[quantity]
    assert srs.rms(fixed, mp1, ROWS)[quantity] > 1.15 * srs.rms(found, mp1, ROWS)[quantity]
    scale = found.leg_scale if sensor == 'legs' else found.imu_scale
    assert 0.005 < np.median(scale[ROWS]) < 0.02


def test_noise_of_the_imu_is_learnt(srs, mp1):
    rng = np.random.default_rng(7)
    bad = (np.arange(len(mp1.legs)) % 500 < 200) & (np.arange(len(mp1.legs)) > 1200)
    more = np.where(bad[:, None], np.sqrt(99.0), 0.0)
    imu = ImuSeries(
        mp1.imu.stamps,
        mp1.imu.specific_forces
        + more * mp1.errors.specific_force * rng.normal(size=(len(bad), 3)),
        mp1.imu.angular_velocities
        + more * mp1.errors.angular_velocity * rng.normal(size=(len(bad), 3)),
    )
    adaptive = srs.settings(mp1, adaptive_imu=Adaptation())
    found = replay(srs.geometry, adaptive, imu, mp1.legs)
    told = knowing(mp1, imu, mp1.legs, bad, scaled(srs.settings(mp1), imu=100.0))
    assert np.all(srs.rms(found, mp1, ROWS)[:3] < 1.15 * srs.rms(told, mp1, ROWS)[:3])
    fixed = replay(srs.geometry, srs.settings(mp1), imu, mp1.legs)
    assert srs.rms(fixed, mp1, ROWS)[0] > 1.5 * srs.rms(found, mp1, ROWS)[0]


@pytest.mark.parametrize(
    'refinement',
    [
        {'gate': Gate()},
        {'adaptive_legs': Adaptation()},
        {'adaptive_imu': Adaptation()},
        {'reinitialisation': Reinitialisation()},
    ],
    ids=str,
)
def test_refinements_do_nothing_while_all_is_well(srs, mp1, nominal, refinement):
    found = replay(srs.geometry, srs.settings(mp1, **refinement), mp1.imu, mp1.legs)
    np.testing.assert_allclose(srs.rms(found, mp1, ROWS), nominal, rtol=0.03)
    assert found.used[1:].all()
    assert not found.restarts


def test_lost_consistency_restarts_from_forward_kinematics(srs, mp1, nominal):
    # The platform is moved by hand while both sensors are off: state and truth have no more to
    # do with each other.
    jump = np.array(mp1.legs.lengths)
    jump[:1500] += np.array([0.05, -0.02, 0.03, -0.04, 0.01, 0.02])
    legs = with_lengths(mp1, jump)
    on = srs.settings(mp1, gate=Gate(), reinitialisation=Reinitialisation(after=10))
    found = replay(srs.geometry, on, mp1.imu, legs)
    # The wrong lengths at the beginning fit no motion, so there may be restarts before.
    assert [row for row in found.restarts if row >= 1500] == [1509]
    assert np.all(srs.rms(found, mp1, slice(1600, 2990))[:2] < 1.6 * nominal[:2])
    off = replay(srs.geometry, srs.settings(mp1, gate=Gate()), mp1.imu, legs)
    assert not off.used[1500:].any(axis=1).any()


def test_encoder_bias_cannot_be_seen(srs, mp1):
    lengths = np.array(mp1.legs.lengths)
    lengths[:, 1] += 3e-4
    found = replay(
        srs.geometry, srs.settings(mp1, gate=Gate()), mp1.imu, with_lengths(mp1, lengths)
    )
    assert 5.5 < found.nis[1200:].mean() < 6.5
    assert found.used[20:].all()
    assert srs.rms(found, mp1, ROWS)[0] > 20.0 * 5e-6
