# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A tracker that is late by a constant: its delay is found, the estimate as good as it says."""

from __future__ import annotations

from dataclasses import replace
import re

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.stats import chi2
from srs_simulated import simulate
from stewart_estimation.errors import SampleError
from stewart_estimation.external_pose import estimate_at, NO_POSES, PoseSeries
from stewart_estimation.failure import failure
from stewart_estimation.live_estimation import LiveEstimation
from stewart_estimation.live_rows import LiveRows
from stewart_estimation.replay import replay
from stewart_estimation.samples import LegSeries
from stewart_estimation.settings import ExternalPose
from stewart_estimation.smoother import smooth
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.spatial import compose_quaternions, exp_quaternion

LATE = 0.04


def tracked(run, *, position=1e-3, attitude=2e-3, seed=1, every=4, late=LATE):
    """Poses at 25 Hz between the leg samples, each showing the truth of `late` seconds before."""
    rng, time = np.random.default_rng(seed), run.legs.stamps
    stamps = time[60:-1:every] + 0.0037
    place = CubicSpline(time, run.truth.position)(stamps - late)
    turn = CubicSpline(time, run.truth.quaternion_xyzw)(stamps - late)
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    wrong = exp_quaternion(attitude * rng.normal(size=(stamps.size, 3)))
    stated = np.diag(np.repeat([position, attitude], 3) ** 2)
    return PoseSeries(
        stamps,
        place + position * rng.normal(size=place.shape),
        compose_quaternions(wrong, turn),
        np.tile(stated, (stamps.size, 1, 1)),
    )


def consistent(srs, found, run, rows) -> None:
    """NEES of pose and velocity at rows far apart, which is chi-squared, in its band of 99.9 %."""
    errors = srs.errors(found, run)[rows]
    motion = [
        error[:9] @ np.linalg.solve(covariance[:9, :9], error[:9])
        for error, covariance in zip(errors, found.covariance[rows], strict=True)
    ]
    low, high = chi2.ppf([5e-4, 1.0 - 5e-4], 9 * len(motion))
    assert low < sum(motion) < high


@pytest.mark.parametrize(
    ('motion', 'noise', 'late'),
    [
        ('mp1', 1e-3, LATE),
        pytest.param('mp2', 3e-5, LATE, marks=pytest.mark.slow),
        ('mp2', 3e-5, 0.2),
    ],
)
def test_delay_of_a_tracker_is_found_and_the_estimate_is_consistent(
    srs, motion, noise, late, request
):
    run = request.getfixturevalue(motion)
    poses = tracked(run, position=noise, attitude=noise, late=late)
    settings = srs.settings(run, external=ExternalPose())
    found = replay(srs.geometry, settings, run.imu, run.legs, poses=poses)
    fit = found.external
    assert abs(fit.delay - late) < 4.0 * fit.delay_sigma
    assert fit.delay_sigma < 1e-3
    # A delay of two of its standard deviations takes some poses to be believed.
    assert np.count_nonzero(~fit.used) <= (20 if late > LATE else 0)
    assert fit.used.size > 700
    consistent(srs, found, run, np.arange(1000, 2990, 50))


def test_a_tracker_takes_the_place_of_legs_that_are_silent(srs, mp1):
    lengths = np.array(mp1.legs.lengths)
    lengths[1500:2500] = np.nan
    legs = LegSeries(mp1.legs.stamps, lengths)
    settings = srs.settings(mp1, external=ExternalPose())
    found = replay(
        srs.geometry, settings, mp1.imu, legs, poses=tracked(mp1, position=1e-4, attitude=1e-4)
    )
    alone = replay(srs.geometry, srs.settings(mp1), mp1.imu, legs)
    silent = slice(1600, 2500)
    assert srs.rms(found, mp1, silent)[0] < 1e-4
    assert srs.rms(alone, mp1, silent)[0] > 5.0 * srs.rms(found, mp1, silent)[0]
    consistent(srs, found, mp1, np.arange(1600, 2500, 50))


