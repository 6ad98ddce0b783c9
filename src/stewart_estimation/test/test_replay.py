# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2
from srs_simulated import SensorErrors, simulate
from stewart_estimation.errors import CovarianceError, SampleError
from stewart_estimation.estimate import columns_of, Estimate
from stewart_estimation.live_estimation import LiveEstimation
from stewart_estimation.live_filter import LiveFilter
from stewart_estimation.live_rows import LiveRows
from stewart_estimation.replay import replay
from stewart_estimation.samples import imu_sample, ImuSeries, LegSeries
from stewart_estimation.settings import DelayEstimation, Gate, Reinitialisation
from stewart_kinematics.motion import Pose

LIMITS = np.array([5e-6, 4e-5, 3.2e-6, 3e-5, 6e-6])
"""Position [m], velocity [m/s], attitude [rad], biases [m/s², rad/s]."""


@pytest.mark.parametrize('name', ['mp1', 'mp2'])
def test_errors_and_innovations_are_at_the_bound_of_the_noises(srs, name, request):
    run = request.getfixturevalue(name)
    found = replay(srs.geometry, srs.settings(run), run.imu, run.legs)
    assert np.all(srs.rms(found, run) < LIMITS)
    fit = (found.innovations / found.sigmas)[300:]
    assert 0.94 < np.mean(np.abs(fit) < 2.0) < 0.97
    assert 5.5 < found.nis[300:].mean() < 6.5
    assert np.all(np.abs(np.mean(fit[1:] * fit[:-1], axis=0)) < 0.05)
    last = srs.errors(found, run)[-1]
    nees = last @ np.linalg.solve(found.covariance[-1], last)
    assert chi2.ppf(0.001, 15) < nees < chi2.ppf(0.999, 15)
    assert found.repairs == 0
    assert not found.restarts


@pytest.mark.parametrize('place', ['the sensor of the SRS', 'far out and askew'])
def test_imu_may_sit_anywhere(srs, place):
    platform = srs.beside
    if place == 'far out and askew':
        platform = replace(platform, imu=Pose.from_rpy([0.7, -0.9, 0.4], [0.5, -1.1, 2.0]))
    run = simulate('MP1', 5, platform=platform, duration=20.0)
    found = replay(srs.geometry, srs.settings(run), run.imu, run.legs)
    errors = srs.errors(found, run)[1000:]
    # The noise of a gyroscope sample times the lever is in the velocity, and in its covariance.
    expected = np.sqrt(np.diagonal(found.covariance[1000:], axis1=1, axis2=2).mean(0))
    ratio = np.sqrt(np.mean(errors[:, :6] ** 2, axis=0)) / expected[:6]
    assert np.all((ratio > 0.75) & (ratio < 1.35))
    assert 5.5 < found.nis[300:].mean() < 6.5
    rate = found.angular_velocity[1000:] - run.truth.angular_velocity[1000:]
    assert np.sqrt(np.mean(rate**2)) < 2e-4
    assert np.sqrt(np.mean(rate**2)) == pytest.approx(
        np.sqrt(np.trace(found.rate_covariance[1000:].mean(0)) / 3.0), rel=0.1
    )


def test_perfect_sensors_leave_only_the_rounding_of_the_steps(srs):
    perfect = simulate('MP1', 0, platform=srs.beside, errors=SensorErrors.none(), duration=20.0)
    told = srs.settings(replace(perfect, errors=SensorErrors()))
    found = replay(srs.geometry, told, perfect.imu, perfect.legs)
    position, velocity, attitude = srs.rms(found, perfect)[:3]
    assert position < 3e-7
    assert velocity < 2e-6
    assert attitude < 1e-6
    acceleration = found.linear_acceleration - perfect.truth.linear_acceleration
    # The angular acceleration is that of half a sample before.
    assert np.abs(acceleration[1200:]).max() < 5e-3


def test_start_converges_at_once(srs, mp1):
    found = replay(srs.geometry, srs.settings(mp1), mp1.imu, mp1.legs)
    errors = srs.errors(found, mp1)
    # The first sample gives the pose; 0.2 s later the velocity is known, too.
    assert np.abs(errors[:, :3]).max() < 6e-5
    assert np.abs(errors[20:, :3]).max() < 3e-5
    assert np.abs(errors[20:, 3:6]).max() < 1.5e-3
    assert np.abs(errors[100:, 3:6]).max() < 3e-4
    assert np.all(found.nis[1:20] < chi2.isf(1e-6, 6))


