# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Find the speed at which a sensor talks."""

from __future__ import annotations

from collections.abc import Sequence

from stewart_driver.witmotion import commands
from stewart_driver.witmotion.commands import Register
from stewart_driver.witmotion.conversation import Conversation
from stewart_driver.witmotion.errors import SensorSilent
from stewart_driver.witmotion.link import Link

# The usual ones first.
CANDIDATES = (115200, 9600, 230400, 921600, 460800, 57600, 38400, 19200, 4800)
LISTEN = 0.35
# One frame in garbage has odds of 1 : 1.4e6 per byte, two have none.
ENOUGH = 2


def order(*first: int) -> tuple[int, ...]:
    """Return all speeds, beginning with those that are likely."""
    return tuple(dict.fromkeys([*first, *CANDIDATES]))


def probe(link: Link, candidates: Sequence[int]) -> Conversation[int]:
    """
    Try speeds until frames come.

    At each speed the sensor is also asked for a register, twice, which needs no unlocking and
    changes nothing: so a sensor that sends rarely, or nothing at all, is found, too.

    Parameters
    ----------
    link : Link
        Open line; left at the speed found.
    candidates : sequence of int
        Speeds in the order of trial.

    Returns
    -------
    int
        The speed.

    Raises
    ------
    SensorSilent
        If no frame came at any speed; says whether bytes did.

    """
    before = link.decoder.statistics.bytes
    for baud in candidates:
        link.set_baud(baud)
        for _ in range(ENOUGH):
            link.send(commands.read(Register.CONTENT))
        heard = yield from link.listen(LISTEN, enough=ENOUGH)
        if len(heard) >= ENOUGH:
            return baud
    count = link.decoder.statistics.bytes - before
    tried = commands.listed(candidates)
    if count:
        raise SensorSilent(
            f'{count} bytes came but no frame at any speed ({tried} baud): is this the sensor, '
            f'and is the line free of noise?'
        )
    raise SensorSilent(
        f'no bytes came at any speed ({tried} baud): is the sensor powered, its TX wired to RX?'
    )
