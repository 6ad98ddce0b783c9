# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Passive joints have ends: their torques follow from a potential, and a tilt is bounded."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_driver.legs import Array
from stewart_kinematics.model.platform import Platform
from stewart_simulation.plant_options import PlantOptions
from stewart_simulation.rigid_drives import RigidDrives
from stewart_simulation.servo import joint_ends, JOINT_STIFFNESS
from stewart_simulation.start import leg_limits

CYCLE = 0.0025
STEP = 1e-6


@pytest.fixture(scope='module')
def platform() -> Platform:
    return Platform.from_yaml('vigo')


def angles(platform: Platform, position: Array, rotation: Rotation) -> Array:
    """Return how far the legs are turned from the middle of their joints, (2, 6) [rad]."""
    geometry = platform.geometry
    neutral = geometry.neutral_pose

    def directions(at: Array, turn: Array) -> Array:
        legs = at + geometry.platform_joints @ turn.T - geometry.base_joints
        return np.asarray(legs / np.linalg.norm(legs, axis=1, keepdims=True))

    middles = directions(neutral.position, neutral.rotation)
    legs = directions(position, rotation.as_matrix())
    carried = middles @ neutral.rotation @ rotation.as_matrix().T
    cosines = np.stack([np.sum(legs * middles, axis=1), np.sum(legs * carried, axis=1)])
    return np.asarray(np.arccos(np.minimum(cosines, 1.0)))


def state(position: Array, rotation: Rotation) -> Array:
    return np.concatenate([position, rotation.as_quat(), np.zeros(6)])


@pytest.mark.parametrize(
    ('shift', 'turn'),
    [
        ((0.1, -0.05, -0.2), (60.0, 0.0, 0.0)),
        ((0.1, -0.05, -0.2), (0.0, -50.0, 20.0)),
        ((1.2, 0.3, -0.4), (0.0, 30.0, 0.0)),
    ],
)
def test_the_wrench_of_the_joints_is_the_slope_of_their_energy(
    platform: Platform, shift: tuple[float, ...], turn: tuple[float, ...]
) -> None:
    plant = PlantOptions(platform='vigo').plant(platform, platform.geometry.neutral_pose)
    position = platform.geometry.neutral_pose.position + np.array(shift)
    rotation = Rotation.from_euler('xyz', turn, degrees=True)
    arguments = tuple(np.array(value) for value in plant.arguments[:2])
    wrench = np.empty(6)

    joint_ends(
        arguments,
        np.array(plant.cones),
        np.array(plant.joint_angles),
        state(position, rotation),
        wrench,
    )

    def energy(change: Array) -> float:
        turned = Rotation.from_rotvec(change[3:]) * rotation
        over = angles(platform, position + change[:3], turned) - plant.joint_angles[:, None]
        return float(0.5 * JOINT_STIFFNESS * np.sum(np.maximum(over, 0.0) ** 2))

    slope = [(energy(STEP * e) - energy(-STEP * e)) / (2.0 * STEP) for e in np.eye(6)]
    assert np.abs(wrench).max() > 100.0
    np.testing.assert_allclose(wrench, np.negative(slope), rtol=1e-5, atol=1e-2)


def fall(platform: Platform, dead: tuple[int, ...], after: float) -> tuple[RigidDrives, Array]:
    """Take the voltage from some legs, and from the others later; return the largest angles."""
    options = PlantOptions(platform='vigo', supported=False)
    plant = options.plant(platform, platform.geometry.neutral_pose)
    drives = options.drives(plant, leg_limits(platform), hold_after=0.01)
    drives.on = True
    rest, still, largest = drives.strokes.copy(), np.zeros(6), np.zeros(2)
    settling = round(0.5 / CYCLE)
    for cycle in range(settling + round(4.0 / CYCLE)):
        since = (cycle - settling) * CYCLE
        drives.sto[list(dead)] = since >= 0.0
        drives.sto[:] |= since >= after
        drives.command(rest, still, still)
        drives.advance(CYCLE)
        rotation = Rotation.from_quat(drives.state[3:7])
        largest = np.maximum(largest, angles(platform, drives.state[:3], rotation).max(axis=1))
    return drives, largest


@pytest.mark.parametrize('dead', [(0,), (3, 4, 5)])
def test_a_platform_over_a_dead_leg_tilts_until_its_joints_are_at_their_ends(
    platform: Platform, dead: tuple[int, ...]
) -> None:
    drives, largest = fall(platform, dead, after=np.inf)

    limits = platform.limits
    allowed = np.array([limits.base_joint_angle, limits.platform_joint_angle])
    assert np.all(largest < allowed + np.radians(8.0))
    tilt = Rotation.from_quat(drives.state[3:7]).as_matrix()[2, 2]
    assert tilt > np.cos(np.radians(35.0))


ONE_OR_TWO = [*((leg,) for leg in range(6)), *combinations(range(6), 2)]


@pytest.mark.parametrize(
    'dead',
    [
        pytest.param(dead, marks=() if dead == (1, 2) else (pytest.mark.slow,))
        for dead in [*ONE_OR_TWO, (3, 4, 5), (1, 2, 3, 4, 5)]
    ],
)
def test_where_all_let_go_with_one_the_platform_lands_level(
    platform: Platform, dead: tuple[int, ...]
) -> None:
    """Decision 0070: what the driver does about a dead leg, noticed within 20 ms."""
    drives, _ = fall(platform, dead, after=0.02)

    assert np.all((drives.strokes < 0.0) & (drives.strokes > -4e-3))
    assert Rotation.from_quat(drives.state[3:7]).magnitude() < np.radians(1.0)
