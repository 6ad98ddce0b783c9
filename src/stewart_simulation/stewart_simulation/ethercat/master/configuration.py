# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Layout of the process data and distributed clocks: what slaves are told before SAFEOP.

ETG.1000.4.
"""

from __future__ import annotations

from collections.abc import Sequence
import itertools
import struct
from typing import NamedTuple

from stewart_simulation.ethercat.master import standard
from stewart_simulation.ethercat.master.link import Link, MasterError
from stewart_simulation.ethercat.master.mailbox import SdoClient
from stewart_simulation.ethercat.master.slave_information import ManagerPlan

# Objects in which a slave says which maps its outputs and its inputs have.
OUTPUT_MAPS, INPUT_MAPS = 0x1C12, 0x1C13
OUTPUTS, INPUTS = 2, 3
# Logical address, length, first and last bit, physical address, its first bit, direction, active.
FMMU = struct.Struct('<IHBBHBBB3x')
READ, WRITE = 1, 2
LAST_BIT = 7
LONGEST = 1400

PORTS, TIME = struct.Struct('<II'), struct.Struct('<Q')
# What the control loops of the clocks begin with.
SPEED, FILTER = 0x1000, 0x0C00
CYCLIC, SYNC0 = 0x01, 0x02
# All drives have been told before the first SYNC0 [ns].
AHEAD = 100_000_000
NANOSECONDS = 1e9
CLOCK = 'a question for its clock'


class Share(NamedTuple):
    """Lengths of what one slave takes out of the frame and puts into it [octet]."""

    outputs: int
    inputs: int


class ProcessImage:
    """The process data of all slaves as one logical memory: outputs first, then inputs.

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
        """Set the sync managers and windows of the slave at a place; raises `MasterError`."""
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
        windows = windows.ljust(standard.FMMU_NUMBER * standard.FMMU_LENGTH, b'\0')
        first = standard.MANAGERS + OUTPUTS * standard.MANAGER_LENGTH
        for register, data in ((first, registers), (standard.FMMUS, windows)):
            link.insist(station, register, data, 'the place of its process data')

    def pack(self, outputs: Sequence[bytes]) -> bytes:
        """Return the data of an LRW."""
        return b''.join(outputs) + self._inputs

    def take(self, data: bytes) -> None:
        """Keep what came back."""
        self._inputs = data[self._boundary :]

    def inputs(self) -> list[bytes]:
        """Return what the slaves have put in last."""
        ends = list(itertools.accumulate(item.inputs for item in self._shares))
        return [self._inputs[a:b] for a, b in zip([0, *ends], ends, strict=False)]


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


def align(link: Link, stations: Sequence[int]) -> None:
    """Let all clocks show the time of the link, and tell them the way of a frame from the first.

    Stations are in the order of the cable, without branches. Raises `MasterError`.
    """
    link.broadcast(standard.SPEED_COUNTER, struct.pack('<H', SPEED))
    link.broadcast(standard.TIME_FILTER, struct.pack('<H', FILTER))
    now = link.now_ns()
    link.broadcast(standard.PORT_TIMES, bytes(4))
    passed = [
        PORTS.unpack(link.require(x, standard.PORT_TIMES, PORTS.size, CLOCK)) for x in stations
    ]
    shown = [
        TIME.unpack(link.require(x, standard.LOCAL_TIME, TIME.size, CLOCK))[0] for x in stations
    ]
    for station, local, delay in zip(stations, shown, delays(passed), strict=True):
        link.write(station, standard.TIME_OFFSET, TIME.pack((now + delay - local) % 2**64))
        link.write(station, standard.TIME_DELAY, struct.pack('<I', delay))


def delays(passed: Sequence[tuple[int, int]]) -> list[int]:
    """Return how long a frame takes from the first slave to each [ns]; the way back is as long.

    Args:
        passed: When one frame came to each slave, and when it came back there, by its own clock
            [ns]; the last one has nothing behind it.

    Examples:
        >>> delays([(1000, 3000), (500, 1500), (4294967290, 0)])
        [0, 500, 1000]
    """
    loops = [(back - out) % 2**32 for out, back in passed[:-1]] + [0] * bool(passed)
    steps = [(before - behind) // 2 for before, behind in itertools.pairwise(loops)]
    return list(itertools.accumulate([0, *steps])) if loops else []


def begin_sync0(link: Link, station: int, cycle: float, shift: float) -> None:
    """Let a slave begin with SYNC0, so much later than a multiple of its cycle [s].

    Raises `MasterError` if it does not answer.
    """
    period = round(NANOSECONDS * cycle)
    # Off, and with the master: then the times may be written.
    link.write(station, standard.SYNC_ACTIVATION, bytes(1))
    link.write(station, standard.SYNC_OWNER, bytes(1))
    (now,) = TIME.unpack(link.require(station, standard.SYSTEM_TIME, TIME.size, CLOCK))
    first = -(-(now + AHEAD) // period) * period + round(NANOSECONDS * shift)
    link.write(station, standard.SYNC_START, TIME.pack(first))
    link.write(station, standard.SYNC0_CYCLE, struct.pack('<I', period))
    on = bytes([CYCLIC | SYNC0])
    link.insist(station, standard.SYNC_ACTIVATION, on, 'the activation of SYNC0')
