# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the ocean waves: orbits and the attitude of the surface."""

from __future__ import annotations

import numpy as np
import pytest
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Pose
from stewart_kinematics.spatial import matrix_from_quaternion, rpy_from_quaternion
from stewart_kinematics.trajectories.waves import AiryWave, GRAVITY, OrbitalWave

CENTRE = Pose.from_rpy([0.1, -0.2, 1.674], [0.0, 0.0, 0.0])
SMALL = AiryWave.deep_water(1e-4, 3.0, 0.4)
SEA = (AiryWave(0.05, 2.0, 4.0, 0.3), AiryWave(0.03, 1.3, 2.5, -1.0))


def test_deep_water_dispersion() -> None:
    wave = AiryWave.deep_water(0.1, 3.0)
    assert wave.angular_frequency**2 == pytest.approx(GRAVITY * wave.wave_number)
    assert wave.length == pytest.approx(14.05, abs=0.01)


def test_elevation_is_the_sum_of_cosines() -> None:
    time, place = np.linspace(0.0, 7.0, 5), 0.6
    expected = 0.05 * np.cos(2 * np.pi * (place / 4.0 - time / 2.0) + 0.3) + 0.03 * np.cos(
        2 * np.pi * (place / 2.5 - time / 1.3) - 1.0
    )
    found = OrbitalWave(SEA, CENTRE, position=place).elevation(time)
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_small_wave_moves_as_the_velocity_potential_says() -> None:
    # phi = (A w / k) e^{kz} sin(k x - w t): u = A w cos(.), w = A w sin(.) at the still surface.
    wave, time = OrbitalWave((SMALL,), CENTRE), np.linspace(0.0, 3.0, 40)
    psi = SMALL.phase - SMALL.angular_frequency * time
    speed = SMALL.amplitude * SMALL.angular_frequency
    velocity = wave.sample(time).linear_velocity
    # What remains is of second order in the steepness: k A = 4.5e-5.
    np.testing.assert_allclose(velocity[:, 0], speed * np.cos(psi), atol=2e-4 * speed)
    np.testing.assert_allclose(velocity[:, 2], speed * np.sin(psi), atol=2e-4 * speed)


def test_crest_carries_forward_and_trough_back() -> None:
    wave = OrbitalWave((AiryWave(0.1, 2.0, 6.0),), CENTRE, attack_angle=0.5)
    crest, trough = wave.sample([0.0, 1.0]).linear_velocity
    direction = np.array([np.cos(0.5), np.sin(0.5), 0.0])
    assert crest @ direction > 0.0 > trough @ direction
    np.testing.assert_allclose(np.cross(crest, direction), 0.0, atol=1e-15)


def test_each_component_is_stretched_by_its_own_elevation() -> None:
    time = np.linspace(0.0, 5.0, 30)
    both = OrbitalWave(SEA, CENTRE).sample(time).position - CENTRE.position
    parts = [OrbitalWave((wave,), CENTRE).sample(time).position - CENTRE.position for wave in SEA]
    np.testing.assert_allclose(both, parts[0] + parts[1], atol=1e-15)
    eta = OrbitalWave(SEA[:1], CENTRE).elevation(time)
    np.testing.assert_allclose(parts[0][:, 2], eta * np.exp(SEA[0].wave_number * eta), atol=1e-15)


@pytest.mark.parametrize('angle', [0.0, 0.7, np.pi / 2, -2.5])
def test_normal_of_the_platform_is_the_normal_of_the_surface(angle: float) -> None:
    wave, time = OrbitalWave(SEA, CENTRE, attack_angle=angle, position=0.3), np.linspace(0, 4, 25)
    # The surface around the platform, differentiated numerically: no formula of the module.
    step = 1e-5

    def height(x: float, y: float) -> np.ndarray:
        along = 0.3 + x * np.cos(angle) + y * np.sin(angle)
        return OrbitalWave(SEA, CENTRE, position=along).elevation(time)

    slope_x = (height(step, 0.0) - height(-step, 0.0)) / (2.0 * step)
    slope_y = (height(0.0, step) - height(0.0, -step)) / (2.0 * step)
    normal = np.stack([-slope_x, -slope_y, np.ones(time.size)], axis=-1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    quaternion = wave.sample(time).quaternion_xyzw
    np.testing.assert_allclose(matrix_from_quaternion(quaternion)[:, :, 2], normal, atol=1e-9)
    roll, pitch, yaw = rpy_from_quaternion(quaternion).T
    np.testing.assert_allclose(yaw, 0.0, atol=1e-14)
    np.testing.assert_allclose(pitch, -np.arctan(slope_x), atol=1e-9)
    np.testing.assert_allclose(roll, np.arctan(slope_y / np.hypot(1.0, slope_x)), atol=1e-9)


def test_centre_with_yaw_keeps_it_under_the_tilt() -> None:
    centre = Pose.from_rpy([0.0, 0.0, 1.0], [0.0, 0.0, 0.8])
    turned, plain = (OrbitalWave(SEA, pose).sample(0.4) for pose in (centre, CENTRE))
    left = matrix_from_quaternion(turned.quaternion_xyzw)
    right = matrix_from_quaternion(plain.quaternion_xyzw)
    np.testing.assert_allclose(left, right @ centre.rotation, atol=1e-14)
    np.testing.assert_array_equal(turned.angular_velocity, plain.angular_velocity)


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ((-0.1, 2.0, 5.0), 'amplitude must be 0 to 1e.100 m, got -0.1'),
        ((0.1, 0.0, 5.0), 'period must be greater than 0 and at most 1e.100 s'),
        ((0.1, 2.0, -5.0), 'length must be greater than 0 and at most 1e.100 m'),
        ((np.nan, 2.0, 5.0), 'amplitude must be 0 to 1e.100 m, got nan'),
        ((0.1, 2.0, 5.0, np.inf), 'phase must be -1e.100 to 1e.100 '),
        ((0.5, 2.0, 5.0), r'steepness 0.2, allowed are 0 to 0.143'),
    ],
)
def test_unusable_components_are_refused(values: tuple[float, ...], message: str) -> None:
    with pytest.raises(TrajectoryError, match=message):
        AiryWave(*values)


def test_unusable_waves_are_refused() -> None:
    with pytest.raises(TrajectoryError, match='at least 1 component'):
        OrbitalWave((), CENTRE)
    with pytest.raises(TrajectoryError, match='amplitude above 0 m, got 0 m in every'):
        OrbitalWave([AiryWave(0.0, 2.0, 6.0)] * 2, CENTRE)
    with pytest.raises(TrajectoryError, match=r'attack_angle must be -1e.100 to 1e.100 '):
        OrbitalWave(SEA, CENTRE, attack_angle=np.nan)
    with pytest.raises(TrajectoryError, match='duration must be greater than 0 s, got -1'):
        OrbitalWave(SEA, CENTRE, duration=-1.0)
