# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The way to a card in this process."""

from __future__ import annotations

from collections.abc import Callable

from stewart_simulation.daq_card.card import Card
from stewart_simulation.daq_card.wire import Request


class InlineWire:
    """An open file of a card in this process.

    Args:
        card: Who answers.
        advance: Called before every answer: brings the card's inputs up to now.

    Attributes:
        calls: Requests so far.
        answers: Those that were not received yet, oldest first.
    """

    def __init__(self, card: Card, advance: Callable[[], None] = lambda: None) -> None:
        """Expect no answer yet."""
        self._card, self._advance = card, advance
        self._owner = self.calls = 0
        self.answers: list[bytes] = []

    def send(self, data: bytes, /) -> int:
        """Let the card answer, with inputs of now."""
        self.calls += 1
        self._owner = Request.decode(data).owner
        self._advance()
        self.answers.append(self._card.handle(data))
        return len(data)

    def recv(self, size: int, /) -> bytes:
        """Return the oldest answer."""
        return self.answers.pop(0)[:size]

    def close(self) -> None:
        """Give up what was locked."""
        self.answers.clear()
        self._card.release(self._owner)
