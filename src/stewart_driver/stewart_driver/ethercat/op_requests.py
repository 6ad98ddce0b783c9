# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Asking single slaves for OP again that have left it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from stewart_driver.ethercat.errors import AL_ERROR, AlStatus, OP, SAFEOP
from stewart_driver.ethercat.wires import Wire

# One that shows no error any more and is not in OP is on its way, or has taken the acknowledgement
# alone, or has missed the request. It is asked again after this time, and after twice as long
# each time that nothing comes of it: some begin anew with each request, others need a second to
# say why they refuse [s].
FIRST_WAIT = 0.05


class OpRequests:
    """Who was asked for OP, and when again.

    Args:
        due: From which instant on a slave is asked that has shown no error [s]; infinity where
            all were asked together, and minus infinity where none was.
    """

    def __init__(self, wire: Wire, due: float = -inf) -> None:
        self._wire, self._first = wire, (due, FIRST_WAIT)
        self._due: dict[int, tuple[float, float]] = {}

    def ask(self, statuses: Sequence[AlStatus]) -> None:
        """Ask those in SAFEOP again, one with an error at once."""
        now = self._wire.now()
        for leg, item in enumerate(statuses, 1):
            due, wait = self._due.get(leg, self._first)
            if item.state == SAFEOP | AL_ERROR:
                wait = FIRST_WAIT
            elif item.state == SAFEOP and now >= due:
                wait = 2.0 * wait
            else:
                if item.state == OP:
                    self._due.pop(leg, None)
                continue
            self._wire.recover(leg)
            self._due[leg] = now + wait, wait
