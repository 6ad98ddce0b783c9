# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of a slave controller: what a master may write, and who listens."""

from __future__ import annotations

from collections.abc import Callable

from stewart_simulation.ethercat import registers

_WRITABLE = bytearray(registers.MEMORY_SIZE)
for _first, _end in registers.WRITABLE:
    _WRITABLE[_first:_end] = b'\x01' * (_end - _first)


PAGE = 16
Listener = tuple[int, int, Callable[[], None]]


class Memory:
    """Registers and process memory, 12 KiB.

    `read` and `write` are the master's side: they refuse or ignore what a master may not touch,
    and tell the listeners. `octets` is the device's own side.
    """

    def __init__(self) -> None:
        """Begin with zeros."""
        self.octets = bytearray(registers.MEMORY_SIZE)
        # By the pages that they begin or lie in, since every datagram asks for its listeners.
        self._written: dict[int, list[Listener]] = {}
        self._reading: dict[int, list[Listener]] = {}

    def on_write(self, address: int, length: int, call: Callable[[], None]) -> None:
        """Call back after a master has written into a range."""
        _register(self._written, address, length, call)

    def before_read(self, address: int, length: int, call: Callable[[], None]) -> None:
        """Call back before a master reads from a range."""
        _register(self._reading, address, length, call)

    def read(self, address: int, length: int) -> bytes | None:
        """Return octets, or None outside the memory."""
        end = address + length
        if end > registers.MEMORY_SIZE:
            return None
        _tell(self._reading, address, end)
        return bytes(self.octets[address:end])

    def write(self, address: int, data: bytes | bytearray) -> bool:
        """Write where a master may; False where it may nowhere."""
        end = address + len(data)
        writable = _WRITABLE[address:end]
        if end > registers.MEMORY_SIZE or 1 not in writable:
            return False
        if 0 not in writable:
            self.octets[address:end] = data
        else:
            for number, allowed in enumerate(writable):
                if allowed:
                    self.octets[address + number] = data[number]
        _tell(self._written, address, end)
        return True

    def get(self, address: int, length: int) -> int:
        """Return an unsigned number."""
        return int.from_bytes(self.octets[address : address + length], 'little')

    def set(self, address: int, length: int, value: int) -> None:
        """Store a number; what is too large or negative wraps."""
        value &= (1 << 8 * length) - 1
        self.octets[address : address + length] = value.to_bytes(length, 'little')


def _register(
    pages: dict[int, list[Listener]], address: int, length: int, call: Callable[[], None]
) -> None:
    listener = address, address + length, call
    for page in range(address // PAGE, (address + length - 1) // PAGE + 1):
        pages.setdefault(page, []).append(listener)


def _tell(pages: dict[int, list[Listener]], address: int, end: int) -> None:
    """Call whoever listens to the range, once each, in the order in which they came."""
    if address >= registers.PROCESS_MEMORY:
        return
    called = []
    for page in range(address // PAGE, (end - 1) // PAGE + 1):
        for listener in pages.get(page, ()):
            first, last, call = listener
            if address < last and first < end and listener not in called:
                called.append(listener)
                call()
