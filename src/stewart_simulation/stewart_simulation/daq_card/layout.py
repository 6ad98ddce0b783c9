# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What an ADDI-DATA APCI-3120 consists of, as its Linux driver ``addi_apci_3120`` declares it.

Subdevices in the driver's order: sixteen analogue inputs of 16 bit in eight ranges, eight
analogue outputs of 14 bit and ±10 V, four digital inputs, four digital outputs, a timer.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

BOARD = 'apci3120'
DRIVER = 'addi_apci_3120'


class Kind(IntEnum):
    """Types of subdevices, numbered as in comedi.h."""

    AI = 1
    AO = 2
    DI = 3
    DO = 4
    TIMER = 7


@dataclass(frozen=True)
class Subdevice:
    """One part of the card.

    Attributes:
        kind: What it does.
        channels, maxdata: How many channels it has, and their largest code.
        ranges: Ends of every range [V].
    """

    kind: Kind
    channels: int
    maxdata: int
    ranges: tuple[tuple[float, float], ...]


AI_RANGES = (
    (-10.0, 10.0),
    (-5.0, 5.0),
    (-2.0, 2.0),
    (-1.0, 1.0),
    (0.0, 10.0),
    (0.0, 5.0),
    (0.0, 2.0),
    (0.0, 1.0),
)

AI, AO, DI, DO, TIMER = range(5)
SUBDEVICES = (
    Subdevice(Kind.AI, 16, 0xFFFF, AI_RANGES),
    Subdevice(Kind.AO, 8, 0x3FFF, ((-10.0, 10.0),)),
    Subdevice(Kind.DI, 4, 1, ((0.0, 5.0),)),
    Subdevice(Kind.DO, 4, 1, ((0.0, 5.0),)),
    Subdevice(Kind.TIMER, 1, 0xFFFFFF, ((0.0, 1.0),)),
)
