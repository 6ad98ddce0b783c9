# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whose hand holds a button that moves the platform for as long as it is held."""

from __future__ import annotations

from collections.abc import Callable, Hashable
import time

HELD_RATE = 20.0
"""A held button tells so often that it is held [Hz]; without, the driver stops in 0.1 s."""

LET_GO = 0.3
"""A button that has not told for so long that it is held was let go [s]."""

FASTER = 1.3
"""Share of `HELD_RATE` from which on what comes was held while the network stalled, and is old."""


class Hand:
    """One hand at a time, in one browser, moves one thing: the others are told why they do not.

    What a button tells while the network stalls comes when that is over, long after the hand was
    taken away: some at once, more a round trip later, twice as many after the next. So the first
    time alone moves nothing, nor what comes faster than a hand can tell it.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._browser: Hashable = None
        self._what: Hashable = None
        self._first = self._last = -LET_GO
        self._since_first = 0
        self._changed = False

    def changes(self, browser: Hashable) -> None:
        """Take note of who has changed where buttons lead to; only who holds one may."""
        self._changed |= browser not in {None, self._browser}

    def moves(self, browser: Hashable, what: Hashable) -> tuple[bool, str]:
        """Tell whether a button that is held moves something now, and what to say to who holds it.

        Args:
            browser: Of whoever holds it.
            what: It moves, and how fast; it stays until the button was let go.
        """
        now = self._now()
        if now - self._last >= LET_GO:
            self._browser, self._what, self._changed = browser, what, False
            self._first, self._since_first = now, -1
        elif browser != self._browser:
            return False, 'another browser holds a button'
        self._last = now
        self._since_first += 1
        if self._since_first > FASTER * HELD_RATE * (now - self._first):
            self._first, self._since_first = now, 0
        self._changed |= what != self._what
        if self._changed:
            return False, 'what it moves was changed: let the button go first'
        return self._since_first > 0, ''
