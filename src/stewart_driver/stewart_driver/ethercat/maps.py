# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Give a drive its PDO maps by SDO, or find out which it insists on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
import struct
from typing import NamedTuple

from stewart_driver.ethercat.cia402.objects import RECEIVE_ASSIGNMENT, TRANSMIT_ASSIGNMENT
from stewart_driver.ethercat.drive_type import MapPlan
from stewart_driver.ethercat.errors import SdoRefused
from stewart_driver.ethercat.sdo import SdoChannel
from stewart_driver.ethercat.signals import INPUTS, NEEDED_INPUTS, NEEDED_OUTPUTS, OUTPUTS

ENTRY, INDEX = '<I', '<H'


class Maps(NamedTuple):
    """Entries of the assigned maps, and what could not be had, one sentence or nothing."""

    entries: tuple[int, ...]
    note: str


def assign_outputs(drive: SdoChannel, plan: MapPlan) -> Maps:
    """Give a drive in PREOP its output maps; see `_assign`."""
    wanted, needed = (
        [OUTPUTS[name].entry for name in names] for names in (plan.write, NEEDED_OUTPUTS)
    )
    return _assign(drive, RECEIVE_ASSIGNMENT, plan, wanted, needed)


def assign_inputs(drive: SdoChannel, plan: MapPlan) -> Maps:
    """Give a drive in PREOP its input maps; see `_assign`."""
    wanted, needed = (
        [INPUTS[name].entry for name in names] for names in (plan.write, NEEDED_INPUTS)
    )
    return _assign(drive, TRANSMIT_ASSIGNMENT, plan, wanted, needed)


def _assign(
    drive: SdoChannel, assignment: int, plan: MapPlan, wanted: list[int], needed: list[int]
) -> Maps:
    """Write and assign maps, and read back what the drive exchanges then.

    A drive with read-only maps refuses the writing. Then its maps are used as they are: whether
    they hold what is needed is seen when the signals are looked for in the entries.
    """
    notes = []
    before = _list(drive, assignment, INDEX)
    try:
        drive.write(assignment, 0, b'\0')
        if wanted:
            notes += _write_map(drive, plan.assign[0], wanted, needed)
        _fill(drive, assignment, INDEX, plan.assign)
    except SdoRefused as error:
        notes.append(f'{error}; the maps that it has assigned are used as they are')
        _restore(drive, assignment, INDEX, before)
    entries: list[int] = []
    for index in _list(drive, assignment, INDEX):
        entries += _list(drive, index, ENTRY)
    return Maps(tuple(entries), '; '.join(notes))


def _write_map(
    drive: SdoChannel, index: int, wanted: Sequence[int], needed: Sequence[int]
) -> list[str]:
    """Write what a drive takes of a map; return what there is to say.

    Without an entry that is needed, and where anything else is read back than was written, the
    map is put back: a half-written one is worse than the one that was there.
    """
    before = _list(drive, index, ENTRY)
    as_it_is = f'its map {index:04X}h is used as it is'
    try:
        drive.write(index, 0, b'\0')
    except SdoRefused as error:
        return [f'{error}; {as_it_is}']
    taken: list[int] = []
    notes = []
    for entry in wanted:
        try:
            drive.write(index, len(taken) + 1, struct.pack(ENTRY, entry))
            taken.append(entry)
        except SdoRefused as error:
            notes.append(f'{error}, which was to be {entry >> 16:04X}h')
    try:
        if set(needed) <= set(taken):
            drive.write(index, 0, bytes([len(taken)]))
            if _list(drive, index, ENTRY) == taken:
                return notes
    except SdoRefused as error:
        notes.append(str(error))
    _restore(drive, index, ENTRY, before)
    return [*notes, as_it_is]


def _fill(drive: SdoChannel, index: int, code: str, values: Sequence[int]) -> None:
    for number, value in enumerate(values, 1):
        drive.write(index, number, struct.pack(code, value))
    drive.write(index, 0, bytes([len(values)]))


def _restore(drive: SdoChannel, index: int, code: str, values: Sequence[int]) -> None:
    """Put back what was there; what the drive then really has is read by the caller."""
    with suppress(SdoRefused):
        if _list(drive, index, code) != values:
            drive.write(index, 0, b'\0')
            _fill(drive, index, code, values)


def _list(drive: SdoChannel, index: int, code: str) -> list[int]:
    """Return the values of an object whose subindex 0 counts them."""
    size = struct.calcsize(code)
    return [
        struct.unpack(code, drive.read(index, number)[:size])[0]
        for number in range(1, drive.read(index, 0)[0] + 1)
    ]
