# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Talk to a sensor that streams all the while: listen, send, ask for registers."""

from __future__ import annotations

from collections.abc import Callable

from stewart_driver.witmotion import commands
from stewart_driver.witmotion.arrivals import ArrivalTimes
from stewart_driver.witmotion.conversation import Conversation, ForBytes
from stewart_driver.witmotion.decoder import Decoded, Decoder
from stewart_driver.witmotion.frames import RegisterFrame
from stewart_driver.witmotion.transport import Transport

# A read returns at least so often, so that whoever waits for this thread waits no longer [s].
SLICE = 0.1
# On a full line at 9600 baud an answer waits behind a whole cycle of 100 ms.
ANSWER_TIMEOUT = 0.4
ATTEMPTS = 3


class Interrupted(Exception):
    """The thread was asked to end; nobody is told."""


class Link:
    """
    A transport with its decoder.

    Parameters
    ----------
    transport : Transport
        Open line.
    now : callable
        Steady time [s].
    stopped : callable
        Tells whether to give up; every wait then ends with Interrupted.

    Attributes
    ----------
    decoder : Decoder
        Its statistics count from the opening of the line.
    arrivals : ArrivalTimes
        When the bytes came.

    """

    def __init__(
        self,
        transport: Transport,
        now: Callable[[], float],
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """Listen at the speed that the transport has."""
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

    def receive(self, timeout: float = SLICE) -> Conversation[list[Decoded]]:
        """Return the frames of one read, which waits at most `timeout` [s] for a byte."""
        if self._stopped():
            raise Interrupted
        data = yield ForBytes(self._transport, timeout)
        if not data:
            return []
        time = self._now()
        found = self.decoder.feed(data)
        self.arrivals.read(self.decoder.position, time)
        return found

    def listen(self, duration: float, enough: int = 0) -> Conversation[list[Decoded]]:
        """
        Receive for a time; also how this thread pauses, for the line must be drained.

        Parameters
        ----------
        duration : float
            How long [s].
        enough : int
            End as soon as there are so many frames; 0: never.

        Returns
        -------
        list of Decoded
            The frames received.

        """
        end = self._now() + duration
        found: list[Decoded] = []
        while (left := end - self._now()) > 0.0 and not 0 < enough <= len(found):
            found += yield from self.receive(min(left, SLICE))
        return found

    def registers(self, first: int) -> Conversation[tuple[int, int, int, int] | None]:
        """
        Ask for four registers.

        Parameters
        ----------
        first : int
            Number of the first of them.

        Returns
        -------
        tuple of int, or None
            Their values; None if no answer came.

        """
        for asked in range(1, ATTEMPTS + 1):
            self.send(commands.read(first))
            end = self._now() + ANSWER_TIMEOUT
            while self._now() < end:
                heard = yield from self.receive(min(SLICE, ANSWER_TIMEOUT))
                for _, _, frame in heard:
                    if isinstance(frame, RegisterFrame):
                        # Late answers to the same question must not answer the next one.
                        yield from self.listen(ANSWER_TIMEOUT if asked > 1 else 0.0)
                        return frame.words
        return None
