# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the process data of all slaves lie, in their memories and in the frame (ETG.1000.4)."""

from __future__ import annotations

from collections.abc import Sequence
import struct
from typing import NamedTuple

from stewart_simulation.ethercat.master.link import Link, MasterError
from stewart_simulation.ethercat.master.mailbox import SdoClient
from stewart_simulation.ethercat.master.slave_information import ManagerPlan
from stewart_simulation.ethercat.master.standard import (
    FMMU_LENGTH,
    FMMU_NUMBER,
    FMMUS,
    MANAGER_LENGTH,
    MANAGERS,
)

# Objects in which a slave says which maps its outputs and its inputs have.
OUTPUT_MAPS, INPUT_MAPS = 0x1C12, 0x1C13
OUTPUTS, INPUTS = 2, 3
# Logical address, length, first and last bit, physical address, its first bit, direction, active.
FMMU = struct.Struct('<IHBBHBBB3x')
READ, WRITE = 1, 2
LAST_BIT = 7
LONGEST = 1400


class Share(NamedTuple):
    """Lengths of what one slave takes out of the frame and puts into it [octet]."""

    outputs: int
    inputs: int


class ProcessImage:
    """The process data of all slaves as one logical memory: outputs first, then inputs.

    Args:
        shares: In the order of the cable.

    Attributes:
        expected: What all slaves together add to the working counter of an LRW.

    Raises:
        MasterError: If it is too long for a frame.
    """

    def __init__(self, shares: Sequence[Share]) -> None:
        self._shares = shares
        self._boundary = sum(item.outputs for item in shares)
        length = self._boundary + sum(item.inputs for item in shares)
        if length > LONGEST:
            raise MasterError(f'{length} octets do not fit into a frame')
        self.expected = sum(2 * bool(item.outputs) + bool(item.inputs) for item in shares)
        # What a slave that is lost has put in last stays.
        self._inputs = bytes(length - self._boundary)

    def configure(
        self, link: Link, station: int, managers: Sequence[ManagerPlan], place: int
    ) -> None:
        """Set the sync managers and windows of the slave at a place on the cable, from 0 on.

        Raises:
            MasterError: If it does not answer.
        """
        before, own = self._shares[:place], self._shares[place]
        first_output = sum(item.outputs for item in before)
        first_input = self._boundary + sum(item.inputs for item in before)
        registers, windows = b'', b''
        for number, length, logical, direction in (
            (OUTPUTS, own.outputs, first_output, WRITE),
            (INPUTS, own.inputs, first_input, READ),
        ):
            plan = managers[number]
            registers += plan.register(length)
            if length:
                windows += FMMU.pack(logical, length, 0, LAST_BIT, plan.start, 0, direction, 1)
        windows = windows.ljust(FMMU_NUMBER * FMMU_LENGTH, b'\0')
        first = MANAGERS + OUTPUTS * MANAGER_LENGTH
        if not (link.write(station, first, registers) and link.write(station, FMMUS, windows)):
            raise MasterError('no answer to the place of its process data')

    def pack(self, outputs: Sequence[bytes]) -> bytes:
        """Return the data of an LRW."""
        return b''.join(outputs) + self._inputs

    def take(self, data: bytes) -> None:
        """Keep what came back."""
        self._inputs = data[self._boundary :]

    def inputs(self) -> list[bytes]:
        """Return what the slaves have put in last."""
        pieces, at = [], 0
        for share in self._shares:
            pieces.append(self._inputs[at : at + share.inputs])
            at += share.inputs
        return pieces


def share_of(objects: SdoClient) -> Share:
    """Return how long the maps are that a slave has assigned; raises `MasterError`."""
    return Share(_mapped(objects, OUTPUT_MAPS), _mapped(objects, INPUT_MAPS))


def _mapped(objects: SdoClient, assignment: int) -> int:
    """Return the length of all maps that an object assigns [octet]."""
    bits = 0
    for number in range(1, objects.read(assignment, 0)[0] + 1):
        (index,) = struct.unpack('<H', objects.read(assignment, number)[:2])
        for entry in range(1, objects.read(index, 0)[0] + 1):
            bits += objects.read(index, entry)[0]
    return -(-bits // 8)