def test_start_of_the_paper_converges_within_a_second(srs, mp1):
    deviations = np.array([1.0] * 6 + [0.1] * 3 + [1.0] * 3 + [0.1] * 3)
    position, turn = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.0, 1.0])
    start = Estimate(0.0, position, turn, np.diag(deviations**2))
    found = replay(srs.geometry, srs.settings(mp1), mp1.imu, mp1.legs, start)
    errors = srs.errors(found, mp1)
    assert abs(mp1.truth.position[0, 2] - 1.0) > 1.3
    assert np.abs(errors[100:, :3]).max() < 5e-5
    assert np.abs(errors[100:, 6:9]).max() < 5e-5


def test_order_of_the_samples_does_not_matter(srs, mp1):
    rng = np.random.default_rng(1)
    imu, legs = mp1.imu, mp1.legs
    i, j = rng.permutation(len(imu)), rng.permutation(len(legs))
    settings = srs.settings(mp1)
    found = replay(srs.geometry, settings, imu, legs)
    mixed = replay(
        srs.geometry,
        settings,
        ImuSeries(imu.stamps[i], imu.specific_forces[i], imu.angular_velocities[i]),
        LegSeries(legs.stamps[j], legs.lengths[j]),
    )
    np.testing.assert_array_equal(found.position, mixed.position)
    np.testing.assert_array_equal(found.covariance, mixed.covariance)


def test_sensors_may_have_clocks_and_rates_of_their_own(srs):
    run = simulate(
        'MP1', 6, platform=srs.platform, duration=30.0, imu_period=0.01, leg_period=0.0137,
        leg_offset=0.0042,
    )  # fmt: skip
    found = replay(srs.geometry, srs.settings(run), run.imu, run.legs)
    after = run.legs.stamps > 12.0
    # Three samples of the legs where there were four.
    assert np.all(srs.rms(found, run, after) < 1.2 * LIMITS)
    assert 5.5 < found.nis[300:].mean() < 6.5


def test_faster_imu_counts_by_its_own_sample_time(srs):
    run = simulate('MP1', 7, platform=srs.platform, duration=25.0, imu_period=0.0025)
    settings = srs.settings(run)
    settings = replace(settings, imu_noise=replace(settings.imu_noise, period=0.0025))
    found = replay(srs.geometry, settings, run.imu, run.legs)
    assert 5.5 < found.nis[300:].mean() < 6.5
    errors = srs.errors(found, run)[1200:, :9]
    sigma = np.sqrt(np.diagonal(found.covariance[-1])[:9])
    assert np.all(np.sqrt(np.mean(errors**2, axis=0)) < 1.35 * sigma)


def sensed(imu: ImuSeries, k: int) -> np.ndarray:
    return imu_sample(imu.stamps[k], imu.specific_forces[k], imu.angular_velocities[k])


def test_live_samples_out_of_order_give_what_the_replay_gives(srs):
    run = simulate('MP1', 8, platform=srs.beside, duration=4.0, leg_offset=0.003)
    settings = srs.settings(run, gate=Gate())
    expected = replay(srs.geometry, settings, run.imu, run.legs)
    rng = np.random.default_rng(2)
    events = [(t + 0.03 * rng.random() ** 3, 0, k) for k, t in enumerate(run.imu.stamps)]
    events += [(t + 0.03 * rng.random() ** 3, 1, k) for k, t in enumerate(run.legs.stamps)]
    # The filter cannot start before the first samples; those come first.
    events = [(-1.0, 0, 0), (-1.0, 0, 1), (-1.0, 1, 0), *events]
    live, last = LiveFilter(srs.geometry, settings), {}
    for _, legs, k in sorted(events):
        if legs:
            found = live.add_legs(run.legs.stamps[k], run.legs.lengths[k])
        else:
            found = live.add_imu(run.imu.stamps[k], sensed(run.imu, k))
        last.update({stamp: found[[n]] for n, stamp in enumerate(found.stamps)})
    assert live.dropped == 0
    assert len(last) >= len(run.legs) - 1
    rows = [k for k, stamp in enumerate(run.legs.stamps) if stamp in last]
    mine = columns_of(LiveRows.joined([last[stamp] for stamp in run.legs.stamps[rows]]))
    for name in ('position', 'quaternion_xyzw', 'linear_velocity', 'covariance'):
        np.testing.assert_array_equal(mine[name], getattr(expected, name)[rows])


