# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from dataclasses import replace

from filterpy.kalman import KalmanFilter, MerweScaledSigmaPoints, UnscentedKalmanFilter
import numpy as np
import pytest
from scipy.linalg import expm
from stewart_estimation.arrangement import ALPHA, Arrangement, BETA
from stewart_estimation.errors import SampleError
from stewart_estimation.kernels.records import Rows
from stewart_estimation.kernels.report import report
from stewart_estimation.reinitialisation import estimate_from_legs, from_estimate
from stewart_estimation.replay import replay
from stewart_estimation.samples import imu_sample, ImuSeries, leg_sample, LegSeries
from stewart_estimation.settings import FilterSettings, ImuNoise
from stewart_kinematics.errors import ShapeError
from stewart_kinematics.motion import Pose
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.solvers.jacobian import jacobian
from stewart_kinematics.spatial import (
    compose_quaternions,
    exp_quaternion,
    log_quaternion,
    matrix_from_quaternion,
    skew,
)

STEP = 0.01


def filtered(srs, settings, start, samples, lengths):
    """Filter samples of the IMU from time 0 on, and lengths from the second one on."""
    stamps = STEP * np.arange(len(samples))
    imu = ImuSeries(stamps, samples[:, :3], samples[:, 3:])
    return replay(srs.geometry, settings, imu, LegSeries(stamps[1:], lengths), start)


def test_filter_equals_a_linear_kalman_filter_on_a_linear_problem(srs, mp1):
    """At rest, with errors of 1e-7, all is linear: filterpy's Kalman filter is the judge."""
    rng, tiny = np.random.default_rng(1), 1e-7
    usual = srs.settings(mp1)
    noise = replace(
        usual.imu_noise,
        specific_force=np.full(3, 1e-5),
        angular_velocity=np.full(3, 1e-6),
        accelerometer_walk=np.full(3, 1e-7),
        gyroscope_walk=np.full(3, 1e-8),
    )
    settings = replace(usual, imu_noise=noise, leg_noise=tiny, imu=Pose.identity())
    pose = srs.geometry.neutral_pose
    lengths = leg_lengths(srs.geometry, pose.position, pose.quaternion_xyzw)
    start = estimate_from_legs(Arrangement.of(srs.geometry, settings), 0.0, lengths)
    first = np.diag(np.repeat([tiny, 1e-6, tiny, 1e-5, 1e-6], 3) ** 2)
    start = replace(start, covariance=first)
    rest = -settings.gravity
    kf = KalmanFilter(15, 6)
    kf.P, kf.R = first, tiny**2 * np.eye(6)
    turn = skew(rest)
    rate = np.zeros((15, 15))
    rate[0:3, 3:6] = np.eye(3)
    rate[3:6, 6:9], rate[3:6, 9:12] = -turn, -np.eye(3)
    rate[6:9, 12:15] = -np.eye(3)
    kf.F = expm(STEP * rate)
    enter = np.zeros((15, 6))
    enter[0:3, :3], enter[3:6, :3] = 0.5 * STEP**2 * np.eye(3), STEP * np.eye(3)
    enter[6:9, 3:] = STEP * np.eye(3)
    kf.Q = enter @ np.diag(np.repeat([1e-10, 1e-12], 3)) @ enter.T
    kf.Q[9:, 9:] += STEP * np.diag(np.repeat([1e-14, 1e-16], 3))
    whole = jacobian(srs.geometry, pose.position, pose.quaternion_xyzw)
    kf.H = np.hstack([whole[:, :3], np.zeros((6, 3)), whole[:, 3:], np.zeros((6, 6))])
    measured = lengths + tiny * rng.normal(size=(59, 6))
    for row in measured:
        kf.predict()
        kf.update(row - lengths)
    samples = np.tile([*rest, 0.0, 0.0, 0.0], (60, 1))
    estimate = filtered(srs, settings, start, samples, measured).estimate(-1)
    mine = np.concatenate(
        [
            estimate.position - pose.position,
            estimate.linear_velocity,
            log_quaternion(estimate.quaternion_xyzw),
            estimate.accelerometer_bias,
            estimate.gyroscope_bias,
        ]
    )
    sigmas = np.sqrt(np.diagonal(kf.P))
    np.testing.assert_allclose(mine / sigmas, kf.x.ravel() / sigmas, atol=1e-6)
    scale = np.outer(sigmas, sigmas)
    np.testing.assert_allclose(estimate.covariance / scale, kf.P / scale, atol=1e-6)