def test_without_poses_nothing_changes(srs, mp1):
    plain = replay(srs.geometry, srs.settings(mp1), mp1.imu, mp1.legs)
    told = replay(srs.geometry, srs.settings(mp1), mp1.imu, mp1.legs, poses=NO_POSES)
    assert told.external is None
    np.testing.assert_array_equal(plain.position, told.position)
    np.testing.assert_array_equal(plain.covariance, told.covariance)


def test_wrong_poses_are_refused(srs, mp1):
    poses = tracked(mp1)
    place, wrong = np.array(poses.position), np.arange(200, len(poses), 10)
    place[wrong] += [0.05, 0.0, 0.0]
    settings = srs.settings(mp1, external=ExternalPose())
    found = replay(srs.geometry, settings, mp1.imu, mp1.legs, poses=replace(poses, position=place))
    expected = np.ones(len(poses), dtype=bool)
    expected[wrong] = False
    np.testing.assert_array_equal(found.external.used, expected)
    consistent(srs, found, mp1, np.arange(1000, 2990, 50))


def test_the_delay_is_not_claimed_to_be_known_at_rest(srs):
    run = simulate('MP1', 10, platform=srs.platform, duration=6.0)
    still = np.zeros(len(run.legs), dtype=int)
    rng = np.random.default_rng(3)
    shape = run.legs.lengths.shape
    legs = LegSeries(
        run.legs.stamps, run.legs.lengths[still] + run.errors.length * rng.normal(size=shape)
    )
    rest = run.imu.specific_forces[still] + run.errors.specific_force * rng.normal(
        size=(len(run.imu), 3)
    )
    rates = run.imu.angular_velocities[still] + run.errors.angular_velocity * rng.normal(
        size=(len(run.imu), 3)
    )
    imu = type(run.imu)(run.imu.stamps, rest, rates)
    poses = tracked(run, position=1e-4, attitude=1e-4)
    first = np.zeros(len(poses), dtype=int)
    poses = replace(
        poses,
        position=run.truth.position[0] + 1e-4 * rng.normal(size=(len(poses), 3)),
        quaternion_xyzw=run.truth.quaternion_xyzw[first],
    )
    settings = srs.settings(run, external=ExternalPose())
    found = replay(srs.geometry, settings, imu, legs, poses=poses)
    assert found.external.delay_sigma > 0.9 * settings.external.sigma


def test_smoothing_goes_through_the_poses(srs, mp1):
    lengths = np.array(mp1.legs.lengths)
    lengths[1500:2500] = np.nan
    legs = LegSeries(mp1.legs.stamps, lengths)
    settings = srs.settings(mp1, external=ExternalPose())
    filtered = replay(srs.geometry, settings, mp1.imu, legs, poses=tracked(mp1), keep=True)
    smoothed = smooth(srs.geometry, settings, filtered)
    silent = slice(1600, 2500)
    before, after = (srs.rms(item, mp1, silent)[0] for item in (filtered, smoothed))
    assert after < 0.7 * before
    consistent(srs, smoothed, mp1, np.arange(1600, 2500, 50))


def lived(srs, settings, run, poses) -> tuple[LiveEstimation, LiveRows]:
    """Give a live filter all samples as they come; a pose when it is stamped, late."""
    live = LiveEstimation(srs.geometry, settings)
    events = [(stamp, 0, row) for row, stamp in enumerate(run.imu.stamps)]
    events += [(stamp, 1, row) for row, stamp in enumerate(run.legs.stamps)]
    events += [(stamp, 2, row) for row, stamp in enumerate(poses.stamps)]
    rows = []
    for stamp, kind, row in sorted(events):
        if kind == 0:
            rows.append(
                live.imu(stamp, run.imu.specific_forces[row], run.imu.angular_velocities[row])
            )
        elif kind == 1:
            rows.append(live.legs(stamp, run.legs.lengths[row]))
        else:
            pose = np.concatenate([poses.position[row], poses.quaternion_xyzw[row]])
            rows.append(live.pose(stamp, pose, poses.covariance[row]))
    return live, LiveRows.joined([item for item in rows if len(item)])


