# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of trajectories through samples."""

from __future__ import annotations

import numpy as np
import pytest
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.trajectories import AiryWave, OrbitalWave, Sampled

WAVE = OrbitalWave(
    (AiryWave(0.06, 1.7, 3.0, 0.4), AiryWave(0.03, 1.1, 2.0)),
    Pose.from_rpy([0.0, 0.1, 1.6], [0.0, 0.0, 0.5]),
    attack_angle=0.6,
)


def _samples(parts: int, step: float = 0.02) -> tuple[Sampled, np.ndarray, Motion]:
    time = 3.0 + np.arange(0.0, 4.0, step)
    motion = WAVE.sample(time)
    given = (motion.twist, motion.acceleration)[:parts]
    return Sampled(time, motion.position, motion.quaternion_xyzw, *given), time, motion


@pytest.mark.parametrize('parts', [0, 1, 2])
def test_samples_are_met(parts: int) -> None:
    sampled, time, motion = _samples(parts)
    found = sampled.sample(time - time[0])
    np.testing.assert_allclose(found.position, motion.position, atol=1e-14)
    alike = np.abs((found.quaternion_xyzw * motion.quaternion_xyzw).sum(axis=1))
    np.testing.assert_allclose(alike, 1.0, atol=1e-14)
    if parts > 0:
        np.testing.assert_allclose(found.twist, motion.twist, atol=1e-12)
    if parts > 1:
        np.testing.assert_allclose(found.acceleration, motion.acceleration, atol=1e-9)


@pytest.mark.parametrize(('parts', 'order'), [(0, 4), (1, 5), (2, 6)])
def test_position_between_samples_converges_with_its_order(parts: int, order: int) -> None:
    errors = []
    for step in (0.08, 0.04):
        sampled, time, _ = _samples(parts, step)
        inside = np.linspace(1.0, 3.0, 501)
        found = sampled.sample(inside).position
        errors.append(np.abs(found - WAVE.sample(inside + time[0]).position).max())
    assert np.log2(errors[0] / errors[1]) > order - 0.6


def test_accuracy_at_usual_rates() -> None:
    inside = np.linspace(0.5, 3.0, 400)
    for parts, accuracy in ((0, 2e-7), (2, 1e-11)):
        sampled, time, _ = _samples(parts)
        expected = WAVE.sample(inside + time[0])
        found = sampled.sample(inside)
        np.testing.assert_allclose(found.position, expected.position, atol=accuracy)
        np.testing.assert_allclose(found.angular_velocity, expected.angular_velocity, atol=1e-4)


def test_sign_of_recorded_quaternions_does_not_matter() -> None:
    sampled, time, motion = _samples(0)
    sign = np.where(np.arange(time.size) % 3 == 0, -1.0, 1.0)[:, None]
    flipped = Sampled(time, motion.position, sign * motion.quaternion_xyzw)
    inside = np.linspace(0.0, 3.9, 77)
    found, expected = (each.sample(inside) for each in (flipped, sampled))
    np.testing.assert_allclose(found.angular_velocity, expected.angular_velocity, atol=1e-10)


def test_two_samples_make_a_line() -> None:
    quaternion = np.tile([0.0, 0.0, 0.0, 1.0], (2, 1))
    sampled = Sampled([0.0, 2.0], [[0, 0, 1], [0.2, 0, 1]], quaternion)
    np.testing.assert_allclose(sampled.sample(0.5).position, [0.05, 0.0, 1.0], atol=1e-15)


# Of a file with a header, and an empty line before the last sample.
LINES = [2, 3, 4, 5, 6, 8]


def _refused(message: str, lines: list[int] | None = None, **changes: object) -> None:
    count = 6
    values: dict[str, object] = {
        'time': np.arange(count) * 0.1,
        'position': np.zeros((count, 3)),
        'quaternion_xyzw': np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)),
    }
    with pytest.raises(TrajectoryError, match=message):
        Sampled(**{**values, **changes}, lines=lines)  # type: ignore[arg-type]


def test_bad_stamps_are_refused_by_line() -> None:
    _refused('0.1 s in line 4 repeats 0.1 s', LINES, time=[0.0, 0.1, 0.1, 0.2, 0.3, 0.4])
    _refused('0.05 s in line 4 goes back from 0.1 s', LINES, time=[0.0, 0.1, 0.05, 0.2, 0.3, 0.4])
    _refused('a gap of 0.8 s before line 5, allowed', LINES, time=[0.0, 0.1, 0.2, 1.0, 1.1, 1.2])
    _refused('0.4 s in line 8 repeats', LINES, time=[0.0, 0.1, 0.2, 0.3, 0.4, 0.4])
    _refused(
        'time of nan s in line 3, expected are', LINES, time=[0.0, np.nan, 0.2, 0.3, 0.4, 0.5]
    )
    _refused('0.1 s in sample 3 repeats', time=[0.0, 0.1, 0.1, 0.2, 0.3, 0.4])
    _refused('1e-10 s in line 3 repeats 0 s', LINES, time=[0.0, 1e-10, 0.2, 0.3, 0.4, 0.5])
    _refused(r'time of 1e\+101 s in line 8', LINES, time=[0.0, 0.1, 0.2, 0.3, 0.4, 1e101])


def test_bad_values_are_refused_by_line() -> None:
    position, quaternion = np.zeros((6, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (6, 1))
    position[4, 1] = np.nan
    quaternion[2] *= 1.1
    twist = np.full((6, 6), -1e101)
    _refused('position of nan in line 6, expected are', LINES, position=position)
    _refused(r'twist of -1e\+101 in line 2, expected .* -1e\+100 to', LINES, twist=twist)
    _refused('quaternion of norm 1.1 in sample 3', quaternion_xyzw=quaternion)
    _refused(r'position must have shape \(6, 3\), got \(6, 2\)', position=np.zeros((6, 2)))
    _refused('accelerations without twists', acceleration=np.zeros((6, 6)))
    _refused('at least 2 samples are needed, got 1', time=[0.0])
