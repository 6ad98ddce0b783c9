# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Sync managers and FMMUs: who may access the process memory, when, and through which window.

ETG.1000.4. A sync manager guards a range and tells the device about accesses; an FMMU shows a
range of the memory in the logical address space of all slaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import struct

from stewart_simulation.ethercat import registers
from stewart_simulation.ethercat.frames import Command
from stewart_simulation.ethercat.registers import Memory

COUNT, WINDOWS = 4, 8
MAILBOX_OUT, MAILBOX_IN, OUTPUTS, INPUTS = range(COUNT)
ENABLED, REPEAT, FULL = 0x01, 0x02, 0x08
STATUS, ACTIVATE, PDI_CONTROL = 5, 6, 7
MODE_BITS, MODE_MAILBOX = 0x03, 0x02
DIRECTION_BITS, WRITTEN_BY_MASTER = 0x0C, 0x04
WATCHDOG_TRIGGER = 0x40
UNGUARDED, REFUSED = -1, -2
READ, WRITE = 1, 2
WHOLE_OCTETS = (0, 7, 0)


@dataclass(frozen=True)
class SyncManager:
    """One configured sync manager: its range, and in `control` mode, direction, watchdog."""

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
        accessed: Called with the number of a sync manager when its last octet was read or written.

    Attributes:
        process_data_open: Whether the device lets outputs and inputs be accessed.
    """

    def __init__(self, memory: Memory, accessed: Callable[[int], None]) -> None:
        self._memory, self._accessed = memory, accessed
        self.items = [SyncManager()] * COUNT
        self._guards: list[tuple[int, int, int, bool, bool]] = []
        self.process_data_open = False
        length = COUNT * registers.SYNC_MANAGER_SIZE
        memory.on_write(registers.SYNC_MANAGER, length, self._configure)

    def _configure(self) -> None:
        for number in range(COUNT):
            start, length, control, _, activate, _ = struct.unpack_from(
                '<HHBBBB', self._memory.octets, _place(number, 0)
            )
            item = SyncManager(start, length, control, bool(activate & ENABLED))
            if item != self.items[number]:
                self.items[number] = item
                self.set_full(number, full=False)
        self._guards = [
            (number, item.start, item.end, item.mailbox, item.written_by_master)
            for number, item in enumerate(self.items)
            if item.enabled
        ]

    def full(self, number: int) -> bool:
        """Tell whether a mailbox holds a message."""
        return bool(self._memory.octets[_place(number, STATUS)] & FULL)

    def set_full(self, number: int, *, full: bool) -> None:
        """Mark a mailbox as full or empty."""
        self._memory.octets[_place(number, STATUS)] = FULL if full else 0

    def repeat_requested(self) -> bool:
        """Take a toggled repeat request of the input mailbox, and acknowledge it."""
        octets, acknowledged = self._memory.octets, _place(MAILBOX_IN, PDI_CONTROL)
        asked = octets[_place(MAILBOX_IN, ACTIVATE)] & REPEAT
        if asked == octets[acknowledged] & REPEAT:
            return False
        octets[acknowledged] ^= REPEAT
        return True

    def admit(self, address: int, length: int, *, writing: bool) -> int:
        """Decide whether an access of the master goes through.

        A mailbox is written when empty and read when full, from its first octet on.

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
        """Take note of an access that `admit` let through; complete with the last octet."""
        if number == UNGUARDED:
            return
        item = self.items[number]
        if end >= item.end:
            if item.mailbox:
                self.set_full(number, full=item.written_by_master)
            self._accessed(number)


def _place(number: int, register: int) -> int:
    return registers.SYNC_MANAGER + number * registers.SYNC_MANAGER_SIZE + register


class Fmmus:
    """The windows of one slave: whole octets only, and outputs only into the process memory."""

    def __init__(self, memory: Memory, sync_managers: SyncManagers) -> None:
        self._memory, self._sync_managers = memory, sync_managers
        self._windows: dict[int, list[tuple[int, int, int]]] = {READ: [], WRITE: []}
        memory.on_write(registers.FMMU, WINDOWS * registers.FMMU_SIZE, self._configure)

    def _configure(self) -> None:
        self._windows = {READ: [], WRITE: []}
        for number in range(WINDOWS):
            at = registers.FMMU + number * registers.FMMU_SIZE
            logical, length, first, last, physical, bit, kind, active = struct.unpack_from(
                '<IHBBHBBB', self._memory.octets, at
            )
            if active & 1 and length and (first, last, bit) == WHOLE_OCTETS:
                for direction in (READ, WRITE):
                    if kind & direction:
                        self._windows[direction].append((logical, length, physical))

    def exchange(
        self, command: int, logical: int, frame: bytearray, start: int, length: int
    ) -> int:
        """Take part in a logical datagram whose data lie in a frame; they change in place.

        Returns:
            What the working counter is raised by: 1 for a read, 1 for a write, and in an LRW 1 for
            a read plus 2 for a write.
        """
        counter = 0
        if command != Command.LRD and self._move(WRITE, logical, frame, start, length):
            counter += 2 if command == Command.LRW else 1
        if command != Command.LWR and self._move(READ, logical, frame, start, length):
            counter += 1
        return counter

    def _move(
        self, direction: int, logical: int, frame: bytearray, start: int, length: int
    ) -> bool:
        moved, octets, writing = False, self._memory.octets, direction == WRITE
        for window, size, physical in self._windows[direction]:
            low, high = max(window, logical), min(window + size, logical + length)
            if low >= high:
                continue
            at, end = physical + low - window, physical + high - window
            guard = self._sync_managers.admit(at, end - at, writing=writing)
            if guard == REFUSED or (writing and at < registers.PROCESS_MEMORY):
                continue
            place = start + low - logical
            if writing:
                octets[at:end] = frame[place : place + end - at]
            else:
                frame[place : place + end - at] = octets[at:end]
            self._sync_managers.done(guard, end)
            moved = True
        return moved
