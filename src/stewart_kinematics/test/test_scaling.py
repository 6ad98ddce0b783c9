# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of making a sea fit a platform."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from stewart_kinematics.errors import MotionRefused, TrajectoryError
from stewart_kinematics.limits.fitting import fit_wave, froude, plain, sample_times
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.trajectories import AiryWave, Jonswap, OrbitalWave
from stewart_kinematics.trajectories.spectrum import significant_height
from stewart_kinematics.trajectories.waves import GRAVITY

VIGO = Platform.from_yaml('vigo')
GUARD = MotionGuard(VIGO)
NEUTRAL = VIGO.geometry.neutral_pose
SEA = Jonswap(2.0, 7.0).components(40, 3)
GENTLE = Jonswap(1.0, 9.0).components(40, 3, band=(0.6, 2.0))


def _wave(components: tuple[AiryWave, ...]) -> OrbitalWave:
    return OrbitalWave(components, NEUTRAL, attack_angle=0.4, position=2.0)


def test_froude_keeps_slope_acceleration_and_dispersion() -> None:
    model = froude(SEA, 16.0)
    for small, large in zip(model, SEA, strict=True):
        assert small.length == pytest.approx(large.length / 16.0)
        assert small.period == pytest.approx(large.period / 4.0)
        assert small.amplitude / small.length == pytest.approx(large.amplitude / large.length)
        assert small.angular_frequency**2 == pytest.approx(GRAVITY * small.wave_number)
    assert significant_height(model) == pytest.approx(2.0 / 16.0)


def test_froude_motion_is_the_full_one_shrunk() -> None:
    full, scale = _wave(SEA), 16.0
    model = replace(full, components=froude(SEA, scale), position=2.0 / scale)
    time = np.linspace(0.0, 30.0, 20)
    left, right = model.sample(time / 4.0), full.sample(time)
    np.testing.assert_allclose(
        left.position - NEUTRAL.position, (right.position - NEUTRAL.position) / scale, atol=1e-14
    )
    np.testing.assert_allclose(left.quaternion_xyzw, right.quaternion_xyzw, atol=1e-13)
    np.testing.assert_allclose(left.linear_acceleration, right.linear_acceleration, atol=1e-11)


def test_plain_scaling_keeps_times_and_lengths() -> None:
    for small, large in zip(plain(SEA, 0.1), SEA, strict=True):
        assert small == replace(large, amplitude=0.1 * large.amplitude)


def require_inside(wave: OrbitalWave) -> None:
    time = sample_times(15.0, 50.0)
    motion = wave.sample(time)
    GUARD.check(motion)
    GUARD.check_jerk(motion, time)


@pytest.mark.parametrize(('scaling', 'sea'), [('plain', SEA), ('froude', GENTLE)])
def test_whole_workspace_is_the_border_of_what_the_guard_allows(scaling, sea) -> None:
    full, factor = fit_wave(_wave(sea), GUARD, 1.0, scaling, duration=15.0)
    require_inside(full)
    assert significant_height(full.components) == pytest.approx(factor * significant_height(sea))
    if scaling == 'plain':
        grown, place = plain(full.components, 1.0015), 2.0
    else:
        grown, place = froude(sea, 0.997 / factor), 2.0 * factor / 0.997
    larger = replace(full, components=grown, position=place)
    with pytest.raises(MotionRefused, match=r'allowed (are|is)'):
        require_inside(larger)


def test_a_sea_out_of_reach_of_cranks_does_not_fit_them() -> None:
    cranks = Platform.from_yaml('sg90_rotary')
    guard = MotionGuard(cranks)
    sea = OrbitalWave(SEA, cranks.geometry.neutral_pose)
    fitted, factor = fit_wave(sea, guard, 1.0, 'plain', duration=15.0)
    time = sample_times(15.0, 50.0)
    guard.check(fitted.sample(time))
    larger = replace(sea, components=plain(sea.components, 1.02 * factor))
    with pytest.raises(MotionRefused):
        guard.check(larger.sample(time))


@pytest.mark.parametrize(('scaling', 'sea'), [('plain', SEA), ('froude', GENTLE)])
def test_fraction_bounds_the_strokes_about_the_centre(scaling, sea) -> None:
    wave, _ = fit_wave(_wave(sea), GUARD, 0.6, scaling, duration=15.0)
    legs = GUARD.check(wave.sample(sample_times(15.0, 50.0)))
    middle = GUARD.check(Motion.at_rest(NEUTRAL)).stroke
    whole = np.minimum(middle, 0.6 - middle).min()
    used = 1.0 - np.minimum(legs.stroke, 0.6 - legs.stroke).min() / whole
    used = max(used, np.abs(legs.rate).max() / 0.6, np.abs(legs.acceleration).max() / 6.0)
    assert used <= 0.6 + 1e-9
    # One of the three binds in these seas.
    assert used == pytest.approx(0.6, abs=1e-4)


def test_sea_too_steep_for_the_platform_fits_at_no_froude_scale() -> None:
    # 18° of slope at most: beyond what a platform limited to 10° may do, at any scale.
    steep = (AiryWave.deep_water(0.5, 2.5),)
    limits = replace(VIGO.limits, pitch=np.radians([-10.0, 10.0]))
    guard = MotionGuard(replace(VIGO, limits=limits))
    message = r'at no scale: at .* uses 178\.4 % of the margin in pitch, allowed are 0 to 99\.9 %'
    with pytest.raises(TrajectoryError, match=message):
        fit_wave(OrbitalWave(steep, NEUTRAL), guard, 1.0, 'froude', duration=5.0)
    assert fit_wave(OrbitalWave(steep, NEUTRAL), guard, 1.0, 'plain', duration=5.0)[1] < 0.6


def test_centre_without_margin_fits_nothing() -> None:
    below = VIGO.geometry.zero_pose.position - np.array([0.0, 0.0, 0.05])
    retracted = Pose(below, np.array([0.0, 0.0, 0.0, 1.0]))
    with pytest.raises(
        TrajectoryError, match=r'a margin of -0\.\d+ in stroke, needed is more than 0'
    ):
        fit_wave(OrbitalWave(SEA, retracted), GUARD, 0.6, 'plain', duration=5.0)


@pytest.mark.parametrize('fraction', [0.0, 1.1, np.nan])
def test_unusable_fractions_are_refused(fraction: float) -> None:
    with pytest.raises(TrajectoryError, match='fraction must be greater than 0 and at most 1'):
        fit_wave(_wave(SEA), GUARD, fraction, 'plain', duration=5.0)


def test_unusable_factors_are_refused() -> None:
    with pytest.raises(TrajectoryError, match='scale must be greater than 0'):
        froude(SEA, 0.0)
    with pytest.raises(TrajectoryError, match='factor must be greater than 0'):
        plain(SEA, -1.0)


def test_sample_times_reach_the_end() -> None:
    np.testing.assert_allclose(sample_times(0.3, 10.0), [0.0, 0.1, 0.2, 0.3])
    assert sample_times(0.35, 10.0)[-1] == pytest.approx(0.3)
    with pytest.raises(
        TrajectoryError, match=r'rate must be greater than 0 and at most 1e.100 Hz'
    ):
        sample_times(1.0, 0.0)
