# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether somebody who counts has stopped counting."""

from __future__ import annotations

# Who looks may have been kept from looking, which says nothing about who counts [s].
LONGEST_PAUSE = 0.1


class StallDetector:
    """How long a counter has stood still, as far as that was seen."""

    def __init__(self) -> None:
        self._count: int | None = None
        self._looked_at = self._stood = 0.0

    def look(self, count: int, now: float) -> float:
        """Look at the counter.

        Args:
            count: What it says.
            now: Instant of the look on the steady clock [s].

        Returns:
            How long it has said so [s]; of a pause between two looks a tenth of a second counts.
        """
        passed, self._looked_at = now - self._looked_at, now
        self._stood = self._stood + min(passed, LONGEST_PAUSE) if count == self._count else 0.0
        self._count = count
        return self._stood