@pytest.mark.parametrize('length', [1, 3, 8])
def test_blocks_of_live_samples_give_what_single_ones_give(srs, length):
    """Also where lengths that are far off let the filter start anew in the midst of a block."""
    run = simulate('MP1', 8, platform=srs.beside, duration=4.0)
    settings = srs.settings(
        run, gate=Gate(), delay=DelayEstimation(), reinitialisation=Reinitialisation()
    )
    lengths = np.array(run.legs.lengths)
    lengths[150:250] += 0.05 * np.arange(1, 7)
    stamps, imu = run.legs.stamps, run.imu
    values = np.hstack([imu.specific_forces, imu.angular_velocities])
    singly, blocks = (LiveEstimation(srs.geometry, settings) for _ in range(2))
    expected, found = [], []
    for k in range(0, len(stamps) - length + 1, length):
        part = slice(k, k + length)
        for j in range(k, k + length):
            expected.append(singly.legs(stamps[j], lengths[j]))
        for j in range(k, k + length):
            expected.append(singly.imu(imu.stamps[j], values[j, :3], values[j, 3:]))
        found.append(blocks.runs(imu.stamps[part], values[part], stamps[part], lengths[part]))

    mine, theirs = (LiveRows.joined([b for b in items if len(b)]) for items in (found, expected))
    assert len(mine) > 390
    assert singly.restarts == blocks.restarts > 0
    np.testing.assert_array_equal(mine.restarted, theirs.restarted)
    np.testing.assert_array_equal(singly.rejected, blocks.rejected)
    # Where the filter starts from the very first samples a block tells more of the slope.
    for name in ('stamps', 'report', 'errors'):
        np.testing.assert_array_equal(getattr(mine, name)[1:], getattr(theirs, name)[1:])


def test_a_leg_sample_of_another_clock_is_dropped(srs, mp1):
    """To dead-reckon to it in steps of the IMU's timeout would take days."""
    legs, imu = mp1.legs, mp1.imu
    disturbed, calm = (LiveEstimation(srs.geometry, srs.settings(mp1)) for _ in range(2))
    for k in range(100):
        if k in {50, 70}:
            assert not len(disturbed.legs(1.8e9, legs.lengths[k]))
        for live in (disturbed, calm):
            live.legs(legs.stamps[k], legs.lengths[k])
            rows = live.imu(imu.stamps[k], imu.specific_forces[k], imu.angular_velocities[k])
            if live is disturbed:
                found = rows
        np.testing.assert_array_equal(found.report, rows.report)
    assert disturbed.health() == calm.health()


@pytest.mark.parametrize('blocks', [False, True])
@pytest.mark.parametrize('leap', [1.8e9, -0.4])
def test_after_a_leap_of_the_clock_the_estimation_begins_anew(srs, mp1, leap, blocks):
    legs, imu = mp1.legs, mp1.imu
    live = LiveEstimation(srs.geometry, srs.settings(mp1))
    values = np.hstack([imu.specific_forces, imu.angular_velocities])
    for k in range(150):
        shift = leap if k >= 100 else 0.0
        if blocks:
            at = slice(k, k + 1)
            rows = live.runs(
                imu.stamps[at] + shift, values[at], legs.stamps[at] + shift, legs.lengths[at]
            )
        else:
            live.legs(legs.stamps[k] + shift, legs.lengths[k])
            rows = live.imu(imu.stamps[k] + shift, values[k, :3], values[k, 3:])
        if 100 < k < 108:
            assert not len(rows)
    assert rows.stamps[-1] == pytest.approx(legs.stamps[149] + leap, abs=1e-6)
    assert np.allclose(rows.report[-1, :3], mp1.truth[149].position, atol=1e-3)
    assert live.health().level == 'ok'
    assert live.restarts > 0


