# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The closed-form model against finite differences, energy and Newton-Euler."""

from __future__ import annotations

from dataclasses import replace

from lagrangian import LagrangianModel
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_dynamics.errors import SingularPose, UnphysicalInertia
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.model.platform import Platform, RigidBody
from stewart_kinematics.motion import Motion, read_only


@pytest.fixture(scope='module')
def platform() -> Platform:
    return Platform.from_yaml('ps6tl_1500')


@pytest.fixture(scope='module')
def model(platform: Platform) -> LagrangianModel:
    """The PS-6TL's plate with three different moments, so that no term vanishes by chance."""
    plate = LagrangianModel.from_platform(platform)
    return LagrangianModel(
        plate.base_joints,
        plate.platform_joints,
        plate.mass,
        read_only([0.05, 0.08, 0.11]),
        plate.gravity,
    )


@pytest.fixture
def states() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    x = rng.uniform(-0.4, 0.4, size=(20, 6))
    x[:, 2] += 1.9
    return x, rng.normal(size=(20, 6)), rng.normal(size=(20, 6))


def _kinetic(model: LagrangianModel, x: np.ndarray, dx: np.ndarray) -> float:
    """Kinetic energy from the rotation matrix alone, its derivative by a central difference."""
    step = 1e-6
    r = Rotation.from_euler('ZYX', x[[5, 4, 3]])
    after, before = (
        Rotation.from_euler('ZYX', (x + s * step * dx)[[5, 4, 3]]) for s in (1.0, -1.0)
    )
    omega = (r.inv() * after * (r.inv() * before).inv()).as_rotvec() / (2 * step)
    return float(0.5 * model.mass * dx[:3] @ dx[:3] + 0.5 * np.sum(model.moments * omega**2))


def test_mass_matrix_gives_the_kinetic_energy(
    model: LagrangianModel, states: tuple[np.ndarray, ...]
) -> None:
    x, dx, _ = states
    for n in range(20):
        ours = 0.5 * dx[n] @ model.mass_matrix(x[n]) @ dx[n]
        assert ours == pytest.approx(_kinetic(model, x[n], dx[n]), rel=1e-7)


def test_mass_rate_minus_twice_coriolis_is_skew(
    model: LagrangianModel, states: tuple[np.ndarray, ...]
) -> None:
    x, dx, _ = states
    step = 1e-6
    rate = (model.mass_matrix(x + step * dx) - model.mass_matrix(x - step * dx)) / (2 * step)
    skew = rate - 2.0 * model.coriolis_matrix(x, dx)

    assert np.abs(skew + np.swapaxes(skew, -1, -2)).max() < 1e-8
    assert np.abs(rate).max() > 1e-3


def test_coriolis_forces_are_lagranges(
    model: LagrangianModel, states: tuple[np.ndarray, ...]
) -> None:
    """C dX = dM/dt dX - 1/2 d(dX^T M dX)/dX, by finite differences of M."""
    x, dx, _ = states
    step = 1e-5
    for n in range(20):
        rate = (
            model.mass_matrix(x[n] + step * dx[n]) - model.mass_matrix(x[n] - step * dx[n])
        ) / (2 * step)
        slope = np.array(
            [
                dx[n]
                @ (model.mass_matrix(x[n] + step * e) - model.mass_matrix(x[n] - step * e))
                @ dx[n]
                for e in np.eye(6)
            ]
        ) / (2 * step)
        ours = model.coriolis_matrix(x[n], dx[n]) @ dx[n]
        assert np.allclose(ours, rate @ dx[n] - 0.5 * slope, atol=1e-8)


def test_jacobian_equals_finite_differences(
    model: LagrangianModel, states: tuple[np.ndarray, ...]
) -> None:
    x, _, _ = states

    def lengths(x: np.ndarray) -> np.ndarray:
        rotation = Rotation.from_euler('ZYX', x[..., [5, 4, 3]]).as_matrix()
        arms = np.einsum('nij,kj->nki', rotation, model.platform_joints)
        return np.linalg.norm(x[:, None, :3] + arms - model.base_joints, axis=-1)

    step = 1e-6
    numeric = np.stack(
        [(lengths(x + step * e) - lengths(x - step * e)) / (2 * step) for e in np.eye(6)], axis=-1
    )
    assert np.abs(model.jacobian(x) - numeric).max() < 1e-8


def test_forces_equal_newton_eulers(platform: Platform, states: tuple[np.ndarray, ...]) -> None:
    x, dx, ddx = states
    roll, pitch = x[:, 3], x[:, 4]
    rotation = Rotation.from_euler('ZYX', x[:, [5, 4, 3]])
    ez = np.tile([0.0, 0.0, 1.0], (20, 1))
    yaw = Rotation.from_euler('Z', x[:, [5]])
    ey = yaw.apply(np.tile([0.0, 1.0, 0.0], (20, 1)))
    ex = rotation.apply(np.tile([1.0, 0.0, 0.0], (20, 1)))
    omega, alpha = np.zeros((20, 3)), np.zeros((20, 3))
    for axis, column in ((ez, 5), (ey, 4), (ex, 3)):
        alpha += ddx[:, column, None] * axis + dx[:, column, None] * np.cross(omega, axis)
        omega += dx[:, column, None] * axis
    assert np.abs(roll).max() > 0.1
    assert np.abs(pitch).max() > 0.1
    motion = Motion.of_vectors(x[:, :3], rotation.as_quat(), dx[:, :3], omega, ddx[:, :3], alpha)

    ours = LagrangianModel.from_platform(platform).actuator_forces(x, dx, ddx)

    assert platform.masses is not None
    nothing = RigidBody(0.0, np.zeros(3), np.zeros((3, 3)))
    massless = replace(platform, masses=replace(platform.masses, cylinder=nothing, rod=nothing))
    peer = actuator_forces(InertialModel.from_platform(massless), motion)
    assert np.abs(ours - peer).max() < 1e-11 * np.abs(peer).max()


def test_legs_with_mass_are_refused() -> None:
    with pytest.raises(UnphysicalInertia, match='ex800: the Lagrangian model takes'):
        LagrangianModel.from_platform(Platform.from_yaml('ex800'))


def test_pitch_of_a_right_angle_is_refused(model: LagrangianModel) -> None:
    x = np.array([0.0, 0.0, 1.9, 0.0, np.pi / 2, 0.0])

    with pytest.raises(SingularPose, match='condition number'):
        model.actuator_forces(x, np.zeros(6), np.zeros(6))
