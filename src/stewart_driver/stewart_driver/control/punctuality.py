# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether enough of the cycles really run."""

from __future__ import annotations

from collections import deque

# Over so long the share is taken [s].
WINDOW = 1.0
# Clocks of drives shift the grid by less than this, as a share of the window.
SLACK = 0.02


class Punctuality:
    """
    Share of the cycles of the last second that were missed because the one before took too long.

    Half of them are missed when a cycle takes two periods on average. What the interpolator then
    plays comes in larger steps and falls behind its schedule.

    Parameters
    ----------
    period : float
        Time from one cycle to the next [s].

    """

    def __init__(self, period: float) -> None:
        """Know of no cycle."""
        self._due = round(WINDOW / period)
        self._instants: deque[float] = deque()
        self._since: float | None = None

    def forget(self) -> None:
        """Begin anew with the next cycle."""
        self._instants.clear()
        self._since = None

    def missed(self, now: float) -> float:
        """
        Take note of a cycle.

        Parameters
        ----------
        now : float
            Its instant [s].

        Returns
        -------
        float
            Share that was missed [-]; 0 before the first second is over.

        """
        instants = self._instants
        if self._since is None:
            self._since = now
        instants.append(now)
        while instants[0] <= now - WINDOW:
            instants.popleft()
        if now - self._since < WINDOW * (1.0 + SLACK):
            return 0.0
        return max(1.0 - len(instants) / self._due, 0.0)
