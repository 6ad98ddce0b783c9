# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Live sensors as they are connected: clocks apart, upside down, one missing for hours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from stewart_estimation.external_pose import estimate_at
from stewart_estimation.live_estimation import LiveEstimation
from stewart_estimation.live_filter import KEPT
from stewart_estimation.live_rows import LiveRows
from stewart_estimation.settings import FilterSettings, Gate, ImuNoise, Reinitialisation
from stewart_kinematics.motion import Pose
from stewart_kinematics.solvers.inverse import leg_lengths

RATE = 100.0
# Of chi-square with three degrees, exceeded once in a hundred million.
SURE = 40.0


def standing(
    srs,
    seconds: float,
    *,
    imu: bool = True,
    legs: bool = True,
    up: float = 1.0,
    begin: float = 0.0,
) -> Iterator[tuple[float, bool, np.ndarray]]:
    """Yield stamps, whether legs or IMU speak, and what they say of a platform at rest."""
    rng = np.random.default_rng(1)
    lengths = srs.geometry.retracted_length + 0.5 * np.ones(6)
    force = np.array([0.0, 0.0, up * 9.80665])
    for number in range(round(seconds * RATE)):
        stamp = begin + number / RATE
        if legs:
            yield stamp, True, lengths + rng.normal(0.0, 2e-5, 6)
        if imu:
            noise = rng.normal(0.0, np.repeat([0.02, 1e-3], 3))
            yield stamp, False, np.append(force, np.zeros(3)) + noise


def hear(
    live: LiveEstimation,
    said: Iterator[tuple[float, bool, np.ndarray]],
    shift: Callable[[float], float] = lambda _: 0.0,
) -> list[float]:
    """Take samples, with the IMU's stamps shifted [s]; return the stamps of the estimates."""
    stamps: list[float] = []
    for stamp, is_legs, values in said:
        if is_legs:
            rows = live.legs(stamp, values)
        else:
            rows = live.imu(stamp + shift(stamp), values[:3], values[3:])
        stamps += rows.stamps.tolist()
    return stamps


@pytest.fixture
def live(srs) -> LiveEstimation:
    noise = ImuNoise(np.full(3, 0.02), np.full(3, 1e-3))
    settings = FilterSettings(
        noise, np.full(6, 2e-5), gate=Gate(), reinitialisation=Reinitialisation()
    )
    return LiveEstimation(srs.geometry, settings)


@pytest.mark.parametrize('ahead', [0.3, 0.7, 0.95])
def test_legs_that_come_are_not_silent_whatever_the_clock_of_the_imu(srs, live, ahead) -> None:
    stamps = hear(live, standing(srs, 3.0), lambda _: ahead)
    assert live.accepted.min() > 190
    assert live.dropped == 0
    assert stamps[-1] == pytest.approx(3.0, abs=0.05)
    said = f'IMU stamps are {ahead:.3f} s ahead of the legs: set one clock by the other'
    assert live.health() == ('warn', said)


def test_an_imu_whose_host_sets_its_clock_forward_leads_nobody_on(srs, live) -> None:
    stamps = hear(live, standing(srs, 4.0), lambda stamp: 0.7 * (stamp > 2.0))
    assert stamps[-1] == pytest.approx(4.0, abs=0.05)
    assert live.accepted.min() > 350
    assert 'ahead of the legs' in live.health().sentence


def test_an_imu_upside_down_is_told_at_rest_too(srs, live) -> None:
    hear(live, standing(srs, 4.0, up=-1.0))
    assert live.health().level == 'error'


@pytest.mark.parametrize(
    ('legs', 'level', 'said'),
    [
        ([2], 'warn', 'leg 3 is refused by the gate: it contradicts the others'),
        ([2, 4], 'warn', 'leg 3, 5 is refused by the gate: it contradicts the others'),
        ([0, 2, 4], 'error', 'the gate refused 50 % of the last leg samples'),
    ],
    ids=str,
)
def test_legs_that_the_gate_refuses_for_long_are_told(srs, live, legs, level, said) -> None:
    live.tell(replace(live._settings, reinitialisation=None))
    hear(live, standing(srs, 2.0))
    assert live.health().level == 'ok'
    wrong = np.isin(np.arange(6), legs)
    for stamp, is_legs, values in standing(srs, 4.0, begin=2.0):
        hear(live, iter([(stamp, is_legs, values + 5e-3 * wrong if is_legs else values)]))
    assert live.health().level == level
    assert live.health().sentence.startswith(said)


@pytest.mark.parametrize(('age', 'count'), [(0.0, 5), (0.5, 5), (0.9, 5), (5.0, 6)])
def test_a_pose_that_was_given_before_begins_the_estimate(srs, live, age, count) -> None:
    true = srs.geometry.neutral_pose
    begin(live, srs, age)
    rows = hear_at(live, srs, true, count)
    off = rows.report[:, :3] - true.position
    assert len(off) > 150
    # Five lengths leave one way open, along which the IMU alone leads: as far as it says.
    spread = rows.errors[:, :3, :3] + 1e-12 * np.eye(3)
    assert np.max(np.einsum('ni,nij,nj->n', off, np.linalg.inv(spread), off)) < SURE
    if count == 6:
        assert np.abs(off).max() < 1e-4


def test_an_old_pose_and_five_legs_tell_no_pose(srs, live) -> None:
    begin(live, srs, 5.0)
    assert len(hear_at(live, srs, srs.geometry.neutral_pose, 5)) == 0
    said = 'the pose that was given is of 5.0 s before the first lengths, allowed are 1 s'
    assert live.health() == ('error', f'no estimate: {said}')


def begin(live: LiveEstimation, srs, age: float) -> None:
    """Give the neutral pose so long before the first sample [s]."""
    pose = srs.geometry.neutral_pose
    given = np.concatenate([pose.position, pose.quaternion_xyzw])
    live.reset(estimate_at(-age, given, np.zeros((6, 6))))


def hear_at(live: LiveEstimation, srs, pose: Pose, count: int) -> LiveRows:
    """Take two seconds of a platform that rests at a pose, with so many legs."""
    lengths = leg_lengths(srs.geometry, pose.position, pose.quaternion_xyzw)
    lengths[count:] = np.nan
    found: list[LiveRows] = []
    for stamp, is_legs, values in standing(srs, 2.0):
        if is_legs:
            found.append(live.legs(stamp, lengths))
        else:
            found.append(live.imu(stamp, values[:3], values[3:]))
    return LiveRows.joined([rows for rows in found if len(rows)])


def test_a_sensor_alone_for_hours_takes_no_more_room_and_the_other_one_may_come_back(
    srs, live
) -> None:
    hear(live, standing(srs, 3.0))
    hear(live, standing(srs, 60.0, legs=False, begin=3.0))
    assert live.health().sentence.startswith('no estimate: legs silent for')
    waiting = live._filter
    assert len(waiting._stamps) <= (2.0 * KEPT + 1.0) * RATE
    stamps = hear(live, standing(srs, 3.0, begin=63.0))
    assert stamps[-1] == pytest.approx(66.0, abs=0.05)
    assert live.health().level == 'ok'


def test_legs_without_an_imu_take_no_more_room_either(srs, live) -> None:
    hear(live, standing(srs, 60.0, imu=False))
    assert len(live._filter._legs) <= (2.0 * KEPT + 1.0) * RATE
    stamps = hear(live, standing(srs, 2.0, begin=60.0))
    assert stamps[-1] == pytest.approx(62.0, abs=0.05)
