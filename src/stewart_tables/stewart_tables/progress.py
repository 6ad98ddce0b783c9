# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What somebody who watches is told: sentences, and how far a long step has come."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, ExitStack
import sys
import time
from typing import Any, TextIO, TypeVar

T = TypeVar('T')

Progress = Callable[[float | None], None]
"""Told the part of a step that is done, None where nobody knows how long it is."""

PATIENCE = 0.5  # a step that takes less shows nothing [s]


def tell(text: object) -> None:
    """Print for whoever watches: on standard error, at once."""
    print(text, file=sys.stderr, flush=True)


def silent(_: float | None) -> None:
    """No-op progress callback."""


@contextmanager
def show_part(step: str) -> Iterator[Progress]:
    """Show a bar on standard error while a step lasts, unless it is short.

    Yields:
        Takes the part done, 0 to 1, or None where that is not known; shows nothing unless standard
        error is a terminal.
    """
    if not sys.stderr.isatty():
        yield silent
        return
    begun = time.monotonic()
    live: Any = None
    with ExitStack() as stack:

        def show(part: float | None) -> None:
            nonlocal live
            if time.monotonic() - begun < PATIENCE:
                return
            if live is None:
                live = stack.enter_context(_bar())
                live.add_task(step)
            live.update(0, completed=part or 0.0, total=None if part is None else 1.0)

        yield show


def _bar() -> Any:
    """Return a bar that gives the cursor back at its end."""
    # rich takes a while to import: not for steps that end before.
    from rich import console, progress

    columns = (
        progress.TextColumn('{task.description}'),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeRemainingColumn(),
    )
    # Do not capture stdout and stderr.
    free: dict[str, Any] = {'redirect_stdout': False, 'redirect_stderr': False}
    target = console.Console(stderr=True)
    return progress.Progress(*columns, console=target, transient=True, **free)


def each(items: Collection[T], progress: Progress) -> Iterator[T]:
    """Yield items, and tell after each which part of them is done."""
    for number, item in enumerate(items, 1):
        yield item
        progress(number / len(items))


def between(progress: Progress, begin: float, end: float) -> Progress:
    """Return the progress of a part of a step, which takes it from `begin` to `end`."""
    return lambda part: progress(None if part is None else begin + (end - begin) * part)


class LiveLine:
    """A line that is overwritten; nothing is shown unless it is on a terminal, or `always`."""

    def __init__(self, stream: TextIO, *, always: bool = False) -> None:
        self._stream = stream
        self._watched = always or stream.isatty()
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
