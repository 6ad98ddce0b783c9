# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Fieldbus memory management units: windows of the logical address space (ETG.1000.4)."""

from __future__ import annotations

import struct

from stewart_simulation.ethercat import registers
from stewart_simulation.ethercat.frames import Command
from stewart_simulation.ethercat.memory import Memory
from stewart_simulation.ethercat.sync_managers import REFUSED, SyncManagers, UNGUARDED

COUNT = 8
READ, WRITE = 1, 2
WHOLE_OCTETS = (0, 7, 0)


class Fmmus:
    """The windows of one slave: whole octets only, and outputs only into the process memory.

    Args:
        memory: Registers and process memory.
        sync_managers: Who has a say in the access.
    """

    def __init__(self, memory: Memory, sync_managers: SyncManagers) -> None:
        """Begin without windows."""
        self._memory, self._sync_managers = memory, sync_managers
        self._windows: dict[int, list[tuple[int, int, int]]] = {READ: [], WRITE: []}
        memory.on_write(registers.FMMU, COUNT * registers.FMMU_SIZE, self._configure)

    def _configure(self) -> None:
        self._windows = {READ: [], WRITE: []}
        for number in range(COUNT):
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
        """Take part in a logical datagram.

        Args:
            command: LRD, LWR or LRW.
            logical: Address of the first octet.
            frame: The frame; its data are read and replaced in place.
            start, length: Where the data lie in the frame.

        Returns:
            What the working counter is raised by: 1 for a read, 1 for a write, and in an LRW 1 for
            a read plus 2 for a write.
        """
        counter = 0
        if command != Command.LRD and self._write(logical, frame, start, length):
            counter += 2 if command == Command.LRW else 1
        if command != Command.LWR and self._read(logical, frame, start, length):
            counter += 1
        return counter

    def _write(self, logical: int, frame: bytearray, start: int, length: int) -> bool:
        taken = False
        for window, size, physical in self._windows[WRITE]:
            low, high = max(window, logical), min(window + size, logical + length)
            if low < high:
                at, end = physical + low - window, physical + high - window
                guard = self._sync_managers.admit(at, end - at, writing=True)
                if guard != REFUSED and at >= registers.PROCESS_MEMORY:
                    source = start + low - logical
                    self._memory.octets[at:end] = frame[source : source + end - at]
                    if guard != UNGUARDED:
                        self._sync_managers.done(guard, end)
                    taken = True
        return taken

    def _read(self, logical: int, frame: bytearray, start: int, length: int) -> bool:
        given = False
        for window, size, physical in self._windows[READ]:
            low, high = max(window, logical), min(window + size, logical + length)
            if low < high:
                at, end = physical + low - window, physical + high - window
                guard = self._sync_managers.admit(at, end - at, writing=False)
                if guard != REFUSED:
                    target = start + low - logical
                    frame[target : target + end - at] = self._memory.octets[at:end]
                    if guard != UNGUARDED:
                        self._sync_managers.done(guard, end)
                    given = True
        return given
