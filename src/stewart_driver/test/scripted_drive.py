# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A drive whose objects are written down here."""

from __future__ import annotations

import struct

from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.errors import SdoRefused

FIXED, FREE = DriveType.from_yaml('omron_1s'), DriveType.from_yaml('omron_1s_free')
# As the ESI file of the R88D-1SN04H-ECT has them.
MAP_1701 = (0x60400010, 0x607A0020, 0x60B80010, 0x60FE0120)
MAP_1B01 = (
    *(0x603F0010, 0x60410010, 0x60640020, 0x60770010, 0x60F40020),
    *(0x60B90010, 0x60BA0020, 0x60BC0020, 0x60FD0020),
)


class ScriptedDrive:
    """Objects of a drive in a dictionary; what is in `locked` aborts a write."""

    def __init__(self, *locked: int) -> None:
        self.leg, self.locked = 3, set(locked)
        self.refused: set[int] = set()
        self.accepts_old: set[int] = set()
        self.changes: dict[tuple[int, int], bytes] = {}
        self.log: list[tuple[int, int, str]] = []
        self.objects = {
            (0x608F, 1): struct.pack('<I', 2**23),
            (0x608F, 2): struct.pack('<I', 1),
            (0x60FE, 1): bytes(4),
            (0x60B8, 0): bytes(2),
            (0x10F1, 2): struct.pack('<H', 4),
            (0x1C12, 0): b'\1',
            (0x1C13, 0): b'\1',
            (0x1C12, 1): struct.pack('<H', 0x1701),
            (0x1C13, 1): struct.pack('<H', 0x1B01),
        }
        for index, entries in (
            (0x1701, MAP_1701),
            (0x1B01, MAP_1B01),
            (0x1600, MAP_1701[:3]),
            (0x1A00, (0x60410010, 0x60640020, 0x603F0010)),
        ):
            self.objects[index, 0] = bytes([len(entries)])
            for number, entry in enumerate(entries, 1):
                self.objects[index, number] = struct.pack('<I', entry)

    def read(self, index: int, subindex: int) -> bytes:
        if (index, subindex) not in self.objects:
            raise SdoRefused(self.leg, index, subindex, 'abort 0x06020000')
        return self.objects[index, subindex]

    def write(self, index: int, subindex: int, data: bytes) -> None:
        self.log.append((index, subindex, data.hex()))
        if index in self.locked:
            raise SdoRefused(self.leg, index, subindex, 'abort 0x06010002')
        if len(data) == 4 and struct.unpack('<I', data)[0] in self.refused and index == 0x1600:
            self.refused -= self.accepts_old
            raise SdoRefused(self.leg, index, subindex, 'abort 0x06040041')
        self.objects[index, subindex] = self.changes.get((index, subindex), data)
