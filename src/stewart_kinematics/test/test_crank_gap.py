# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A crank that goes through the gap of its range while the platform moves smoothly."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_description import platform_path
from stewart_kinematics.control.steering import Steering
from stewart_kinematics.errors import MotionRefused
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import check, plan_move
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.solvers.inverse import inverse
import yaml

SPEED, STEP = 0.07, 0.05
TIME = STEP * np.arange(3)


@pytest.fixture
def platform(tmp_path: Path) -> Platform:
    """Return a platform whose cranks stand 10° in front of an end of their 350°."""
    content = yaml.safe_load(platform_path('sg90_rotary').read_text())
    legs = content['legs']
    axes, zero = (np.array(legs[f'crank_{key}_direction']) for key in ('axis', 'zero'))
    back = Rotation.from_rotvec(math.radians(-165.0) * axes).apply(zero)
    legs |= {'crank_zero_direction': back.tolist(), 'angle_deg': [-175.0, 175.0]}
    file = tmp_path / 'turned.yaml'
    file.write_text(yaml.safe_dump(content))
    return Platform.from_yaml(file)


def rising(platform: Platform, time: Array) -> Motion:
    """Return a steady rise, between whose second and third sample the cranks pass the gap."""
    pose = platform.geometry.neutral_pose
    still = Motion.at_rest(pose, time.shape)
    heave = -1e-3 + SPEED * time
    up = np.array([0.0, 0.0, 1.0])
    return still.replaced(
        position=pose.position + heave[:, None] * up,
        linear_velocity=np.tile(SPEED * up, (time.size, 1)),
    )


def test_sample_behind_the_gap_is_refused(platform: Platform) -> None:
    guard, motion = MotionGuard(platform), rising(platform, TIME)
    # Every sample is allowed, and so is its motion; the angles jump by nearly a turn.
    guard.check(motion)
    angles = inverse(platform.geometry, motion).stroke
    assert np.all(np.abs(np.diff(angles, axis=0)[1]) > math.radians(300.0))

    for sample in range(2):
        guard.admit(motion[sample], TIME[sample])
    with pytest.raises(MotionRefused, match=r'crank angle jump of leg 1 is 6\.\d+ rad') as caught:
        guard.admit(motion[2], TIME[2])
    assert caught.value.violation.upper == pytest.approx(0.25 * 100.0 * STEP**2 + 1e-3)
    guard.forget()
    guard.admit(motion[2], TIME[2])


@pytest.mark.parametrize('admitted', [0, 1, 2])
def test_run_ends_in_front_of_the_gap(platform: Platform, admitted: int) -> None:
    guard, motion = MotionGuard(platform), rising(platform, TIME)
    for sample in range(admitted):
        guard.admit(motion[sample], TIME[sample])
    passed = guard.admit_run(motion[admitted:], TIME[admitted:])

    assert len(passed.stroke) == 2 - admitted
    with pytest.raises(MotionRefused, match='crank angle jump'):
        guard.admit(motion[2], TIME[2])


def test_way_through_the_gap_is_refused(platform: Platform) -> None:
    guard, motion = MotionGuard(platform), rising(platform, TIME)
    with pytest.raises(MotionRefused, match=r'crank angle jump of leg 1 at sample 2 is 6'):
        guard.check_way(motion, TIME)
    assert guard.nearer(motion, 0.0) == ''
    assert guard.nearer(motion, 0.0, TIME) == 'crank angle jump of leg 1'


def test_steering_stays_in_front_of_the_gap(platform: Platform) -> None:
    guard, period = MotionGuard(platform), 0.02
    steering = Steering(guard, platform.geometry.neutral_pose, period=period, scale=1.0)
    reached = []
    for row in range(60):
        steering.command([0.0, 0.0, 0.08, 0.0, 0.0, 0.0], row * period)
        motion = steering.advance(row * period)
        reached.append(inverse(platform.geometry, motion).stroke)

    assert np.min(reached) > math.radians(164.0)
    assert np.max(reached) < math.radians(175.0)


@pytest.mark.parametrize('rate', [20.0, 50.0, 200.0])
def test_fast_moves_of_cranks_are_admitted(rate: float) -> None:
    platform, rng = load_platform('sg90_rotary'), np.random.default_rng(20261127)
    guard, centre, moves = MotionGuard(platform), platform.geometry.neutral_pose, 0
    size = np.repeat([0.006, math.radians(6.0)], 3)

    def pose() -> Pose:
        away = size * rng.uniform(-1.0, 1.0, 6)
        return Pose.from_rpy(centre.position + away[:3], away[3:])

    while moves < 20:
        try:
            move = plan_move(pose(), pose(), guard)
        except MotionRefused:
            continue
        moves += 1
        check(move, guard)
        time = np.arange(0.0, move.duration, 1.0 / rate)
        guard.forget()
        assert len(guard.admit_run(move.sample(time), time).stroke) == time.size
