# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from recordings_made import harmonics
from stewart_dynamics.newton_euler import actuator_forces
from stewart_identification.errors import ConfigurationError, FitError
from stewart_identification.experiment import Experiment
from stewart_identification.models.platform import centroidal, PlatformModel
from stewart_kinematics.model.platform import Platform


@pytest.fixture(scope='module')
def experiment(ex800: Platform) -> Experiment:
    return lively(ex800, 60)


def lively(platform: Platform, count: int, scale: float = 1.0) -> Experiment:
    rng = np.random.default_rng(4)
    sizes = scale * np.repeat([0.012, 0.06], 3)[:, None]
    sine, cosine = rng.normal(size=(2, 6, 4)) * sizes
    home = platform.geometry.neutral_pose
    motion = harmonics(home, 'ZXY', 1.9, sine, cosine)
    time = np.linspace(0.0, 5.0, count)
    return Experiment(time, motion.sample(time), np.zeros((count, 6)))


def test_the_platform_model_is_newton_and_euler_when_friction_is_none(ex800, experiment):
    model = PlatformModel.from_platform(ex800, friction='none')
    expected = actuator_forces(model.inertial, experiment.inputs)
    assert np.allclose(model.predict(model.nominal, experiment), expected, atol=1e-9)
    assert model.physical(model.nominal)


def test_joint_errors_move_the_forces_as_their_columns_say(ex800, experiment):
    from stewart_identification.recording.from_bag import motion_of_legs
    from stewart_kinematics.solvers.inverse import inverse

    rng = np.random.default_rng(6)
    model = PlatformModel.from_platform(ex800, friction='none', joint_tolerance=1e-4)
    errors = rng.normal(size=36)
    geometry = ex800.geometry
    base = geometry.base_joints + 1e-4 * errors[:18].reshape(6, 3)
    platform = geometry.platform_joints + 1e-4 * errors[18:].reshape(6, 3)
    actual = replace(geometry, base_joints=base, platform_joints=platform)
    legs = inverse(geometry, experiment.inputs)
    motion, _ = motion_of_legs(actual, legs.length, legs.rate, legs.acceleration)
    moved = replace(model.inertial, base_joints=base, platform_joints=platform)
    change = actuator_forces(moved, motion) - actuator_forces(model.inertial, experiment.inputs)
    predicted = model.nuisance(model.nominal, experiment) @ errors
    assert np.abs(change - predicted).max() < 0.02 * np.abs(change).max()


def test_centroidal_values_are_the_description(ex800):
    model = PlatformModel.from_platform(ex800, friction='none')
    values, covariance = centroidal(model.nominal, 1e-6 * np.eye(10))
    body = ex800.masses.platform
    assert np.allclose(values[:4], [body.mass, *body.centre_of_mass])
    assert np.allclose(values[4:], body.inertia[np.triu_indices(3)])
    assert covariance[1, 1] == pytest.approx(1e-6 / body.mass**2, rel=1e-3)


def test_what_cannot_be_is_refused_with_its_name(ex800, experiment):
    with pytest.raises(ConfigurationError, match='friction: expected none or common or per leg'):
        PlatformModel.from_platform(ex800, friction='some')
    with pytest.raises(FitError, match=r'stamps must increase, got 1.0 s at sample 2'):
        Experiment(np.array([0.0, 1.0, 1.0]), experiment.inputs[:3], np.zeros((3, 6)))
