# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The clocks of the slaves on a cable: one time, and SYNC0 of all drives on one grid of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pysoem
from stewart_driver.ethercat import registers
from stewart_driver.ethercat.phase_lock import SPAN, SystemTime

# What a controller has, and its bit for a clock (ETG.1000.4).
FEATURES, HAS_CLOCK = 0x0008, 0x04
SYSTEM_TIME, DIFFERENCE, ACTIVATION, SYNC0_CYCLE = 0x0910, 0x092C, 0x0981, 0x09A0
# Of the difference to the reference: a sign, beside the amount.
BEHIND = 1 << 31
CYCLIC_SYNC0 = 0x03
# So much later than it has read the time of a slave SOEM lets its SYNC0 begin [ns].
AHEAD = 100_000_000
TRIES = 3


class Clocks:
    """Distributed clocks, of which the first on the cable is the reference.

    Args:
        now: Returns the instant of the steady clock [s].

    Attributes:
        time: What the reference has shown last, also if it has 32 bits and begins anew [ns].
    """

    def __init__(self, slaves: Sequence[pysoem.CdefSlave], now: Callable[[], float]) -> None:
        self._now, self._unwrapped, self.time = now, SystemTime(), 0
        with_clock = (x for x in slaves if registers.read(x, FEATURES, 2) & HAS_CLOCK)
        self._reference = next(with_clock, None)

    def take(self, shown: int) -> None:
        """Take note of what the reference shows [ns]."""
        self.time = self._unwrapped.take(shown, self._now())

    def begin_sync0(self, slave: pysoem.CdefSlave, cycle: int, shift: int) -> bool:
        """Let SYNC0 come so much after multiples of its cycle [ns]; tell whether a slave does it.

        SOEM counts these multiples in what the slave shows, which differs from the reference's
        time by spans of 32 bits where one of them has no more, and writes each register once.
        """
        if self._reference is None:
            return False
        for _ in range(TRIES):
            self.take(registers.read(self._reference, SYSTEM_TIME, 8))
            before = registers.read(slave, SYSTEM_TIME, 8)
            behind = round((self.time - before) / SPAN) * SPAN
            slave.dc_sync(True, cycle, (shift - behind) % cycle)
            written = registers.read(slave, ACTIVATION, 1), registers.read(slave, SYNC0_CYCLE, 4)
            # Later it may have begun in the past, or in the next span.
            if (
                written == (CYCLIC_SYNC0, cycle)
                and 0 <= registers.read(slave, SYSTEM_TIME, 8) - before < AHEAD
            ):
                return True
        return False

    def difference(self, slave: pysoem.CdefSlave) -> int:
        """Return how far the clock of a slave is from the reference, either way [ns]."""
        if slave is self._reference:
            return 0
        return registers.read(slave, DIFFERENCE, 4) & BEHIND - 1