def test_filter_equals_filterpy_where_the_manifold_is_flat(srs):
    """About one axis rotation vectors add up: filterpy's additive states do the same there."""
    rng = np.random.default_rng(2)
    still = 1e-10
    noise = ImuNoise([1e-3, 2e-3, 1.5e-3], [still, still, 2e-4])
    settings = FilterSettings(noise, np.linspace(1e-5, 2e-5, 6))
    pose = srs.geometry.neutral_pose
    lengths = leg_lengths(srs.geometry, pose.position, pose.quaternion_xyzw)
    start = estimate_from_legs(Arrangement.of(srs.geometry, settings), 0.0, lengths)
    first = np.array([2e-5] * 3 + [1e-3] * 3 + [still, still, 2e-5] + [0.03] * 3)
    first = np.diag(np.concatenate([first, [still, still, 1e-3]]) ** 2)
    start = replace(start, covariance=first)

    def move(x, dt, before, after):
        q = exp_quaternion(x[6:9])
        end = exp_quaternion(x[6:9] + dt * (0.5 * (before[3:] + after[3:]) - x[12:15]))
        a = matrix_from_quaternion(q) @ (before[:3] - x[9:12]) + settings.gravity
        b = matrix_from_quaternion(end) @ (after[:3] - x[9:12]) + settings.gravity
        out = x.copy()
        out[0:3] += dt * x[3:6] + dt**2 * (2.0 * a + b) / 6.0
        out[3:6] += 0.5 * dt * (a + b)
        out[6:9] += dt * (0.5 * (before[3:] + after[3:]) - x[12:15])
        return out

    points = MerweScaledSigmaPoints(15, ALPHA, BETA, 0.0)
    theirs = UnscentedKalmanFilter(
        15, 6, STEP, lambda x: leg_lengths(srs.geometry, x[:3], exp_quaternion(x[6:9])), move,
        points,
    )  # fmt: skip
    theirs.x = np.concatenate([pose.position, np.zeros(12)])
    theirs.P, theirs.R = first.copy(), np.diag(settings.leg_noise**2)
    yaw = np.array([0.0, 0.0, 1.0])
    samples = np.zeros((40, 6))
    samples[:, :3] = -settings.gravity + rng.normal(size=(40, 3)) * 0.3
    samples[:, 5] = 0.5 * np.sin(np.arange(40.0)) + 0.1
    lengths, innovations = np.empty((39, 6)), np.empty((39, 6))
    for k in range(1, 40):
        q = exp_quaternion(0.05 * np.sin(0.3 * k) * yaw)
        measured = leg_lengths(srs.geometry, pose.position + 1e-3 * rng.normal(size=3), q)
        lengths[k - 1] = measured
        r = matrix_from_quaternion(exp_quaternion(theirs.x[6:9]))
        theirs.Q = np.zeros((15, 15))
        theirs.predict(before=samples[k - 1], after=samples[k])
        r = matrix_from_quaternion(exp_quaternion(theirs.x[6:9]))
        enter = np.zeros((15, 6))
        enter[0:3, :3], enter[3:6, :3] = 0.5 * STEP**2 * r, STEP * r
        enter[6:9, 3:] = STEP * np.eye(3)
        variance = np.concatenate([noise.specific_force, noise.angular_velocity]) ** 2
        theirs.P = theirs.P + enter @ np.diag(variance) @ enter.T
        # filterpy would go on with points that know nothing of Q.
        theirs.sigmas_f = points.sigma_points(theirs.x, theirs.P)
        theirs.update(measured)
        innovations[k - 1] = theirs.y
    ours = filtered(srs, settings, start, samples, lengths)
    np.testing.assert_allclose(ours.innovations, innovations, atol=1e-10)
    estimate = ours.estimate(-1)
    np.testing.assert_allclose(estimate.position, theirs.x[:3], atol=1e-11)
    np.testing.assert_allclose(estimate.linear_velocity, theirs.x[3:6], atol=1e-9)
    np.testing.assert_allclose(log_quaternion(estimate.quaternion_xyzw), theirs.x[6:9], atol=1e-11)
    np.testing.assert_allclose(estimate.accelerometer_bias, theirs.x[9:12], atol=1e-9)
    used = [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 14]
    block = np.ix_(used, used)
    sigmas = np.sqrt(np.diagonal(estimate.covariance))
    scale = np.outer(sigmas, sigmas)[block]
    np.testing.assert_allclose(
        estimate.covariance[block] / scale, theirs.P[block] / scale, atol=1e-6
    )


