# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Registers and memory of an EtherCAT slave controller, as far as a master touches them.

ETG.1000.4 and, for the AL status codes, ETG.1020.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

FEATURES, WIDE_CLOCK = 0x0008, 0x08
STATION_ADDRESS = 0x0010
DL_STATUS = 0x0110
AL_CONTROL, AL_STATUS, AL_STATUS_CODE = 0x0120, 0x0130, 0x0134
PDI_CONTROL = 0x0140
LOST_LINK_COUNTERS = 0x0310
WATCHDOG_DIVIDER, WATCHDOG_PROCESS_DATA = 0x0400, 0x0420
WATCHDOG_STATUS, WATCHDOG_COUNTER = 0x0440, 0x0442
EEPROM_CONFIGURATION, EEPROM_CONTROL, EEPROM_ADDRESS, EEPROM_DATA = 0x0500, 0x0502, 0x0504, 0x0508
FMMU, FMMU_SIZE = 0x0600, 16
SYNC_MANAGER, SYNC_MANAGER_SIZE = 0x0800, 8
RECEIVE_TIME, RECEIVE_TIME_UNIT = 0x0900, 0x0918
SYSTEM_TIME, SYSTEM_TIME_OFFSET, SYSTEM_TIME_DELAY = 0x0910, 0x0920, 0x0928
SYSTEM_TIME_DIFFERENCE, SPEED_COUNTER_START, FILTER_DEPTH = 0x092C, 0x0930, 0x0934
SYNC_ACTIVATION, SYNC0_START, SYNC0_CYCLE = 0x0981, 0x0990, 0x09A0
PROCESS_MEMORY = 0x1000
MEMORY_SIZE = 0x3000

# What a master may write, as (first, one past the last).
WRITABLE = (
    *((0x0010, 0x0012), (0x0100, 0x0104), (0x0120, 0x0122), (0x0200, 0x0202), (0x0300, 0x0314)),
    *((0x0400, 0x0402), (0x0410, 0x0412), (0x0420, 0x0422), (0x0442, 0x0444), (0x0500, 0x0510)),
    *((0x0600, 0x0680), (0x0900, 0x0904), (0x0910, 0x0918), (0x0920, 0x092C), (0x0930, 0x0936)),
    *((0x0980, 0x0982), (0x0990, 0x09A8), (PROCESS_MEMORY, MEMORY_SIZE)),
    # Of a sync manager neither the status nor what the device's own side controls.
    *((at, at + 5) for at in range(0x0800, 0x0840, 8)),
    *((at + 6, at + 7) for at in range(0x0800, 0x0840, 8)),
)
_WRITABLE = bytearray(MEMORY_SIZE)
for _first, _end in WRITABLE:
    _WRITABLE[_first:_end] = b'\x01' * (_end - _first)


class AlState(IntEnum):
    """States of the application layer."""

    INIT = 1
    PREOP = 2
    BOOT = 3
    SAFEOP = 4
    OP = 8


class AlCode(IntEnum):
    """AL status codes that this segment reports (ETG.1020)."""

    NO_ERROR = 0x0000
    INVALID_STATE_CHANGE = 0x0011
    UNKNOWN_STATE = 0x0012
    BOOTSTRAP_NOT_SUPPORTED = 0x0013
    INVALID_MAILBOX = 0x0016
    SYNC_ERROR = 0x001A
    WATCHDOG = 0x001B
    INVALID_OUTPUTS = 0x001D
    INVALID_INPUTS = 0x001E
    NO_SYNC = 0x002D
    INVALID_DC_SYNC = 0x0030
    CLOCK_NOT_SETTLED = 0x0032


PAGE = 16
Listener = tuple[int, int, Callable[[], None]]


class Memory:
    """Registers and process memory, 12 KiB.

    `read` and `write` are the master's side: they refuse or ignore what a master may not touch,
    and tell the listeners. `octets` is the device's own side.
    """

    def __init__(self) -> None:
        self.octets = bytearray(MEMORY_SIZE)
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
        if end > MEMORY_SIZE:
            return None
        _tell(self._reading, address, end)
        return bytes(self.octets[address:end])

    def write(self, address: int, data: bytes | bytearray) -> bool:
        """Write where a master may; False where it may nowhere."""
        end = address + len(data)
        writable = _WRITABLE[address:end]
        if end > MEMORY_SIZE or 1 not in writable:
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
    if address >= PROCESS_MEMORY:
        return
    called = []
    for page in range(address // PAGE, (end - 1) // PAGE + 1):
        for listener in pages.get(page, ()):
            first, last, call = listener
            if address < last and first < end and listener not in called:
                called.append(listener)
                call()
