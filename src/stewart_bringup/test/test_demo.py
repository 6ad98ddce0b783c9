# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The whole way: geometry, wave, inverse kinematics, drives, forward kinematics, bag, report."""

from __future__ import annotations

import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip('rclpy')

from stewart_bags.reading import Bag
from stewart_bringup.demo.analysis import FAULT
from stewart_bringup.demo.recording import read_recording
from stewart_bringup.demo.run import run_demo
from stewart_bringup.demo.scenarios import Bounds, choose, Scenario, WAVES
from stewart_bringup.demo.session import play
from stewart_bringup.demo.tracking import largest
from stewart_bringup.errors import OutputRefused, RequestRefused
from stewart_node_support.stop_signals import StopSignals

pytestmark = pytest.mark.ros

DISABLED, STOPPING = 0, 3

COMMAND = [sys.executable, '-c', 'from stewart_bringup.main import main; raise SystemExit(main())']
SHORT = ['--wave', 'random', '--backend', 'simulated']
# What a busy machine without real-time priorities still has to keep.
BUSY = Bounds(least_rate_share=0.5, path_position=3e-3, path_rotation=5e-3, latency=0.5)


@pytest.mark.alone
def test_demo_follows_its_wave_reports_it_and_replaces_only_bags(tmp_path: Path) -> None:
    (tmp_path / 'report.html').write_text('of an earlier run')
    scenarios = [Scenario('ex800', WAVES['eq18'], 3.0, 1, 'simulated', bounds=BUSY)]

    with StopSignals() as stop:
        assert run_demo(scenarios, tmp_path, stop) is True

    page = (tmp_path / 'report.html').read_text()
    assert 'every check held' in page
    assert 'SIMULATED' in page
    assert not re.search(r'(?:src|href)="(?!data:image/png;base64,)', page)
    assert sorted(path.name for path in tmp_path.iterdir()) == ['ex800_eq18', 'report.html']
    recording = read_recording(tmp_path / 'ex800_eq18')
    # It moved: by more than the noise of the encoders, there and back.
    moved = recording.poses.position - recording.poses.position[0]
    assert largest(moved) > 2e-3
    assert largest(moved[-1:]) < 1e-4
    assert FAULT not in recording.driver_states.state

    (tmp_path / 'ex800_eq18' / 'thesis.tex').write_text('precious')
    with StopSignals() as stop, pytest.raises(OutputRefused, match=r'thesis\.tex'):
        run_demo(scenarios, tmp_path, stop)
    assert (tmp_path / 'ex800_eq18' / 'thesis.tex').exists()


def test_unknown_back_end_is_named(tmp_path: Path) -> None:
    scenario = choose('vigo', 'random', 3.0, 1, 'perpetuum_mobile')[0]

    with StopSignals() as stop, pytest.raises(Exception, match='perpetuum_mobile') as caught:
        play(scenario, tmp_path / 'bag', lambda *_: None, stop)
    assert type(caught.value).__module__.startswith('stewart_')


def test_driver_that_stops_ends_the_demo_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = Scenario('vigo', WAVES['random'], 30.0, 1, 'simulated', bounds=BUSY)
    strict = {'driver': {'tracking_position': 1e-6}}
    monkeypatch.setattr(Scenario, 'overrides', lambda _: strict)

    with StopSignals() as stop, pytest.raises(RequestRefused, match='from its setpoint'):
        play(scenario, tmp_path / 'bag', lambda *_: None, stop)
    with Bag(tmp_path / 'bag') as bag:
        assert bag.topics['/actuator_states'].count > 0


@pytest.mark.parametrize(
    'number', [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_interrupted_demo_closes_the_bag_and_writes_no_report(
    tmp_path: Path, number: signal.Signals
) -> None:
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(
        [*COMMAND, 'demo', *SHORT, '--duration', '30', '--output', str(tmp_path)],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        said = ''
        while 'playing' not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        time.sleep(1.0)
        process.send_signal(number)
        said += process.communicate(timeout=20)[1]
    finally:
        process.kill()

    assert process.returncode == 1, said
    assert said.rstrip().endswith('the bag is closed, there is no report')
    assert 'Traceback' not in said
    assert not (tmp_path / 'report.html').exists()
    recording = read_recording(tmp_path / 'vigo_random')
    assert len(recording.setpoints) > 50
    # The way to rest was recorded, and so was power-off.
    assert np.ptp(recording.actuators.position[-10:], axis=0).max() < 5e-5
    assert list(recording.driver_states.state)[-3:] == [STOPPING, DISABLED, DISABLED]
