# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Newton-Euler: power balance, linearity, reactions, refusals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_dynamics.errors import MissingMasses, SingularPose, UnphysicalInertia
from stewart_dynamics.inertia import InertialModel, PARAMETER_NAMES
from stewart_dynamics.leg_kernels import CYLINDER, PLATFORM, ROD
from stewart_dynamics.newton_euler import actuator_forces, reactions, regressor
from stewart_kinematics.errors import StewartError
from stewart_kinematics.model.platform import Platform, RigidBody
from stewart_kinematics.motion import Motion, Pose

MakeMotion = Callable[[np.ndarray], Motion]
TIMES = np.linspace(0.0, 6.0, 25)


def _body_energy(
    body: RigidBody,
    gravity: np.ndarray,
    rotation: np.ndarray,
    point: np.ndarray,
    velocity: np.ndarray,
    omega: np.ndarray,
) -> float:
    """Kinetic and potential energy of a body whose reference point moves as given."""
    arm = rotation @ body.centre_of_mass
    speed = velocity + np.cross(omega, arm)
    local = rotation.T @ omega
    kinetic = 0.5 * body.mass * speed @ speed + 0.5 * local @ body.inertia @ local
    return float(kinetic - body.mass * gravity @ (point + arm))


def _legs(platform: Platform, motion: Motion) -> list[tuple[np.ndarray, ...]]:
    """Attitude, angular velocity, upper joint, its velocity and the rate of every leg."""
    rotation = Rotation.from_quat(motion.quaternion_xyzw).as_matrix()
    legs = []
    for base, joint in zip(
        platform.geometry.base_joints, platform.geometry.platform_joints, strict=True
    ):
        arm = rotation @ joint
        velocity = motion.linear_velocity + np.cross(motion.angular_velocity, arm)
        leg = motion.position + arm - base
        d = leg / np.linalg.norm(leg)
        turn = Rotation.from_euler('XY', [np.arctan2(-d[1], d[2]), np.arcsin(d[0])]).as_matrix()
        axes = np.array([1.0, 0.0, 0.0]), turn[:, 1]
        columns = np.stack([np.cross(axes[0], leg), np.cross(axes[1], leg), d], axis=1)
        du, dv, rate = np.linalg.solve(columns, velocity)
        legs.append(
            (turn, du * axes[0] + dv * axes[1], base, motion.position + arm, velocity, rate)
        )
    return legs


def _energy(platform: Platform, motion: Motion) -> float:
    masses = platform.masses
    assert masses is not None
    rotation = Rotation.from_quat(motion.quaternion_xyzw).as_matrix()
    total = 0.0
    for body in (masses.platform, masses.payload):
        if body is not None:
            total += _body_energy(
                body,
                masses.gravity,
                rotation,
                motion.position,
                motion.linear_velocity,
                motion.angular_velocity,
            )
    for turn, omega, base, upper, velocity, _ in _legs(platform, motion):
        total += _body_energy(masses.cylinder, masses.gravity, turn, base, np.zeros(3), omega)
        total += _body_energy(masses.rod, masses.gravity, turn, upper, velocity, omega)
    return total


def test_actuator_power_is_the_change_of_energy(
    asymmetric: Platform, six_axis_motion: MakeMotion
) -> None:
    model, step = InertialModel.from_platform(asymmetric), 2e-3
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    for time in TIMES[:8]:
        motion = six_axis_motion(time)
        rates = np.array([leg[5] for leg in _legs(asymmetric, motion)])
        exchanged = actuator_forces(model, motion) * rates
        change = (
            sum(
                weight
                * (
                    _energy(asymmetric, six_axis_motion(time + k * step))
                    - _energy(asymmetric, six_axis_motion(time - k * step))
                )
                for k, weight in weights.items()
            )
            / step
        )
        assert abs(exchanged.sum() - change) < 1e-9 * np.abs(exchanged).sum()


