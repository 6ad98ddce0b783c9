# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of fading a motion in and out."""

from __future__ import annotations

import numpy as np
import pytest
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.trajectories import AiryWave, Circle, Faded, OrbitalWave

CENTRE = Pose.from_rpy([0.1, -0.2, 1.6], [0.0, 0.0, 0.3])
WAVE = OrbitalWave((AiryWave(0.06, 1.7, 3.0, 0.4),), CENTRE, attack_angle=0.6)


def _rests_at_centre(motion: Motion) -> None:
    np.testing.assert_allclose(motion.position, CENTRE.position, atol=1e-15)
    assert abs(motion.quaternion_xyzw @ CENTRE.quaternion_xyzw) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(motion.twist, 0.0, atol=1e-14)
    np.testing.assert_allclose(motion.acceleration, 0.0, atol=1e-13)


def test_fades_begin_and_end_at_rest_in_the_centre() -> None:
    faded = Faded(WAVE, CENTRE, 2.0, 1.5, 10.0)
    assert faded.duration == 10.0
    _rests_at_centre(faded.sample(0.0))
    _rests_at_centre(faded.sample(10.0))


def test_between_the_fades_the_motion_is_what_is_faded() -> None:
    time = np.linspace(2.0, 8.5, 40)
    found, expected = Faded(WAVE, CENTRE, 2.0, 1.5, 10.0).sample(time), WAVE.sample(time)
    np.testing.assert_allclose(found.position, expected.position, atol=1e-15)
    np.testing.assert_allclose(found.twist, expected.twist, atol=1e-13)
    np.testing.assert_allclose(found.acceleration, expected.acceleration, atol=1e-12)


@pytest.mark.parametrize('time', [0.5, 5.0])
def test_ended_agrees_up_to_the_end_and_then_comes_to_rest(time: float) -> None:
    endless = Faded(WAVE, CENTRE, 2.0)
    ended = endless.with_fade_out_at(time, 1.0)
    assert ended.duration == time + 1.0
    before = np.linspace(0.0, time, 30)
    left, right = endless.sample(before), ended.sample(before)
    np.testing.assert_allclose(right.position, left.position, atol=1e-15)
    np.testing.assert_allclose(right.acceleration, left.acceleration, atol=1e-13)
    _rests_at_centre(ended.sample(ended.duration))


def test_without_a_duration_the_fall_ends_with_the_motion() -> None:
    circle = Circle(CENTRE, 0.05, 2.0, duration=4.0)
    faded = Faded(circle, CENTRE, 1.0, 1.0)
    assert faded.duration == 4.0
    _rests_at_centre(faded.sample(4.0))


def test_unusable_times_are_refused() -> None:
    circle = Circle(CENTRE, 0.05, 2.0, duration=4.0)
    with pytest.raises(TrajectoryError, match=r'fade_in must be 0 to 1e.100 s, got -1'):
        Faded(circle, CENTRE, -1.0)
    with pytest.raises(TrajectoryError, match='duration must be at most the 4 s'):
        Faded(circle, CENTRE, 1.0, 1.0, 5.0)
    with pytest.raises(TrajectoryError, match='fade_in must be at most the duration of 4 s'):
        Faded(circle, CENTRE, 5.0)
    with pytest.raises(TrajectoryError, match='fade_out must be at most the duration of 4 s'):
        Faded(circle, CENTRE, 1.0, 5.0)
    with pytest.raises(TrajectoryError, match='give a finite duration'):
        Faded(WAVE, CENTRE, 1.0, 1.0)
    with pytest.raises(TrajectoryError, match=r'time must be 0 to 1e.100 s'):
        Faded(WAVE, CENTRE, 1.0).with_fade_out_at(-1.0, 1.0)
