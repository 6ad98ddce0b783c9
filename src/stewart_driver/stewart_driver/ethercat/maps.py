# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Give a drive its PDO maps by SDO, or find out which it insists on."""

from __future__ import annotations

import struct
from typing import NamedTuple, Protocol

from stewart_driver.ethercat.cia402.objects import RECEIVE_ASSIGNMENT, TRANSMIT_ASSIGNMENT
from stewart_driver.ethercat.drive_type import MapPlan
from stewart_driver.ethercat.errors import SdoRefused
from stewart_driver.ethercat.signals import INPUTS, OUTPUTS


class SdoChannel(Protocol):
    """One drive, object by object; both methods raise `SdoRefused`."""

    leg: int

    def read(self, index: int, subindex: int) -> bytes:
        """Return the value of an object."""

    def write(self, index: int, subindex: int, data: bytes) -> None:
        """Set the value of an object."""


class Maps(NamedTuple):
    """Entries of the assigned maps, and what could not be had, one sentence or nothing."""

    entries: tuple[int, ...]
    note: str


def assign_outputs(drive: SdoChannel, plan: MapPlan) -> Maps:
    """Give a drive in PREOP its output maps; see `_assign`."""
    return _assign(drive, RECEIVE_ASSIGNMENT, plan, [OUTPUTS[name].entry for name in plan.write])


def assign_inputs(drive: SdoChannel, plan: MapPlan) -> Maps:
    """Give a drive in PREOP its input maps; see `_assign`."""
    return _assign(drive, TRANSMIT_ASSIGNMENT, plan, [INPUTS[name].entry for name in plan.write])


def _assign(drive: SdoChannel, assignment: int, plan: MapPlan, wanted: list[int]) -> Maps:
    """
    Write and assign maps, and read back what the drive exchanges then.

    A drive with read-only maps refuses the writing. Then its maps are used as they are: whether
    they hold what is needed is seen when the signals are looked for in the entries.

    """
    notes = []
    try:
        drive.write(assignment, 0, b'\0')
        if wanted:
            try:
                _write(drive, plan.assign[0], wanted)
            except SdoRefused as error:
                notes.append(f'{error}; its map {plan.assign[0]:04X}h is used as it is')
        for number, index in enumerate(plan.assign, 1):
            drive.write(assignment, number, struct.pack('<H', index))
        drive.write(assignment, 0, bytes([len(plan.assign)]))
    except SdoRefused as error:
        notes.append(f'{error}; the maps that it has assigned are used as they are')
    return Maps(_read(drive, assignment), '; '.join(notes))


def _write(drive: SdoChannel, index: int, entries: list[int]) -> None:
    drive.write(index, 0, b'\0')
    for number, entry in enumerate(entries, 1):
        drive.write(index, number, struct.pack('<I', entry))
    drive.write(index, 0, bytes([len(entries)]))


def _read(drive: SdoChannel, assignment: int) -> tuple[int, ...]:
    entries: list[int] = []
    for number in range(1, drive.read(assignment, 0)[0] + 1):
        (index,) = struct.unpack('<H', drive.read(assignment, number)[:2])
        count = drive.read(index, 0)[0]
        entries += (
            struct.unpack('<I', drive.read(index, entry)[:4])[0] for entry in range(1, count + 1)
        )
    return tuple(entries)
