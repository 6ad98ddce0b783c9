# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Observer, prediction and setpoints of a platform on a moving base."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_cueing.ship.stabilisation import BaseStabiliser, levelling
from stewart_cueing.ship.wave_observer import ACCELERATION, Channel, WaveObserver
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Motion, Pose

PERIOD = 0.005


def waves(time, amplitudes, omega=2.6):
    """Values with two derivatives (3, 3) of sines, quarter a period apart."""
    angle = omega * time + 0.25 * np.arange(3)
    return np.array(
        [np.sin(angle), omega * np.cos(angle), -(omega**2) * np.sin(angle)]
    ) * np.array(amplitudes)


def test_levelling_keeps_height_and_attitude_of_the_neutral_pose_and_is_differentiated_right():
    step = 1e-3
    times = 0.7 + step * np.arange(-3, 4)
    neutral = Pose.from_rpy([0.1, -0.2, 1.6], [0.05, -0.03, 0.3])
    motion = levelling(np.array([waves(t, [0.2, 0.15, 0.1]) for t in times]), neutral)
    roll, pitch, heave = waves(0.7, [0.2, 0.15, 0.1])[0]
    base = Rotation.from_euler('ZYX', [0.0, pitch, roll])
    attitudes = Rotation.from_quat(motion.quaternion_xyzw)
    kept = Rotation.from_quat(neutral.quaternion_xyzw)
    assert (base * attitudes[3] * kept.inv()).magnitude() < 1e-9
    assert base.apply(motion.position[3])[2] + heave == pytest.approx(1.6, abs=1e-12)
    assert (motion.position[:, :2] == neutral.position[:2]).all()
    stencil = np.array([-1 / 60, 3 / 20, -3 / 4, 0.0, 3 / 4, -3 / 20, 1 / 60]) / step
    assert stencil @ motion.position == pytest.approx(motion.linear_velocity[3], abs=1e-8)
    assert stencil @ motion.linear_velocity == pytest.approx(
        motion.linear_acceleration[3], abs=1e-8
    )
    turned = (attitudes * attitudes[3].inv()).as_rotvec()
    assert stencil @ turned == pytest.approx(motion.angular_velocity[3], abs=1e-8)
    assert stencil @ motion.angular_velocity == pytest.approx(
        motion.angular_acceleration[3], abs=1e-8
    )


AHEAD = 16


@cache
def expected_sea():
    """Return times [s], heave [m], and acceleration with noise [m/s²]."""
    rng = np.random.default_rng(1)
    # The expected spectrum itself, as a sum of sines.
    omega = np.linspace(0.3, 12.0, 400) + rng.uniform(0.0, 0.02, 400)
    spectrum = omega**4 / ((2.6**2 - omega**2) ** 2 + (2 * 0.35 * 2.6 * omega) ** 2) ** 3
    amplitude = 0.05 * np.sqrt(2.0 * spectrum / spectrum.sum())
    phase = rng.uniform(0.0, 2.0 * np.pi, 400)
    times = PERIOD * np.arange(16_000)
    value = np.array([amplitude @ np.cos(omega * t + phase) for t in times])
    felt = np.array([-(amplitude * omega**2) @ np.cos(omega * t + phase) for t in times])
    return times, value, felt + rng.normal(0.0, 0.02, len(felt))


@cache
def off_on_the_expected_sea(drift):
    """Return how far predictions of heave are off [m], with a bias that grows [m/s³].

    And the standard deviation that the channel says.
    """
    channel, wrong = Channel(2.6, PERIOD, ACCELERATION, 0.05, 0.02, 0.0), []
    times, value, felt = expected_sea()
    for n in range(len(times) - AHEAD):
        channel.update(felt[n] + drift * times[n])
        if n >= 5000:
            wrong.append(channel.predict(AHEAD * PERIOD)[0] - value[n + AHEAD])
    return np.array(wrong), channel.deviation(AHEAD * PERIOD)


def test_observer_is_as_good_as_it_says_on_a_sea_as_expected():
    wrong, said = off_on_the_expected_sea(0.0)
    assert np.std(wrong) == pytest.approx(said, rel=0.25)
    assert said < 0.1 * 0.05


def test_a_warming_accelerometer_leaves_heave_as_it_was():
    """A bias that was all but constant put heave off by 14 mm, where 4 are usual."""
    cold, warming = (
        np.sqrt(np.mean(off_on_the_expected_sea(drift)[0] ** 2)) for drift in (0.0, 2e-4)
    )
    print(f'heave is off by {1e3 * cold:.1f} mm, of a warming IMU by {1e3 * warming:.1f} mm')
    assert warming < 1.3 * cold


def test_a_list_is_found_and_lost_and_a_bias_of_the_accelerometer_is_none():
    """Of a list of 52 mrad 51 stayed on the platform."""
    peak, period = 1.2, 0.02
    observer, rng = WaveObserver(peak, period), np.random.default_rng(1)
    omega, off = 2.0 * np.pi / peak, []
    for n in range(900):
        angle = omega * period * n
        roll = 0.052 * (n < 300) + 0.03 * np.sin(angle)
        force = 9.80665 * np.array([0.0, np.sin(roll), np.cos(roll)]) + [0.03, -0.03, 0.03]
        rates = np.array([0.03 * omega * np.cos(angle), 0.0, 0.0])
        noise = rng.normal(0.0, np.repeat([0.02, 1e-3], 3))
        observer.update(force + noise[:3], rates + noise[3:])
        off.append(observer.predict(0.0)[0] - [roll, 0.0, 0.0])
    off = np.abs(off)
    explained = 0.03 / 9.80665
    assert off[250:300, 0].max() < explained + 1.5e-3
    assert off[250:300, 2].max() < 5e-3
    assert off[-40:, :2].max() < 1.5e-3
    assert off[250:, 1].max() < 1.5e-3


