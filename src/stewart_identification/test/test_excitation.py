# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from stewart_identification.errors import NotIdentifiable
from stewart_identification.estimators.swarm import Swarm
from stewart_identification.excitation import Design, ExcitationPlanner, joint_criterion
from stewart_identification.models.platform import PlatformModel
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import plan_fades
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.trajectories.multi_sine import from_yaml
import yaml


@pytest.fixture(scope='module')
def planner() -> ExcitationPlanner:
    platform = Platform.from_yaml('ex800')
    return ExcitationPlanner(platform, PlatformModel.from_platform(platform))


@pytest.mark.slow
def test_a_swarm_that_begins_outside_ends_inside_and_better_than_the_wave(planner, tmp_path):
    platform = Platform.from_yaml('ex800')
    found = planner.plan(Swarm(12, 40, 1.5, 1.5, 0.72), np.random.default_rng(1))
    assert found.least_margin >= 0.0
    wave = planner.judge(from_yaml('ex800_wave', platform.geometry.neutral_pose))
    assert found.log_determinant > wave.log_determinant + 20.0
    # What is written is what is played, and the guard passes it, fast or slow to look.
    path = tmp_path / 'motion.yaml'
    path.write_text(yaml.safe_dump(found.as_yaml('test', 'test')), encoding='utf-8')
    played = from_yaml(path, platform.geometry.neutral_pose)
    time = np.linspace(0.0, 10.0, 5001)
    assert np.allclose(played.sample(time).position, found.motion.sample(time).position, atol=1e-6)
    MotionGuard(platform).check(played.sample(time))


def test_the_shipped_motion_is_inside_all_limits_and_well_conditioned(planner):
    home = Platform.from_yaml('ex800').geometry.neutral_pose
    found = planner.judge(from_yaml('ex800_identification', home), 1000.0)
    assert found.least_margin >= 0.0
    assert found.condition_number < 10.0


@pytest.mark.parametrize('name', ['ex800', 'vigo'])
def test_a_short_period_keeps_the_jerk_limits_and_is_played(name):
    """Of 5 s the highest harmonic has 3.4 Hz: there the jerk binds before all else."""
    platform = Platform.from_yaml(name)
    model, guard = PlatformModel.from_platform(platform), MotionGuard(platform)
    short = ExcitationPlanner(platform, model, Design(duration=5.0))
    found = short.plan(Swarm(6, 20, 1.5, 1.5, 0.72), np.random.default_rng(0))
    time = np.linspace(0.0, 5.0, 501)
    jerks = guard.jerk_margins(found.motion.sample(time), time)
    assert min(values.min() for values in jerks.values()) > 0.0
    home = platform.geometry.neutral_pose
    plan_fades(found.motion, home, guard, fade_in=3.0, fade_out=3.0, duration=11.0)


def test_what_stays_outside_is_refused_and_the_limit_named():
    platform = Platform.from_yaml('ex800')
    model = PlatformModel.from_platform(platform)
    wild = ExcitationPlanner(platform, model, Design(travel=5.0, turn=3.0))
    with pytest.raises(NotIdentifiable, match='no motion inside the limits was found: '):
        wild.plan(Swarm(2, 1), np.random.default_rng(0))


def test_what_is_made_large_is_what_was_asked_for(planner):
    platform = Platform.from_yaml('ex800')
    by_joints = ExcitationPlanner(
        platform, PlatformModel.from_platform(platform), Design(criterion='joints')
    )
    small = np.random.default_rng(4).uniform(-0.05, 0.05, 60)
    found = planner.judge(planner.motion(small))
    assert found.least_margin > 0.05
    assert planner.cost(small) == pytest.approx(-found.log_determinant, rel=1e-12)
    assert by_joints.cost(small) == pytest.approx(-found.joint_determinant, rel=1e-12)


def test_the_papers_criterion_is_the_determinant_of_its_matrix():
    motion = np.random.default_rng(3).normal(size=(3, 40, 3))
    q = np.stack(motion, axis=-1).reshape(40, 9)
    expected = np.log(np.linalg.det(q.T @ q))
    assert joint_criterion(*motion) == pytest.approx(expected, rel=1e-10)
