# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""After a silence of the sensors the legs say where the platform is, however long it lasted."""

from __future__ import annotations

from dataclasses import replace
import json
from types import SimpleNamespace

import numpy as np
import pytest
from stewart_estimation.estimate import columns_of
from stewart_estimation.failure import failure, unfinished
from stewart_estimation.live_estimation import LiveEstimation
from stewart_estimation.live_rows import LiveRows
from stewart_estimation.odometry import EstimateColumns
from stewart_estimation.replay import replay
from stewart_estimation.samples import ImuSeries, LegSeries
from stewart_estimation.settings import (
    DelayEstimation,
    ExternalPose,
    Gate,
    Reinitialisation,
    settings_for,
)
from stewart_estimation.smoother import smooth
from stewart_estimation.verbs.estimate import imu_silence
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.solvers.inverse import leg_lengths
from test_external_pose import tracked
from typed_verbs import NOISE, simulated_run, stewart, write_tables

BEGIN = 10.0
"""Of the silences [s]."""


def at_rest(gap: float, *, imu_too: bool = True) -> SimpleNamespace:
    """Return the EX 800 at rest for 20 s, with a silence of both sensors or of the legs alone."""
    platform, rng = Platform.from_yaml('ex800'), np.random.default_rng(0)
    settings, home = settings_for(platform), platform.geometry.neutral_pose
    lengths = leg_lengths(platform.geometry, home.position, home.quaternion_xyzw)
    stamps = np.arange(0.0, 20.0, 0.01)
    spoken = np.where(stamps < BEGIN, stamps, stamps + gap)
    heard = spoken if imu_too else np.arange(0.0, 20.0 + gap, 0.01)
    rest, noise = -settings.imu.rotation.T @ settings.gravity, settings.imu_noise
    return SimpleNamespace(
        geometry=platform.geometry,
        settings=settings,
        position=home.position,
        imu=ImuSeries(
            heard,
            rest + noise.specific_force * rng.normal(size=(heard.size, 3)),
            noise.angular_velocity * rng.normal(size=(heard.size, 3)),
        ),
        legs=LegSeries(
            spoken + 0.002,
            lengths + settings.leg_noise * rng.normal(size=(spoken.size, 6)),
        ),
    )


def cut(run, begin: float, end: float) -> tuple[ImuSeries, LegSeries]:
    """Return the samples of a run without those of a time."""
    imu, legs = run.imu, run.legs
    i, j = ((item.stamps < begin) | (item.stamps >= end) for item in (imu, legs))
    values = imu.stamps[i], imu.specific_forces[i], imu.angular_velocities[i]
    return ImuSeries(*values), LegSeries(legs.stamps[j], legs.lengths[j])


@pytest.mark.parametrize('gap', [0.15, 0.3, 0.6, 2.0, 3.0, 25.0, 3000.0, 3e7])
def test_after_a_silence_of_both_sensors_the_pose_is_that_of_the_legs(gap) -> None:
    run = at_rest(gap)
    found = replay(run.geometry, run.settings, run.imu, run.legs)
    off = np.linalg.norm(found.position - run.position, axis=1)
    after = found.stamps > BEGIN
    # The second row after a start, which knows no velocity yet, is off by most.
    assert off[after].max() < 5e-4
    assert off[after][10:].max() < 8e-5
    first = int(np.flatnonzero(after)[0])
    assert found.restarts == (first,)
    assert found.gaps[first] == pytest.approx(gap + 0.01)
    assert not failure(found, run.settings)


@pytest.mark.parametrize('gap', [10.0, 100.0, pytest.param(1000.0, marks=pytest.mark.slow)])
def test_after_a_long_silence_of_the_legs_alone_the_pose_is_theirs(gap) -> None:
    run = at_rest(gap, imu_too=False)
    found = replay(run.geometry, run.settings, run.imu, run.legs)
    after = found.stamps > BEGIN
    off = np.linalg.norm(found.position - run.position, axis=1)[after]
    assert off.max() < 5e-4
    assert list(found.gaps.values()) == [pytest.approx(gap + 0.01)]