@pytest.fixture(scope='module')
def short(srs):
    """Return a run for a filter that gets sample by sample."""
    return simulate('MP1', 5, platform=srs.platform, duration=14.0)


def test_late_poses_give_live_what_the_replay_gives(srs, short):
    run, settings = short, srs.settings(short, external=ExternalPose())
    poses = tracked(run, every=5)
    whole = replay(srs.geometry, settings, run.imu, run.legs, poses=poses)
    live, found = lived(srs, settings, run, poses)
    assert abs(live.external.delay - whole.external.delay) < 0.2 * whole.external.delay_sigma
    last = np.searchsorted(whole.stamps, found.stamps[-1])
    np.testing.assert_allclose(found.report[-1, :3], whole.position[last], atol=2e-6)
    assert live.health().level == 'ok'


@pytest.mark.parametrize(
    ('shift', 'scale', 'said'),
    [
        ([3e-3, 0.0, 0.0], 1.0, r'off by [23]\.\d* mm along x all the time, [23]\.?\d* times'),
        ([0.0, 0.0, 0.0], 1.8, r'scatter 1\.\d+ times as far as their sigmas'),
    ],
)
def test_poses_that_are_off_by_more_than_they_say_are_told(srs, short, shift, scale, said):
    """By three sigmas: nearly all of them pass the gate."""
    run, settings = short, srs.settings(short, external=ExternalPose())
    right, poses = tracked(run), tracked(run, position=scale * 1e-3, attitude=scale * 2e-3)
    poses = replace(poses, position=poses.position + shift, covariance=right.covariance)
    found = replay(srs.geometry, settings, run.imu, run.legs, poses=poses)
    assert np.mean(found.external.used) > 0.8
    assert re.search(
        f'poses from outside .*{said}.*: are they those of platform', failure(found, settings)
    )
    live, _ = lived(srs, settings, run, poses)
    assert live.health().level == 'warn'
    assert re.search(said, live.health().sentence)


def test_poses_that_are_off_by_what_they_say_are_no_failure(srs, short):
    settings = srs.settings(short, external=ExternalPose())
    sound = replay(srs.geometry, settings, short.imu, short.legs, poses=tracked(short))
    assert failure(sound, settings) == ''


def test_poses_that_are_none_are_refused_by_their_row():
    good = dict(
        stamps=np.arange(2.0),
        position=np.zeros((2, 3)),
        quaternion_xyzw=np.tile([0.0, 0.0, 0.0, 1.0], (2, 1)),
        covariance=np.zeros((2, 6, 6)),
    )
    PoseSeries(**good)
    for name, row, value in (
        ('stamps', 1, 0.0),
        ('position', 1, np.nan),
        ('quaternion_xyzw', 0, 0.0),
    ):
        spoilt = {key: np.array(item) for key, item in good.items()}
        spoilt[name][row] = value
        with pytest.raises(SampleError, match=r'external pose [01]'):
            PoseSeries(**spoilt)
    with pytest.raises(ConfigurationError, match=r'ExternalPose\.sigma'):
        ExternalPose(sigma=0.0)


def test_what_a_covariance_does_not_state_is_assumed_axis_by_axis():
    """A tracker of positions states those alone."""
    stated = np.diag([1e-4, 4e-4, 9e-4, 0.0, -1.0, 0.0])
    stated[0, 1] = stated[1, 0] = 5e-5
    stated[0, 3] = stated[3, 0] = 1.0
    known = estimate_at(0.0, np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]), stated).covariance
    np.testing.assert_allclose(known[:3, :3], stated[:3, :3])
    np.testing.assert_allclose(known[6:9, 6:9], np.eye(3) * 0.02**2)
    np.testing.assert_allclose(known[:3, 6:9], 0.0)
