# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated back end: labelled, deterministic, and following what it is told."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from stewart_driver.backend import find_backend, Measurement
from stewart_driver.errors import ConfigurationError, HomingError
from stewart_driver.path.motion import LegMotion
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_simulation.simulated_backend import SimulatedBackend, SimulatedOptions

ZERO = np.zeros(6)
CYCLE = 0.0025


def opened(**changes: Any) -> SimulatedBackend:
    backend = SimulatedBackend(SimulatedOptions(**changes))
    backend.open(0.0)
    return backend


def wave(backend: SimulatedBackend, duration: float) -> list[Measurement]:
    """Enable, wait for the drives, then swing all legs by 20 mm from where they are."""
    period = backend.cycle_time
    measured = [backend.exchange(LegMotion(0.0, ZERO, ZERO, ZERO), period)]
    start = measured[0].strokes
    backend.enable()
    for index in range(2, int(duration / period)):
        now = index * period
        time = max(now - 0.3, 0.0)
        swing, rate = 0.01 * (1 - np.cos(3.0 * time)), 0.03 * np.sin(3.0 * time)
        targets = LegMotion(0.0, start + swing, ZERO + rate, ZERO)
        measured.append(backend.exchange(targets, now))
    return measured


def test_it_says_that_it_is_simulated() -> None:
    assert SimulatedBackend.simulated is True
    assert SimulatedBackend.name == 'simulated'


@pytest.mark.parametrize('platform', ['vigo', 'ex800', 'ps6tl_1500', 'srs'])
def test_it_starts_at_the_neutral_pose_of_its_platform(platform: str) -> None:
    # the SRS has no masses, so it can have no plant
    model = 'lagging' if platform == 'srs' else 'rigid'
    backend = opened(platform=platform, encoder_noise=0.0, model=model)
    measured = backend.exchange(LegMotion(0.0, ZERO, ZERO, ZERO), 0.002)
    known = Platform.from_yaml(platform)
    neutral = known.geometry.neutral_pose
    lengths = leg_lengths(known.geometry, neutral.position, neutral.quaternion_xyzw)

    assert measured.strokes == pytest.approx(lengths - known.geometry.retracted_length, abs=1e-8)
    assert np.all(backend.limits.stroke_lower <= measured.strokes)
    assert np.all(measured.strokes <= backend.limits.stroke_upper)
    assert backend.limits.rate == pytest.approx(float(known.limits.rate))


def test_it_can_start_retracted() -> None:
    backend = opened(start='retracted', encoder_noise=0.0)
    measured = backend.exchange(LegMotion(0.0, ZERO, ZERO, ZERO), 0.002)

    assert measured.strokes == pytest.approx(backend.limits.stroke_lower, abs=1e-8)


def test_the_drives_follow_within_their_lag() -> None:
    backend = opened()
    measured = wave(backend, 3.0)

    final = measured[-1]
    assert final.enabled
    swing = 0.01 * (1 - np.cos(3.0 * (final.stamp - 0.3)))
    # Acceleration over omega squared: 0.09 m/s² / (40 pi)² = 6 µm, and as much noise.
    assert final.strokes - measured[0].strokes == pytest.approx(np.full(6, swing), abs=2e-5)
    assert np.abs(final.strokes - backend.mechanics.drives.strokes).max() < 6e-6


def test_no_force_is_reported_where_there_is_no_plant() -> None:
    lagging = wave(opened(model='lagging'), 0.5)
    rigid = wave(opened(model='rigid'), 0.5)

    assert all(measurement.forces is None for measurement in lagging)
    assert np.all(rigid[-1].forces > 10.0)


def test_a_noisy_force_is_still_read_in_whole_steps() -> None:
    quiet, noisy = (wave(opened(rated_force=100.0, force_noise=n), 1.0) for n in (0.0, 0.5))
    forces = np.array([[item.forces for item in run] for run in (quiet, noisy)])

    assert np.std(forces[1] - forces[0]) == pytest.approx(0.5, rel=0.1)
    assert np.abs(forces / 0.1 - np.round(forces / 0.1)).max() < 1e-9


def test_a_plant_without_masses_is_refused() -> None:
    with pytest.raises(ConfigurationError, match='lagging, for srs has no masses'):
        SimulatedBackend(SimulatedOptions(platform='srs'))


def test_the_drives_stand_until_they_are_on() -> None:
    backend = opened(enable_delay=0.2)
    backend.exchange(LegMotion(0.0, ZERO, ZERO, ZERO), 0.0)
    backend.enable()
    away = LegMotion(0.0, ZERO + 0.1, ZERO, ZERO)
    before = backend.exchange(away, 0.1)
    stood = backend.mechanics.drives.strokes.copy()
    still = backend.exchange(away, 0.198)
    on = backend.exchange(away, 0.202)

    assert [before.enabled, still.enabled, on.enabled] == [False, False, True]
    assert backend.mechanics.drives.strokes == pytest.approx(stood, abs=1e-15)
    backend.disable()
    assert not backend.exchange(away, 0.204).enabled


