# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The demo from the first scenario to the report, and what is seen of it on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from datetime import datetime
from functools import partial
from importlib import metadata
import os
from pathlib import Path
import platform
import shlex
import shutil
import sys
import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text
from stewart_bringup.demo import at_sea
from stewart_bringup.demo.analysis import analyse, Result
from stewart_bringup.demo.identification import find, FOUND, loaded, LoadedScenario, TITLE
from stewart_bringup.demo.machine import because_late, Meter, playable
from stewart_bringup.demo.plots import compare_estimate, cover, pictures
from stewart_bringup.demo.recording import driver_history, read_recording
from stewart_bringup.demo.report import (
    Chapter,
    overview,
    render,
    scenario_chapter,
    unfinished_chapter,
)
from stewart_bringup.demo.scenarios import Scenario
from stewart_bringup.errors import BringupError
from stewart_node_support.errors import is_deliberate, sentence_of
from stewart_node_support.stop_signals import StopSignals
from stewart_tables.whole_files import rename_folder, whole_file

if TYPE_CHECKING:
    from stewart_bringup.demo.session import Played

REPORT = 'report.html'
UNFINISHED = 'unfinished'
DISTRIBUTIONS = ('stewart_bringup', 'rclpy', 'numpy', 'scipy', 'numba', 'rosbags', 'matplotlib')
BAG_SUFFIXES = {'.mcap', '.db3', '.yaml'}


