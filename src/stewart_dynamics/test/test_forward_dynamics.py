# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics: inverse of the inverse, energy, friction, refusals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from stewart_dynamics.forward_dynamics import advance, Friction, initial_state, state_derivative
from stewart_dynamics.forward_kernels import (
    ANGULAR_VELOCITY,
    LINEAR_VELOCITY,
    POSITION,
    QUATERNION,
)
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.errors import ShapeError, StewartError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion, Pose


def _state(motion: Motion) -> np.ndarray:
    return np.concatenate([motion.position, motion.quaternion_xyzw, motion.twist])


def _lengths(platform: Platform, state: np.ndarray) -> np.ndarray:
    pose = Pose(state[POSITION], state[QUATERNION])
    geometry = platform.geometry
    legs = pose.position + geometry.platform_joints @ pose.rotation.T - geometry.base_joints
    return np.linalg.norm(legs, axis=1)


def test_forces_of_a_motion_give_back_its_acceleration(
    asymmetric_model: InertialModel, six_axis_motion: Callable[[np.ndarray], Motion]
) -> None:
    for time in np.linspace(0.0, 5.0, 12):
        motion = six_axis_motion(time)
        rate = state_derivative(
            asymmetric_model, _state(motion), actuator_forces(asymmetric_model, motion)
        )

        assert np.allclose(rate[7:], motion.acceleration, atol=1e-12)


def test_integration_follows_the_motion_whose_forces_it_gets(
    asymmetric_model: InertialModel, six_axis_motion: Callable[[np.ndarray], Motion]
) -> None:
    """Forces held at mid-step: second order, so a thousandth of a second leaves micrometres."""
    step, count = 1e-3, 200
    state = _state(six_axis_motion(np.array(0.0)))
    for k in range(count):
        middle = six_axis_motion(np.array((k + 0.5) * step))
        state = advance(asymmetric_model, state, actuator_forces(asymmetric_model, middle), step)

    end = six_axis_motion(np.array(count * step))
    assert np.allclose(state[POSITION], end.position, atol=2e-6)


def test_energy_error_falls_with_the_fourth_power_of_the_step(asymmetric: Platform) -> None:
    """Constant forces do work f . (l - l0); what is left over is the integrator's error."""
    model = InertialModel.from_platform(asymmetric)
    start = initial_state(asymmetric.geometry.neutral_pose)
    start[LINEAR_VELOCITY], start[ANGULAR_VELOCITY] = [0.05, -0.1, 0.08], [0.4, 0.3, -0.6]
    forces = actuator_forces(model, Motion.at_rest(asymmetric.geometry.neutral_pose))

    errors = []
    for step in (8e-3, 4e-3, 2e-3):
        end = advance(model, start, forces, step, steps=round(0.32 / step))
        work = forces @ (_lengths(asymmetric, end) - _lengths(asymmetric, start))
        errors.append(abs(_energy(model, end) - _energy(model, start) - work))

    assert errors[0] < 1e-6
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.15)
    assert errors[1] / errors[2] == pytest.approx(16.0, rel=0.15)


def _energy(model: InertialModel, state: np.ndarray) -> float:
    """Kinetic energy from the model's mass matrix, potential energy from its first moments."""
    pose = Pose(state[POSITION], state[QUATERNION])
    still = Motion.at_rest(pose)
    static = actuator_forces(model, still)
    twist = state[7:]
    moving = Motion(pose.position, pose.quaternion_xyzw, np.zeros(6), twist)
    momentum = actuator_forces(model, moving) - static
    arms = model.platform_joints @ pose.rotation.T
    legs = pose.position + arms - model.base_joints
    direction = legs / np.linalg.norm(legs, axis=1, keepdims=True)
    jacobian = np.hstack([direction, np.cross(arms, direction)])
    kinetic = 0.5 * twist @ jacobian.T @ momentum
    return float(kinetic + _potential(model, pose, legs, direction))


def _potential(model: InertialModel, pose: Pose, legs: np.ndarray, direction: np.ndarray) -> float:
    m, h = model.parameters[0], model.parameters[1:4]
    moment = m * pose.position + pose.rotation @ h
    for i, d in enumerate(direction):
        y = np.cross(d, model.universal_axes[i])
        y /= np.linalg.norm(y)
        frame = np.stack([np.cross(y, d), y, d], axis=1)
        moment += model.parameters[10] * model.base_joints[i] + frame @ model.parameters[11:14]
        upper = model.base_joints[i] + legs[i]
        moment += model.parameters[20] * upper + frame @ model.parameters[21:24]
    return float(-model.gravity @ moment)


def test_friction_takes_energy_out(ex800: Platform) -> None:
    model = InertialModel.from_platform(ex800)
    start = initial_state(ex800.geometry.neutral_pose)
    start[LINEAR_VELOCITY] = [0.1, 0.0, 0.05]
    forces = actuator_forces(model, Motion.at_rest(ex800.geometry.neutral_pose))

    free = advance(model, start, forces, 1e-3, steps=100)
    braked = advance(
        model, start, forces, 1e-3, steps=100, friction=Friction(np.full(6, 40.0), np.full(6, 2.0))
    )

    assert np.linalg.norm(braked[LINEAR_VELOCITY]) < 0.8 * np.linalg.norm(free[LINEAR_VELOCITY])


def test_coulomb_friction_holds_a_platform_that_is_pushed_too_weakly(ex800: Platform) -> None:
    model = InertialModel.from_platform(ex800)
    start = initial_state(ex800.geometry.neutral_pose)
    forces = actuator_forces(model, Motion.at_rest(ex800.geometry.neutral_pose)) + 1.0

    end = advance(
        model, start, forces, 1e-4, steps=2000, friction=Friction(coulomb=np.full(6, 5.0))
    )

    assert np.abs(_lengths(ex800, end) - _lengths(ex800, start)).max() < 1e-4


@pytest.mark.parametrize(
    ('state', 'forces', 'step', 'error', 'message'),
    [
        (np.zeros(12), np.zeros(6), 1e-3, ShapeError, r'state: expected shape \(13,\)'),
        (np.zeros(13), np.zeros(5), 1e-3, ShapeError, r'forces: expected shape \(6,\)'),
        (np.full(13, np.nan), np.zeros(6), 1e-3, StewartError, 'state must be finite'),
        (np.zeros(13), np.zeros(6), 0.0, StewartError, 'must be above 0 s, got 0'),
    ],
)
def test_bad_input_is_refused(
    ex800: Platform,
    state: np.ndarray,
    forces: np.ndarray,
    step: float,
    error: type[StewartError],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        advance(InertialModel.from_platform(ex800), state, forces, step)


def test_negative_friction_is_refused() -> None:
    with pytest.raises(StewartError, match='viscous friction must be at least 0, got -1'):
        Friction(viscous=np.full(6, -1.0))
