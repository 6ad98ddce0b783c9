# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Sync managers: who may access the process memory, when, and who is told (ETG.1000.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import struct

from stewart_simulation.ethercat import registers
from stewart_simulation.ethercat.memory import Memory

COUNT = 4
MAILBOX_OUT, MAILBOX_IN, OUTPUTS, INPUTS = range(COUNT)
ENABLED, REPEAT = 0x01, 0x02
FULL = 0x08
CONTROL, STATUS, ACTIVATE, PDI_CONTROL = 4, 5, 6, 7
MODE_BITS, MODE_MAILBOX = 0x03, 0x02
DIRECTION_BITS, WRITTEN_BY_MASTER = 0x0C, 0x04
WATCHDOG_TRIGGER = 0x40
UNGUARDED, REFUSED = -1, -2


@dataclass(frozen=True)
class SyncManager:
    """One configured sync manager.

    Attributes:
        start, length: Range of the process memory [octet].
        control: Mode, direction, watchdog.
        enabled: Whether it guards its range.
    """

    start: int = 0
    length: int = 0
    control: int = 0
    enabled: bool = False

    @property
    def end(self) -> int:
        """One past the last octet."""
        return self.start + self.length

    @property
    def mailbox(self) -> bool:
        """Whether it hands over messages one by one; otherwise the latest value counts."""
        return self.control & MODE_BITS == MODE_MAILBOX

    @property
    def written_by_master(self) -> bool:
        """Direction of the data."""
        return self.control & DIRECTION_BITS == WRITTEN_BY_MASTER

    @property
    def feeds_watchdog(self) -> bool:
        """Whether a write keeps the process-data watchdog quiet."""
        return bool(self.control & WATCHDOG_TRIGGER)


class SyncManagers:
    """The four sync managers of a slave with a mailbox.

    Args:
        memory: Where their registers and their data are.
        accessed: Called with the number of a sync manager when its last octet was read or written.

    Attributes:
        items: As configured.
        process_data_open: Whether the device lets outputs and inputs be accessed.
    """

    def __init__(self, memory: Memory, accessed: Callable[[int], None]) -> None:
        """Begin without configuration."""
        self._memory, self._accessed = memory, accessed
        self.items = [SyncManager()] * COUNT
        self._guards: list[tuple[int, int, int, bool, bool]] = []
        self.process_data_open = False
        memory.on_write(
            registers.SYNC_MANAGER, COUNT * registers.SYNC_MANAGER_SIZE, self._configure
        )

    def _configure(self) -> None:
        for number in range(COUNT):
            at = registers.SYNC_MANAGER + number * registers.SYNC_MANAGER_SIZE
            start, length, control, _, activate, _ = struct.unpack_from(
                '<HHBBBB', self._memory.octets, at
            )
            item = SyncManager(start, length, control, bool(activate & ENABLED))
            if item != self.items[number]:
                self.items[number] = item
                self.set_full(number, full=False)
        self._guards = [
            (number, item.start, item.start + item.length, item.mailbox, item.written_by_master)
            for number, item in enumerate(self.items)
            if item.enabled
        ]

    def full(self, number: int) -> bool:
        """Tell whether a mailbox holds a message."""
        return bool(self._register(number, STATUS) & FULL)

    def set_full(self, number: int, *, full: bool) -> None:
        """Mark a mailbox as full or empty."""
        at = registers.SYNC_MANAGER + number * registers.SYNC_MANAGER_SIZE + STATUS
        self._memory.octets[at] = FULL if full else 0

    def repeat_requested(self) -> bool:
        """Take a toggled repeat request of the input mailbox, and acknowledge it."""
        asked = self._register(MAILBOX_IN, ACTIVATE) & REPEAT
        at = registers.SYNC_MANAGER + MAILBOX_IN * registers.SYNC_MANAGER_SIZE + PDI_CONTROL
        if asked == self._memory.octets[at] & REPEAT:
            return False
        self._memory.octets[at] ^= REPEAT
        return True

    def _register(self, number: int, register: int) -> int:
        at = registers.SYNC_MANAGER + number * registers.SYNC_MANAGER_SIZE + register
        return self._memory.octets[at]

    def admit(self, address: int, length: int, *, writing: bool) -> int:
        """Decide whether an access of the master goes through.

        A mailbox is written when empty and read when full, from its first octet on.

        Args:
            address, length: What is accessed [octet].
            writing: Direction.

        Returns:
            Number of the sync manager that guards the range, `UNGUARDED` or `REFUSED`.
        """
        for number, start, end, mailbox, written_by_master in self._guards:
            if address < end and start < address + length:
                if writing != written_by_master:
                    return REFUSED
                if mailbox:
                    allowed = address == start and self.full(number) != writing
                else:
                    allowed = self.process_data_open
                return number if allowed else REFUSED
        return UNGUARDED

    def done(self, number: int, end: int) -> None:
        """Take note of an access through a guard; only with its last octet it is complete."""
        item = self.items[number]
        if end >= item.start + item.length:
            if item.mailbox:
                self.set_full(number, full=item.written_by_master)
            self._accessed(number)
