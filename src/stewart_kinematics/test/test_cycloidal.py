# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of point-to-point moves."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.kernels.fading import cycloid
from stewart_kinematics.motion import Pose
from stewart_kinematics.trajectories.cycloidal import Cycloidal, shortest_duration, SHORTEST_MOVE

START = Pose.from_rpy([0.0, 0.0, 1.5], [0.0, 0.1, 0.0])
TARGET = Pose.from_rpy([0.1, -0.05, 1.6], [0.2, 0.0, -0.1])


def _limits(**changes: float) -> SimpleNamespace:
    values = {
        'linear_velocity': 0.6,
        'linear_acceleration': 6.0,
        'linear_jerk': 200.0,
        'angular_velocity': 1.0,
        'angular_acceleration': 10.0,
        'angular_jerk': 400.0,
    }
    return SimpleNamespace(**{**values, **changes})


def test_profile_begins_and_ends_at_rest() -> None:
    way, rate, curvature = cycloid(np.array([0.0, 0.5, 1.0]))
    np.testing.assert_allclose(way, [0.0, 0.5, 1.0], atol=1e-15)
    np.testing.assert_allclose(rate, [0.0, 2.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(curvature, 0.0, atol=1e-14)


def test_ends_are_the_poses_at_rest() -> None:
    move = Cycloidal(START, TARGET, 2.0)
    motion = move.sample([0.0, 2.0])
    np.testing.assert_allclose(motion.position, [START.position, TARGET.position], atol=1e-15)
    for quaternion, pose in zip(motion.quaternion_xyzw, (START, TARGET), strict=True):
        assert abs(quaternion @ pose.quaternion_xyzw) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(motion.twist, 0.0, atol=1e-15)
    np.testing.assert_allclose(motion.acceleration, 0.0, atol=1e-13)


def test_path_is_straight_and_turns_about_one_axis() -> None:
    motion = Cycloidal(START, TARGET, 2.0).sample(np.linspace(0.1, 1.9, 50))
    way = (motion.position - START.position) / (TARGET.position - START.position)
    np.testing.assert_allclose(way, way[:, :1].repeat(3, axis=1), atol=1e-12)
    turn = Rotation.from_quat(motion.quaternion_xyzw) * Rotation.from_matrix(START.rotation).inv()
    axis = turn.as_rotvec() / np.linalg.norm(turn.as_rotvec(), axis=1, keepdims=True)
    np.testing.assert_allclose(axis, np.broadcast_to(axis[0], axis.shape), atol=1e-9)


def test_shorter_way_round_is_taken() -> None:
    target = Pose(START.position, -TARGET.quaternion_xyzw)
    middle = Cycloidal(START, target, 1.0).sample(0.5)
    turn = Rotation.from_quat(middle.quaternion_xyzw) * Rotation.from_matrix(START.rotation).inv()
    assert turn.magnitude() < 0.2


@pytest.mark.parametrize('scale', [1.0, 0.1])
@pytest.mark.parametrize(
    'changes',
    [
        {'linear_velocity': 0.01},
        {'linear_acceleration': 0.01},
        {'linear_jerk': 0.01},
        {'angular_velocity': 0.01},
        {'angular_acceleration': 0.01},
        {'angular_jerk': 0.01},
    ],
)
def test_fastest_touches_the_binding_limit_and_keeps_the_others(
    changes: dict[str, float], scale: float
) -> None:
    limits = _limits(**changes)
    move = Cycloidal.fastest(START, TARGET, limits, scale)
    time = np.linspace(0.0, move.duration, 20_001)
    motion = move.sample(time)
    jerk = np.gradient(motion.acceleration, time, axis=0, edge_order=2)
    used = {}
    for kind, half in (('linear', slice(0, 3)), ('angular', slice(3, 6))):
        for name, values in (
            ('velocity', motion.twist),
            ('acceleration', motion.acceleration),
            ('jerk', jerk),
        ):
            limit = scale * getattr(limits, f'{kind}_{name}')
            used[f'{kind}_{name}'] = np.linalg.norm(values[:, half], axis=1).max() / limit
    binding = next(iter(changes))
    assert used[binding] == pytest.approx(1.0, abs=1e-5)
    assert max(used.values()) <= 1.0 + 1e-5


def test_move_to_the_same_pose_stands_still() -> None:
    move = Cycloidal.fastest(START, START, _limits())
    assert move.duration == SHORTEST_MOVE
    np.testing.assert_array_equal(move.sample(np.linspace(0.0, 1.0, 9)).twist, 0.0)


@pytest.mark.parametrize('duration', [0.0, -1.0, np.nan, np.inf])
def test_unusable_durations_are_refused(duration: float) -> None:
    with pytest.raises(
        TrajectoryError, match=r'duration must be greater than 0 and at most 1e.100 s'
    ):
        Cycloidal(START, TARGET, duration)


@pytest.mark.parametrize('scale', [0.0, -0.5, 1.5, np.nan])
def test_unusable_scales_are_refused(scale: float) -> None:
    with pytest.raises(TrajectoryError, match='scale must be greater than 0 and at most 1'):
        Cycloidal.fastest(START, TARGET, _limits(), scale)


def test_limit_of_zero_is_refused() -> None:
    with pytest.raises(TrajectoryError, match='acceleration limit must be greater than 0'):
        shortest_duration([0.1], 1.0, 0.0, 1.0)
