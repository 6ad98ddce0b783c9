# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The slave information in the EEPROM (SII) and the registers through which it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import struct

from stewart_simulation.ethercat import registers
from stewart_simulation.ethercat.registers import Memory

STRINGS, GENERAL, FMMUS, SYNC_MANAGERS, END = 10, 30, 40, 41, 0xFFFF
SIZE = 2048
FIRST_CATEGORY = 0x80
CHECKSUM = 14
COE = 0x04
# CoE: SDO, PDO assignment, PDO configuration; no SDO information.
COE_DETAILS, COMPLETE_ACCESS = 0x0D, 0x20
# Mailbox out and in, outputs with watchdog, inputs.
CONTROL = (0x26, 0x22, 0x64, 0x20)

READ, WRITE = 0x0100, 0x0200
WRITE_ENABLE = 0x0001
READS_EIGHT_OCTETS = 0x0040
CHECKSUM_ERROR, NOT_LOADED, REFUSED = 0x0800, 0x1000, 0x2000
OWNED_BY_DEVICE = 0x01


@dataclass(frozen=True)
class Identity:
    """Who a slave says it is, in the EEPROM and in object 1018h."""

    vendor: int
    product: int
    revision: int
    serial: int


def crc8(data: bytes) -> int:
    """Compute the check sum of the configuration area: polynomial x⁸ + x² + x + 1, start 0xFF.

    Examples:
        >>> hex(crc8(bytes(14)))
        '0x30'
    """
    value = 0xFF
    for octet in data:
        value ^= octet
        for _ in range(8):
            value = (value << 1 ^ 0x07 if value & 0x80 else value << 1) & 0xFF
    return value


def image(
    identity: Identity,
    ranges: Sequence[tuple[int, int]],
    name: str,
    *,
    complete_access: bool = True,
) -> bytearray:
    """Return the EEPROM of a slave with a CoE mailbox, 2 KiB with the check sum.

    Args:
        ranges: Start and length of the four sync managers [octet].
        name: Order code, Latin-1: ETG.1000.6 promises no more than octets.
    """
    content = bytearray(b'\xff' * SIZE)
    content[:FIRST_CATEGORY] = bytes(FIRST_CATEGORY)
    struct.pack_into('<HHH', content, 0, 0x0080, 0, 0)
    content[CHECKSUM] = crc8(bytes(content[:CHECKSUM]))
    struct.pack_into(
        '<IIII', content, 16, identity.vendor, identity.product, identity.revision, identity.serial
    )
    (out_start, out_length), (in_start, in_length) = ranges[:2]
    struct.pack_into('<HHHHH', content, 0x30, out_start, out_length, in_start, in_length, COE)
    struct.pack_into('<HH', content, 0x7C, SIZE // 128 - 1, 1)
    general = bytearray(32)
    general[0:4] = 1, 0, 1, 1
    general[5] = COE_DETAILS | (COMPLETE_ACCESS if complete_access else 0)
    text = name.encode('latin-1')
    managers = b''.join(
        struct.pack('<HHBBBB', start, length, control, 0, 1, kind)
        for kind, ((start, length), control) in enumerate(
            zip(ranges, CONTROL, strict=True), start=1
        )
    )
    at = FIRST_CATEGORY
    for category, data in (
        (STRINGS, bytes([1, len(text)]) + text),
        (GENERAL, bytes(general)),
        (FMMUS, bytes([1, 2])),
        (SYNC_MANAGERS, managers),
    ):
        padded = data + bytes(len(data) % 2)
        struct.pack_into('<HH', content, at, category, len(padded) // 2)
        content[at + 4 : at + 4 + len(padded)] = padded
        at += 4 + len(padded)
    return content


class Eeprom:
    """EEPROM behind the registers 0500h to 050Fh; its content survives a power cycle."""

    def __init__(self, memory: Memory, content: bytearray) -> None:
        self._memory, self.content = memory, content
        memory.on_write(registers.EEPROM_CONTROL, 2, self._execute)
        self._flags = 0 if self.valid else CHECKSUM_ERROR | NOT_LOADED
        self._report()

    @property
    def valid(self) -> bool:
        """Whether the check sum fits; without it the device does not start."""
        return crc8(bytes(self.content[:CHECKSUM])) == self.content[CHECKSUM]

    def _report(self, refused: int = 0) -> None:
        self._memory.set(registers.EEPROM_CONTROL, 2, READS_EIGHT_OCTETS | self._flags | refused)

    def _execute(self) -> None:
        """Carry out a command of the master at once; a real EEPROM takes a millisecond."""
        memory = self._memory
        asked = memory.get(registers.EEPROM_CONTROL, 2)
        if memory.octets[registers.EEPROM_CONFIGURATION] & OWNED_BY_DEVICE:
            self._report(REFUSED)
            return
        at = 2 * memory.get(registers.EEPROM_ADDRESS, 4)
        if asked & READ:
            data = bytes(self.content[at : at + 8]).ljust(8, b'\xff')
            memory.octets[registers.EEPROM_DATA : registers.EEPROM_DATA + 8] = data
        elif asked & WRITE:
            if not asked & WRITE_ENABLE or at + 2 > len(self.content):
                self._report(REFUSED)
                return
            word = memory.get(registers.EEPROM_DATA, 2)
            self.content[at : at + 2] = word.to_bytes(2, 'little')
        self._report()
