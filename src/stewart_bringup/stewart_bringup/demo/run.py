# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The demo from the first scenario to the report."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext, suppress
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
from stewart_bringup.demo.analysis import analyse, Check, Result
from stewart_bringup.demo.loaded import loaded, LoadedScenario
from stewart_bringup.demo.machine import because_late, Machine, Meter
from stewart_bringup.demo.plots import compare_estimate, pictures
from stewart_bringup.demo.progress import closing_table, LiveLine
from stewart_bringup.demo.recording import driver_history, Failure, read_recording
from stewart_bringup.demo.report import Chapter, not_kept, render
from stewart_bringup.demo.scenarios import Scenario
from stewart_bringup.demo.wires import playable
from stewart_bringup.errors import OutputRefused
from stewart_node_support.errors import is_deliberate
from stewart_node_support.stop_signals import StopSignals
from stewart_tables.whole_files import rename_folder, whole_file

if TYPE_CHECKING:
    from stewart_bringup.demo.identification import Identification
    from stewart_bringup.demo.session import Played

REPORT = 'report.html'
UNFINISHED = 'unfinished'
DISTRIBUTIONS = ('stewart_bringup', 'rclpy', 'numpy', 'scipy', 'numba', 'rosbags', 'matplotlib')
BAG_SUFFIXES = {'.mcap', '.db3', '.yaml'}


def run_demo(
    scenarios: Sequence[Scenario], output: Path, stop: StopSignals, *, identifying: bool = False
) -> bool | None:
    """Play, record, analyse and write the report.

    Args:
        scenarios: What to play, in this order.
        output: Folder of the bags and the report.
        stop: A request to stop ends the demo between two steps, or cuts the motion off safely.
        identifying: End with the identification of a loaded platform.

    Returns:
        Whether every scenario came to its end and every check held, but for what a machine has
        spoilt that was measurably late; None if a request to stop came: then there is no new
        report, and what an earlier run has left is still there.

    Raises:
        OutputRefused: If a folder that is to be replaced holds something else than a bag.
    """
    console = Console(stderr=True)
    scenarios = playable(scenarios)
    for scenario in scenarios:
        if scenario.fallback:
            console.print(f'{scenario.title}: {scenario.fallback}', style='bold yellow')
    # Bags and report of an earlier run stay until those of this one are complete.
    unfinished = output / UNFINISHED
    names = [scenario.name for scenario in (*scenarios, *(loaded() if identifying else ()))]
    for name in names:
        _require_bag(output / name)
        _make_room(unfinished / name)
    unfinished.mkdir(parents=True, exist_ok=True)
    chapters: list[Chapter] = []
    failures: list[Failure] = []
    found = None
    with LiveLine(console) as line:
        for scenario in scenarios:
            chapter = _chapter(scenario, output, line, stop)
            if chapter is None:
                line.end('stopped')
                return None
            if isinstance(chapter, Failure):
                failures.append(chapter)
            else:
                chapters.append(chapter)
        if identifying:
            last = _last_chapter(unfinished, line, stop)
            if last is None:
                line.end('stopped')
                return None
            if isinstance(last, Failure):
                failures.append(last)
            else:
                found = last
    _put_in_place(unfinished, output, names)
    with whole_file(output / REPORT) as stream:
        stream.write(render(chapters, _origin(), found, failures))
    passed = _conclude(console, chapters, failures, found)
    console.print('report:', end=' ')
    print(output / REPORT, flush=True)
    return passed


def _chapter(
    scenario: Scenario, output: Path, line: LiveLine, stop: StopSignals
) -> Chapter | Failure | None:
    """Play a scenario and tell how it ended; None after a request to stop."""
    line.chapter(scenario.title)
    line.begin(scenario.title, scenario.duration)
    bag, final = output / UNFINISHED / scenario.name, output / scenario.name
    meter = None if scenario.simulated else Meter()
    try:
        chapter = _play(scenario, bag, final, line, stop, meter)
    except Exception as error:
        if not is_deliberate(error) or stop.requested:
            raise
        machine = None if meter is None else meter.read(bag)
        failure = _failure(scenario, bag, final, error, machine)
        line.end(f'{failure.verdict}: {failure.reason}', 'bold red')
        return failure
    if chapter is not None:
        _tell(line, chapter.verdict, chapter.result.checks)
    return chapter


def _last_chapter(
    unfinished: Path, line: LiveLine, stop: StopSignals
) -> Identification | Failure | None:
    """Identify and tell how it ended; None after a request to stop."""
    line.chapter('identification of an unknown payload')
    try:
        found = _identify(unfinished, line, stop)
    except Exception as error:
        if not is_deliberate(error) or stop.requested:
            raise
        line.end(f'FAILED: {error}', 'bold red')
        return Failure('identification', 'Identification', {}, str(error))
    if found is not None:
        _tell(line, 'held', found.checks)
    return found


