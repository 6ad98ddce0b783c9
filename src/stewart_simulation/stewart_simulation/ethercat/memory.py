# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of a slave controller: what a master may write, and who listens."""

from __future__ import annotations

from collections.abc import Callable

from stewart_simulation.ethercat import registers

_WRITABLE = bytearray(registers.MEMORY_SIZE)
for _first, _end in registers.WRITABLE:
    _WRITABLE[_first:_end] = b'\x01' * (_end - _first)


class Memory:
    """
    Registers and process memory, 12 KiB.

    `read` and `write` are the master's side: they refuse or ignore what a master may not touch,
    and tell the listeners. `octets` is the device's own side.
    """

    def __init__(self) -> None:
        """Begin with zeros."""
        self.octets = bytearray(registers.MEMORY_SIZE)
        self._written: list[tuple[int, int, Callable[[], None]]] = []
        self._reading: list[tuple[int, int, Callable[[], None]]] = []

    def on_write(self, address: int, length: int, call: Callable[[], None]) -> None:
        """Call back after a master has written into a range."""
        self._written.append((address, address + length, call))

    def before_read(self, address: int, length: int, call: Callable[[], None]) -> None:
        """Call back before a master reads from a range."""
        self._reading.append((address, address + length, call))

    def read(self, address: int, length: int) -> bytes | None:
        """Return octets, or None outside the memory."""
        end = address + length
        if end > registers.MEMORY_SIZE:
            return None
        for first, last, call in self._reading:
            if address < last and first < end:
                call()
        return bytes(self.octets[address:end])

    def write(self, address: int, data: bytes | bytearray) -> bool:
        """Write where a master may; False where it may nowhere."""
        end = address + len(data)
        writable = _WRITABLE[address:end]
        if end > registers.MEMORY_SIZE or not any(writable):
            return False
        if all(writable):
            self.octets[address:end] = data
        else:
            for number, allowed in enumerate(writable):
                if allowed:
                    self.octets[address + number] = data[number]
        for first, last, call in self._written:
            if address < last and first < end:
                call()
        return True

    def get(self, address: int, length: int) -> int:
        """Return an unsigned number."""
        return int.from_bytes(self.octets[address : address + length], 'little')

    def set(self, address: int, length: int, value: int) -> None:
        """Store a number; what is too large or negative wraps."""
        value &= (1 << 8 * length) - 1
        self.octets[address : address + length] = value.to_bytes(length, 'little')
