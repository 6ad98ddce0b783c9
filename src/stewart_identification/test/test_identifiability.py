# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from stewart_identification.errors import NotIdentifiable
from stewart_identification.estimators.least_squares import LeastSquares
from stewart_identification.experiment import Experiment, JointMotion
from stewart_identification.identifiability import (
    identifiability,
    judge,
    sum_in_detail,
    Verdict,
)
from stewart_identification.models.cylindrical import CylindricalRobot
from stewart_identification.models.platform import PlatformModel
from stewart_identification.models.serial_robot import Joint, SerialRobot
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.trajectories.multi_sine import from_yaml

TRUE = np.tile([2.0, -0.5, -0.4, -1.0, 4.0, 1.0, 1.0, 2.0, 1.0, 4.0, 1.0, 0.5], 3)
J0 = 'I1zz + m1 (s1x² + s1y²) + I2yy + m2 (s2x² + s2z²) + I3yy + m3 (s3x² + s3z²)'


def general(joints: int) -> Experiment:
    rng = np.random.default_rng(1)
    motion = JointMotion(*rng.normal(size=(3, 80, joints)))
    return Experiment(np.arange(80.0), motion, rng.normal(size=(80, joints)))


def test_the_cylindrical_robot_shows_eleven_directions_and_one_sum():
    robot, experiment = CylindricalRobot(TRUE, np.stack([TRUE - 1, TRUE + 1])), general(3)
    found = identifiability(robot, experiment, TRUE)
    verdicts = dict(zip(found.names, found.verdicts, strict=True))
    in_a_sum = {name for name, v in verdicts.items() if v is Verdict.IN_A_SUM}
    sure = {name for name, v in verdicts.items() if v is Verdict.IDENTIFIABLE}
    assert found.rank == 11
    assert sure == {'m2', 'm3', 's3x', 's3z', *(f'f{k}{i}' for k in 'vc' for i in (1, 2, 3))}
    assert in_a_sum == {'I1zz', 'I2yy', 'I3yy', 'm1', 's1x', 's1y', 's2x', 's2z'}
    linear = identifiability(robot.robot, experiment, expansions=robot.expansions)
    assert {sum_in_detail(name, linear, robot.expansions) for name in in_a_sum} == {J0}


def test_every_combination_of_an_elbow_is_one_that_the_data_determine():
    arm = SerialRobot(
        [Joint('revolute', alpha=np.pi / 2), Joint('revolute', a=0.43), Joint('revolute', a=0.4)]
    )
    experiment = general(3)
    found = identifiability(arm, experiment)
    # Mayeda, Yoshida, Osuka: 7 n - 4 - 2 for n = 3 revolute joints, the first one vertical.
    assert found.rank == 15 + 6
    flat = arm.regressor(experiment).reshape(-1, 36)
    _, values, vt = np.linalg.svd(flat)
    null = vt[found.rank :]
    assert values[found.rank] < 1e-12 * values[0]
    for combination in found.combinations:
        for direction in null:
            assert abs(combination.value(arm.parameter_names, direction)) < 1e-9
    # a² m moves from one link's moment into the one before: lengths of the table appear squared.
    assert any('0.16 m3' in c.expression for c in found.combinations)


def test_a_slow_wave_is_told_apart_from_a_lively_motion():
    platform = Platform.from_yaml('ex800')
    model = PlatformModel.from_platform(platform)
    home, time = platform.geometry.neutral_pose, 0.01 * np.arange(1000)
    found = {}
    for name in ('ex800_wave', 'ex800_identification'):
        motion = from_yaml(name, home).sample(time)
        experiment = Experiment(time, motion, np.zeros((1000, 6)), noise=np.full(6, 0.58))
        found[name] = identifiability(model, experiment)
    lively, wave = found['ex800_identification'], found['ex800_wave']
    assert set(lively.verdicts) == {Verdict.IDENTIFIABLE}
    assert wave.condition_number > 1e5 > 1e3 * lively.condition_number / 10.0
    assert wave.of('m') is wave.of('hx') is Verdict.IDENTIFIABLE
    assert Verdict.IDENTIFIABLE not in {wave.of(n) for n in ('hz', 'Ixx', 'Iyy', 'Izz', 'Ixy')}
    assert wave.sigmas[wave.names.index('Izz')] > 1.0


def test_no_number_is_said_that_means_nothing():
    platform = Platform.from_yaml('ex800')
    model = PlatformModel.from_platform(platform, friction='none')
    time = 0.01 * np.arange(1000)
    motion = from_yaml('ex800_wave', platform.geometry.neutral_pose).sample(time)
    still = Experiment(time, motion, np.zeros((1000, 6)), noise=np.full(6, 0.58))
    noise = np.random.default_rng(2).normal(0.0, 0.58, (1000, 6))
    experiment = still.with_forces(model.predict(model.nominal, still) + noise)
    result = LeastSquares().fit(model, experiment, rng=None)
    found = identifiability(model, experiment)
    assert found.say(result, 'm').startswith('m = 6.8')
    assert not any(c.isdigit() for c in found.say(result, 'Ixx'))
    assert found.say(result, 'Izz').startswith('Izz: only in the sum')
    with pytest.raises(NotIdentifiable, match='Izz is not identifiable from this motion'):
        found.require('Izz')
    found.require('m')


def test_a_sum_of_three_equal_columns_reads_as_one():
    column = np.arange(1.0, 6.0)[:, None]
    matrix = np.hstack([column, column, column, np.ones((5, 1)), np.zeros((5, 1))])
    found = judge(matrix, ('a', 'b', 'c', 'd', 'e'), np.ones(5))
    assert [c.expression for c in found.combinations] == ['a + b + c', 'd']
    assert found.sums == ('a + b + c',) * 3 + ('', '')
    assert found.of('d') is Verdict.IDENTIFIABLE
    assert found.of('e') is Verdict.UNIDENTIFIABLE
    assert found.condition_number == np.inf
