# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Single steps, thresholds and attempts of the forward kinematics' kernel, by numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.kernels import newton
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.forward import ForwardSolver
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.solvers.jacobian import jacobian

IMPOSSIBLE = np.array([0.3, 3.0, 0.3, 3.0, 0.3, 3.0])


@pytest.fixture(scope='module')
def vigo() -> Geometry:
    return load_platform('vigo').geometry


class Solved:
    """Poses, figures (iterations, error, determinant) and statuses that the kernel writes."""

    def __init__(
        self,
        geometry: Geometry,
        lengths: Array,
        *,
        start: Array | None = None,
        follow: bool = False,
        home: Array | None = None,
        nowhere: bool = False,
        **changes: float,
    ) -> None:
        solver, rows = ForwardSolver.of(geometry), np.atleast_2d(lengths)
        constants = solver.constants.copy()
        if home is not None:
            constants[:7] = home
        for name, value in changes.items():
            constants[getattr(newton, name.upper())] = value
        self.start = constants[:7] if start is None else start
        self.poses = np.full((len(rows), 7), np.nan)
        self.figures = np.full((len(rows), 3), np.nan)
        self.status = np.full(len(rows), -1)
        joints = geometry.base_joints, geometry.platform_joints
        written = self.poses, self.figures, self.status
        # With zeros no pose is in the region.
        cone = np.zeros_like(solver.cone) if nowhere else solver.cone
        newton.forward(*joints, constants, cone, rows, self.start, follow, *written)


def neutral(geometry: Geometry) -> Array:
    """Return the neutral pose (7,)."""
    return np.hstack([geometry.neutral_pose.position, geometry.neutral_pose.quaternion_xyzw])


def away(geometry: Geometry, shift: Array, turn: Array) -> Array:
    """Return the pose (7,) a shift [m] and a rotation vector [rad] away from neutral."""
    rotation = Rotation.from_rotvec(turn) * Rotation.from_quat(neutral(geometry)[3:])
    return np.hstack([neutral(geometry)[:3] + shift, rotation.as_quat()])


def lengths_at(geometry: Geometry, pose: Array) -> Array:
    return leg_lengths(geometry, pose[:3], pose[3:])


def scaled_jacobian(geometry: Geometry, pose: Array) -> Array:
    """Return the Jacobian with moments divided by the length scale."""
    rows = jacobian(geometry, pose[:3], pose[3:]).copy()
    rows[:, 3:] /= geometry.length_scale
    return rows


@pytest.mark.parametrize(('low', 'high'), [(0.05, 0.9), (1.2, 1.9), (2.2, 4.0)])
def test_one_step_is_that_of_newton_with_at_most_a_radian_of_turn(
    vigo: Geometry, low: float, high: float
) -> None:
    rng, seen = np.random.default_rng(6), 0
    size = 0.1 if high < 1.0 else 0.9
    while seen < 5:
        pose = away(vigo, size * rng.uniform(-0.4, 0.4, 3), size * rng.normal(size=3))
        errors = lengths_at(vigo, neutral(vigo)) - lengths_at(vigo, pose)
        step = np.linalg.solve(jacobian(vigo, pose[:3], pose[3:]), errors)
        angle = float(np.linalg.norm(step[3:]))
        if not low < angle < high:
            continue
        part = min(1.0, 1.0 / angle)
        rotation = Rotation.from_rotvec(part * step[3:]) * Rotation.from_quat(pose[3:])
        expected = np.hstack([pose[:3] + part * step[:3], rotation.as_quat()])
        left = np.abs(lengths_at(vigo, expected) - lengths_at(vigo, neutral(vigo))).max()
        if left > 0.99 * np.abs(errors).max():
            continue
        seen += 1
        # With a tolerance that one step reaches, it is the only one.
        lengths = lengths_at(vigo, neutral(vigo))
        solved = Solved(vigo, lengths, home=pose, tolerance=1.001 * left)
        assert solved.figures[0, 0] == 1
        assert solved.figures[0, 1] == pytest.approx(left, rel=1e-9)
        found = solved.poses[0]
        assert found[:3] == pytest.approx(expected[:3], abs=1e-10)
        turned = Rotation.from_quat(found[3:]) * Rotation.from_quat(expected[3:]).inv()
        assert turned.magnitude() < 1e-9
        assert np.linalg.norm(found[3:]) == pytest.approx(1.0, abs=1e-14)


