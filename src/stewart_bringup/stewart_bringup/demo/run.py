# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The demo from the first scenario to the report."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from importlib import metadata
import os
from pathlib import Path
import platform
import shlex
import shutil
import sys
from typing import TYPE_CHECKING

from rich.console import Console
from stewart_bringup.demo.analysis import analyse, Result
from stewart_bringup.demo.estimate import compare_estimate
from stewart_bringup.demo.loaded import loaded, LoadedScenario
from stewart_bringup.demo.plots import pictures
from stewart_bringup.demo.progress import closing_table, LiveLine
from stewart_bringup.demo.recording import read_recording
from stewart_bringup.demo.report import Chapter, render
from stewart_bringup.demo.scenarios import Scenario
from stewart_bringup.demo.wires import playable
from stewart_bringup.errors import OutputRefused
from stewart_kinematics.whole_files import whole_file
from stewart_node_support.stop_signals import StopSignals

if TYPE_CHECKING:
    from stewart_bringup.demo.identification import Identification
    from stewart_bringup.demo.session import Played

REPORT = 'report.html'
DISTRIBUTIONS = ('stewart_bringup', 'rclpy', 'numpy', 'scipy', 'numba', 'rosbags', 'matplotlib')
BAG_SUFFIXES = {'.mcap', '.db3', '.yaml'}


def run_demo(
    scenarios: Sequence[Scenario], output: Path, stop: StopSignals, *, identifying: bool = False
) -> bool | None:
    """
    Play, record, analyse and write the report.

    Parameters
    ----------
    scenarios : sequence of Scenario
        What to play, in this order.
    output : Path
        Folder of the bags and the report.
    stop : StopSignals
        A request to stop ends the demo between two steps, or cuts the motion off safely.
    identifying : bool
        End with the identification of a loaded platform.

    Returns
    -------
    bool or None
        Whether every check held; None if a request to stop came: then there is no report.

    Raises
    ------
    OutputRefused
        If a folder that is to be replaced holds something else than a bag.

    """
    console = Console(stderr=True)
    scenarios = playable(scenarios)
    for scenario in scenarios:
        if scenario.fallback:
            console.print(f'{scenario.title}: {scenario.fallback}', style='bold yellow')
    report = output / REPORT
    for scenario in (*scenarios, *(loaded() if identifying else ())):
        _make_room(output / scenario.name)
    output.mkdir(parents=True, exist_ok=True)
    # A report of an earlier run must not be taken for this one's.
    report.unlink(missing_ok=True)
    chapters = []
    found = None
    with LiveLine(console) as line:
        for scenario in scenarios:
            line.begin(scenario.title, scenario.duration)
            chapter = _play(scenario, output / scenario.name, line, stop)
            if chapter is None:
                line.end('stopped')
                return None
            chapters.append(chapter)
            line.end(_said(chapter.result.passed))
        if identifying:
            found = _identify(output, line, stop)
            if found is None:
                line.end('stopped')
                return None
            line.end(_said(found.passed))
    with whole_file(report) as stream:
        stream.write(render(chapters, _origin(), found))
    console.print()
    console.print(closing_table(chapters))
    judged = [(chapter.title, chapter.result.checks) for chapter in chapters]
    if found is not None:
        judged.append(('identification', found.checks))
    broken = [
        f'{title}: {check.name} is {check.found}, asked is {check.bound}'
        for title, checks in judged
        for check in checks
        if not check.held
    ]
    for sentence in broken:
        console.print(sentence, style='bold red', highlight=False)
    if found is not None or any(chapter.simulated for chapter in chapters):
        console.print('SIMULATED: no metal moved.', style='yellow')
    console.print('report:', end=' ')
    print(report, flush=True)
    return not broken


def _play(scenario: Scenario, bag: Path, line: LiveLine, stop: StopSignals) -> Chapter | None:
    line.watch('starting; the first run compiles kernels for half a minute', 0.0)
    # Late, because it imports rclpy: what was asked is checked before.
    from stewart_bringup.demo.session import play

    played = play(scenario, bag, line.watch, stop)
    if played is None or stop.requested:
        return None
    line.watch('reading the bag', 0.0)
    recording = read_recording(bag)
    result = analyse(recording, played.published, scenario.bounds)
    line.watch('drawing', 0.0)
    drawn = pictures(recording, result)
    estimate = compare_estimate(recording, bag, scenario.platform)
    if stop.requested:
        return None
    return Chapter(
        scenario.name,
        scenario.title,
        _facts(played),
        played.simulated,
        result,
        drawn,
        estimate,
    )


def _identify(output: Path, line: LiveLine, stop: StopSignals) -> Identification | None:
    from stewart_bringup.demo.identification import find
    from stewart_bringup.demo.session import play

    def player(scenario: LoadedScenario) -> Result | None:
        line.begin(scenario.title, scenario.duration)
        bag = output / scenario.name
        played = play(scenario, bag, line.watch, stop)
        if played is None or stop.requested:
            return None
        return analyse(read_recording(bag), played.published, scenario.bounds)

    found = find(player, output, line.watch)
    return None if stop.requested else found


def _said(passed: bool) -> str:
    return 'every check held' if passed else 'something did not hold'


def _facts(played: Played) -> dict[str, str]:
    scenario = played.scenario
    return {
        'platform': scenario.platform,
        'wave': scenario.wave.title,
        'played for': f'{scenario.duration:g} s before the fade-out',
        'seed': str(scenario.seed) if scenario.wave.seeded else 'none: nothing is drawn at random',
        'back end': f'{played.backend}{", SIMULATED: no metal moved" if played.simulated else ""}',
        **({'instead of EtherCAT': scenario.fallback} if scenario.fallback else {}),
        'scheduling': played.scheduling,
        'bag': str(played.bag),
    }


def _origin() -> dict[str, str]:
    versions = {}
    for name in DISTRIBUTIONS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = 'not installed as a distribution'
    return {
        'command line': shlex.join(['stewart', *sys.argv[1:]]),
        'finished': datetime.now().astimezone().isoformat(timespec='seconds'),
        'machine': f'{platform.platform()}, {os.cpu_count()} processors',
        'load averages at the end': ', '.join(f'{load:.1f}' for load in os.getloadavg()),
        'Python': platform.python_version(),
        'ROS': f'{os.environ.get("ROS_DISTRO", "unknown")}, {_middleware()}',
        **versions,
    }


def _middleware() -> str:
    from rclpy.utilities import get_rmw_implementation_identifier

    return str(get_rmw_implementation_identifier())


def _make_room(bag: Path) -> None:
    """Remove the bag of an earlier run, and nothing else."""
    if not bag.exists():
        return
    strange = [path.name for path in bag.iterdir() if path.suffix not in BAG_SUFFIXES]
    if strange:
        raise OutputRefused(bag, strange)
    shutil.rmtree(bag)
