# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Servo drives on the rigid-body plant: they hold, follow, saturate and stop at the ends."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import Array
from stewart_driver.path.motion import NO_MOTION
from stewart_dynamics.errors import MissingMasses
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.model.platform import Platform, RigidBody
from stewart_kinematics.motion import Motion
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_simulation.drives import END_MARGIN
from stewart_simulation.plant_options import PlantOptions
from stewart_simulation.rigid_drives import LONGEST_STEP, RigidDrives, SHARE_OF_DAMPING
from stewart_simulation.start import leg_limits

CYCLE = 0.002


@pytest.fixture(scope='module')
def platform() -> Platform:
    return Platform.from_yaml('ex800')


def neutral(platform: Platform) -> Array:
    pose = platform.geometry.neutral_pose
    return np.asarray(
        leg_lengths(platform.geometry, pose.position, pose.quaternion_xyzw)
        - platform.geometry.retracted_length
    )


def make(platform: Platform, **changes: Any) -> RigidDrives:
    frictionless = {'viscous_friction': 0.0, 'coulomb_friction': 0.0}
    drives = {'position_gain': 50.0, 'force_limit': 500.0, 'rated_force': 100.0}
    options = PlantOptions(**frictionless | drives | changes)
    plant = options.plant(platform, platform.geometry.neutral_pose)
    return options.drives(plant, leg_limits(platform), hold_after=2 * CYCLE)


def static_forces(platform: Platform) -> Array:
    still = Motion.at_rest(platform.geometry.neutral_pose)
    return actuator_forces(InertialModel.from_platform(platform), still)


def test_supports_hold_without_force(platform: Platform) -> None:
    drives = make(platform)
    before = drives.strokes.copy()

    drives.advance(1.0)

    assert np.array_equal(drives.strokes, before)
    assert not drives.delivered.any()


def test_drives_hold_the_weight_after_a_small_sag(platform: Platform) -> None:
    drives, rest = make(platform), neutral(platform)
    drives.on = True
    lowest = 0.0
    for _ in range(500):
        drives.command(rest, np.zeros(6), np.zeros(6))
        drives.advance(CYCLE)
        lowest = min(lowest, float((drives.strokes - rest).min()))

    assert -1e-3 < lowest < -1e-6
    assert np.abs(drives.strokes - rest).max() < 1e-7
    assert drives.delivered == pytest.approx(static_forces(platform), abs=1e-3)


def test_feed_forward_takes_the_sag_away(platform: Platform) -> None:
    rest, sags = neutral(platform), []
    for feed_forward in (np.zeros(6), static_forces(platform)):
        drives = make(platform)
        drives.on = True
        sag = 0.0
        for _ in range(50):
            drives.command(rest, np.zeros(6), feed_forward)
            drives.advance(CYCLE)
            sag = max(sag, float(np.abs(drives.strokes - rest).max()))
        sags.append(sag)

    # what is left is the force's own rise through the current loop
    assert sags[1] < 0.5 * sags[0]


def test_force_feedback_comes_in_whole_steps(platform: Platform) -> None:
    drives = make(platform, rated_force=700.0)
    drives.on = True
    drives.command(neutral(platform), np.zeros(6), np.zeros(6))
    drives.advance(0.05)

    measured = drives.read_forces(NO_MOTION)
    steps = measured / 0.7
    assert np.abs(steps - np.round(steps)).max() < 1e-12
    assert np.abs(measured - drives.delivered).max() <= 0.35
    assert measured.any()


def test_force_never_exceeds_the_limit(platform: Platform) -> None:
    drives = make(platform, force_limit=20.0)
    drives.on = True
    drives.command(neutral(platform) + 0.05, np.zeros(6), np.zeros(6))
    for _ in range(100):
        drives.advance(CYCLE)
        assert np.abs(drives.delivered).max() <= 20.0


def test_a_silent_drive_stops_following_the_last_rate(platform: Platform) -> None:
    drives, rest = make(platform), neutral(platform)
    drives.on = True
    drives.command(rest, np.full(6, 0.1), static_forces(platform))
    drives.advance(0.5)

    assert drives.strokes == pytest.approx(rest + 0.1 * 2 * CYCLE, abs=1e-4)
    assert np.abs(drives.rates).max() < 1e-3