def test_figures_are_those_of_the_pose(vigo: Geometry) -> None:
    pose = away(vigo, np.array([0.02, -0.01, 0.03]), np.array([0.1, -0.05, 0.02]))
    lengths = lengths_at(vigo, pose) + 1e-4 * np.array([1.0, 0.0, -3.0, 0.0, 2.0, 0.0])
    determinant = np.linalg.det(scaled_jacobian(vigo, pose))
    solved = Solved(vigo, lengths, start=pose, tolerance=3.1e-4)
    assert solved.status[0] == newton.CONVERGED
    assert np.array_equal(solved.poses[0], pose)
    assert solved.figures[0] == pytest.approx([0.0, 3e-4, determinant], rel=1e-9)


def test_without_a_pose_each_attempt_takes_all_its_steps(vigo: Geometry) -> None:
    once = Solved(vigo, IMPOSSIBLE)
    assert once.status[0] == newton.NOT_CONVERGED
    assert once.figures[0, 0] == newton.ITERATION_LIMIT == 25
    for place in range(3):
        shift = 1e-3 * (np.arange(3) == place)
        twice = Solved(vigo, IMPOSSIBLE, start=away(vigo, shift, np.zeros(3)))
        assert twice.figures[0, 0] == 50


def test_a_row_begins_where_the_one_before_converged_and_else_at_the_start(
    vigo: Geometry,
) -> None:
    pose = away(vigo, np.array([0.03, 0.02, -0.03]), np.array([0.1, 0.05, -0.1]))
    lengths = lengths_at(vigo, pose)
    start = away(vigo, np.array([0.01, 0.0, 0.0]), np.zeros(3))
    rows = np.array([lengths, lengths, IMPOSSIBLE, lengths])
    alone = Solved(vigo, lengths, start=start)
    steps = alone.figures[0, 0]
    assert alone.status[0] == newton.CONVERGED
    assert steps >= 2
    followed = Solved(vigo, rows, start=start, follow=True)
    assert followed.status.tolist() == [0, 0, newton.NOT_CONVERGED, 0]
    assert followed.figures[:, 0].tolist() == [steps, 0, 50, steps]
    apart = Solved(vigo, rows, start=start)
    assert apart.figures[:, 0].tolist() == [steps, steps, 50, steps]
    assert apart.poses[1] == pytest.approx(pose, abs=1e-10)


@pytest.mark.parametrize('value', [0.0, -1.0, math.inf, math.nan])
@pytest.mark.parametrize('leg', range(6))
def test_what_is_no_length_ends_the_work(vigo: Geometry, leg: int, value: float) -> None:
    rows = np.tile(lengths_at(vigo, neutral(vigo)), (3, 1))
    rows[1, leg] = value
    assert Solved(vigo, rows).status.tolist() == [newton.CONVERGED, newton.NO_LENGTHS, -1]


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_determinant_below_a_hundred_millionth_of_neutral_is_singular(
    vigo: Geometry, sign: float
) -> None:
    pose = away(vigo, np.array([0.02, -0.01, 0.03]), np.array([0.1, -0.05, 0.02]))
    determinant = sign * np.linalg.det(scaled_jacobian(vigo, pose))
    lengths = lengths_at(vigo, pose) + 1e-3
    singular = Solved(vigo, lengths, home=pose, determinant=1.01e8 * determinant)
    assert singular.status[0] == newton.SINGULAR
    assert singular.figures[0, 0] == 0
    regular = Solved(vigo, lengths, home=pose, determinant=0.9e8 * determinant)
    assert regular.status[0] == newton.CONVERGED