def test_a_short_silence_of_the_legs_alone_is_bridged_by_the_imu() -> None:
    run = at_rest(1.0, imu_too=False)
    found = replay(run.geometry, run.settings, run.imu, run.legs)
    off = np.linalg.norm(found.position - run.position, axis=1)[found.stamps > BEGIN]
    assert off.max() < 8e-5
    assert not found.restarts


@pytest.mark.parametrize('period', [0.2, 0.5])
def test_slow_sensors_are_not_silent(srs, mp1, period) -> None:
    every = round(period / 0.01)
    legs = LegSeries(mp1.legs.stamps[::every], mp1.legs.lengths[::every])
    found = replay(srs.geometry, srs.settings(mp1), mp1.imu, legs)
    assert not found.restarts
    imu = ImuSeries(
        *(part[::every] for part in (mp1.imu.stamps, mp1.imu.specific_forces)),
        mp1.imu.angular_velocities[::every],
    )
    settings = srs.settings(mp1)
    slow = replace(settings, imu_noise=replace(settings.imu_noise, period=period))
    assert not replay(srs.geometry, slow, imu, legs).restarts


def test_on_the_move_delay_and_biases_outlive_a_gap(srs, mp1) -> None:
    settings = srs.settings(mp1, delay=DelayEstimation(), gate=Gate())
    imu, legs = cut(mp1, 20.0, 20.5)
    found = replay(srs.geometry, settings, imu, legs)
    (row,) = found.restarts
    assert found.delay[row] == found.delay[row - 1]
    assert found.delay_sigma[row] == pytest.approx(found.delay_sigma[row - 1], rel=1e-3)
    np.testing.assert_array_equal(found.accelerometer_bias[row], found.accelerometer_bias[row - 1])
    rest = SimpleNamespace(
        errors=mp1.errors, truth=mp1.truth[np.isin(mp1.legs.stamps, legs.stamps)]
    )
    assert srs.rms(found, rest, slice(row + 20, None))[0] < 2e-5
    assert found.used[row + 1 :].all()


def with_five_legs(run, gap: float, samples: int) -> tuple[ImuSeries, LegSeries, int]:
    """Return a run with a gap after which leg 4 comes back late, and the first row after it."""
    imu, legs = cut(run, 10.0, 10.0 + gap)
    lengths, back = np.array(legs.lengths), int(np.searchsorted(legs.stamps, 10.2))
    lengths[back : back + samples, 3] = np.nan
    return imu, LegSeries(legs.stamps, lengths), back


def test_a_leg_that_is_missing_after_a_long_gap_leaves_no_estimate_until_all_six_are_there(
    srs, mp1
) -> None:
    imu, legs, back = with_five_legs(mp1, 0.6, 5)
    lengths = np.array(legs.lengths)
    # A leg beyond any pose says as little as none.
    lengths[back + 5] *= 3.0
    legs = LegSeries(legs.stamps, lengths)
    settings = srs.settings(mp1)
    filtered = replay(srs.geometry, settings, imu, legs, keep=True)
    for found in (filtered, smooth(srs.geometry, settings, filtered)):
        unknown = np.flatnonzero(np.isnan(found.position[:, 0]))
        np.testing.assert_array_equal(unknown, np.arange(back, back + 6))
    assert filtered.restarts == (back + 6,)
    assert not unfinished(filtered)
    # One that does not come back leaves none to the end, which is a failure.
    imu, legs, back = with_five_legs(mp1, 0.6, len(mp1.legs))
    found = replay(srs.geometry, settings, imu, legs)
    assert np.isnan(found.position[back:]).all()
    assert unfinished(found).startswith('there is no estimate after 9.99 s: then both sensors')


