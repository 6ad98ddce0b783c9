# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""When a rig that was asked to end does: not before its driver has let go of it."""

from __future__ import annotations

from math import inf

# A wire without a frame for this long is free [s]: a busy machine can delay a driver by 0.2 s.
QUIET = 0.5
# Limit for a driver that never lets go [s]; less than the 15 s that launch gives the driver.
LONGEST = 10.0


class Lingering:
    """The end of a rig, once it is asked for.

    A Ctrl-C reaches rig and driver at the same instant. Metal is still there while the driver
    brings the legs to rest and makes its outputs safe, and so is this rig.
    """

    def __init__(self) -> None:
        """Nobody has asked yet, and nobody has used the wires."""
        self._asked, self._used = inf, -inf

    def over(self, now: float, *, asked: bool, in_use: bool) -> bool:
        """Tell whether it is time to end.

        Args:
            now: Steady clock [s].
            asked: Whether the end was asked for.
            in_use: Whether anybody drives or reads over a wire.

        Returns:
            True when nobody has used the wires for `QUIET`, or `LONGEST` after it was asked for.
        """
        if in_use:
            self._used = now
        if not asked:
            return False
        self._asked = min(self._asked, now)
        return now - self._used >= QUIET or now - self._asked >= LONGEST
