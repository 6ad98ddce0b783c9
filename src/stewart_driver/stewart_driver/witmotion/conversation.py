# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
Conversations with a sensor that wait, whoever's time it is.

What talks to the sensor is a generator: it yields what it waits for and is sent the bytes that
came. `carry_out` waits in real time, in the caller's thread; `Steps` goes on whenever it is asked
to, in simulated time, and never waits.

"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar

from stewart_driver.witmotion.errors import PortError
from stewart_driver.witmotion.transport import Transport

T = TypeVar('T')


@dataclass(frozen=True)
class ForBytes:
    """Wait until bytes come on a line, at most so long [s]."""

    transport: Transport
    longest: float


@dataclass(frozen=True)
class ForTime:
    """Let some time pass [s]; an idle wait may be cut short by who ends the conversation."""

    duration: float
    idle: bool = False


Conversation: TypeAlias = Generator[ForBytes | ForTime, bytes, T]


def carry_out(
    conversation: Conversation[T],
    sleep: Callable[[float], object],
    idle: Callable[[float], object],
) -> T:
    """
    Hold a conversation in real time.

    Parameters
    ----------
    conversation : generator
        What is said and heard.
    sleep, idle : callable
        Let a time pass [s]; `idle` for waits that may be cut short.

    Returns
    -------
    object
        What the conversation returns.

    """
    try:
        wish = next(conversation)
        while True:
            if isinstance(wish, ForTime):
                (idle if wish.idle else sleep)(wish.duration)
                wish = conversation.send(b'')
                continue
            try:
                data = wish.transport.read(wish.longest)
            except PortError as error:
                wish = conversation.throw(error)
            else:
                wish = conversation.send(data)
    except StopIteration as end:
        value: T = end.value
        return value


class Steps:
    """
    Hold a conversation along simulated time.

    Parameters
    ----------
    conversation : generator
        What is said and heard.
    now : float
        When it begins [s].

    Attributes
    ----------
    due : float
        When it goes on at the latest [s]; infinite once it is over.

    """

    def __init__(self, conversation: Conversation[None], now: float) -> None:
        """Go to the first wait."""
        self._conversation = conversation
        self._wish: ForBytes | ForTime | None = None
        self.due = now
        self._take(partial(next, conversation), now)

    @property
    def listens(self) -> bool:
        """Whether it goes on as soon as bytes come."""
        return isinstance(self._wish, ForBytes)

    def step(self, now: float) -> None:
        """Go on as far as bytes and time allow [s]."""
        while (wish := self._wish) is not None:
            data = b''
            if isinstance(wish, ForBytes):
                try:
                    data = wish.transport.read(0.0)
                except PortError as error:
                    self._take(partial(self._conversation.throw, error), now)
                    continue
            if not data and now < self.due:
                return
            self._take(partial(self._conversation.send, data), now)

    def end(self) -> None:
        """End the conversation, which closes the port."""
        self._wish, self.due = None, float('inf')
        self._conversation.close()

    def _take(self, go_on: Callable[[], ForBytes | ForTime], now: float) -> None:
        try:
            self._wish = go_on()
        except StopIteration:
            self._wish, self.due = None, float('inf')
            return
        wish = self._wish
        self.due = now + (wish.duration if isinstance(wish, ForTime) else wish.longest)
