# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The whole way: geometry, wave, inverse kinematics, drives, forward kinematics, bag, report."""

from __future__ import annotations

import argparse
from contextlib import suppress
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
from stewart_bringup.demo.machine import real_time
from stewart_bringup.demo.recording import read_recording, Recording
from stewart_bringup.demo.run import run_demo
from stewart_bringup.demo.scenarios import choose, Scenario, WAVES
from stewart_bringup.demo.session import play
from stewart_bringup.demo.tracking import largest
from stewart_bringup.errors import BringupError, RequestRefused
from stewart_bringup.verbs import demo
from stewart_node_support.stop_signals import StopSignals

pytestmark = pytest.mark.ros

DISABLED, STOPPING = 0, 3
# A bag that has grown so far holds some seconds of the wave [byte].
PLAYING = 1_500_000

COMMAND = [sys.executable, '-c', 'from stewart_bringup.main import main; raise SystemExit(main())']
SHORT = ['--wave', 'random', '--backend', 'simulated']


class Soon(Scenario):
    """A wave that is there and gone sooner than one that is looked at."""

    def overrides(self) -> dict[str, dict[str, object]]:
        """Return the parameters that win over the files, by node."""
        return {self.wave.node: {'fade_in': 0.5, 'fade_out': 0.5}}


def test_demo_follows_its_wave_reports_it_and_replaces_only_bags(tmp_path: Path) -> None:
    (tmp_path / 'report.html').write_text('of an earlier run')
    scenarios = [Soon('ex800', WAVES['eq18'], 1.5, 1, 'simulated')]

    with StopSignals() as stop:
        assert run_demo(scenarios, tmp_path, stop) is True

    page = (tmp_path / 'report.html').read_text()
    assert 'every check held' in page
    assert 'SIMULATED' in page
    assert not re.search(r'(?:src|href)="(?!#)', page)
    assert sorted(path.name for path in tmp_path.iterdir()) == ['ex800_eq18', 'report.html']
    recording = read_recording(tmp_path / 'ex800_eq18')
    # It moved: by more than the noise of the encoders, there and back.
    moved = recording.poses.position - recording.poses.position[0]
    powered = recording.poses.stamp_ns < _switched_off(recording)
    assert largest(moved[powered]) > 2e-3
    assert largest(moved[powered][-1:]) < 1e-4
    # Then the drives have no voltage, and nothing else bears the platform.
    assert moved[-1, 2] < moved[powered][-1, 2]
    assert FAULT not in recording.driver_states.state

    (tmp_path / 'ex800_eq18' / 'thesis.tex').write_text('precious')
    with StopSignals() as stop, pytest.raises(BringupError, match=r'thesis\.tex'):
        run_demo(scenarios, tmp_path, stop)
    assert (tmp_path / 'ex800_eq18' / 'thesis.tex').exists()


def test_simulated_time_passes_at_the_speed_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[float] = []

    class Enough(Exception):
        """The clock is there."""

    def paced(_nodes: object, speed: float, _stop: object) -> None:
        told.append(speed)
        raise Enough

    monkeypatch.setattr('stewart_bringup.demo.session.simulated_pace', paced)
    parser = argparse.ArgumentParser()
    demo.add_arguments(parser)
    for words in ([], ['--speed', 'max'], ['--speed', '2.5']):
        asked = parser.parse_args(['--wave', 'eq18', '--backend', 'simulated', *words])
        (scenario,) = demo._chosen(asked)
        with StopSignals() as stop, pytest.raises(Enough):
            play(scenario, tmp_path / f'bag{len(told)}', lambda *_: None, stop)
    assert told == [0.0, 0.0, 2.5]


def test_unknown_back_end_is_named(tmp_path: Path) -> None:
    scenario = choose('vigo', 'random', 3.0, 1, 'perpetuum_mobile')[0]

    with StopSignals() as stop, pytest.raises(Exception, match='perpetuum_mobile') as caught:
        play(scenario, tmp_path / 'bag', lambda *_: None, stop)
    assert type(caught.value).__module__.startswith('stewart_')


@pytest.mark.slow
@pytest.mark.realtime
def test_the_rig_goes_before_the_machine_but_the_middleware_does_not(tmp_path: Path) -> None:
    scenario = Scenario('ex800', WAVES['eq18'], 30.0, 1, 'daq')
    threads: set[tuple[str, int]] = set()
    stop = StopSignals()

    def watch(_: str, played: float) -> None:
        if played:
            stop.request()
        for process in (os.getpid(), *_children()):
            # Processes and threads come and go meanwhile; those that stay are seen again.
            with suppress(FileNotFoundError, ProcessLookupError, IndexError):
                for task in Path(f'/proc/{process}/task').iterdir():
                    name = (task / 'comm').read_text().strip()
                    if process != os.getpid():
                        name = Path(f'/proc/{process}/cmdline').read_text().split('\0')[2]
                    threads.add((name, os.sched_getscheduler(int(task.name))))

    # A late machine may stop the rig; that is not judged here.
    with suppress(RequestRefused):
        play(scenario, tmp_path / 'bag', watch, stop)

    # Fast DDS names its threads dds.…; whatever this one may do, they stay ordinary.
    middleware = {policy for name, policy in threads if name.startswith('dds')}
    assert middleware == {os.SCHED_OTHER}
    with real_time() as told:
        allowed = told.startswith('real-time')
    expected = {os.SCHED_FIFO} if allowed else {os.SCHED_OTHER}
    # Who waits for a frame waits for the rig.
    assert {policy for name, policy in threads if name == 'stewart_simulation.rig'} == expected
    own = os.SCHED_RR if allowed else os.SCHED_OTHER
    assert own in {policy for name, policy in threads if not name.startswith('dds')}