def _conclude(
    console: Console,
    chapters: Sequence[Chapter],
    failures: Sequence[Failure],
    found: Identification | None,
) -> bool:
    """Print the figures and what failed, with its meaning; return whether nothing did."""
    console.print()
    console.print(closing_table(chapters, failures))
    judged = [(chapter.title, chapter.result.checks) for chapter in chapters]
    if found is not None:
        judged.append(('identification', found.checks))
    failed = [
        f'{title}: FAILED: {check.sentence}. It means: {check.meaning}'
        for title, checks in judged
        for check in checks
        if check.failed
    ]
    failed += [f'{item.title}: FAILED: {item.reason}' for item in failures if not item.excuse]
    for sentence in failed:
        console.print(sentence, style='bold red', highlight=False, soft_wrap=True)
    timed = [(item.title, item.real_time) for item in chapters if item.real_time]
    timed += [(item.title, item.excuse) for item in failures if item.excuse]
    for title, sentence in timed:
        console.print(f'{title}: {sentence}', highlight=False, soft_wrap=True)
    if found is not None or any(chapter.simulated for chapter in chapters):
        console.print('SIMULATED: no metal moved.', style='yellow')
    return not failed


def _play(
    scenario: Scenario,
    bag: Path,
    final: Path,
    line: LiveLine,
    stop: StopSignals,
    meter: Meter | None,
) -> Chapter | None:
    line.watch('starting', 0.0)
    # Late, because it imports rclpy: what was asked is checked before.
    from stewart_bringup.demo.session import play

    with meter or nullcontext():
        played = play(scenario, bag, line.watch, stop)
    if played is None or stop.requested:
        return None
    line.watch('reading the bag', 0.0)
    recording = read_recording(bag)
    machine = None if meter is None else meter.read(bag)
    result = analyse(recording, played.published, scenario.bounds, machine)
    line.watch('drawing', 0.0)
    drawn = pictures(recording, result)
    estimate = compare_estimate(recording, bag, scenario.platform)
    if stop.requested:
        return None
    return Chapter(
        scenario.name,
        scenario.title,
        _facts(played, final),
        played.simulated,
        result,
        drawn,
        estimate,
        machine,
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


def _failure(
    scenario: Scenario, bag: Path, final: Path, error: Exception, machine: Machine | None
) -> Failure:
    reason = ' '.join(str(error).split()) or type(error).__name__
    facts = {
        'platform': scenario.platform,
        'wave': scenario.wave.title,
        'back end': scenario.backend,
        **({'bag': str(final)} if bag.exists() else {}),
    }
    history = driver_history(bag)
    excuse = ''
    if machine is not None and machine.late and because_late(reason):
        excuse = not_kept(machine, 'the driver brought the platform to rest, as safety asks for')
    return Failure(scenario.name, scenario.title, facts, reason, history, excuse)


def _tell(line: LiveLine, verdict: str, checks: Sequence[Check]) -> None:
    """End a chapter on the terminal with the checks that failed."""
    failed = [check.sentence for check in checks if check.failed]
    if failed:
        line.end(f'FAILED: {"; ".join(failed)}', 'bold red')
    elif verdict == 'held':
        line.end('every check held')
    else:
        line.end('real time: not kept on this machine', 'yellow')


def _facts(played: Played, bag: Path) -> dict[str, str]:
    scenario = played.scenario
    return {
        'platform': scenario.platform,
        'wave': scenario.wave.title,
        'played for': f'{scenario.duration:g} s before the fade-out',
        'seed': str(scenario.seed) if scenario.wave.seeded else 'none: nothing is drawn at random',
        'back end': f'{played.backend}{", SIMULATED: no metal moved" if played.simulated else ""}',
        **({'instead of EtherCAT': scenario.fallback} if scenario.fallback else {}),
        'scheduling': played.scheduling,
        'bag': str(bag),
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


def _require_bag(folder: Path) -> None:
    """Refuse a folder that holds something else than a bag: it will be replaced."""
    if not folder.exists():
        return
    strange = [path.name for path in folder.iterdir() if path.suffix not in BAG_SUFFIXES]
    if strange:
        raise OutputRefused(folder, strange)


def _make_room(bag: Path) -> None:
    """Remove the bag of an earlier run, and nothing else."""
    _require_bag(bag)
    if bag.exists():
        shutil.rmtree(bag)


def _put_in_place(unfinished: Path, output: Path, names: Sequence[str]) -> None:
    """Let the bags of this run replace those of an earlier one."""
    for name in names:
        if (unfinished / name).exists():
            _make_room(output / name)
            rename_folder(unfinished / name, output / name)
    with suppress(OSError):
        unfinished.rmdir()
