# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Serial robots by recursion and in closed form, and what a motion shows of them."""

from __future__ import annotations

from pathlib import Path
import sys

import numpy as np
import pytest
from stewart_identification.estimators.least_squares import LeastSquares
from stewart_identification.estimators.swarm import Swarm
from stewart_identification.experiment import Experiment
from stewart_identification.identifiability import identifiability, Verdict

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cylindrical_robot import CylindricalRobot, JOINTS
from searches import fit_by_descent, fit_by_swarm, Tangent
from serial_robot import CentreOfMassRobot, Joint, JointMotion, SerialRobot, sum_in_detail

TRUE = np.tile([2.0, -0.5, -0.4, -1.0, 4.0, 1.0, 1.0, 2.0, 1.0, 4.0, 1.0, 0.5], 3)
BOX = np.stack([TRUE - 2.0, TRUE + 2.0])
J0 = 'I1zz + m1 (s1x² + s1y²) + I2yy + m2 (s2x² + s2z²) + I3yy + m3 (s3x² + s3z²)'


@pytest.fixture(scope='module')
def joints() -> Experiment:
    rng = np.random.default_rng(5)
    motion = JointMotion(*rng.normal(size=(3, 50, 3)))
    return Experiment(np.linspace(0.0, 5.0, 50), motion, np.zeros((50, 3)))


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
        parameter_names = parameter_units = ()
        scale, bounds, predict = model.scale, BOX, staticmethod(model.predict)

    numerical = Tangent(WithoutDerivative(), TRUE).regressor(joints)
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


@pytest.mark.parametrize('swarm', [None, Swarm(20, 60)])
def test_a_robot_of_ones_own_takes_one_class(swarm):
    rng = np.random.default_rng(10)
    motion = JointMotion(*rng.normal(size=(3, 200, 1)))
    still = Experiment(np.arange(200.0), motion, np.zeros((200, 1)))
    forces = Pendulum().predict(np.array([2.0, 0.7]), still)
    experiment = still.with_forces(forces + 0.01 * rng.normal(size=forces.shape))
    if swarm is None:
        result = fit_by_descent(Pendulum(), experiment)
    else:
        result = fit_by_swarm(swarm, Pendulum(), experiment, np.random.default_rng(11))
    assert np.allclose(result.parameters, [2.0, 0.7], atol=5e-3)
    assert np.all(np.isfinite(result.intervals))


def test_what_has_no_effect_has_no_finite_interval():
    robot = SerialRobot([Joint('revolute')])
    motion = JointMotion(*np.random.default_rng(6).normal(size=(3, 50, 1)))
    experiment = Experiment(np.arange(50.0), motion, motion.acceleration)
    result = LeastSquares().fit(robot, experiment, rng=None)
    names = np.array(result.names)
    assert set(names[np.isfinite(result.sigmas)]) == {'J1zz', 'fv1', 'fc1'}
    assert np.all(np.isinf(result.intervals[:, ~np.isfinite(result.sigmas)]))


def general(joints: int) -> Experiment:
    rng = np.random.default_rng(1)
    motion = JointMotion(*rng.normal(size=(3, 80, joints)))
    return Experiment(np.arange(80.0), motion, rng.normal(size=(80, joints)))


def test_the_cylindrical_robot_shows_eleven_directions_and_one_sum():
    robot, experiment = CylindricalRobot(TRUE, np.stack([TRUE - 1, TRUE + 1])), general(3)
    found = identifiability(Tangent(robot, TRUE), experiment)
    verdicts = dict(zip(found.names, found.verdicts, strict=True))
    in_a_sum = {name for name, v in verdicts.items() if v is Verdict.IN_A_SUM}
    sure = {name for name, v in verdicts.items() if v is Verdict.IDENTIFIABLE}
    assert found.rank == 11
    assert sure == {'m2', 'm3', 's3x', 's3z', *(f'f{k}{i}' for k in 'vc' for i in (1, 2, 3))}
    assert in_a_sum == {'I1zz', 'I2yy', 'I3yy', 'm1', 's1x', 's1y', 's2x', 's2z'}
    linear = identifiability(robot.robot, experiment)
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
            chosen = [arm.parameter_names.index(name) for name in combination.names]
            assert abs(combination.coefficients @ direction[chosen]) < 1e-9
    # a² m moves from one link's moment into the one before: lengths of the table appear squared.
    assert any('0.16 m3' in c.expression for c in found.combinations)
