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
# Plain numbers, for six words are looked at in every cycle.
REMOTE, FOLLOWED = int(Status.REMOTE), int(Status.TARGET_FOLLOWED)
HAS_TO_STAY, LIMITED = REMOTE | FOLLOWED, int(Status.INTERNAL_LIMIT)
MODE = int(Mode.CYCLIC_SYNCHRONOUS_POSITION)


class DriveMonitor:
    """What statuswords say of drives that follow, beside their states.

    Not every drive has every bit: a bit counts once a drive has shown it.

    Args:
        cycle_time: Time between looks [s].
    """

    def __init__(self, cycle_time: float) -> None:
        """Know nothing of the drives."""
        self._limited_frames = max(round(LIMITED_FOR / cycle_time), FRAMES)
        self._shown = [0] * LEGS
        self._counts: list[dict[str, int]] = [{} for _ in range(LEGS)]

    def look(self, inputs: Sequence[Inputs], group: DriveGroup) -> LegFault | None:
        """Look at one frame.

        Args:
            inputs: What the drives report, legs 1 to 6.
            group: Which of them follow.

        Returns:
            The first drive that does not do what it is told.
        """
        for axis, item in enumerate(inputs):
            counts = self._counts[axis]
            if not group.follows(axis):
                self._shown[axis] = 0
                counts.clear()
                continue
            word = item.statusword
            self._shown[axis] |= word
            gone = self._shown[axis] & ~word
            wrong_mode = item.mode is not None and item.mode != MODE
            if not (gone & HAS_TO_STAY or word & LIMITED or wrong_mode):
                counts.clear()
                continue
            for text, wrong, allowed in (
                ('takes no controlword any more (bit 9)', gone & REMOTE, FRAMES),
                ('ignores its target (bit 12)', gone & FOLLOWED, FRAMES),
                (
                    'is held by a limit of its own: software limit, torque or end switch (bit 11)',
                    word & LIMITED,
                    self._limited_frames,
                ),
                (f'is in mode {item.mode} instead of {MODE} (6061h)', wrong_mode, FRAMES),
            ):
                counts[text] = counts.get(text, 0) + 1 if wrong else 0
                if counts[text] >= allowed:
                    return LegFault(axis + 1, f'its drive {text}')
        return None
