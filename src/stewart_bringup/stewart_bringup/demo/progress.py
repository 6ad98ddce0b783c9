# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is seen on the terminal: a live line while it runs, a table at the end."""

from __future__ import annotations

from collections.abc import Sequence
import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text
from stewart_bringup.demo.report import Chapter, LEGEND, OVERVIEW


class LiveLine:
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

    def __enter__(self) -> LiveLine:
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


def closing_table(chapters: Sequence[Chapter]) -> Table:
    """Return the figures of all scenarios."""
    table = Table(show_edge=False, pad_edge=False, caption=LEGEND, caption_justify='left')
    for number, head in enumerate(OVERVIEW):
        # Not as a plain string: rich takes a unit in brackets for a style. Names that differ in
        # their end only stay apart where they are folded.
        table.add_column(Text(head), justify='right' if number else 'left', overflow='fold')
    for chapter in chapters:
        table.add_row(*map(Text, chapter.row))
    return table
