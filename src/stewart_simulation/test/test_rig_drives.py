# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Single drives of the plant: power, brake, torque limit, encoder, and the true acceleration."""

from __future__ import annotations

import numpy as np
import pytest
from stewart_driver.legs import Array
from stewart_simulation.plant_options import PlantOptions
from stewart_simulation.rigid_drives import RigidDrives
from stewart_simulation.start import leg_limits, start_pose

CYCLE = 1e-3
ZERO = np.zeros(6)


@pytest.fixture
def drives() -> RigidDrives:
    """Return Vigo's drives under power, at rest, carrying the weight."""
    from stewart_kinematics.platform import Platform

    options = PlantOptions(platform='vigo')
    platform = Platform.from_yaml('vigo')
    plant = options.plant(platform, start_pose(platform, 'neutral'))
    made = options.drives(plant, leg_limits(platform), hold_after=2 * CYCLE)
    made.on = True
    follow(made, made.strokes.copy(), ZERO, 0.5)
    return made


def follow(drives: RigidDrives, strokes: Array, rates: Array, duration: float) -> None:
    for step in range(round(duration / CYCLE)):
        drives.command(strokes + rates * step * CYCLE, rates, ZERO)
        drives.advance(CYCLE)


def test_a_leg_without_power_is_held_while_the_others_move(drives: RigidDrives) -> None:
    begin = drives.strokes.copy()
    drives.powered[2] = False
    follow(drives, begin, np.where(np.arange(6) == 2, 0.0, 0.02), 0.5)

    moved = drives.strokes - begin
    assert abs(moved[2]) < 2e-4
    assert np.delete(moved, 2) == pytest.approx(0.01, abs=5e-4)


def test_brakes_stop_a_moving_platform_within_their_force(drives: RigidDrives) -> None:
    follow(drives, drives.strokes.copy(), np.full(6, 0.3), 0.3)
    begin, speed = drives.strokes.copy(), float(drives.rates.mean())
    drives.on = False
    drives.advance(2.5e-4)
    assert drives.rates.min() > 0.3 * speed
    for _ in range(400):
        drives.advance(CYCLE)

    assert speed == pytest.approx(0.3, rel=0.02)
    assert not drives.state[7:].any()
    assert np.abs(drives.strokes - begin).max() < 2e-3
    assert not drives.delivered.any()


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