def test_live_filter_drops_what_is_older_than_its_horizon(srs, mp1):
    live = LiveFilter(srs.geometry, srs.settings(mp1), horizon=0.2)
    imu, legs = mp1.imu, mp1.legs
    for k in range(100):
        live.add_imu(imu.stamps[k], sensed(imu, k))
        live.add_legs(legs.stamps[k], legs.lengths[k])
    assert not len(live.add_legs(0.5, legs.lengths[50]))
    assert not len(live.add_imu(0.5, sensed(imu, 50)))
    assert live.dropped == 2
    assert len(live._stamps) < 50
    assert len(live._legs) < 50


def test_rows_that_nobody_can_estimate_are_nan(srs, mp1):
    lengths = np.array(mp1.legs.lengths[:50])
    lengths[:5, 2] = np.nan
    legs = LegSeries(mp1.legs.stamps[:50], lengths)
    found = replay(srs.geometry, srs.settings(mp1), mp1.imu, legs)
    assert np.isnan(found.position[:5]).all()
    assert np.isfinite(found.position[5:]).all()
    assert np.isnan(found.nis[:6]).all()
    assert not found.used[:6].any()


def test_nothing_to_start_from_is_refused(srs, mp1):
    legs, settings = mp1.legs, srs.settings(mp1)
    lengths = np.array(legs.lengths[:20])
    lengths[:, 3] = np.nan
    with pytest.raises(SampleError, match='all six lengths'):
        replay(srs.geometry, settings, mp1.imu, LegSeries(legs.stamps[:20], lengths))
    nowhere = LegSeries(legs.stamps[:5], np.tile([3.3, 2.1, 3.3, 2.1, 3.3, 2.1], (5, 1)) * 3.0)
    with pytest.raises(SampleError, match='no start from lengths'):
        replay(srs.geometry, settings, mp1.imu, nowhere)
    silent = ImuSeries(np.zeros(1), np.full((1, 3), np.nan), np.zeros((1, 3)))
    with pytest.raises(SampleError, match='no IMU sample'):
        replay(srs.geometry, settings, silent, legs)


def broken(srs, run, **refinements):
    """Replay from a covariance that no jitter can mend."""
    start = replay(srs.geometry, srs.settings(run), run.imu, run.legs).estimate(100)
    covariance = np.array(start.covariance)
    covariance[0, 0] = -1.0
    return replay(
        srs.geometry, srs.settings(run, **refinements), run.imu, run.legs,
        replace(start, covariance=covariance),
    )  # fmt: skip


def test_covariance_beyond_repair_is_refused_or_restarted(srs, mp1):
    with pytest.raises(CovarianceError, match='not positive definite'):
        broken(srs, mp1)
    found = broken(srs, mp1, reinitialisation=Reinitialisation())
    assert found.restarts == (100,)
    assert np.all(srs.rms(found, mp1) < LIMITS * 1.1)


def test_slightly_indefinite_covariance_is_repaired_and_counted(srs, mp1):
    start = replay(srs.geometry, srs.settings(mp1), mp1.imu, mp1.legs).estimate(100)
    covariance = np.array(start.covariance)
    sigmas = np.sqrt(np.diagonal(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(sigmas, sigmas))
    values[0] = -1e-12
    whole = vectors @ np.diag(values) @ vectors.T * np.outer(sigmas, sigmas)
    found = replay(
        srs.geometry, srs.settings(mp1), mp1.imu, mp1.legs, replace(start, covariance=whole)
    )
    assert 0 < found.repairs < 10
    assert np.all(srs.rms(found, mp1) < LIMITS * 1.1)


def test_kept_steps_chain(srs, mp1):
    legs = LegSeries(mp1.legs.stamps[:300] + 0.004, mp1.legs.lengths[:300])
    found = replay(
        srs.geometry, srs.settings(mp1, delay=DelayEstimation()), mp1.imu, legs, keep=True
    )
    steps = found.steps
    assert steps.cross_covariance.shape == (300, 16, 16)
    assert not steps.cross_covariance[0].any()
    before, after = steps.filtered_covariance[-2], steps.predicted_covariance[-1]
    cross = steps.cross_covariance[-1]
    # Constant states go with themselves; all of it is a covariance.
    np.testing.assert_allclose(cross[9:15, 9:15], before[9:15, 9:15], rtol=1e-6, atol=1e-18)
    sigmas = np.sqrt(np.concatenate([np.diagonal(before), np.diagonal(after)]))
    joint = np.block([[before, cross], [cross.T, after]]) / np.outer(sigmas, sigmas)
    assert np.linalg.eigvalsh(joint).min() > -1e-9
