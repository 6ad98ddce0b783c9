# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The 78-coordinate model against Newton-Euler and against its own definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
import sys
from typing import Any

import numpy as np
import pytest

# Tests are imported by path, and their helper has to be found.
sys.path.insert(0, str(Path(__file__).parent))

from constraint_system import constraint_system
from scipy.spatial.transform import Rotation
from stewart_description import platform_path
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.multibody import MultibodyModel
from stewart_dynamics.multibody.constraints import leg_constraints, leg_jacobian
from stewart_dynamics.multibody.coordinates import attitude, Coordinates, rate_axes
from stewart_dynamics.newton_euler import actuator_forces, reactions
from stewart_kinematics.errors import ConvergenceError, StewartError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion, Pose
import yaml

MakeMotion = Callable[[np.ndarray], Motion]
TIMES = np.linspace(0.0, 6.0, 60)


def radial_axes(platform: Platform) -> np.ndarray:
    """The paper's X_M: outwards through every base joint."""
    axes = platform.geometry.base_joints * [1.0, 1.0, 0.0]
    return axes / np.linalg.norm(axes, axis=1, keepdims=True)


@pytest.mark.parametrize('coordinates', Coordinates)
@pytest.mark.parametrize('name', ['ex800', 'asymmetric'])
def test_forces_equal_newton_eulers_away_from_the_singularity(
    name: str,
    coordinates: Coordinates,
    request: pytest.FixtureRequest,
    six_axis_motion: MakeMotion,
) -> None:
    platform, motion = request.getfixturevalue(name), six_axis_motion(TIMES)
    axes = radial_axes(platform)
    ours = actuator_forces(InertialModel.from_platform(platform, axes), motion)

    solution = MultibodyModel.from_platform(platform, coordinates, axes).solve(motion)

    assert np.abs(solution.actuator_forces - ours).max() < 1e-9 * np.abs(ours).max()
    assert solution.position_violation.max() < 1e-12
    assert solution.velocity_violation.max() < 1e-12


@pytest.mark.parametrize(
    'axis', [[0.0, 2.0, 0.0], [[1.0, 0.0, 0.1], *[[0.5, -0.5, 0.0]] * 4, [0.0, 1.0, 0.0]]]
)
def test_axes_of_the_platform_file_turn_the_leg_frames(
    axis: list[Any], tmp_path: Path, asymmetric: Platform, six_axis_motion: MakeMotion
) -> None:
    content = yaml.safe_load(platform_path('ex800').read_text())
    content['legs']['base_joint_axis_direction'] = axis
    content['masses']['cylinder']['centre_of_mass_m'] = [0.02, 0.01, 0.12]
    path, motion = tmp_path / 'turned.yaml', six_axis_motion(TIMES)
    path.write_text(yaml.safe_dump(content))
    turned = Platform.from_yaml(path)
    plain = replace(turned, base_joint_axes=asymmetric.base_joint_axes)
    axes = np.broadcast_to(np.asarray(axis), (6, 3))
    unit = axes / np.linalg.norm(axes, axis=1, keepdims=True)

    ours = actuator_forces(InertialModel.from_platform(turned), motion)
    # The other derivation, told the axes by hand.
    peer = MultibodyModel.from_platform(plain, universal_axes=unit).solve(motion)
    along_x = actuator_forces(InertialModel.from_platform(plain), motion)

    assert np.abs(peer.actuator_forces - ours).max() < 1e-9 * np.abs(ours).max()
    own = MultibodyModel.from_platform(turned).solve(motion).actuator_forces
    assert np.array_equal(own, peer.actuator_forces)
    assert np.abs(along_x - ours).max() > 1e-3 * np.abs(ours).max()


def test_forces_at_home_need_the_offset_coordinates(asymmetric: Platform) -> None:
    home = Motion.at_rest(asymmetric.geometry.neutral_pose)
    ours = actuator_forces(InertialModel.from_platform(asymmetric), home)

    solution = MultibodyModel.from_platform(asymmetric).solve(home)

    assert np.abs(solution.actuator_forces[0] - ours).max() < 1e-9 * np.abs(ours).max()
    with pytest.raises(ConvergenceError, match='singular at sample 0'):
        MultibodyModel.from_platform(asymmetric, Coordinates.PAPER).solve(home)