def test_five_legs_go_on_after_a_short_gap(srs, mp1) -> None:
    imu, legs, back = with_five_legs(mp1, 0.3, len(mp1.legs))
    found = replay(srs.geometry, srs.settings(mp1), imu, legs)
    truth = mp1.truth[np.isin(mp1.legs.stamps, legs.stamps)]
    assert not found.restarts
    assert np.abs(found.position - truth.position)[back + 200 :].max() < 2e-4
    # As soon as all six are there they say the pose.
    imu, legs, back = with_five_legs(mp1, 0.3, 30)
    found = replay(srs.geometry, srs.settings(mp1), imu, legs)
    assert found.restarts == (back + 30,)
    assert np.abs(found.position - truth.position)[back + 40 :].max() < 5e-5


def test_live_it_is_said_that_six_legs_are_waited_for(srs, mp1) -> None:
    imu, legs, _ = with_five_legs(mp1, 0.6, len(mp1.legs))
    live = LiveEstimation(srs.geometry, srs.settings(mp1))
    rows = np.flatnonzero((legs.stamps > 9.0) & (legs.stamps < 12.0)).tolist()
    for row in rows:
        live.legs(legs.stamps[row], legs.lengths[row])
        live.imu(imu.stamps[row], imu.specific_forces[row], imu.angular_velocities[row])
    level, sentence = live.health()
    assert (level, sentence) == (
        'error',
        'no estimate: after a silence the filter waits for six legs',
    )


def test_nothing_is_smoothed_across_a_gap(srs, mp1) -> None:
    imu, legs = cut(mp1, 14.0, 15.0)
    settings = srs.settings(mp1)
    filtered = replay(srs.geometry, settings, imu, legs, keep=True)
    smoothed = smooth(srs.geometry, settings, filtered)
    (row,) = filtered.restarts
    np.testing.assert_array_equal(smoothed.position[row - 1], filtered.position[row - 1])
    truth = mp1.truth[np.isin(mp1.legs.stamps, legs.stamps)]
    assert np.abs(smoothed.position - truth.position)[5:].max() < 5e-5


def test_external_poses_of_a_gap_are_met_by_nothing(srs, mp1) -> None:
    imu, legs = cut(mp1, 12.0, 16.0)
    poses = tracked(mp1)
    settings = srs.settings(mp1, external=ExternalPose())
    found = replay(srs.geometry, settings, imu, legs, poses=poses)
    met = found.external.stamps
    assert not np.any((met > 12.06) & (met < 16.0))
    assert np.any(met > 16.1)
    assert found.external.used.all()


@pytest.mark.parametrize('gap', [0.3, 4.0])
def test_live_a_gap_is_treated_as_in_the_replay(srs, mp1, gap) -> None:
    imu, legs = cut(mp1, 3.0, 3.0 + gap)
    settings = srs.settings(mp1, gate=Gate(), reinitialisation=Reinitialisation())
    expected = replay(srs.geometry, settings, imu, legs)
    live, blocks = LiveEstimation(srs.geometry, settings), []
    events = [(stamp, 1, row) for row, stamp in enumerate(legs.stamps)]
    events += [(stamp, 2, row) for row, stamp in enumerate(imu.stamps)]
    for stamp, kind, row in sorted(events)[:1600]:
        if kind == 1:
            blocks.append(live.legs(stamp, legs.lengths[row]))
        else:
            blocks.append(live.imu(stamp, imu.specific_forces[row], imu.angular_velocities[row]))
    found = LiveRows.joined([item for item in blocks if len(item)])
    assert live.restarts == 1
    mine, rows = columns_of(found), np.searchsorted(expected.stamps, found.stamps)
    np.testing.assert_array_equal(found.stamps, expected.stamps[rows])
    assert len(rows) > 700
    for name in ('position', 'linear_velocity', 'covariance'):
        np.testing.assert_array_equal(mine[name], getattr(expected, name)[rows])


