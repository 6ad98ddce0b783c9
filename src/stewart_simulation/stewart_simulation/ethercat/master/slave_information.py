# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the EEPROM of a slave says, read through its registers (ETG.1000.6, ETG.2010)."""

from __future__ import annotations

from dataclasses import dataclass
import struct

from stewart_simulation.ethercat.master.link import Link, MasterError
from stewart_simulation.ethercat.master.standard import (
    EEPROM_COMMAND,
    EEPROM_OWNER,
    EEPROM_VALUE,
    MANAGER_NUMBER,
)

MASTER, FORCED, DEVICE = 0, 2, 1
READ, EIGHT_OCTETS, BUSY = 0x0100, 0x0040, 0x8000
PATIENCE = 0.02
# Words of the fixed part.
IDENTITY, FIRST_CATEGORY = 0x08, 0x40
STRINGS, GENERAL, MANAGERS, END = 10, 30, 41, 0xFFFF
# In the category of general things: which string is the order code.
ORDER_CODE = 2
# Start, length, control, status, activation, what the device's side controls.
MANAGER = struct.Struct('<HHBBBB')


@dataclass(frozen=True)
class ManagerPlan:
    """What the maker wants of a sync manager: first octet, length at first, and control."""

    start: int
    length: int
    control: int

    def register(self, length: int | None = None) -> bytes:
        """Return its registers, for another length if one is given; without one it is off."""
        used = self.length if length is None else length
        return MANAGER.pack(self.start, used, self.control, 0, bool(used), 0)


@dataclass(frozen=True)
class SlaveInformation:
    """A slave, as its EEPROM knows it; sync managers: mailbox out and in, outputs, inputs."""

    vendor: int
    product: int
    revision: int
    name: str
    managers: tuple[ManagerPlan, ...]


def read_information(link: Link, station: int) -> SlaveInformation:
    """Read the EEPROM of the slave at an address; raises `MasterError`."""
    # Whoever has it has to give it back.
    link.write(station, EEPROM_OWNER, bytes([FORCED]))
    link.write(station, EEPROM_OWNER, bytes([MASTER]))
    identity = _octets(link, station, IDENTITY, 12)
    categories: dict[int, bytes] = {}
    word = FIRST_CATEGORY
    while True:
        kind, words = struct.unpack('<HH', _octets(link, station, word, 4))
        if kind == END:
            break
        categories[kind] = _octets(link, station, word + 2, 2 * words)
        word += 2 + words
    link.write(station, EEPROM_OWNER, bytes([DEVICE]))
    managers = categories.get(MANAGERS, b'')
    plans = tuple(
        ManagerPlan(*MANAGER.unpack_from(managers, at)[:3])
        for at in range(0, len(managers) - MANAGER.size + 1, MANAGER.size)
    )
    if len(plans) != MANAGER_NUMBER:
        raise MasterError(f'its EEPROM has {len(plans)} sync managers, not {MANAGER_NUMBER}')
    name = _order_code(categories.get(GENERAL, b''), categories.get(STRINGS, b''))
    vendor, product, revision = struct.unpack('<III', identity)
    return SlaveInformation(vendor, product, revision, name, plans)


def _octets(link: Link, station: int, word: int, length: int) -> bytes:
    """Return so many octets of the EEPROM from a word on."""
    data = b''
    while len(data) < length:
        data += _piece(link, station, word + len(data) // 2)
    return data[:length]


def _piece(link: Link, station: int, word: int) -> bytes:
    if not link.write(station, EEPROM_COMMAND, struct.pack('<HI', READ, word)):
        raise MasterError('its EEPROM takes no command')

    def ready() -> bytes | None:
        status = link.read(station, EEPROM_COMMAND, 2)
        return status if status and not int.from_bytes(status, 'little') & BUSY else None

    status = link.until(ready, PATIENCE)
    if status is None:
        raise MasterError('its EEPROM is busy')
    length = 8 if int.from_bytes(status, 'little') & EIGHT_OCTETS else 4
    return link.require(station, EEPROM_VALUE, length, 'a question for its EEPROM')


def _order_code(general: bytes, strings: bytes) -> str:
    """Return a string by its number, which counts from 1; empty if there is none of it."""
    at, text = 1, b''
    for _ in range(int.from_bytes(general[ORDER_CODE : ORDER_CODE + 1], 'little')):
        if at >= len(strings):
            return ''
        text = strings[at + 1 : at + 1 + strings[at]]
        at += 1 + strings[at]
    return text.decode('ascii', 'replace')
