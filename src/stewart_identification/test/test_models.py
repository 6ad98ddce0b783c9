# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from stewart_dynamics.newton_euler import actuator_forces
from stewart_identification.errors import ConfigurationError, FitError
from stewart_identification.estimators.levenberg_marquardt import LevenbergMarquardt
from stewart_identification.estimators.swarm import Swarm
from stewart_identification.experiment import Experiment, JointMotion
from stewart_identification.models.cylindrical import CylindricalRobot, JOINTS
from stewart_identification.models.model import local_regressor
from stewart_identification.models.platform import centroidal, PlatformModel
from stewart_identification.models.serial_robot import CentreOfMassRobot, Joint, SerialRobot
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.trajectories.multi_sine import MultiSine

TRUE = np.tile([2.0, -0.5, -0.4, -1.0, 4.0, 1.0, 1.0, 2.0, 1.0, 4.0, 1.0, 0.5], 3)
BOX = np.stack([TRUE - 2.0, TRUE + 2.0])


@pytest.fixture(scope='module')
def ex800() -> Platform:
    return Platform.from_yaml('ex800')


@pytest.fixture(scope='module')
def experiment(ex800: Platform) -> Experiment:
    return lively(ex800, 60)


def lively(platform: Platform, count: int, scale: float = 1.0) -> Experiment:
    rng = np.random.default_rng(4)
    sizes = scale * np.repeat([0.012, 0.06], 3)[:, None]
    sine, cosine = rng.normal(size=(2, 6, 4)) * sizes
    home = platform.geometry.neutral_pose
    motion = MultiSine.harmonics(home, 'ZXY', 1.9, sine, cosine)
    time = np.linspace(0.0, 5.0, count)
    return Experiment(time, motion.sample(time), np.zeros((count, 6)))


@pytest.fixture(scope='module')
def joints() -> Experiment:
    rng = np.random.default_rng(5)
    motion = JointMotion(*rng.normal(size=(3, 50, 3)))
    return Experiment(np.linspace(0.0, 5.0, 50), motion, np.zeros((50, 3)))


@pytest.mark.parametrize('legs', [False, True])
def test_the_platform_model_is_newton_and_euler_when_friction_is_none(ex800, experiment, legs):
    model = PlatformModel.from_platform(ex800, legs=legs, friction='none')
    expected = actuator_forces(model.inertial, experiment.inputs)
    assert np.allclose(model.predict(model.nominal, experiment), expected, atol=1e-9)
    assert model.physical(model.nominal)


def test_three_parameters_predict_what_ten_do_for_a_round_plate(ex800, experiment):
    three = PlatformModel.from_platform(ex800, inertia='three', friction='common')
    assert three.parameter_names == ('m', 'Ixx=Iyy', 'Izz', 'viscous', 'coulomb')
    ten = PlatformModel.from_platform(ex800, friction='common')
    found = three.predict(three.nominal, experiment)
    assert np.allclose(found, ten.predict(ten.nominal, experiment), atol=1e-9)


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


def test_the_closed_form_and_the_recursion_give_the_same_forces_and_costs(joints):
    closed = CylindricalRobot(TRUE, BOX)
    generic = CentreOfMassRobot(SerialRobot(JOINTS), TRUE, BOX)
    forces = closed.predict(TRUE, joints)
    assert np.allclose(generic.predict(TRUE, joints), forces, atol=1e-12 * np.abs(forces).max())
    noisy = joints.with_forces(forces + np.random.default_rng(7).normal(size=forces.shape))
    positions = np.random.default_rng(8).uniform(*BOX, (50, 36))
    costs = closed.costs(noisy)(positions)
    assert np.allclose(generic.costs(noisy)(positions), costs, rtol=1e-9)
    one = np.sum((closed.predict(positions[3], noisy) - noisy.forces) ** 2)
    assert costs[3] == pytest.approx(one, rel=1e-12)