def test_rates_that_no_imu_has_measured_say_so(srs, mp1) -> None:
    """The legs go on; what they do not tell is as unsure as a platform may move."""
    speaks = (mp1.imu.stamps < BEGIN) | (mp1.imu.stamps >= BEGIN + 5.0)
    imu = ImuSeries(
        mp1.imu.stamps[speaks],
        mp1.imu.specific_forces[speaks],
        mp1.imu.angular_velocities[speaks],
    )
    found = replay(srs.geometry, srs.settings(mp1), imu, mp1.legs)
    silent = (found.stamps > BEGIN + 0.1) & (found.stamps < BEGIN + 4.9)
    sigmas = np.sqrt(found.rate_variances[silent])
    off = np.abs(found.angular_velocity - mp1.truth.angular_velocity)[silent]
    assert np.mean(off > 3.0 * sigmas) < 0.01
    moving = np.sqrt(found.variances[silent, 3:6])
    off = np.abs(found.linear_velocity - mp1.truth.linear_velocity)[silent]
    assert np.mean(off > 3.0 * moving) < 0.01
    heard = np.sqrt(found.rate_variances[~silent & (found.stamps > 1.0)])
    assert np.median(heard) < 0.01 * sigmas.min()
    told = imu_silence(imu.stamps, found.stamps, srs.settings(mp1))
    assert told == pytest.approx(5.0, abs=0.05)


def test_accelerations_that_no_imu_has_measured_say_so(srs, mp1) -> None:
    """Live, as `platform/acceleration` has them, while the legs go on."""
    settings = srs.settings(mp1)
    live = LiveEstimation(srs.geometry, settings)
    found = []
    for row, stamp in enumerate(mp1.legs.stamps.tolist()):
        found.append(live.legs(stamp, mp1.legs.lengths[row]))
        if not BEGIN <= stamp < BEGIN + 5.0:
            imu = mp1.imu.specific_forces[row], mp1.imu.angular_velocities[row]
            found.append(live.imu(stamp, *imu))
    rows = LiveRows.joined([block for block in found if len(block)])
    _, messages = EstimateColumns(settings).of(rows)
    truth = np.hstack([mp1.truth.linear_acceleration, mp1.truth.angular_acceleration])
    truth = truth[np.searchsorted(mp1.legs.stamps, rows.stamps)]
    sigmas = np.sqrt(messages[:, 6:].reshape(-1, 6, 6)[:, range(6), range(6)])
    silent = (rows.stamps > BEGIN + 0.1) & (rows.stamps < BEGIN + 4.9)
    assert np.count_nonzero(silent) > 400
    assert np.mean(np.abs(messages[silent, :6] - truth[silent]) > 3.0 * sigmas[silent]) < 0.01
    heard = np.median(sigmas[~silent & (rows.stamps > 1.0)], axis=0)
    assert np.all(heard < 0.02 * sigmas[silent].min(axis=0))


def test_the_summary_tells_of_a_gap(tmp_path, capsys) -> None:
    run = simulated_run()
    imu, legs = cut(run, 8.0, 8.6)
    tables = write_tables(replace(run, imu=imu, legs=legs), tmp_path)
    words = ['--imu', str(tables[0]), '--legs', str(tables[1]), '--platform', 'srs', *NOISE]
    assert stewart(['estimate', *words, '--json']) == 0
    said = json.loads(capsys.readouterr().out)
    assert said['gaps'] == ['began anew after a gap of 0.61 s at 8.60 s']
    assert len(said['restarts_s']) == 1


def test_an_end_that_does_not_fit_is_a_failure_however_long_it_went_well(srs, mp1) -> None:
    found = replay(srs.geometry, srs.settings(mp1), mp1.imu, mp1.legs)
    long = {
        name: np.concatenate([getattr(found, name)[300:]] * 4)
        for name in ('innovations', 'nis', 'used', 'accelerometer_bias', 'gyroscope_bias')
    }
    count = len(long['nis'])
    series = SimpleNamespace(
        **long, stamps=0.01 * np.arange(count), restarts=(), gaps={}, external=None
    )
    assert not failure(series, srs.settings(mp1))
    series.nis[-150:] = 1e4
    said = failure(series, srs.settings(mp1))
    assert said.startswith('75 % of the last 200 leg samples lie far beyond their sigmas')
    assert f'the first at {0.01 * (count - 150):.2f} s' in said