@pytest.mark.parametrize('moving', ['circle', 'wave', 'wave as printed'])
def test_the_papers_motions_pass_through_home(
    moving: str, asymmetric: Platform, motions: dict[str, Motion]
) -> None:
    """Upright all along the circle, twice a period of the wave: the offset angles do not mind."""
    axes = radial_axes(asymmetric)
    ours = actuator_forces(InertialModel.from_platform(asymmetric, axes), motions[moving])

    solution = MultibodyModel.from_platform(asymmetric, universal_axes=axes).solve(motions[moving])

    assert np.abs(solution.actuator_forces - ours).max() < 1e-9 * np.abs(ours).max()
    assert solution.position_violation.max() < 1e-12
    with pytest.raises(ConvergenceError, match='singular at sample 0'):
        MultibodyModel.from_platform(asymmetric, Coordinates.PAPER).solve(motions[moving])


def test_spherical_joint_multipliers_are_the_joint_forces(
    asymmetric: Platform, six_axis_motion: MakeMotion
) -> None:
    """With the six drives the legs carry only themselves; the rest is the actuators'."""
    motion = six_axis_motion(TIMES)
    solution = MultibodyModel.from_platform(asymmetric).solve(motion)
    model = InertialModel.from_platform(asymmetric)
    forces = reactions(model, motion)
    rotation = Rotation.from_quat(motion.quaternion_xyzw).as_matrix()
    arms = np.einsum('nij,kj->nki', rotation, asymmetric.geometry.platform_joints)
    legs = motion.position[:, None] + arms - asymmetric.geometry.base_joints
    direction = legs / np.linalg.norm(legs, axis=-1, keepdims=True)

    carried = solution.multipliers[:, :72].reshape(-1, 6, 12)[..., 9:]

    # -C_q^T lambda acts on the bodies, and the rod stands in C_q with -1: lambda pushes the rod.
    across = forces.spherical_forces - direction * np.sum(
        forces.spherical_forces * direction, axis=-1, keepdims=True
    )
    ours = carried - direction * np.sum(carried * direction, axis=-1, keepdims=True)
    assert np.allclose(ours, across, atol=1e-10)


def test_generalised_forces_do_not_depend_on_the_coordinates(
    asymmetric: Platform, six_axis_motion: MakeMotion
) -> None:
    motion = six_axis_motion(TIMES)
    a, b = (MultibodyModel.from_platform(asymmetric, c).solve(motion) for c in Coordinates)

    assert np.allclose(a.generalised_forces[..., :3], b.generalised_forces[..., :3], atol=1e-10)


def test_accelerations_are_the_derivative_of_velocities(
    asymmetric: Platform, six_axis_motion: MakeMotion
) -> None:
    model, step = MultibodyModel.from_platform(asymmetric), 1e-4
    centre = model.solve(six_axis_motion(TIMES[:10]))
    after, before = (model.solve(six_axis_motion(TIMES[:10] + s * step)) for s in (1, -1))

    rate = (after.coordinates - before.coordinates) / (2 * step)
    change = (after.velocities - before.velocities) / (2 * step)
    assert np.abs(rate - centre.velocities).max() < 1e-6
    assert np.abs(change - centre.accelerations).max() < 1e-6


@pytest.mark.parametrize('field', [item.name for item in fields(Motion)])
def test_nan_is_refused_by_name(field: str, ex800: Platform) -> None:
    motion = Motion.at_rest(ex800.geometry.neutral_pose, (3,))
    values = getattr(motion, field).copy()
    values[1, 2] = np.nan

    with pytest.raises(StewartError, match=rf'{field} must be finite, got nan at index \(1, 2'):
        MultibodyModel.from_platform(ex800).solve(replace(motion, **{field: values}))