def _children() -> list[int]:
    """Return the processes that this one has started."""
    listed = Path('/proc/self/task', str(os.getpid()), 'children').read_text()
    return [int(number) for number in listed.split()]


@pytest.mark.slow
def test_scenario_that_fails_is_in_the_report_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = Scenario('vigo', WAVES['random'], 30.0, 1, 'simulated')
    whole = Scenario('ex800', WAVES['eq18'], 1.0, 1, 'simulated')
    overrides = {'vigo': {'driver': {'tracking_position': 1e-6}}, 'ex800': {}}
    monkeypatch.setattr(Scenario, 'overrides', lambda self: overrides[self.platform])
    (tmp_path / 'report.html').write_text('of an earlier run')

    with StopSignals() as stop:
        assert run_demo([strict, whole], tmp_path, stop) is False

    page = (tmp_path / 'report.html').read_text()
    assert 'FAILED: vigo_random' in page
    # The fault itself, as the driver told it.
    assert re.search(r'FAULT</td><td>[^<]*from its setpoint', page)
    assert re.search(r'<h2 id="s\d">ex800, simulated: ', page)
    with Bag(tmp_path / 'vigo_random') as bag:
        assert bag.topics['/actuator_states'].count > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        'ex800_eq18',
        'report.html',
        'vigo_random',
    ]


def _switched_off(recording: Recording) -> int:
    """Return when the drives were told to be off after they had stopped [ns]."""
    states = recording.driver_states
    stopping = np.flatnonzero(states.state == STOPPING)[-1]
    off = np.flatnonzero(states.state[stopping:] == DISABLED)[0]
    return int(states.stamp_ns[stopping + off])


def _size(folder: Path) -> int:
    """Return how much is in the files below a folder [byte]."""
    return sum(path.stat().st_size for path in folder.rglob('*.mcap'))


@pytest.mark.slow
def test_what_identification_finds_is_put_beside_what_stands_there(tmp_path: Path) -> None:
    note = tmp_path / 'identified' / 'note.txt'
    note.parent.mkdir()
    note.write_text('of somebody else')

    with StopSignals() as stop:
        assert run_demo([], tmp_path, stop, identifying=True) is True

    assert note.read_text() == 'of somebody else'
    assert list(note.parent.glob('*.yaml'))
    assert not (tmp_path / 'unfinished').exists()


# test_composition.py interrupts a run.
@pytest.mark.slow
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_interrupted_demo_closes_the_bag_and_keeps_the_older_report(
    tmp_path: Path, environment: dict[str, str], number: signal.Signals
) -> None:
    (tmp_path / 'vigo_random').mkdir()
    for name in ('report.html', 'vigo_random/metadata.yaml'):
        (tmp_path / name).write_text('of an earlier run')
    process = subprocess.Popen(
        [*COMMAND, 'demo', *SHORT, '--duration', '3600', '--output', str(tmp_path)],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        while _size(tmp_path / 'unfinished') < PLAYING:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        process.send_signal(number)
        said = process.communicate(timeout=60)[1]
    finally:
        process.kill()

    assert process.returncode == 1, said
    assert said.rstrip().endswith('there is no new report')
    assert 'Traceback' not in said
    # What an earlier run has left is still there.
    assert (tmp_path / 'report.html').read_text() == 'of an earlier run'
    assert (tmp_path / 'vigo_random' / 'metadata.yaml').read_text() == 'of an earlier run'
    recording = read_recording(tmp_path / 'unfinished' / 'vigo_random')
    assert len(recording.setpoints) > 50
    # The way to rest was recorded, and so was power-off, after which the platform sinks.
    off = _switched_off(recording)
    resting = recording.actuators.position[recording.actuators.stamp_ns < off][-10:]
    assert np.ptp(resting, axis=0).max() < 5e-5
    assert recording.actuators.stamp_ns[-1] > off
    # Told again when the voltage is off, and at the end.
    states = recording.driver_states.state
    stopping = np.flatnonzero(states == STOPPING)[-1]
    assert len(states) - stopping > 2
    assert set(states[stopping + 1 :]) == {DISABLED}