def test_forces_are_the_regressor_times_the_parameters(
    asymmetric_model: InertialModel, six_axis_motion: MakeMotion
) -> None:
    motion = six_axis_motion(TIMES)

    matrix = regressor(asymmetric_model, motion)

    assert matrix.shape == (25, 6, len(PARAMETER_NAMES))
    forces = actuator_forces(asymmetric_model, motion)
    assert (
        np.abs(matrix @ asymmetric_model.parameters - forces).max() < 1e-12 * np.abs(forces).max()
    )


def test_a_part_of_the_regressor_equals_its_columns(
    asymmetric_model: InertialModel, six_axis_motion: MakeMotion
) -> None:
    motion = six_axis_motion(TIMES)
    whole = regressor(asymmetric_model, motion)

    for columns in (PLATFORM, CYLINDER, ROD, slice(3, 25)):
        assert np.array_equal(
            regressor(asymmetric_model, motion, columns=columns), whole[..., columns]
        )
    # a platform whose legs weigh nothing takes the shorter way to the same forces
    massless = np.concatenate([asymmetric_model.parameters[PLATFORM], np.zeros(20)])
    light = replace(asymmetric_model, parameters=massless)
    assert np.allclose(actuator_forces(light, motion), whole @ massless, rtol=1e-12, atol=1e-12)


def test_a_batch_equals_its_samples(
    asymmetric_model: InertialModel, six_axis_motion: MakeMotion
) -> None:
    motion = six_axis_motion(TIMES)
    single = np.array([actuator_forces(asymmetric_model, motion[n]) for n in range(25)])

    assert np.array_equal(actuator_forces(asymmetric_model, motion), single)
    # whatever the order in memory
    assert np.array_equal(actuator_forces(asymmetric_model, motion[::2]), single[::2])
    assert np.array_equal(actuator_forces(asymmetric_model, motion[:, None]), single[:, None])


def test_reactions_balance_every_body(
    asymmetric: Platform, asymmetric_model: InertialModel, six_axis_motion: MakeMotion
) -> None:
    motion = six_axis_motion(TIMES)
    result = reactions(asymmetric_model, motion)
    rotation = Rotation.from_quat(motion.quaternion_xyzw).as_matrix()
    arms = np.einsum('nij,kj->nki', rotation, asymmetric.geometry.platform_joints)

    # platform: the legs' forces are what moves it
    force = -result.spherical_forces.sum(axis=1)
    moment = -np.cross(arms, result.spherical_forces).sum(axis=1)
    assert np.allclose(force, result.platform_wrench[:, :3], atol=1e-11)
    assert np.allclose(moment, result.platform_wrench[:, 3:], atol=1e-11)
    # universal joints bear no moment about their axes
    legs = motion.position[:, None] + arms - asymmetric.geometry.base_joints
    direction = legs / np.linalg.norm(legs, axis=-1, keepdims=True)
    second = np.cross(direction, [1.0, 0.0, 0.0])
    assert np.abs(result.universal_moments[..., 0]).max() < 1e-13
    assert np.abs(np.sum(result.universal_moments * second, axis=-1)).max() < 1e-13
    # guides push across the legs only
    assert np.abs(np.sum(result.prismatic_forces * direction, axis=-1)).max() < 1e-12
    # a whole leg at rest: gravity is borne at its two joints
    assert asymmetric.masses is not None
    still = reactions(asymmetric_model, Motion.at_rest(asymmetric.geometry.neutral_pose))
    weight = (
        asymmetric.masses.cylinder.mass + asymmetric.masses.rod.mass
    ) * asymmetric.masses.gravity
    assert np.allclose(still.spherical_forces + still.universal_forces, -weight, atol=1e-12)


def test_a_platform_at_rest_weighs_its_weight(ex800: Platform) -> None:
    assert ex800.masses is not None
    pose = ex800.geometry.neutral_pose
    wrench = reactions(InertialModel.from_platform(ex800), Motion.at_rest(pose)).platform_wrench

    assert wrench == pytest.approx([0.0, 0.0, 6.8369 * 9.80665, 0.0, 0.0, 0.0], abs=1e-12)


