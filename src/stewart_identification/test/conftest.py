# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings that several tests read; they are made once."""

from __future__ import annotations

from pathlib import Path
import sys

import pytest

# Tests are imported by path, and their helper has to be found.
sys.path.insert(0, str(Path(__file__).parent))

from recordings_made import excitation, noisy, PAYLOAD, recorded, Run, run_rig, wave, write_bag
from stewart_identification.recording.from_bag import experiment_from, Extracted
from stewart_identification.recording.recordings import read_recording, Recording
from stewart_kinematics.model.platform import Platform


@pytest.fixture(scope='session')
def ex800() -> Platform:
    return Platform.from_yaml('ex800')


@pytest.fixture(scope='session')
def vigo() -> Platform:
    return Platform.from_yaml('vigo')


@pytest.fixture(scope='session')
def payload_run(ex800: Platform) -> Run:
    """Ten seconds of five harmonics with the payload, sampled at 200 Hz."""
    return run_rig(ex800, excitation(ex800), PAYLOAD, force_noise=0.5)


@pytest.fixture(scope='session')
def payload_bag(payload_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bag(tmp_path_factory.mktemp('payload') / 'bag', payload_run)


@pytest.fixture(scope='session')
def wave_run(ex800: Platform) -> Run:
    """Eq. 18 of the EX800 paper with the same payload, of forces without noise."""
    return run_rig(ex800, wave(ex800), PAYLOAD, rate=100.0)


@pytest.fixture(scope='session')
def wave_recording(wave_run: Run) -> Recording:
    """Six seconds of it."""
    return recorded(noisy(wave_run, 0.5).part(slice(600)))


@pytest.fixture(scope='session')
def payload_extracted(payload_bag: Path, ex800: Platform) -> Extracted:
    return experiment_from(read_recording(payload_bag), ex800)


@pytest.fixture(autouse=True)
def drawn_if_asked_for(request: pytest.FixtureRequest) -> None:
    """Draw the pictures of reports for a test that asks for `drawn`."""
    if 'drawn' not in request.fixturenames:
        request.getfixturevalue('undrawn')


@pytest.fixture
def drawn() -> None:
    """Ask for the pictures of reports."""


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the pictures out of reports that nobody looks at: half of a report's time."""
    monkeypatch.setattr('stewart_identification.report.drawing', lambda *_, **__: '')
