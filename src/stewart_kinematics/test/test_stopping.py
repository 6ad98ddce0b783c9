# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of coming to rest along a path."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Pose
from stewart_kinematics.trajectories import Circle, Cycloidal, DeceleratedAlongPath
from stewart_kinematics.trajectories.stopping import stops

START = Pose.from_rpy([0.0, 0.0, 1.5], [0.0, 0.1, 0.0])
TARGET = Pose.from_rpy([0.2, -0.1, 1.6], [0.2, 0.0, -0.1])
MOVE = Cycloidal(START, TARGET, 1.0)
LIMITS = SimpleNamespace(
    linear_velocity=1.0,
    linear_acceleration=2.0,
    linear_jerk=20.0,
    angular_velocity=2.0,
    angular_acceleration=4.0,
    angular_jerk=40.0,
    velocities=np.array([1.0, 2.0]),
    accelerations=np.array([2.0, 4.0]),
    jerks=np.array([20.0, 40.0]),
)


@pytest.mark.parametrize('time', [0.0, 0.2, 0.5, 0.8, 1.0])
def test_stop_leaves_the_path_as_it_was_and_ends_at_rest(time: float) -> None:
    stop = DeceleratedAlongPath(MOVE, time, 0.4)
    own, first, last = MOVE.sample(time), stop.sample(0.0), stop.sample(0.4)
    np.testing.assert_allclose(first.position, own.position, atol=1e-15)
    np.testing.assert_allclose(first.quaternion_xyzw, own.quaternion_xyzw, atol=1e-15)
    np.testing.assert_allclose(first.twist, own.twist, atol=1e-14)
    np.testing.assert_allclose(first.acceleration, own.acceleration, atol=1e-12)
    np.testing.assert_allclose(last.twist, 0.0, atol=1e-15)
    np.testing.assert_allclose(last.acceleration, 0.0, atol=1e-13)


def test_stop_stays_on_the_path_and_travels_half_the_time() -> None:
    stop = DeceleratedAlongPath(MOVE, 0.3, 0.4)
    motion = stop.sample(np.linspace(0.0, 0.4, 50))
    way = (motion.position - START.position) / (TARGET.position - START.position)
    np.testing.assert_allclose(way, way[:, :1].repeat(3, axis=1), atol=1e-12)
    assert np.all(np.diff(way[:, 0]) > 0.0)
    np.testing.assert_allclose(motion.position[-1], MOVE.sample(0.5).position, atol=1e-14)


def test_lead_follows_the_trajectory_before_it_slows_down() -> None:
    stop, later = DeceleratedAlongPath(MOVE, 0.2, 0.4, 0.1), DeceleratedAlongPath(MOVE, 0.3, 0.4)
    assert stop.duration == pytest.approx(0.5)
    for time, expected in ((0.07, MOVE.sample(0.27)), (0.25, later.sample(0.15))):
        found = stop.sample(time)
        np.testing.assert_allclose(found.position, expected.position, atol=1e-14)
        np.testing.assert_allclose(found.twist, expected.twist, atol=1e-13)
        np.testing.assert_allclose(found.acceleration, expected.acceleration, atol=1e-11)


def first_stop(*arguments: Any) -> DeceleratedAlongPath:
    """Return the soonest stop that is offered."""
    return next(stops(*arguments))


def _greatest(values: np.ndarray) -> np.ndarray:
    """Return the greatest linear and angular magnitude."""
    return np.linalg.norm(values.reshape(-1, 2, 3), axis=-1).max(axis=0)


@pytest.mark.parametrize('scale', [0.3, 1.0])
@pytest.mark.parametrize('time', [0.0, 0.1, 0.3, 0.5, 0.75, 0.95])
def test_fastest_stop_keeps_acceleration_and_jerk_limits(time: float, scale: float) -> None:
    # The fastest move uses the limits to the full: there is not always room to slow down at once.
    duration = Cycloidal.fastest(START, TARGET, LIMITS, scale).duration
    move = Cycloidal(START, TARGET, duration)
    stop = first_stop(move, time * duration, LIMITS, scale)
    moments = np.linspace(0.0, stop.duration, 5001)
    acceleration = stop.sample(moments).acceleration
    jerk = np.diff(acceleration, axis=0) / moments[1]

    assert np.all(_greatest(acceleration) <= scale * LIMITS.accelerations)
    assert np.all(_greatest(jerk) <= scale * LIMITS.jerks)
    assert stop.duration <= (1.0 - time) * duration + 0.021


def test_motion_beyond_the_limits_has_no_stop() -> None:
    assert not list(stops(Circle(START, 1.0, 2.0), 1.0, LIMITS))


def test_fastest_stop_is_sooner_with_higher_limits() -> None:
    easy, hard = (
        first_stop(Circle(START, 0.1, 2.0), 1.0, LIMITS, scale).duration for scale in (0.25, 1.0)
    )
    assert hard < easy


def test_stop_at_rest_is_short() -> None:
    assert first_stop(MOVE, 1.0, LIMITS).duration == pytest.approx(0.02)


def test_path_that_ends_in_motion_is_refused() -> None:
    circle = Circle(START, 0.1, 2.0, duration=3.0)
    with pytest.raises(TrajectoryError, match='too early to stop'):
        DeceleratedAlongPath(circle, 2.9, 1.0)
    assert DeceleratedAlongPath(circle, 2.0, 1.0).duration == 1.0


@pytest.mark.parametrize(
    ('time', 'deceleration', 'message'),
    [
        (np.nan, 1.0, r'must be -1e\+100 to 1e\+100 s, got nan'),
        (0.1, 0.0, r'must be greater than 0 and at most 1e\+100 s, got 0\.0'),
        (0.1, np.inf, r'at most 1e\+100 s, got inf'),
    ],
)
def test_unusable_times_are_refused(time: float, deceleration: float, message: str) -> None:
    with pytest.raises(TrajectoryError, match=message):
        DeceleratedAlongPath(MOVE, time, deceleration)


def test_unusable_scale_is_refused() -> None:
    with pytest.raises(TrajectoryError, match='scale must be'):
        first_stop(MOVE, 0.5, LIMITS, 0.0)