def test_massless_legs_are_allowed() -> None:
    platform = Platform.from_yaml('ps6tl_1500')
    forces = actuator_forces(
        InertialModel.from_platform(platform), Motion.at_rest(platform.geometry.neutral_pose)
    )

    assert np.all(forces > 0.0)


def test_a_platform_without_masses_is_refused() -> None:
    with pytest.raises(MissingMasses, match='srs has no masses'):
        InertialModel.from_platform(Platform.from_yaml('srs'))


def test_a_singular_pose_is_named_with_its_condition_number(ex800: Platform) -> None:
    model = InertialModel.from_platform(ex800)
    turned = Motion.at_rest(Pose.from_rpy([0.0, 0.0, 0.275], (0.0, 0.0, np.pi / 2)), (2,))

    with pytest.raises(SingularPose, match=r'at sample 0: condition number \d') as caught:
        actuator_forces(model, turned)

    assert caught.value.condition_number > 1e10


def test_a_leg_without_length_is_a_singular_pose(ex800: Platform) -> None:
    model = InertialModel.from_platform(ex800)
    folded = Pose(model.base_joints[2] - model.platform_joints[2], np.array([0.0, 0.0, 0.0, 1.0]))

    with pytest.raises(SingularPose, match='singular pose: condition number inf'):
        actuator_forces(model, Motion.at_rest(folded))


def test_a_leg_along_its_universal_joint_is_refused(ex800: Platform) -> None:
    home = ex800.geometry.neutral_pose
    legs = home.position + ex800.geometry.platform_joints - ex800.geometry.base_joints
    along = legs / np.linalg.norm(legs, axis=1, keepdims=True)
    axes = np.where(np.arange(6)[:, None] == 4, along, ex800.base_joint_axes)
    model = InertialModel.from_platform(ex800, axes)

    with pytest.raises(StewartError, match=r"along its universal joint's axis at sample 0"):
        actuator_forces(model, Motion.at_rest(home))


def test_a_parameter_that_is_not_finite_is_refused(asymmetric_model: InertialModel) -> None:
    broken = replace(asymmetric_model, parameters=np.full(30, np.nan))
    pose = Pose(np.array([0.0, 0.0, 0.275]), np.array([0.0, 0.0, 0.0, 1.0]))

    with pytest.raises(StewartError, match='sample 0 are not finite: nor is a parameter'):
        actuator_forces(broken, Motion.at_rest(pose))


@pytest.mark.parametrize('field', [item.name for item in fields(Motion)])
@pytest.mark.parametrize('name', ['ex800', 'ps6tl_1500'])
def test_nan_is_refused_by_name(name: str, field: str) -> None:
    """Also where nothing depends on it: massless legs do not feel the velocity."""
    platform = Platform.from_yaml(name)
    model = InertialModel.from_platform(platform)
    motion = Motion.at_rest(platform.geometry.neutral_pose, (3,))
    values = getattr(motion, field).copy()
    values[1, 2] = np.nan
    broken = replace(motion, **{field: values})

    for solve in (actuator_forces, regressor, reactions):
        with pytest.raises(
            StewartError, match=rf'{field} must be finite, got nan at index \(1, 2'
        ):
            solve(model, broken)


@pytest.mark.parametrize(
    ('moments', 'message'),
    [
        ([0.04, -0.01, 0.04], r'not positive definite, eigenvalue -0\.01'),
        ([0.04, 0.04, 0.09], r'triangle inequality, eigenvalue 0\.09'),
    ],
)
def test_unphysical_inertia_is_named_with_its_eigenvalue(
    ex800: Platform, moments: list[float], message: str
) -> None:
    assert ex800.masses is not None
    body = RigidBody(6.8, np.zeros(3), np.diag(moments))
    platform = replace(ex800, masses=replace(ex800.masses, platform=body))

    with pytest.raises(UnphysicalInertia, match=message):
        InertialModel.from_platform(platform)
