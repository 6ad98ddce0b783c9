# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How far a long step has come, where somebody watches: a bar, or a line that keeps changing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import sys
import time
from typing import Any, TextIO

Progress = Callable[[float | None], None]
"""Told the part of a step that is done, None where nobody knows how long it is."""

PATIENCE = 0.5
"""A step that takes less shows nothing [s]."""


def silent(_: float | None) -> None:
    """No-op progress callback."""


@contextmanager
def show_part(step: str) -> Iterator[Progress]:
    """Show a bar on standard error while a step lasts, unless it is short.

    Yields:
        Takes the part done, 0 to 1, or None where that is not known; shows nothing unless standard
        error is a terminal.
    """
    bar = _Bar(step)
    try:
        yield bar.show
    finally:
        bar.end()


def between(progress: Progress, begin: float, end: float) -> Progress:
    """Return the progress of a part of a step, which takes it from `begin` to `end`."""
    return lambda part: progress(None if part is None else begin + (end - begin) * part)


class LiveLine:
    """A line that is overwritten.

    Args:
        stream: Where to; nothing is shown unless it is a terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._watched = stream.isatty()
        self._shown = False

    def show(self, text: str) -> None:
        """Replace the line."""
        if self._watched:
            self._stream.write(f'\r\033[K{text}')
            self._stream.flush()
            self._shown = True

    def end(self) -> None:
        """Leave the line as it is and begin a new one."""
        if self._shown:
            self._stream.write('\n')
            self._stream.flush()


class _Bar:
    """Begin with the first part that is told late enough; give the cursor back at the end."""

    def __init__(self, step: str) -> None:
        self._step, self._begun = step, time.monotonic()
        self._watched = sys.stderr.isatty()
        self._live: Any = None
        self._task: Any = None

    def show(self, part: float | None) -> None:
        if not self._watched or time.monotonic() - self._begun < PATIENCE:
            return
        if self._live is None:
            self._start()
        self._live.update(self._task, completed=part or 0.0, total=None if part is None else 1.0)

    def end(self) -> None:
        if self._live is not None:
            self._live.stop()

    def _start(self) -> None:
        # rich takes a while to import: not for steps that end before.
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Live

        columns = (
            TextColumn('{task.description}'),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
        )
        self._live = Live(
            *columns,
            console=Console(stderr=True),
            transient=True,
            # What else is printed is printed as it is.
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._live.add_task(self._step)
        self._live.start()
