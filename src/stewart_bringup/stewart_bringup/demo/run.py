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
from stewart_bringup.demo.analysis import analyse
from stewart_bringup.demo.plots import pictures
from stewart_bringup.demo.progress import closing_table, LiveLine
from stewart_bringup.demo.recording import read_recording
from stewart_bringup.demo.report import Chapter, render
from stewart_bringup.demo.scenarios import Scenario
from stewart_bringup.errors import OutputRefused
from stewart_node_support.stop_signals import StopSignals

if TYPE_CHECKING:
    from stewart_bringup.demo.session import Played

REPORT = 'report.html'
DISTRIBUTIONS = ('stewart_bringup', 'rclpy', 'numpy', 'scipy', 'numba', 'rosbags', 'matplotlib')
BAG_SUFFIXES = {'.mcap', '.db3', '.yaml'}


def run_demo(scenarios: Sequence[Scenario], output: Path, stop: StopSignals) -> bool | None:
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
    report = output / REPORT
    for scenario in scenarios:
        _make_room(output / scenario.name)
    output.mkdir(parents=True, exist_ok=True)
    # A report of an earlier run must not be taken for this one's.
    report.unlink(missing_ok=True)
    chapters = []
    with LiveLine(console) as line:
        for scenario in scenarios:
            line.begin(scenario.title, scenario.duration)
            chapter = _play(scenario, output / scenario.name, line, stop)
            if chapter is None:
                line.end('stopped')
                return None
            chapters.append(chapter)
            line.end('every check held' if chapter.result.passed else 'something did not hold')
    _write(report, render(chapters, _origin()))
    console.print()
    console.print(closing_table(chapters))
    broken = [
        f'{chapter.title}: {check.name} is {check.found}, asked is {check.bound}'
        for chapter in chapters
        for check in chapter.result.checks
        if not check.held
    ]
    for sentence in broken:
        console.print(sentence, style='bold red', highlight=False)
    if any(chapter.simulated for chapter in chapters):
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
    if stop.requested:
        return None
    return Chapter(scenario.name, scenario.title, _facts(played), played.simulated, result, drawn)


def _facts(played: Played) -> dict[str, str]:
    scenario = played.scenario
    return {
        'platform': scenario.platform,
        'wave': scenario.wave.title,
        'played for': f'{scenario.duration:g} s before the fade-out',
        'seed': str(scenario.seed) if scenario.wave.seeded else 'none: nothing is drawn at random',
        'back end': f'{played.backend}{", SIMULATED: no metal moved" if played.simulated else ""}',
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


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    beside = path.with_suffix('.part')
    beside.write_text(text, encoding='utf-8')
    beside.replace(path)