def test_sum_of_squares_has_the_weights_of_filterpy(srs, mp1):
    rng = np.random.default_rng(3)
    points = MerweScaledSigmaPoints(15, ALPHA, BETA, 0.0)
    setup = Arrangement.of(srs.geometry, srs.settings(mp1)).setup
    moved = rng.normal(size=(31, 4))
    mean = points.Wm @ moved
    expected = (points.Wc * (moved - mean).T) @ (moved - mean)
    odd, even = 0.5 * (moved[1:16] - moved[16:]), 0.5 * (moved[1:16] + moved[16:]) - moved[0]
    weight = 1.0 / setup.spread**2
    shift = weight * even.sum(0)
    mine = weight * (odd.T @ odd + even.T @ even) + setup.centre * np.outer(shift, shift)
    size = np.abs(expected).max()
    np.testing.assert_allclose(moved[0] + shift, mean, atol=1e-9 * size)
    np.testing.assert_allclose(mine, expected, atol=1e-9 * size)


def test_samples_that_are_none_are_refused():
    force, lengths = np.zeros(3), np.full(6, 2.7)
    with pytest.raises(SampleError, match='finite'):
        imu_sample(0.01, [np.nan, 0.0, 0.0], force)
    with pytest.raises(SampleError, match='finite'):
        imu_sample(0.01, force, [np.inf, 0.0, 0.0])
    with pytest.raises(SampleError, match='finite'):
        imu_sample(np.nan, force, force)
    with pytest.raises(ShapeError, match='specific_force'):
        imu_sample(0.01, force[:2], force)
    with pytest.raises(ShapeError, match='lengths'):
        leg_sample(0.01, lengths[:5])
    with pytest.raises(SampleError, match='-1 m on leg 3'):
        leg_sample(0.01, [2.7, 2.7, -1.0, 2.7, 2.7, 2.7])
    with pytest.raises(SampleError, match='inf m on leg 1'):
        leg_sample(0.01, [np.inf, 2.7, 2.7, 2.7, 2.7, 2.7])


def test_start_without_a_pose_is_refused(srs, mp1):
    arrangement = Arrangement.of(srs.geometry, srs.settings(mp1))
    with pytest.raises(SampleError, match=r'legs \[2\] are missing'):
        estimate_from_legs(arrangement, 0.0, [2.7, np.nan, 2.7, 2.7, 2.7, 2.7])
    with pytest.raises(SampleError, match='no start from lengths'):
        estimate_from_legs(arrangement, 0.0, [9.0, 2.0, 9.0, 2.0, 9.0, 2.0])


def test_covariance_of_the_report_is_that_of_moved_states(srs, mp1):
    """Perturb the state beside the origin; the report must move as its covariance says."""
    platform = replace(srs.beside, imu=Pose.from_rpy([0.7, -0.9, 0.4], [0.5, -1.1, 2.0]))
    settings = replace(srs.settings(mp1), imu=platform.imu)
    arrangement = Arrangement.of(srs.geometry, settings)
    start = estimate_from_legs(arrangement, 0.0, mp1.legs.lengths[1500])
    rest, inner, _ = from_estimate(arrangement, start)
    measured, eps = np.array([1.0, 2.0, 9.0, 0.3, -0.2, 0.5]), 1e-6
    noise = settings.imu_noise.angular_velocity**2

    def reported(state):
        rows = Rows.empty(1, arrangement.size)
        whole = rows.report[0], rows.errors[0], rows.rate_errors[0]
        report(arrangement.setup, state, inner, measured, np.zeros(3), noise, 0.0, *whole)
        return whole[:2]

    columns = []
    for j in range(15):
        sides = []
        for sign in (eps, -eps):
            state = rest.copy()
            if 6 <= j < 9:
                turn = sign * np.eye(3)[j - 6]
                state[6:10] = compose_quaternions(rest[6:10], exp_quaternion(turn))
            else:
                state[j if j < 6 else j + 1] += sign
            sides.append(reported(state)[0])
        one, two = sides
        turn = log_quaternion(compose_quaternions(two[3:7] * [-1, -1, -1, 1], one[3:7]))
        # Position, velocity, attitude, two biases.
        parts = [(one - two)[:3], (one - two)[7:10], turn, (one - two)[16:22]]
        columns.append(np.concatenate(parts) / (2.0 * eps))
    move = np.transpose(columns)
    expected = move @ inner @ move.T
    expected[3:6, 3:6] += move[3:6, 12:15] @ np.diag(noise) @ move[3:6, 12:15].T
    found = reported(rest)[1]
    scale = np.outer(np.sqrt(np.diagonal(found)), np.sqrt(np.diagonal(found)))
    np.testing.assert_allclose(found / scale, expected / scale, atol=1e-6)
