# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Distributed clocks: what each shows, how far it is away, and when SYNC0 begins (ETG.1000.4)."""

from __future__ import annotations

from collections.abc import Sequence
import itertools
import struct

from stewart_simulation.ethercat.master.link import Link, MasterError
from stewart_simulation.ethercat.master.standard import (
    LOCAL_TIME,
    PORT_TIMES,
    SPEED_COUNTER,
    SYNC0_CYCLE,
    SYNC_ACTIVATION,
    SYNC_OWNER,
    SYNC_START,
    SYSTEM_TIME,
    TIME_DELAY,
    TIME_FILTER,
    TIME_OFFSET,
)

PORTS, HALF = struct.Struct('<II'), 2**32
TIME = struct.Struct('<Q')
WHOLE = 2**64
# What the control loops of the clocks begin with.
SPEED, FILTER = 0x1000, 0x0C00
CYCLIC, SYNC0 = 0x01, 0x02
# All drives have been told before the first SYNC0 [ns].
AHEAD = 100_000_000
NANOSECONDS = 1e9
CLOCK = 'a question for its clock'


def align(link: Link, stations: Sequence[int]) -> None:
    """Let all clocks show the time of the link, and tell them the way of a frame from the first.

    Args:
        link: The wire.
        stations: In the order of the cable, without branches; the first has the reference clock.

    Raises:
        MasterError: If one does not answer.
    """
    link.broadcast(SPEED_COUNTER, struct.pack('<H', SPEED))
    link.broadcast(TIME_FILTER, struct.pack('<H', FILTER))
    now = link.now_ns()
    link.broadcast(PORT_TIMES, bytes(4))
    passed = [PORTS.unpack(link.require(x, PORT_TIMES, PORTS.size, CLOCK)) for x in stations]
    shown = [TIME.unpack(link.require(x, LOCAL_TIME, TIME.size, CLOCK))[0] for x in stations]
    for station, local, delay in zip(stations, shown, delays(passed), strict=True):
        link.write(station, TIME_OFFSET, TIME.pack((now + delay - local) % WHOLE))
        link.write(station, TIME_DELAY, struct.pack('<I', delay))


def delays(passed: Sequence[tuple[int, int]]) -> list[int]:
    """Return how long a frame takes from the first slave to each.

    Args:
        passed: When one frame came to each slave, and when it came back there, by its own clock
            [ns]; the last one has nothing behind it.

    Returns:
        One-way delays [ns]; the way back is as long.

    Examples:
        >>> delays([(1000, 3000), (500, 1500), (4294967290, 0)])
        [0, 500, 1000]
    """
    loops = [(back - out) % HALF for out, back in passed[:-1]] + [0] * bool(passed)
    steps = [(before - behind) // 2 for before, behind in itertools.pairwise(loops)]
    return list(itertools.accumulate([0, *steps])) if loops else []


def begin_sync0(link: Link, station: int, cycle: float, shift: float) -> None:
    """Let a slave begin with SYNC0, in cycles and so much later than a multiple of them [s].

    Raises:
        MasterError: If it does not answer.
    """
    period = round(NANOSECONDS * cycle)
    # Off, and with the master: then the times may be written.
    link.write(station, SYNC_ACTIVATION, bytes(1))
    link.write(station, SYNC_OWNER, bytes(1))
    (now,) = TIME.unpack(link.require(station, SYSTEM_TIME, TIME.size, CLOCK))
    first = -(-(now + AHEAD) // period) * period + round(NANOSECONDS * shift)
    link.write(station, SYNC_START, TIME.pack(first))
    link.write(station, SYNC0_CYCLE, struct.pack('<I', period))
    if not link.write(station, SYNC_ACTIVATION, bytes([CYCLIC | SYNC0])):
        raise MasterError('no answer to the activation of SYNC0')
