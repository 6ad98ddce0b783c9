# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
import math

import numpy as np
import pytest
from stewart_kinematics.errors import MotionRefused, TrajectoryError
from stewart_kinematics.motion import Pose
from stewart_kinematics.motion_guard import MotionGuard
from stewart_kinematics.planning import check, plan_move, plan_stop
from stewart_kinematics.platform import Platform
from stewart_kinematics.trajectories import Cycloidal, Dwell

VIGO = Platform.from_yaml('vigo')
NEUTRAL = VIGO.geometry.neutral_pose
DIAGONAL = Pose.from_rpy(NEUTRAL.position + np.array([0.08, 0.08, 0.08]), [0.1, 0.1, 0.1])


@pytest.fixture
def guard() -> MotionGuard:
    return MotionGuard(VIGO)


def test_move_along_one_axis_is_the_fastest_profile(guard: MotionGuard) -> None:
    target = Pose(NEUTRAL.position + np.array([0.0, 0.0, 0.1]), NEUTRAL.quaternion_xyzw)
    slow = plan_move(NEUTRAL, target, guard, scale=0.2)

    assert slow.duration == Cycloidal.fastest(NEUTRAL, target, VIGO.limits, 0.2).duration


def test_move_along_several_axes_is_stretched_until_it_passes(guard: MotionGuard) -> None:
    profile = Cycloidal.fastest(NEUTRAL, DIAGONAL, VIGO.limits)
    with pytest.raises(MotionRefused):
        check(profile, guard)
    move = plan_move(NEUTRAL, DIAGONAL, guard)

    guard.check(move.sample(np.linspace(0.0, move.duration, 3001)))
    assert move.duration > profile.duration
    # Not slower than needed: 1 % less time is refused.
    with pytest.raises(MotionRefused):
        check(replace(move, duration=0.99 * move.duration), guard)


def test_way_out_of_the_workspace_is_refused_however_slow(guard: MotionGuard) -> None:
    target = Pose(NEUTRAL.position + np.array([0.0, 0.0, 0.9]), NEUTRAL.quaternion_xyzw)

    with pytest.raises(MotionRefused, match='stroke of leg'):
        plan_move(NEUTRAL, target, guard)
    with pytest.raises(MotionRefused, match='stroke of leg'):
        plan_move(NEUTRAL, target, guard, duration=60.0)


def test_duration_asked_for_is_kept_or_refused_with_the_shortest(guard: MotionGuard) -> None:
    shortest = plan_move(NEUTRAL, DIAGONAL, guard).duration

    assert plan_move(NEUTRAL, DIAGONAL, guard, duration=5.0).duration == 5.0
    with pytest.raises(TrajectoryError, match=rf'too short.* at least {shortest:.4f} s'):
        plan_move(NEUTRAL, DIAGONAL, guard, duration=0.9 * shortest)
    with pytest.raises(TrajectoryError, match='inf s is too short'):
        plan_move(NEUTRAL, DIAGONAL, guard, duration=math.inf)


def test_endless_trajectory_is_checked_up_to_the_horizon(guard: MotionGuard) -> None:
    check(Dwell(NEUTRAL), guard, horizon=2.0)


@pytest.mark.parametrize('share', [0.0, 0.1, 0.4, 0.5, 0.8, 0.99])
def test_stop_stays_on_the_path_and_within_every_limit(guard: MotionGuard, share: float) -> None:
    move = plan_move(NEUTRAL, DIAGONAL, guard)
    stop = plan_stop(move, share * move.duration, guard)
    time = np.linspace(0.0, stop.duration, 2001)
    motion = stop.sample(time)
    guard.check(motion)
    way = DIAGONAL.position - NEUTRAL.position
    travelled = (motion.position - NEUTRAL.position) @ way / (way @ way)
    jerk = np.abs(np.gradient(motion.acceleration, time, axis=0)).max(axis=0)

    np.testing.assert_allclose(
        motion.position, NEUTRAL.position + travelled[:, None] * way, atol=1e-12
    )
    assert np.all(np.diff(travelled) >= -1e-15)
    np.testing.assert_allclose(motion.twist[-1], 0.0, atol=1e-12)
    # Its own jerk and what the path's acceleration adds.
    assert jerk[:3].max() < 2.0 * VIGO.limits.linear_jerk
    assert jerk[3:].max() < 2.0 * VIGO.limits.angular_jerk
