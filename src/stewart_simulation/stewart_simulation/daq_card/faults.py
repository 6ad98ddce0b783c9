# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults that can be put on the card by name; legs are 1 to 6."""

from __future__ import annotations

from typing import Any

import numpy as np
from stewart_driver.legs import LEGS
from stewart_simulation.daq_card.card import AI_LAST, Card
from stewart_simulation.ethercat.errors import FaultError
from stewart_simulation.fault_table import FaultTable

ENDS = {'low': 0, 'high': AI_LAST}


class CardFaults(FaultTable):
    """What can go wrong with a card.

    Args:
        card: What breaks.
    """

    def __init__(self, card: Card) -> None:
        """Break nothing yet."""
        super().__init__()
        self._card = card

    def observe(self) -> dict[str, Any]:
        """Return what can be measured at the card's terminals."""
        card = self._card
        return {
            'outputs_v': card.outputs.tolist(),
            'digital_outputs': list(card.digital_outputs),
            'gone': card.gone,
        }

    def saturate(self, leg: int, end: str = 'high') -> None:
        """Let the input of a leg stand at an end of its range."""
        if end not in ENDS:
            raise FaultError('saturate', f'end must be low or high, not {end!r}')
        self._card.saturated[_channel('saturate', leg)] = ENDS[end]

    def stick(self, leg: int) -> None:
        """Let the input of a leg give what it gave last, without any noise."""
        channel = _channel('stick', leg)
        self._card.stuck[channel] = self._card.last_code(channel)

    def disturb(self, leg: int, volts: float) -> None:
        """Put noise of this standard deviation [V] on the input of a leg; 0 ends it."""
        if not (np.isfinite(volts) and volts >= 0.0):
            raise FaultError('disturb', f'volts must be a number >= 0, not {volts!r}')
        self._card.noise_v[_channel('disturb', leg)] = volts

    def remove(self) -> None:
        """Take the card out: every call fails, the outputs hold their last code."""
        self._card.gone = True

    def slow(self, seconds: float) -> None:
        """Let every call take this much longer [s]; 0 ends it."""
        if not (np.isfinite(seconds) and seconds >= 0.0):
            raise FaultError('slow', f'seconds must be a number >= 0, not {seconds!r}')
        self._card.delay = float(seconds)

    def mend(self) -> None:
        """End every fault."""
        card = self._card
        card.gone, card.delay = False, 0.0
        card.stuck.clear()
        card.saturated.clear()
        card.noise_v[:] = 0.0


def _channel(fault: str, leg: int) -> int:
    if not (isinstance(leg, int) and 1 <= leg <= LEGS):
        raise FaultError(fault, f'leg must be 1 to {LEGS}, not {leg!r}')
    return leg - 1