def followed(amplitudes, seconds, period=PERIOD):
    """Follow sines from a soft start; return what was off, (n, 3), and the shares at the end."""
    platform = load_platform('vigo')
    control, judge = BaseStabiliser(MotionGuard(platform), period, 2.4), MotionGuard(platform)
    height = platform.geometry.neutral_pose.position[2]
    rows, motions, base = [], [], np.zeros(3)
    for n in range(round(seconds / period)):
        motion = control.advance(period * n, soft_waves(period * (n + 1), amplitudes))
        judge.admit(motion, period * n)
        motions.append(motion)
        attitude = Rotation.from_euler('ZYX', [0.0, base[1], base[0]])
        pitch, roll = (attitude * Rotation.from_quat(motion.quaternion_xyzw)).as_euler('ZYX')[1:]
        up = attitude.apply(motion.position)[2] + base[2] - height
        rows.append([roll, pitch, up])
        base = soft_waves(period * (n + 1), amplitudes)[0]
    parts = zip(*(motion.parts() for motion in motions), strict=True)
    judge.check_jerk(Motion(*map(np.stack, parts)), period * np.arange(len(motions)))
    return np.array(rows), control.shares[0]


def soft_waves(time, amplitudes):
    """Sines that grow for 3 s."""
    s = min(time / 3.0, 1.0)
    grown = np.array([s**3 * (10 - 15 * s + 6 * s**2), 30 * (s * (1 - s)) ** 2 / 3.0, 0.0])
    grown[2] = 60 * s * (1 - s) * (1 - 2 * s) / 9.0
    value, rate, change = waves(time, amplitudes)
    return np.array(
        [
            grown[0] * value,
            grown[0] * rate + grown[1] * value,
            grown[0] * change + 2 * grown[1] * rate + grown[2] * value,
        ]
    )


@pytest.mark.slow
def test_waves_within_the_limits_are_followed_wholly():
    amplitudes = np.array([0.06, 0.05, 0.05])
    off, shares = followed(amplitudes, 7.0)
    assert np.abs(off[700:]).max(axis=0) / amplitudes == pytest.approx(np.zeros(3), abs=0.01)
    assert shares == pytest.approx(np.ones(2))


def test_in_a_hard_sea_every_setpoint_is_admitted_and_level_goes_before_height():
    amplitudes = np.array([0.15, 0.15, 0.35])
    off, shares = followed(amplitudes, 9.0, 2 * PERIOD)
    off = np.abs(off[600:]).max(axis=0) / amplitudes
    assert off[:2].max() < 0.01
    assert 0.1 < off[2] < 0.9
    assert 0.1 < shares[1] < shares[0] == pytest.approx(1.0)


@pytest.mark.slow
def test_a_sea_beyond_the_tilt_that_fits_is_followed_in_part_within_every_limit():
    amplitudes = np.array([0.5, 0.4, 0.8])
    off, shares = followed(amplitudes, 7.0)
    assert 0.2 < shares[0] < 0.9
    assert shares[1] < 0.05
    # Less than the base's own tilt is left.
    assert (off[1000:, :2].std(axis=0) < 0.8 * amplitudes[:2] / np.sqrt(2.0)).all()


def mirrored(platform):
    """Return the platform below its base."""
    geometry, flip = platform.geometry, np.array([1.0, 1.0, -1.0])
    poses = {
        name: Pose(flip * getattr(geometry, name).position, np.array([0.0, 0.0, 0.0, 1.0]))
        for name in ('zero_pose', 'neutral_pose')
    }
    joints = {name: flip * getattr(geometry, name) for name in ('base_joints', 'platform_joints')}
    return replace(platform, geometry=replace(geometry, **joints, **poses))


@pytest.mark.parametrize(
    'platform',
    [mirrored(load_platform('vigo')), *map(load_platform, ('sg90_rotary', 'hexaglide_3d_mec'))],
    ids=['hanging', 'rotary', 'sliding'],
)
def test_a_platform_that_hangs_or_stands_on_rods_is_kept_level_too(platform):
    height = platform.geometry.neutral_pose.position[2]
    control = BaseStabiliser(MotionGuard(platform), 2 * PERIOD, 2.4)
    amplitudes = np.array([0.02, 0.02, 0.004 * abs(height)])
    for n in range(340):
        motion = control.advance(2 * PERIOD * n, soft_waves(2 * PERIOD * (n + 1), amplitudes))
    roll, pitch, heave = soft_waves(2 * PERIOD * n, amplitudes)[0]
    attitude = Rotation.from_euler('ZYX', [0.0, pitch, roll])
    left = (attitude * Rotation.from_quat(motion.quaternion_xyzw)).magnitude()
    off = attitude.apply(motion.position)[2] + heave - height
    assert control.shares[0] == pytest.approx(np.ones(2))
    assert left < 0.02 * amplitudes[0]
    assert abs(off) < 0.02 * amplitudes[2]
