# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether drives that are in operation also do what they are told."""

from __future__ import annotations

from collections.abc import Sequence

from stewart_driver.ethercat.cia402 import Mode, Status
from stewart_driver.ethercat.drive_group import DriveGroup
from stewart_driver.ethercat.errors import LegFault
from stewart_driver.ethercat.process_map import Inputs
from stewart_driver.legs import LEGS

# A statusword may be a frame or two behind, and one lost frame repeats it.
FRAMES = 3
# Torque reaches its limit for a moment in any hard stop [s].
LIMITED_FOR = 0.1


class DriveMonitor:
    """
    What statuswords say of drives that follow, beside their states.

    Not every drive has every bit: a bit counts once a drive has shown it.

    Parameters
    ----------
    cycle_time : float
        Time between looks [s].

    """

    def __init__(self, cycle_time: float) -> None:
        """Know nothing of the drives."""
        self._limited_frames = max(round(LIMITED_FOR / cycle_time), FRAMES)
        self._shown = [0] * LEGS
        self._counts: list[dict[str, int]] = [{} for _ in range(LEGS)]

    def look(self, inputs: Sequence[Inputs], group: DriveGroup) -> LegFault | None:
        """
        Look at one frame.

        Parameters
        ----------
        inputs : sequence of Inputs
            What the drives report, legs 1 to 6.
        group : DriveGroup
            Which of them follow.

        Returns
        -------
        LegFault or None
            The first drive that does not do what it is told.

        """
        for axis, item in enumerate(inputs):
            word = Status(item.statusword)
            if not group.follows(axis):
                self._shown[axis] = 0
                self._counts[axis].clear()
                continue
            self._shown[axis] |= word
            for text, wrong, allowed in self._troubles(item, word, self._shown[axis]):
                count = self._counts[axis][text] = (
                    self._counts[axis].get(text, 0) + 1 if wrong else 0
                )
                if count >= allowed:
                    return LegFault(axis + 1, f'its drive {text}')
        return None

    def _troubles(
        self, item: Inputs, word: Status, shown: int
    ) -> tuple[tuple[str, bool, int], ...]:
        gone = shown & ~word
        mode = Mode.CYCLIC_SYNCHRONOUS_POSITION
        return (
            (
                'takes no controlword any more (bit 9)',
                bool(gone & Status.REMOTE),
                FRAMES,
            ),
            ('ignores its target (bit 12)', bool(gone & Status.TARGET_FOLLOWED), FRAMES),
            (
                'is held by a limit of its own: software limit, torque or end switch (bit 11)',
                bool(word & Status.INTERNAL_LIMIT),
                self._limited_frames,
            ),
            (
                f'is in mode {item.mode} instead of {int(mode)} (6061h)',
                item.mode is not None and item.mode != mode,
                FRAMES,
            ),
        )
