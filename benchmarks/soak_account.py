# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a soak finds, and what of it is not as it should be."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

WARM_UP, MOST_GROWTH = 0.2, 0.01
LATE, OFF = 0.1, 0.05
"""A machine shared with others keeps a process waiting, but no clock goes wrong by it [s]."""
PIECE, MOST_MISSED = 1000, 0.01


@dataclass
class Account:
    """What the run has found so far; times in s of the rig's clock since the begin."""

    asked: float
    hours: float = 0.0
    messages: int = 0
    lost: int = 0
    surplus: int = 0
    gaps: list[tuple[float, float]] = field(default_factory=list)
    """Begin and length of gaps in the leg states outside of the faults [s]."""
    legs: int = 0
    legs_due: float = 0.0
    """Leg states outside of the faults, and how many there should be."""
    off: float = 0.0
    """How far the stamps of leg states were from the clock at most, medians of `PIECE` [s]."""
    cycles: int = 0
    missed: int = 0
    """Of the driver's cycles."""
    faults: dict[str, int] = field(default_factory=dict)
    wrong_ends: list[str] = field(default_factory=list)
    looks: list[tuple[float, float, int, int]] = field(default_factory=list)
    """Time [h], resident memory [MB], threads, file descriptors."""

    def growth(self) -> float:
        """Return how much memory grew after the warm-up, as a share of what it was then [-]."""
        looks = np.array(self.looks)
        warm = looks[looks[:, 0] >= WARM_UP * looks[-1, 0]]
        part = max(len(warm) // 4, 1)
        return float(np.median(warm[-part:, 1]) / np.median(warm[:part, 1]) - 1.0)

    def more(self) -> tuple[int, int]:
        """Return by how many threads and file descriptors there are more than after warm-up."""
        looks = np.array(self.looks)
        warm = looks[looks[:, 0] >= WARM_UP * looks[-1, 0], 2:]
        return tuple(np.subtract(warm[-1], warm[: max(len(warm) // 4, 1)].max(axis=0)).tolist())

    def failures(self) -> list[str]:
        """Return what is not as it should be."""
        threads, handles = self.more()
        found = {
            f'{self.lost} messages lost': self.lost,
            f'{self.surplus} messages recorded that nobody sent': self.surplus,
            f'{len(self.gaps)} gaps in the leg states': self.gaps,
            f'{self.legs} leg states of {self.legs_due:.0f}': self.legs < 0.99 * self.legs_due,
            f'stamps {1e3 * self.off:.0f} ms off the clock': self.off > OFF,
            f'{self.missed} of {self.cycles} cycles missed': self.missed
            > MOST_MISSED * self.cycles,
            f'ended early, after {self.hours:.2f} of {self.asked:g} h': self.hours < self.asked,
            f'memory grew by {self.growth():.1%}': self.growth() > MOST_GROWTH,
            f'{threads} threads and {handles} handles more': max(threads, handles) > 0,
        }
        return [text for text, wrong in found.items() if wrong] + self.wrong_ends
