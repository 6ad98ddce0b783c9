# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Single drives of the plant: power, friction, brake, STO, encoder, true acceleration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from stewart_driver.legs import Array
from stewart_kinematics.model.platform import Platform
from stewart_simulation.plant_options import PlantOptions
from stewart_simulation.rigid_drives import RigidDrives
from stewart_simulation.start import leg_limits, start_pose

CYCLE = 1e-3
ZERO = np.zeros(6)


def carrying(**changes: Any) -> RigidDrives:
    """Return Vigo's drives under power, at rest, carrying the weight."""
    options = PlantOptions(platform='vigo', **changes)
    platform = Platform.from_yaml('vigo')
    plant = options.plant(platform, start_pose(platform, 'neutral'))
    made = options.drives(plant, leg_limits(platform), hold_after=2 * CYCLE)
    made.on = True
    follow(made, made.strokes.copy(), ZERO, 0.5)
    return made


@pytest.fixture
def drives() -> RigidDrives:
    return carrying()


def follow(drives: RigidDrives, strokes: Array, rates: Array, duration: float) -> None:
    for step in range(round(duration / CYCLE)):
        drives.command(strokes + rates * step * CYCLE, rates, ZERO)
        drives.advance(CYCLE)


def test_a_leg_on_its_brake_is_held_while_the_others_move() -> None:
    drives = carrying(brake=True, brake_apply_s=0.0)
    begin = drives.strokes.copy()
    drives.powered[2] = False
    follow(drives, begin, np.where(np.arange(6) == 2, 0.0, 0.02), 0.5)

    moved = drives.strokes - begin
    assert abs(moved[2]) < 2e-4
    assert np.delete(moved, 2) == pytest.approx(0.01, abs=5e-4)


def test_brakes_stop_a_moving_platform_after_their_time_and_within_their_force() -> None:
    drives = carrying(brake=True, brake_apply_s=0.05)
    follow(drives, drives.strokes.copy(), np.full(6, 0.3), 0.3)
    begin, speed = drives.strokes.copy(), float(drives.rates.mean())
    drives.on = False
    for _ in range(49):
        drives.advance(CYCLE)
        assert not drives.braked.any()
    falling = drives.strokes.copy()
    drives.advance(2 * CYCLE)
    assert drives.braked.all()
    assert np.abs(drives.rates).max() < 10.0
    for _ in range(400):
        drives.advance(CYCLE)

    assert speed == pytest.approx(0.3, rel=0.02)
    assert not drives.state[7:].any()
    assert np.abs(drives.strokes - begin).max() < 30e-3
    assert np.abs(drives.strokes - falling).max() < 3e-3
    assert not drives.delivered.any()


def test_a_drive_holds_its_leg_against_a_brake_that_has_yet_to_let_go() -> None:
    drives = carrying(brake=True, brake_apply_s=0.0, brake_release_s=0.08)
    drives.on = False
    for _ in range(100):
        drives.advance(CYCLE)
    drives.on = True
    begin, released = drives.strokes.copy(), []
    for _ in range(120):
        drives.command(begin, ZERO, ZERO)
        drives.advance(CYCLE)
        released.append(not drives.braked.any())

    assert released.index(True) == pytest.approx(80, abs=1)
    assert np.abs(drives.strokes - begin).max() < 1e-3


def test_vigo_without_power_sinks_to_its_ends_and_rests_there(drives: RigidDrives) -> None:
    begin, heights = drives.strokes.copy(), []
    drives.on = False
    for _ in range(1500):
        drives.advance(CYCLE)
        heights.append(float((drives.strokes - begin).min()))

    # 148 N per leg against 40 N of friction and 220 N s/m: 0.48 m/s after a third of a second.
    assert heights[99] == pytest.approx(-22e-3, abs=5e-3)
    assert heights[299] == pytest.approx(-0.11, abs=0.02)
    assert drives.strokes == pytest.approx(-2e-3, abs=2e-4)
    assert not drives.state[7:].any()


def test_friction_alone_holds_a_light_load() -> None:
    drives = carrying(unpowered_friction=0.2)
    begin = drives.strokes.copy()
    drives.on = False
    for _ in range(500):
        drives.advance(CYCLE)

    assert np.abs(drives.strokes - begin).max() < 1e-3
    assert not drives.state[7:].any()


def test_supports_carry_the_legs_until_all_have_had_power_at_once() -> None:
    options, platform = PlantOptions(platform='vigo'), Platform.from_yaml('vigo')
    plant = options.plant(platform, start_pose(platform, 'neutral'))
    drives = options.drives(plant, leg_limits(platform), hold_after=2 * CYCLE)
    begin = drives.strokes.copy()
    drives.advance(1.0)
    assert np.array_equal(drives.strokes, begin)
    drives.powered[:5] = True
    follow(drives, begin, ZERO, 0.2)
    assert np.abs(drives.strokes - begin).max() < 1e-3
    drives.on = True
    follow(drives, begin, ZERO, 0.2)
    drives.powered[5] = False
    follow(drives, begin, ZERO, 0.2)
    assert begin[5] - drives.strokes[5] > 5e-3


def test_sto_takes_the_torque_from_a_powered_leg(drives: RigidDrives) -> None:
    begin = drives.strokes.copy()
    drives.sto[3] = True
    follow(drives, begin, ZERO, 0.2)

    assert begin[3] - drives.strokes[3] > 5e-3
    assert abs(drives.delivered[3]) < 1e-6
    assert drives.live.tolist() == [True, True, True, False, True, True]


def test_a_lowered_torque_limit_lets_the_leg_fall_behind(drives: RigidDrives) -> None:
    begin, weight = drives.strokes.copy(), abs(float(drives.delivered[4]))
    drives.force_limits[4] = 0.5 * weight
    follow(drives, begin, ZERO, 0.3)

    assert abs(drives.delivered[4]) <= 0.5 * weight + 1e-9
    assert begin[4] - drives.strokes[4] > 1e-3


def test_an_encoder_that_jumps_moves_the_leg_the_other_way(drives: RigidDrives) -> None:
    begin = drives.strokes.copy()
    drives.encoder_errors[0] = 1e-3
    follow(drives, begin, ZERO, 0.5)

    assert drives.strokes[0] - begin[0] == pytest.approx(-1e-3, abs=1e-5)
    assert drives.encoder_strokes[0] == pytest.approx(begin[0], abs=1e-5)


def test_a_stuck_encoder_lets_the_drive_push_until_its_limit(drives: RigidDrives) -> None:
    begin = drives.strokes.copy()
    drives.stuck_encoders[5] = begin[5]
    follow(drives, begin, np.full(6, 0.01), 0.1)

    assert drives.encoder_strokes[5] == begin[5]
    assert drives.delivered[5] > drives.delivered[:5].max() + 100.0
    assert drives.strokes[5] - begin[5] > 1.1e-3


def test_the_acceleration_is_the_derivative_of_the_velocity(drives: RigidDrives) -> None:
    follow(drives, drives.strokes.copy(), np.array([0.1, 0.05, 0.0, 0.1, 0.02, 0.07]), 0.1)
    before, velocity = drives.acceleration(), drives.state[7:].copy()
    drives.advance(1e-6)

    assert np.abs(before).max() > 0.01
    change = (drives.state[7:] - velocity) / 1e-6
    assert change == pytest.approx(0.5 * (before + drives.acceleration()), abs=2e-2)
