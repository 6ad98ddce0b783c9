# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is seen on the terminal: a live line while it runs, a table at the end."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text
from stewart_bringup.demo.report import Chapter, LEGEND, OVERVIEW, overview


class LiveLine:
    """
    One line per scenario: title, phase, and how much of the wave has been played.

    Where standard error is no terminal, each phase is a line of its own instead.

    Parameters
    ----------
    console : Console
        Where it is shown.

    """

    def __init__(self, console: Console) -> None:
        """Show nothing yet."""
        self._console = console
        self._progress = Progress(
            TextColumn('{task.description}'),
            BarColumn(bar_width=24),
            TextColumn('{task.completed:4.1f} of {task.total:.0f} s'),
            TextColumn('{task.fields[phase]}'),
            console=console,
        )
        self._task: TaskID | None = None
        self._title = self._phase = ''

    def __enter__(self) -> LiveLine:
        """Begin to draw."""
        if self._console.is_terminal:
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave what was drawn and give the terminal back."""
        if self._console.is_terminal:
            self._progress.stop()

    def begin(self, title: str, duration: float) -> None:
        """Open the line of a scenario."""
        self._title, self._phase = title, ''
        self._task = self._progress.add_task(title, total=duration, phase='')

    def watch(self, phase: str, played: float) -> None:
        """Tell the present phase, and how long the wave has been played [s]."""
        assert self._task is not None
        if phase != self._phase and not self._console.is_terminal:
            self._console.print(f'{self._title}: {phase}', highlight=False)
        self._phase = phase
        if played:
            self._progress.update(self._task, completed=played)
        self._progress.update(self._task, phase=phase)

    def end(self, phase: str) -> None:
        """Close the line of a scenario."""
        self.watch(phase, 0.0)


def closing_table(chapters: Sequence[Chapter]) -> Table:
    """Return the figures of all scenarios."""
    table = Table(show_edge=False, pad_edge=False, caption=LEGEND, caption_justify='left')
    for number, head in enumerate(OVERVIEW):
        # Not as a plain string: rich takes a unit in brackets for a style. Names that differ in
        # their end only stay apart where they are folded.
        table.add_column(Text(head), justify='right' if number else 'left', overflow='fold')
    for chapter in chapters:
        table.add_row(*map(Text, overview(chapter)))
    return table