def test_the_derivative_about_centres_of_mass_is_that_of_the_forces(joints):
    model = CentreOfMassRobot(SerialRobot(JOINTS), TRUE, BOX)

    class WithoutDerivative:
        scale, predict = model.scale, staticmethod(model.predict)

    numerical = local_regressor(WithoutDerivative(), TRUE, joints)
    assert np.allclose(model.jacobian(TRUE, joints), numerical, atol=1e-6)


def test_a_two_link_arm_has_the_torques_of_the_textbook():
    # Spong: point masses at the ends of two horizontal-axis links, gravity along -y.
    a1, a2, m1, m2, g = 0.5, 0.3, 2.0, 1.5, 9.81
    arm = SerialRobot([Joint('revolute', a=a1), Joint('revolute', a=a2)], gravity=(0.0, -g, 0.0))
    parameters = np.zeros(24)
    parameters[[0, 12]] = m1, m2
    rng = np.random.default_rng(9)
    motion = JointMotion(*rng.normal(size=(3, 20, 2)))
    (q1, q2), (v1, v2), (b1, b2) = motion.position.T, motion.velocity.T, motion.acceleration.T
    c2, h = np.cos(q2), m2 * a1 * a2 * np.sin(q2)
    m12 = m2 * (a2**2 + a1 * a2 * c2)
    m11 = m1 * a1**2 + m2 * (a1**2 + a2**2 + 2.0 * a1 * a2 * c2)
    g2 = m2 * a2 * g * np.cos(q1 + q2)
    g1 = (m1 + m2) * a1 * g * np.cos(q1) + g2
    expected = np.stack(
        [
            m11 * b1 + m12 * b2 - 2.0 * h * v1 * v2 - h * v2**2 + g1,
            m12 * b1 + m2 * a2**2 * b2 + h * v1**2 + g2,
        ],
        axis=1,
    )
    experiment = Experiment(np.arange(20.0), motion, np.zeros((20, 2)))
    assert np.allclose(arm.predict(parameters, experiment), expected, atol=1e-12)
    found = arm.regressor(experiment) @ parameters
    assert np.allclose(found, expected, atol=1e-12)


class Pendulum:
    """A robot of one's own: one class, no base class."""

    parameter_names = ('m', 'l')
    parameter_units = ('kg', 'm')
    nominal = np.array([0.5, 0.5])
    scale = np.array([1.0, 1.0])
    bounds = np.array([[0.1, 0.1], [5.0, 5.0]])

    def predict(self, parameters, experiment):
        m, length = parameters
        q, a = experiment.inputs.position, experiment.inputs.acceleration
        return m * length**2 * a + m * 9.81 * length * np.sin(q)

    def physical(self, parameters):
        return bool(np.all(parameters > 0.0))


@pytest.mark.parametrize(
    'estimator', [LevenbergMarquardt(), LevenbergMarquardt('scipy'), Swarm(20, 60)]
)
def test_a_robot_of_ones_own_takes_one_class(estimator):
    rng = np.random.default_rng(10)
    motion = JointMotion(*rng.normal(size=(3, 200, 1)))
    still = Experiment(np.arange(200.0), motion, np.zeros((200, 1)))
    forces = Pendulum().predict(np.array([2.0, 0.7]), still)
    experiment = still.with_forces(forces + 0.01 * rng.normal(size=forces.shape))
    result = estimator.fit(Pendulum(), experiment, rng=np.random.default_rng(11))
    assert np.allclose(result.parameters, [2.0, 0.7], atol=5e-3)
    assert result.converged
    assert np.all(np.isfinite(result.intervals))


def test_what_cannot_be_is_refused_with_its_name(ex800, experiment, joints):
    with pytest.raises(ConfigurationError, match='friction: expected none or common or per leg'):
        PlatformModel.from_platform(ex800, friction='some')
    with pytest.raises(FitError, match='joint variables'):
        PlatformModel.from_platform(ex800).regressor(joints)
    with pytest.raises(FitError, match='motion of its 3 joints'):
        SerialRobot(JOINTS).regressor(experiment)
    with pytest.raises(FitError, match=r'stamps must increase, got 1.0 s at sample 2'):
        Experiment(np.array([0.0, 1.0, 1.0]), experiment.inputs[:3], np.zeros((3, 6)))
