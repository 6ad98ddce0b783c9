# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A bar for long searches, and Ctrl-C that keeps the best found so far."""

from __future__ import annotations

import signal
import time
from types import FrameType
from typing import Any, TextIO

from stewart_kinematics.motion import Array
from stewart_tables.progress import LiveLine

WIDTH = 30
PERIOD = 0.05
"""Between two changes of the line [s]."""


class SearchProgress:
    """Show how far a search is, and stop it at the first Ctrl-C; the second one ends everything.

    Use it as a context manager around the work; Ctrl-C before the search begins ends everything
    at once, for there is nothing to keep.

    Args:
        stream: Where to; nothing is shown unless it is a terminal.
        search: What the stage is called that can be stopped.
    """

    def __init__(self, stream: TextIO, search: str = 'fitting') -> None:
        self._line, self._search, self._next = LiveLine(stream), search, 0.0
        self._searching = self._stop = False
        self._before: Any = None

    def __enter__(self) -> SearchProgress:
        self._before = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, *_: object) -> None:
        """Give Ctrl-C back and clear the line."""
        signal.signal(signal.SIGINT, self._before)
        self._line.show('')

    @property
    def stopped(self) -> bool:
        """Whether a Ctrl-C ended the search."""
        return self._stop

    def stage(self, text: str) -> None:
        """Show what is being done."""
        self._searching = text == self._search
        self._line.show(text)

    def __call__(self, done: int, planned: int, best: Array, cost: float) -> bool:
        """Show a bar; answer whether to go on."""
        now = time.monotonic()
        if now >= self._next or done == planned:
            self._next = now + PERIOD
            filled = round(WIDTH * done / max(planned, 1))
            bar = '█' * filled + '·' * (WIDTH - filled)
            self._line.show(f'{self._search} {bar} {done}/{planned}  cost {cost:.6g}')
        return not self._stop

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if self._stop or not self._searching:
            raise KeyboardInterrupt
        self._stop = True
