# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A line in this process under the name of an interface, by which the driver opens it."""

from __future__ import annotations

from collections.abc import Callable

from stewart_driver.ethercat.errors import BusTaken
from stewart_driver.ethercat.wires import OFFERS
from stewart_simulation.ethercat.line import Line
from stewart_simulation.ethercat.master.bus import InlineBus
from stewart_simulation.ethercat.master.link import Link

# One question while the bus is being set up, when nothing waits for it [s].
START_PATIENCE = 0.05


class InlineWire:
    """A line that is offered to the driver.

    Args:
        line: With a segment at its end.
        now_ns: Its time [ns].
        let_pass: Lets time pass while the master waits [s].

    Attributes:
        interface: Name under which it is opened.
    """

    def __init__(
        self, line: Line, now_ns: Callable[[], int], let_pass: Callable[[float], None]
    ) -> None:
        """Offer it."""
        self._line, self._now_ns, self._let_pass = line, now_ns, let_pass
        self._taken = False
        self.interface = OFFERS.offer(self._open)

    def withdraw(self) -> None:
        """Offer it no more; who has opened it keeps it."""
        OFFERS.withdraw(self.interface)

    def _open(self, receive_timeout: float) -> InlineBus:
        """Put a master on the line; raises `BusTaken` if one is there."""
        if self._taken:
            raise BusTaken(self.interface)
        self._taken = True
        link = Link(self._line, self._now_ns, self._let_pass, START_PATIENCE)
        return InlineBus(self.interface, link, receive_timeout, self._release)

    def _release(self) -> None:
        self._taken = False