def test_a_measurement_tells_who_is_live_braked_and_without_torque() -> None:
    backend = opened(enable_delay=0.0, brake=True, brake_release_s=0.05, brake_apply_s=0.1)
    off = backend.exchange(LegMotion(0.0, ZERO, ZERO, ZERO), 0.0)
    backend.enable()
    stand = LegMotion(0.0, off.strokes, ZERO, ZERO)
    seen = [backend.exchange(stand, CYCLE * number) for number in range(1, 40)]
    backend.mechanics.drives.sto[2] = True
    cut = [backend.exchange(stand, CYCLE * number) for number in range(40, 100)]
    backend.mechanics.drives.sto[2] = False
    after = backend.exchange(stand, 100 * CYCLE)

    assert (off.live, off.braked, off.sto, off.enabled) == (0, 63, 0, False)
    assert [item.live for item in seen] == [63] * 39
    releasing = [item.braked for item in seen].count(63)
    assert releasing * CYCLE == pytest.approx(0.05, abs=2 * CYCLE)
    assert [item.enabled for item in seen] == [False] * releasing + [True] * (39 - releasing)
    assert {(item.live, item.sto, item.enabled) for item in cut} == {(59, 4, False)}
    assert [item.braked for item in cut].index(4) * CYCLE == pytest.approx(0.1, abs=2 * CYCLE)
    assert (after.live, after.sto, after.enabled) == (59, 0, False)


def test_drives_come_on_one_after_another() -> None:
    backend = opened(enable_delay=0.1, enable_spread=0.3, supported=False, seed=3)
    backend.enable()
    live = []
    for number in range(1, 170):
        strokes = backend.mechanics.drives.strokes.copy()
        live.append(backend.exchange(LegMotion(0.0, strokes, ZERO, ZERO), CYCLE * number).live)

    instants = [next(n for n, mask in enumerate(live) if mask >> leg & 1) for leg in range(6)]
    assert live[round(0.1 / CYCLE) - 2] == 0
    assert np.ptp(instants) * CYCLE > 0.1
    assert live[-1] == 63


def test_a_lagging_leg_without_power_sinks_once_it_has_had_some() -> None:
    backend = opened(model='lagging', enable_delay=0.0, sag_rate=0.05, encoder_noise=0.0)
    begin = backend.exchange(LegMotion(0.0, ZERO, ZERO, ZERO), 0.0)
    stand = LegMotion(0.0, begin.strokes, ZERO, ZERO)
    supported = backend.exchange(stand, 0.2)
    backend.enable()
    for number in range(1, 11):
        on = backend.exchange(stand, 0.2 + CYCLE * number)
    backend.disable()
    for number in range(11, 111):
        off = backend.exchange(stand, 0.2 + CYCLE * number)

    assert supported.strokes == pytest.approx(begin.strokes, abs=1e-8)
    assert (on.live, off.live) == (63, 0)
    assert on.strokes == pytest.approx(begin.strokes, abs=1e-8)
    assert off.strokes == pytest.approx(begin.strokes - 0.05 * 100 * CYCLE, abs=1e-3)


def test_the_same_seed_gives_the_same_measurements_to_the_last_bit() -> None:
    one, same, other = (wave(opened(seed=seed), 1.0) for seed in (3, 3, 4))

    for a, b in zip(one, same, strict=True):
        assert np.array_equal(a.strokes, b.strokes)
        assert np.array_equal(a.rates, b.rates)
    assert not np.array_equal(one[-1].strokes, other[-1].strokes)


def test_it_crosses_into_another_process_before_it_is_opened() -> None:
    backend = pickle.loads(pickle.dumps(SimulatedBackend(SimulatedOptions(seed=3))))
    backend.open(0.0)
    direct = wave(opened(seed=3), 0.5)

    assert np.array_equal(wave(backend, 0.5)[-1].strokes, direct[-1].strokes)


def test_homing_verifies_standstill_and_range() -> None:
    backend = opened(homed=False)
    assert not backend.homed
    wave(backend, 0.8)
    with pytest.raises(HomingError, match='moves at'):
        backend.home()
    assert not backend.homed

    resting = opened(homed=False)
    resting.exchange(LegMotion(0.0, ZERO, ZERO, ZERO), 0.002)
    assert 'absolute' in resting.home()
    assert resting.homed


@pytest.mark.parametrize(
    ('change', 'key'),
    [
        ({'start': 'somewhere'}, 'start'),
        ({'cycle_time': 0.0}, 'cycle_time'),
        ({'bandwidth': -1.0}, 'bandwidth'),
        ({'encoder_noise': float('nan')}, 'encoder_noise'),
        ({'seed': -1}, 'seed'),
    ],
)
def test_options_that_make_no_sense_are_refused_by_name(change: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigurationError, match=key):
        SimulatedOptions(**change)


@pytest.mark.installed
def test_the_driver_finds_it_once_the_package_is_installed() -> None:
    assert find_backend('simulated').options_type.__name__ == 'SimulatedOptions'