def test_a_pose_outside_the_region_is_named_by_its_determinant(vigo: Geometry) -> None:
    pose = away(vigo, np.array([0.02, -0.01, 0.03]), np.array([0.1, -0.05, 0.02]))
    determinant = np.linalg.det(scaled_jacobian(vigo, pose))
    for home, status in (
        (determinant, newton.OUTSIDE_REGION),
        (-determinant, newton.WRONG_ASSEMBLY),
        (0.99e8 * determinant, newton.OUTSIDE_REGION),
        (-0.99e8 * determinant, newton.WRONG_ASSEMBLY),
        (1.01e8 * determinant, newton.SINGULAR),
    ):
        found = Solved(
            vigo, lengths_at(vigo, pose), home=pose, nowhere=True, determinant=home, certain=-1.0
        )
        assert found.status[0] == status
        assert found.figures[0, 0] == 0


def assured(geometry: Geometry, pose: Array) -> bool:
    """Tell whether the kernel keeps a pose with exactly the lengths, whichever its sign."""
    kept = set()
    for flip in (1.0, -1.0):
        start = pose * np.where(np.arange(7) < 3, 1.0, flip)
        solved = Solved(geometry, lengths_at(geometry, pose), start=start)
        kept.add(bool(solved.status[0] == newton.CONVERGED and solved.figures[0, 0] == 0))
    assert len(kept) == 1
    return kept.pop()


def test_the_region_ends_where_its_matrix_ceases_to_be_definite() -> None:
    geometry = load_platform('ex800').geometry
    solver, rng = ForwardSolver.of(geometry), np.random.default_rng(2)
    directions = rng.normal(size=(60, 2, 3))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    mixing = rng.uniform(0.0, 0.5 * math.pi, 60)
    # At a share of 1 all of them are beyond two length scales or 60 degrees.
    shifts = 2.5 * geometry.length_scale * np.cos(mixing)[:, None] * directions[:, 0]
    turns = 2.5 * np.sin(mixing)[:, None] * directions[:, 1]

    def at(shares: Array) -> Array:
        pairs = zip(shifts * shares[:, None], turns * shares[:, None], strict=True)
        return np.array([away(geometry, shift, turn) for shift, turn in pairs])

    inside, outside = np.zeros(60), np.ones(60)
    for _ in range(30):
        middle = 0.5 * (inside + outside)
        poses = at(middle)
        within = solver.region.contains(poses[:, :3], poses[:, 3:])
        inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
    assert np.median(solver.region.definiteness(poses[:, :3], poses[:, 3:])) < 1e-5
    assert all(assured(geometry, pose) for pose in at(inside * (1.0 - 1e-5)))
    assert not any(assured(geometry, pose) for pose in at(outside * (1.0 + 1e-5)))


def test_the_region_of_vigo_ends_at_60_degrees_and_at_two_length_scales(vigo: Geometry) -> None:
    none = np.zeros(3)
    for axis in np.vstack([np.eye(3), -np.eye(3)]):
        assert assured(vigo, away(vigo, none, math.radians(59.99) * axis))
        assert not assured(vigo, away(vigo, none, math.radians(60.01) * axis))
        assert assured(vigo, away(vigo, 1.999 * vigo.length_scale * axis, none))
        assert not assured(vigo, away(vigo, 2.001 * vigo.length_scale * axis, none))


def test_a_twist_is_none_below_the_smallest_determinant(vigo: Geometry) -> None:
    pose = away(vigo, np.array([0.02, -0.01, 0.03]), np.array([0.1, -0.05, 0.02]))
    rates, solver = np.array([0.1, -0.2, 0.3, 0.0, 0.1, -0.1]), ForwardSolver.of(vigo)
    determinant = np.linalg.det(scaled_jacobian(vigo, pose))
    expected = np.linalg.solve(jacobian(vigo, pose[:3], pose[3:]), rates)
    for factor, regular in ((0.99e8, True), (-0.99e8, True), (1.01e8, False)):
        constants, twist = solver.constants.copy(), np.zeros(6)
        constants[newton.DETERMINANT] = factor * determinant
        joints = vigo.base_joints, vigo.platform_joints
        newton.forward_twist(*joints, constants, pose, rates, twist)
        wanted = expected if regular else np.full(6, np.nan)
        assert twist == pytest.approx(wanted, rel=1e-9, nan_ok=True)
