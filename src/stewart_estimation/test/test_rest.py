# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Noise found at rest: no finer than the sensors' steps, and only while the platform rests."""

from __future__ import annotations

from dataclasses import replace
import json
import math

import numpy as np
import pytest
from scipy.signal import butter, lfilter
from srs_simulated import SensorErrors, simulate, SimulatedRun
from stewart_estimation.rest import noise_at_rest
from stewart_estimation.samples import ImuSeries, LegSeries
from stewart_kinematics.errors import ConfigurationError
from typed_verbs import stewart, write_tables

STEP = 1e-5
"""Of an encoder [m]."""
REST = 3.0
"""Before the motion [s]."""


def rested(seed: int = 4, step: float = STEP) -> SimulatedRun:
    """Return MP2 after a rest, its legs read by encoders of some step without any other noise."""
    errors = replace(SensorErrors(), length=np.zeros(6))
    run, rng = simulate('MP2', seed, duration=8.0, errors=errors), np.random.default_rng(seed)
    time = np.arange(0.0, REST, 0.01)
    still = (
        run.imu.specific_forces[:1] + run.errors.specific_force * rng.normal(size=(time.size, 3)),
        run.imu.angular_velocities[:1]
        + run.errors.angular_velocity * rng.normal(size=(time.size, 3)),
    )
    imu = ImuSeries(
        np.concatenate([time, run.imu.stamps + REST]),
        np.vstack([still[0], run.imu.specific_forces]),
        np.vstack([still[1], run.imu.angular_velocities]),
    )
    lengths = np.vstack([np.repeat(run.legs.lengths[:1], time.size, axis=0), run.legs.lengths])
    stamps = np.concatenate([time, run.legs.stamps + REST])
    return replace(run, imu=imu, legs=LegSeries(stamps, step * np.round(lengths / step)))


@pytest.mark.parametrize('step', [1e-6, 1e-5, 2e-5])
def test_encoders_that_do_not_toggle_have_the_noise_of_their_step(step) -> None:
    run = rested(step=step)
    found = noise_at_rest(run.imu, run.legs, 2.8)
    np.testing.assert_allclose(found.length, step / math.sqrt(12.0), rtol=1e-6)
    np.testing.assert_allclose(found.specific_force, run.errors.specific_force, rtol=0.15)
    np.testing.assert_allclose(found.angular_velocity, run.errors.angular_velocity, rtol=0.15)
    assert not found.remarks


def test_noise_above_the_steps_is_what_is_measured() -> None:
    run, rng = rested(), np.random.default_rng(1)
    lengths = run.legs.lengths + 5e-5 * rng.normal(size=run.legs.lengths.shape)
    coarse = LegSeries(run.legs.stamps, STEP * np.round(lengths / STEP))
    found = noise_at_rest(run.imu, coarse, 2.8)
    np.testing.assert_allclose(found.length, 5e-5, rtol=0.15)


def test_an_imu_with_a_low_pass_has_the_noise_of_its_density() -> None:
    run = rested()
    white = np.random.default_rng(2).normal(size=(len(run.imu.stamps), 3))
    noise = 0.02 * lfilter(*butter(2, 0.2), white, axis=0)
    imu = replace(run.imu, specific_forces=run.imu.specific_forces[:1] + noise)
    assert noise.std() < 0.01
    found = noise_at_rest(imu, run.legs, 2.8)
    np.testing.assert_allclose(found.specific_force, 0.02, rtol=0.4)
    assert found.error > 0.05
    np.testing.assert_allclose(found.angular_velocity, run.errors.angular_velocity, rtol=0.15)


def test_a_leg_that_shows_no_step_at_all_has_the_assumed_noise_which_is_said() -> None:
    run = rested()
    lengths = np.array(run.legs.lengths)
    lengths[:, 2] = lengths[0, 2]
    lengths[:, 4] = np.nan
    lengths[20:30] = np.nan
    found = noise_at_rest(run.imu, LegSeries(run.legs.stamps, lengths), 2.8)
    np.testing.assert_allclose(found.length[[2, 4]], 2e-5)
    np.testing.assert_allclose(found.length[[0, 1, 3, 5]], STEP / math.sqrt(12.0), rtol=1e-6)
    assert found.remarks == (
        'leg 3 shows no noise: assumed is 2e-05 m',
        'leg 5 shows no noise: assumed is 2e-05 m',
    )


def test_a_platform_that_moves_is_not_at_rest() -> None:
    run = rested()
    with pytest.raises(ConfigurationError, match=r'a time at rest, but leg \d changes by'):
        noise_at_rest(run.imu, run.legs, 6.0)
    forces = run.imu.specific_forces + np.outer(run.imu.stamps > 1.5, [0.3, 0.0, 0.0])
    tilted = ImuSeries(run.imu.stamps, forces, run.imu.angular_velocities)
    with pytest.raises(ConfigurationError, match=r'a time at rest, but fx changes by 0\.3'):
        noise_at_rest(tilted, run.legs, 2.8)


def test_the_verb_is_consistent_with_quantised_legs_and_says_what_is_odd(tmp_path, capsys) -> None:
    run = rested()
    forces = np.array(run.imu.specific_forces)
    forces[100] += 1.0
    imu = ImuSeries(run.imu.stamps, forces, run.imu.angular_velocities)
    tables = write_tables(replace(run, imu=imu), tmp_path)
    words = ['--imu', str(tables[0]), '--legs', str(tables[1]), '--platform', 'srs', '--gate']
    assert stewart(['estimate', *words, '--noise-from-rest', '2.8', '--json']) == 0
    said = capsys.readouterr()
    assert 'warning: 2 samples jump by more than 15 usual steps' in said.err
    assert 3.0 < json.loads(said.out)['mean_nis'] < 9.0
    assert stewart(['estimate', *words, '--noise-from-rest', '7']) == 1
    assert 'a time at rest, but' in capsys.readouterr().err