class DemoLine:
    """One line per chapter, when it has ended; on a terminal, a live one meanwhile.

    The live line has title, phase, and how much of the wave has been played.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn('{task.description}'),
            BarColumn(bar_width=24),
            TextColumn('{task.completed:4.1f} of {task.total:.0f} s'),
            TextColumn('{task.fields[phase]}'),
            console=console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._chapter, self._phase, self._began = '', '', 0.0

    def __enter__(self) -> DemoLine:
        if self._console.is_terminal:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._progress.stop()

    def chapter(self, title: str) -> None:
        """Begin a chapter."""
        self._chapter, self._began = title, time.monotonic()

    def begin(self, title: str, duration: float) -> None:
        """Begin a run of the chapter."""
        self._clear()
        self._task = self._progress.add_task(title, total=duration, phase='')

    def watch(self, phase: str, played: float) -> None:
        """Tell the present phase, and how long the wave has been played [s]."""
        assert self._task is not None
        if played:
            self._progress.update(self._task, completed=played)
        # A new phase is shown at once, everything else ten times a second.
        new, self._phase = phase != self._phase, phase
        self._progress.update(self._task, phase=phase, refresh=new)

    def end(self, verdict: str, style: str = '') -> None:
        """Say how the chapter has ended."""
        self._clear()
        took = time.monotonic() - self._began
        line = Text(f'{self._chapter}: {verdict} ({took:.0f} s)', style)
        self._console.print(line, soft_wrap=True)

    def _clear(self) -> None:
        if self._task is not None:
            self._progress.remove_task(self._task)
            self._task = None
            self._progress.refresh()


def closing_table(chapters: Sequence[Chapter], width: int) -> Table:
    """Return the figures of all scenarios; numbers for their names where those are too wide.

    Args:
        width: Of the terminal, in columns.
    """
    heads, rows, caption = overview(chapters)
    # A unit stands below what it is of.
    heads = [head.replace(' [', '\n[') for head in heads]
    needed = sum(
        max(len(line) for cell in column for line in cell.split('\n'))
        for column in zip(heads, *rows, strict=True)
    )
    if needed + len(' │ ') * (len(heads) - 1) > width:
        names = ', '.join(f'{number} {row[0]}' for number, row in enumerate(rows, 1))
        rows = [[str(number), *row[1:]] for number, row in enumerate(rows, 1)]
        heads[0], caption = '', '; '.join(filter(None, [names, caption]))
    table = Table(show_edge=False, pad_edge=False, caption=caption, caption_justify='left')
    for number, head in enumerate(heads):
        # Not as a plain string: rich takes a unit in brackets for a style.
        table.add_column(Text(head), justify='right' if number else 'left', overflow='fold')
    for row in rows:
        table.add_row(*map(Text, row))
    return table


# Plays a chapter into bags below a folder and tells of it; None after a request to stop.
Step = Callable[[Path, DemoLine, StopSignals], Chapter | None]


def run_demo(
    scenarios: Sequence[Scenario],
    output: Path,
    stop: StopSignals,
    *,
    identifying: bool = False,
    sea: int | None = None,
) -> bool | None:
    """Play, record, analyse and write the report.

    Args:
        output: Folder of the bags and the report.
        stop: A request to stop ends the demo between two steps, or cuts the motion off safely.
        identifying: End with the identification of a loaded platform.
        sea: Seed of the sea of the two rigs of `at_sea`, which are played where it is given.

    Returns:
        Whether every scenario came to its end and every check held, but for what a machine has
        spoilt that was measurably late; None if a request to stop came: then there is no new
        report, and what an earlier run has left is still there.

    Raises:
        BringupError: If a folder that is to be replaced holds something else than a bag.
    """
    console = Console(stderr=True)
    scenarios = playable(scenarios)
    for scenario in scenarios:
        if scenario.fallback:
            console.print(f'{scenario.title}: {scenario.fallback}', style='bold yellow')
    names = [scenario.name for scenario in scenarios]
    steps: list[tuple[str, Step]] = [(item.title, partial(_scenario, item)) for item in scenarios]
    if identifying:
        names += [scenario.name for scenario in loaded()]
        steps.append((TITLE, _identification))
    if sea is not None:
        names.append(at_sea.NAME)
        steps.append((at_sea.TITLE, partial(_two_rigs, sea)))
    _make_ready(output, names)
    chapters: list[Chapter] = []
    with DemoLine(console) as line:
        for title, step in steps:
            line.chapter(title)
            chapter = step(output, line, stop)
            if chapter is None:
                line.end('stopped')
                return None
            line.end(*_ending(chapter))
            chapters.append(chapter)
    _put_in_place(output, names)
    with whole_file(output / REPORT) as stream:
        stream.write(render(chapters, _origin()))
    conclude(console, chapters)
    console.print('report:', end=' ')
    print(output / REPORT, flush=True)
    return not any(chapter.failed for chapter in chapters)


def _ending(chapter: Chapter) -> tuple[str, str]:
    """Return how a chapter has ended in one line, and the style of that."""
    failed = [check.sentence for check in chapter.checks if check.failed]
    if chapter.reason or failed:
        return f'{chapter.verdict}: {chapter.reason or "; ".join(failed)}', 'bold red'
    if chapter.verdict == 'held':
        return 'every check held', ''
    return 'real time: not kept on this machine', 'yellow'


def conclude(console: Console, chapters: Sequence[Chapter]) -> None:
    """Print the figures and what failed, with its meaning."""
    console.print()
    console.print(closing_table(chapters, console.width))
    for chapter in chapters:
        # The others have theirs in the table.
        if chapter.checks and not chapter.result:
            found = '; '.join(f'{check.name}: {check.found}' for check in chapter.checks)
            console.print(f'{chapter.name}: {found}', highlight=False, soft_wrap=True)
    for chapter in chapters:
        for what, advice in chapter.wrong:
            told = f'{chapter.title}: FAILED: {what} – {advice}'
            console.print(told, style='bold red', highlight=False, soft_wrap=True)
    for chapter in chapters:
        if chapter.real_time:
            told = f'{chapter.title}: {chapter.real_time}'
            console.print(told, highlight=False, soft_wrap=True)
    if any(chapter.simulated for chapter in chapters):
        console.print('SIMULATED: no metal moved.', style='yellow')


def _scenario(
    scenario: Scenario, output: Path, line: DemoLine, stop: StopSignals
) -> Chapter | None:
    """Play a scenario and tell of it; None after a request to stop."""
    # Late, because it imports rclpy: what was asked is checked before.
    from stewart_bringup.demo.session import play

    line.begin(scenario.title, scenario.duration)
    line.watch('starting', 0.0)
    bag, final = output / UNFINISHED / scenario.name, output / scenario.name
    meter = None if scenario.simulated else Meter()
    try:
        with meter or nullcontext():
            played = play(scenario, bag, line.watch, stop)
        if played is None or stop.requested:
            return None
        line.watch('reading the bag', 0.0)
        recording = read_recording(bag)
        machine = None if meter is None else meter.read(bag)
        result = analyse(recording, played.published, scenario.bounds, machine, scenario.kind)
        line.watch('drawing', 0.0)
        chapter = scenario_chapter(
            scenario.name,
            scenario.title,
            _facts(played, final),
            result,
            simulated=played.simulated,
            pictures=pictures(recording, result),
            cover=cover(recording, result, scenario.platform),
            estimate=compare_estimate(recording, bag, scenario.platform),
            machine=machine,
        )
    except Exception as error:
        if not is_deliberate(error) or stop.requested:
            raise
        return _unfinished(scenario, bag, final, error, meter)
    return None if stop.requested else chapter


def _unfinished(
    scenario: Scenario, bag: Path, final: Path, error: Exception, meter: Meter | None
) -> Chapter:
    facts = {
        'platform': scenario.platform,
        'wave': scenario.wave.title,
        'back end': scenario.backend,
        **({'bag': str(final)} if bag.exists() else {}),
    }
    reason = sentence_of(error)
    machine = meter.read(bag) if meter and because_late(reason) else None
    blamed = machine if machine and machine.late else None
    history = driver_history(bag)
    return unfinished_chapter(scenario.name, scenario.title, facts, reason, history, blamed)


def _identification(output: Path, line: DemoLine, stop: StopSignals) -> Chapter | None:
    """Identify a loaded platform and tell of it; None after a request to stop."""
    from stewart_bringup.demo.session import play

    unfinished = output / UNFINISHED

    def player(scenario: LoadedScenario) -> Result | None:
        line.begin(scenario.title, scenario.duration)
        bag = unfinished / scenario.name
        played = play(scenario, bag, line.watch, stop)
        if played is None or stop.requested:
            return None
        return analyse(read_recording(bag), played.published, scenario.bounds)

    try:
        found = find(player, unfinished, line.watch)
    except Exception as error:
        if not is_deliberate(error) or stop.requested:
            raise
        return unfinished_chapter('identification', TITLE, {}, sentence_of(error))
    return None if stop.requested else found


def _two_rigs(seed: int, output: Path, line: DemoLine, stop: StopSignals) -> Chapter | None:
    """Let one rig keep level on the platform of another and tell of it; None after a stop."""
    line.begin(at_sea.TITLE, at_sea.DURATION)
    bag = output / UNFINISHED / at_sea.NAME
    try:
        return at_sea.play(bag, line.watch, stop, seed)
    except Exception as error:
        if not is_deliberate(error) or stop.requested:
            raise
        reason, history = sentence_of(error), driver_history(bag)
        return unfinished_chapter(at_sea.NAME, at_sea.TITLE, {}, reason, history)


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
    inside = folder.iterdir() if folder.exists() else ()
    strange = sorted(path.name for path in inside if path.suffix not in BAG_SUFFIXES)
    if strange:
        held = f'{folder} holds {", ".join(strange)}'
        raise BringupError(f'{held} and is not replaced; choose another --output')


def _make_room(bag: Path) -> None:
    """Remove the bag of an earlier run, and nothing else."""
    _require_bag(bag)
    if bag.exists():
        shutil.rmtree(bag)


def _make_ready(output: Path, names: Sequence[str]) -> None:
    """Remove what a run that was cut off has left; a complete one stays until this one is."""
    for name in names:
        _require_bag(output / name)
        _make_room(output / UNFINISHED / name)
    shutil.rmtree(output / UNFINISHED / FOUND, ignore_errors=True)
    (output / UNFINISHED).mkdir(parents=True, exist_ok=True)


def _put_in_place(output: Path, names: Sequence[str]) -> None:
    """Let the bags of this run replace those of an earlier one."""
    unfinished = output / UNFINISHED
    for name in names:
        if (unfinished / name).exists():
            _make_room(output / name)
            rename_folder(unfinished / name, output / name)
    # What identification has found are files beside which somebody may have put others.
    if (unfinished / FOUND).exists():
        (output / FOUND).mkdir(exist_ok=True)
        for path in (unfinished / FOUND).iterdir():
            # They name the bags that were read, which have just been moved.
            text = path.read_text('utf-8').replace(str(unfinished), str(output))
            path.write_text(text, 'utf-8')
            path.replace(output / FOUND / path.name)
        (unfinished / FOUND).rmdir()
    with suppress(OSError):
        unfinished.rmdir()