def test_end_stops_catch_a_platform_that_is_driven_into_them(platform: Platform) -> None:
    drives = make(platform)
    drives.on = True
    upper = platform.limits.stroke[:, 1] + END_MARGIN
    drives.command(upper + 0.02, np.zeros(6), np.zeros(6))
    drives.advance(1.0)

    assert np.all(drives.strokes < upper + 1e-3)
    assert np.all(drives.strokes > upper - 1e-3)


def lighter(platform: Platform, share: float) -> Platform:
    """Return a platform with this share of all its masses."""
    assert platform.masses is not None

    def scaled(part: Any) -> Any:
        if isinstance(part, RigidBody):
            return replace(part, mass=share * part.mass, inertia=share * part.inertia)
        return tuple(map(scaled, part)) if isinstance(part, tuple) else part

    parts = {field.name: getattr(platform.masses, field.name) for field in fields(platform.masses)}
    masses = replace(platform.masses, **{name: scaled(part) for name, part in parts.items()})
    return replace(platform, masses=masses)


@pytest.mark.parametrize('share', [0.3, 0.1, 0.03])
def test_a_light_platform_without_power_comes_to_rest_at_its_ends(
    platform: Platform, share: float
) -> None:
    light = lighter(platform, share)
    friction = {'viscous_friction': 5.0 * share, 'coulomb_friction': 0.3 * share}
    drives = make(light, rated_force=50.0 * share, supported=False, **friction)
    for _ in range(400):
        drives.advance(0.005)

    lower = platform.limits.stroke[:, 0] - END_MARGIN
    assert not drives.rates.any()
    assert np.all(drives.strokes > lower - 1e-4)
    assert np.any(drives.strokes < lower + 1e-4)


@pytest.mark.parametrize('name', ['ex800', 'vigo', 'ps6tl_1500'])
def test_steps_of_the_shipped_platforms_are_those_of_friction(name: str) -> None:
    shipped, options = Platform.from_yaml(name), PlantOptions(platform=name)
    plant = options.plant(shipped, shipped.geometry.neutral_pose)
    drives = options.drives(plant, leg_limits(shipped), hold_after=CYCLE)

    assert drives._longest_step == min(LONGEST_STEP, SHARE_OF_DAMPING / plant.damping_rate)


def test_payload_and_friction_show_in_the_forces(platform: Platform) -> None:
    loaded = make(platform, payload_mass=2.0, payload_position=(0.05, -0.03, 0.08))
    loaded.on = True
    for _ in range(500):
        loaded.command(neutral(platform), np.zeros(6), np.zeros(6))
        loaded.advance(CYCLE)

    vertical = 325e-3 / 275e-3  # leg length over height: all legs lean alike at home
    more = (loaded.delivered.sum() - static_forces(platform).sum()) / vertical
    assert more == pytest.approx(2.0 * 9.80665, rel=0.05)


def test_joint_errors_move_the_strokes_at_a_pose(platform: Platform) -> None:
    drives = make(platform, joint_error=1e-4, plant_seed=5)

    off = np.abs(drives.strokes - neutral(platform))
    assert 1e-5 < off.max() < 5e-4


def test_the_same_seed_gives_the_same_run(platform: Platform) -> None:
    ends = []
    for _ in range(2):
        drives = make(platform, joint_error=1e-4, plant_seed=3, coulomb_friction=2.0)
        drives.on = True
        drives.command(neutral(platform) + 0.01, np.zeros(6), np.zeros(6))
        drives.advance(0.2)
        ends.append(drives.state.copy())

    assert np.array_equal(*ends)


def test_a_platform_without_masses_is_refused() -> None:
    srs = Platform.from_yaml('srs')

    with pytest.raises(MissingMasses, match='srs'):
        PlantOptions().plant(srs, srs.geometry.neutral_pose)


def test_a_negative_payload_is_refused() -> None:
    with pytest.raises(ConfigurationError, match='payload_mass'):
        PlantOptions(payload_mass=-1.0)
