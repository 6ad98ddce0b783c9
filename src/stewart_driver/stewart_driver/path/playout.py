# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
Which instant of the path is played now.

A process that was kept from running must not make up for it in one step: drives that heard nothing
meanwhile have stopped. The path then goes on where it was and catches up, its speed changing
smoothly by up to a tenth.

"""

from __future__ import annotations

LONGEST_STEP = 3
CATCH_UP_SPEED = 0.1
CATCH_UP_TIME = 0.1
CATCH_UP_SLEW = 1.0


class Playout:
    """
    Time of the path, which runs a fixed delay behind the clock, or is on its way back to that.

    Parameters
    ----------
    delay : float
        The command is the path this much later [s].

    Attributes
    ----------
    time : float
        Instant of the path that is played now [s].
    slipped : float
        How far it is behind its schedule because cycles came late [s].

    """

    def __init__(self, delay: float) -> None:
        """Begin at rest."""
        self._delay = delay
        self._speed = 1.0
        self.time = self.slipped = 0.0

    def start(self, time: float) -> None:
        """Begin a path at one of its instants, at full speed."""
        self.time, self._speed = time, 1.0

    def rest(self) -> None:
        """Be behind nothing: no path is played."""
        self.slipped = 0.0

    def advance(self, now: float, step: float) -> float:
        """
        Play on.

        Parameters
        ----------
        now : float
            Instant of the cycle on the steady clock [s].
        step : float
            Time since the cycle before, as far as it may be made up for [s].

        Returns
        -------
        float
            Speed of the path, 1 when it is on schedule [-].

        """
        behind = now - self._delay - self.time - step
        wanted = 1.0 + min(max(behind / CATCH_UP_TIME, -CATCH_UP_SPEED), CATCH_UP_SPEED)
        change = CATCH_UP_SLEW * step
        self._speed += min(max(wanted - self._speed, -change), change)
        self.time += self._speed * step
        self.slipped = now - self._delay - self.time
        return self._speed
