# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Stamps that run at another rate than the recorder's clock are good; those that jump are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recordings_made import Run, Scribe
from stewart_identification.recording.checks import of_another_clock, rate_of
from stewart_identification.recording.from_bag import experiment_from, Extracted
from stewart_identification.recording.recordings import read_recording
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array


def wrong(stamps: Array, bag: Array) -> Array:
    """Return the samples that are left out."""
    return np.flatnonzero(of_another_clock(stamps, stamps - rate_of(stamps, bag) * bag))


@pytest.mark.parametrize('rate', [0.5, 0.8, 1.0002, 3.0])
@pytest.mark.parametrize('hours', [60.0 / 3600.0, 4.0])
def test_no_sample_is_lost_to_a_rate(rate: float, hours: float) -> None:
    """Of 60 s of a simulation at 0.8 times real time 8 s were left, of a replay at 0.5 two."""
    rng = np.random.default_rng(1)
    stamps = np.arange(0.0, 3600.0 * hours, 0.1)
    bag = np.maximum.accumulate(stamps / rate + rng.exponential(0.01, len(stamps)))
    assert rate_of(stamps, bag) == pytest.approx(rate, rel=1e-3)
    assert not wrong(stamps, bag).size
    # Those of another clock are found still, alone or for a while, at an end or in the middle.
    for part in (slice(300, 301), slice(200, 260), slice(0, 40), slice(-100, None)):
        spoilt = stamps.copy()
        spoilt[part] += 5.0
        assert np.array_equal(wrong(spoilt, bag), np.arange(len(stamps))[part]), part


def test_rates_that_change_pauses_and_losses_are_no_other_clock() -> None:
    stamps = np.arange(0.0, 60.0, 0.005)
    changing = np.cumsum(np.where(stamps < 20.0, 0.005 / 0.9, 0.005 / 0.3))
    assert not wrong(stamps, changing).size
    paused = stamps + np.where(stamps > 30.0, 12.0, 0.0)
    assert not wrong(stamps, paused).size
    lost = (stamps < 20.0) | (stamps > 35.0)
    assert not wrong(stamps[lost], 2.0 * stamps[lost]).size
    assert not wrong(stamps[:1], stamps[:1]).size


def test_two_clocks_in_turn_leave_one_of_them() -> None:
    stamps = np.arange(0.0, 10.0, 0.005)
    mixed = stamps + 1e4 * (np.arange(len(stamps)) % 3 == 0)
    assert np.array_equal(wrong(mixed, stamps), np.arange(0, len(stamps), 3))


def extracted(run: Run, rate: float, platform: Platform, folder: Path) -> Extracted:
    with Scribe(folder / 'bag') as scribe:
        for row, time in enumerate(run.time):
            seen = run.strokes[row], run.forces[row]
            scribe.joints('/actuator_states', time, *seen, bag_time=time / rate)
    return experiment_from(read_recording(folder / 'bag'), platform)


@pytest.mark.parametrize('rate', [0.5, 0.8])
def test_a_recording_at_another_rate_is_used_whole_and_the_rate_is_said(
    rate: float, payload_run: Run, payload_extracted: Extracted, ex800: Platform, tmp_path: Path
) -> None:
    found = extracted(payload_run, rate, ex800, tmp_path)
    assert np.array_equal(found.experiment.forces, payload_extracted.experiment.forces)
    (said,) = map(str, found.remarks)
    assert said == (
        f'/actuator_states: 2000 samples, from 0.000 s on: stamps run {rate:g} times as fast as '
        'the clock of the recorder, as those of a simulation or a replay do; they count'
    )
