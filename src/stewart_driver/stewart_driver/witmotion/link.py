# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Talk to a sensor that streams all the while: listen, send, ask for registers; on any clock.

What talks to the sensor is a generator: it yields what it waits for and is sent the bytes of each
read. `carry_out` waits in real time, in the caller's thread; `Steps` goes on whenever it is asked
to, in simulated time, and never waits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from typing import NamedTuple, TypeAlias, TypeVar

from stewart_driver.witmotion import commands
from stewart_driver.witmotion.clock import ArrivalTimes
from stewart_driver.witmotion.frames import RegisterFrame
from stewart_driver.witmotion.samples import Decoded, Decoder
from stewart_driver.witmotion.transport import PortError, Transport

T = TypeVar('T')


class ForBytes(NamedTuple):
    """Wait until bytes come on a line, at most so long [s]."""

    transport: Transport
    longest: float


class ForTime(NamedTuple):
    """Let some time pass [s]; an idle wait may be cut short by who ends the conversation."""

    duration: float
    idle: bool = False


Conversation: TypeAlias = Generator[ForBytes | ForTime, Iterable[bytes], T]
"""It goes through what it is sent at once; its clock shows when each read came meanwhile."""


def carry_out(
    conversation: Conversation[T],
    sleep: Callable[[float], object],
    idle: Callable[[float], object],
) -> T:
    """Hold a conversation in real time.

    Args:
        sleep, idle: Let a time pass [s]; `idle` for waits that may be cut short.
    """
    try:
        wish = next(conversation)
        while True:
            if isinstance(wish, ForTime):
                (idle if wish.idle else sleep)(wish.duration)
                wish = conversation.send(())
                continue
            try:
                data = wish.transport.read(wish.longest)
            except PortError as error:
                wish = conversation.throw(error)
            else:
                wish = conversation.send((data,))
    except StopIteration as end:
        value: T = end.value
        return value


class Steps:
    """Hold a conversation along simulated time.

    Args:
        now: Its clock [s].

    Attributes:
        due: When it goes on at the latest [s]; infinite once it is over.
    """

    def __init__(self, conversation: Conversation[None], now: Callable[[], float]) -> None:
        self._conversation, self._now = conversation, now
        self._wish: ForBytes | ForTime | None = None
        self.due = now()
        self._take(partial(next, conversation))

    @property
    def listens(self) -> bool:
        """Whether it goes on as soon as bytes come."""
        return isinstance(self._wish, ForBytes)

    def step(self) -> None:
        """Go on as far as bytes and time allow."""
        while (wish := self._wish) is not None:
            data = b''
            if isinstance(wish, ForBytes):
                try:
                    data = wish.transport.read(0.0)
                except PortError as error:
                    self._take(partial(self._conversation.throw, error))
                    continue
            if not data and self._now() < self.due:
                return
            self._take(partial(self._conversation.send, (data,)))

    def hear(self, instants: Iterable[float]) -> None:
        """Go on with what comes at some instants [s], while it `listens`, all at once.

        Each one that is taken sets the clock.
        """
        wish = self._wish
        assert isinstance(wish, ForBytes)
        reads = (wish.transport.read(0.0) for _ in instants)
        self._take(partial(self._conversation.send, reads))

    def end(self) -> None:
        """End the conversation, which closes the port."""
        self._wish, self.due = None, float('inf')
        self._conversation.close()

    def _take(self, go_on: Callable[[], ForBytes | ForTime]) -> None:
        try:
            self._wish = go_on()
        except StopIteration:
            self._wish, self.due = None, float('inf')
            return
        wish = self._wish
        self.due = self._now() + (wish.duration if isinstance(wish, ForTime) else wish.longest)


# Longest read, which bounds the time until this thread ends [s].
SLICE = 0.1
# On a full line at 9600 baud an answer waits behind a whole cycle of 100 ms.
ANSWER_TIMEOUT = 0.4
ATTEMPTS = 3


class Interrupted(Exception):
    """The thread was asked to end."""


class Link:
    """A transport with its decoder.

    Args:
        stopped: Tells whether to give up; every wait then ends with Interrupted.

    Attributes:
        decoder: Its statistics count from the opening of the line.
        arrivals: When the bytes came.
    """

    def __init__(
        self,
        transport: Transport,
        now: Callable[[], float],
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._transport = transport
        self._now = now
        self._stopped = stopped
        self.decoder = Decoder()
        self.arrivals = ArrivalTimes(transport.baud)

    @property
    def baud(self) -> int:
        """Speed now."""
        return self._transport.baud

    def set_baud(self, baud: int) -> None:
        """Go on at another speed."""
        self._transport.set_baud(baud)
        self.arrivals = ArrivalTimes(baud)

    def send(self, command: bytes) -> None:
        """Send a command."""
        self._transport.write(command)

    def reads(self, timeout: float = SLICE) -> Conversation[Iterator[list[Decoded]]]:
        """Wait at most `timeout` [s] for a byte; return the frames of each read.

        They are decoded as they are asked for; the clock shows when that read came.
        """
        if self._stopped():
            raise Interrupted
        came = yield ForBytes(self._transport, timeout)
        return map(self._decoded, came)

    def receive(self, timeout: float) -> Conversation[list[Decoded]]:
        """Return the frames of all that `reads` has."""
        return [frame for frames in (yield from self.reads(timeout)) for frame in frames]

    def _decoded(self, data: bytes) -> list[Decoded]:
        if not data:
            return []
        time = self._now()
        found = self.decoder.feed(data)
        self.arrivals.read(self.decoder.position, time)
        return found

    def listen(self, duration: float, enough: int = 0) -> Conversation[list[Decoded]]:
        """Receive for a time; also how this thread pauses, for the line must be drained.

        Args:
            enough: End as soon as there are so many frames; 0: never.
        """
        end = self._now() + duration
        found: list[Decoded] = []
        while (left := end - self._now()) > 0.0 and not 0 < enough <= len(found):
            found += yield from self.receive(min(left, SLICE))
        return found

    def registers(self, first: int) -> Conversation[tuple[int, int, int, int] | None]:
        """Ask for four registers."""
        for asked in range(1, ATTEMPTS + 1):
            self.send(commands.read(first))
            end = self._now() + ANSWER_TIMEOUT
            while self._now() < end:
                heard = yield from self.receive(min(SLICE, ANSWER_TIMEOUT))
                for item in heard:
                    if isinstance(answer := item.frame, RegisterFrame):
                        # Late answers to the same question must not answer the next one.
                        yield from self.listen(ANSWER_TIMEOUT if asked > 1 else 0.0)
                        return answer.words
        return None