def test_what_cannot_be_closed_is_refused(ex800: Platform) -> None:
    geometry = ex800.geometry
    folded = Pose(geometry.base_joints[2] - geometry.platform_joints[2], np.array([0, 0, 0, 1]))
    legs = geometry.neutral_pose.position + geometry.platform_joints - geometry.base_joints
    along = legs / np.linalg.norm(legs, axis=1, keepdims=True)

    for pose, axes in ((folded, None), (geometry.neutral_pose, along)):
        model = MultibodyModel.from_platform(ex800, universal_axes=axes)
        with pytest.raises(ConvergenceError, match='a leg cannot be closed at sample 0'):
            model.solve(Motion.at_rest(pose))


@pytest.mark.parametrize('coordinates', Coordinates)
def test_leg_jacobian_equals_finite_differences(coordinates: Coordinates) -> None:
    rng = np.random.default_rng(3)
    base, upper = rng.normal(size=3), rng.normal(size=3)
    axis = np.array([0.6, 0.8, 0.0])
    arms = rng.normal(size=(2, 3))
    q, offset = rng.normal(size=12), coordinates.offset

    def parts(q: np.ndarray) -> tuple[np.ndarray, ...]:
        a, g = np.empty((2, 3, 3)), np.empty((2, 3, 3))
        for k, angles in enumerate((q[3:6], q[9:12])):
            attitude(angles, offset, a[k])
            rate_axes(angles, g[k])
        return (q[:3], a[0]), g[0], (q[6:9], a[1]), g[1]

    def value(q: np.ndarray) -> np.ndarray:
        cylinder, _, rod, _ = parts(q)
        out = np.empty(12)
        leg_constraints(base, axis, arms[0], cylinder, arms[1], rod, upper, out)
        return out

    cylinder, gc, rod, gr = parts(q)
    jacobian = np.empty((12, 12))
    leg_jacobian(axis, arms[0], cylinder, gc, arms[1], rod, gr, jacobian)

    step = 1e-6
    numeric = np.stack(
        [(value(q + step * e) - value(q - step * e)) / (2 * step) for e in np.eye(12)], axis=1
    )
    assert np.abs(jacobian - numeric).max() < 1e-8


@pytest.mark.parametrize('coordinates', Coordinates)
def test_the_solution_satisfies_the_equations_written_out(
    coordinates: Coordinates, asymmetric: Platform, six_axis_motion: MakeMotion
) -> None:
    """C = 0, C_q dq = -C_t, C_q ddq = Q_d, and Q_c = C_q^T lambda for every body."""
    model = MultibodyModel.from_platform(asymmetric, coordinates)
    solution = model.solve(six_axis_motion(TIMES[:12]))

    for n in range(12):
        system = constraint_system(model, solution, n)
        rates, accelerations = solution.velocities[n], solution.accelerations[n]
        reaction = system.jacobian.T @ solution.multipliers[n]
        forces = solution.generalised_forces[n].ravel()
        assert np.linalg.matrix_rank(system.jacobian) == 78
        assert np.abs(system.values).max() < 1e-12
        assert np.abs(system.jacobian @ rates + system.time_derivative).max() < 1e-11
        assert np.abs(system.jacobian @ accelerations - system.quadratic).max() < 1e-10
        assert np.abs(reaction - forces).max() < 1e-11 * np.abs(forces).max()


def test_the_written_out_jacobian_equals_finite_differences_of_velocities(
    asymmetric: Platform, six_axis_motion: MakeMotion
) -> None:
    """Its change along the motion is what Q_d says: d(C_q) dq = -Q_d for all but the drives."""
    model, step = MultibodyModel.from_platform(asymmetric), 1e-5
    time = 0.7
    centre = model.solve(six_axis_motion(np.array([time])))
    after, before = (
        constraint_system(model, model.solve(six_axis_motion(np.array([time + s * step]))))
        for s in (1.0, -1.0)
    )

    drift = (after.jacobian - before.jacobian) @ centre.velocities[0] / (2.0 * step)
    quadratic = constraint_system(model, centre).quadratic

    assert np.abs(drift + quadratic)[:72].max() < 1e-7
