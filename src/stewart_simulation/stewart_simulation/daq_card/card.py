# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""An ADDI-DATA APCI-3120: codes and volts, and everything that its kernel driver refuses.

Sixteen analogue inputs of 16 bit in eight ranges, eight analogue outputs of 14 bit and ±10 V, four
digital inputs, four digital outputs and a timer, as the Linux driver ``addi_apci_3120`` declares
them. It has no socket and no thread, and is told the time. The outputs hold the last code that was
written, for ever: an APCI-3120 has no watchdog on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
import errno
from math import floor
import time

import numpy as np
from numpy.typing import ArrayLike
from stewart_driver.legs import Array, LEGS
from stewart_simulation.daq_card.wire import (
    Answer,
    BITS,
    GTOD,
    Instruction,
    Operation,
    READ,
    Request,
    WRITE,
)

BOARD, DRIVER = 'apci3120', 'addi_apci_3120'


class Kind(IntEnum):
    """Types of subdevices, numbered as in comedi.h."""

    AI = 1
    AO = 2
    DI = 3
    DO = 4
    TIMER = 7


@dataclass(frozen=True)
class Subdevice:
    """One part of the card: channels with their largest code, and the ends of its ranges [V]."""

    kind: Kind
    channels: int
    maxdata: int
    ranges: tuple[tuple[float, float], ...]


AI_RANGES = (
    *((-10.0, 10.0), (-5.0, 5.0), (-2.0, 2.0), (-1.0, 1.0)),
    *((0.0, 10.0), (0.0, 5.0), (0.0, 2.0), (0.0, 1.0)),
)
AI, AO, DI, DO, TIMER = range(5)
SUBDEVICES = (
    Subdevice(Kind.AI, 16, 0xFFFF, AI_RANGES),
    Subdevice(Kind.AO, 8, 0x3FFF, ((-10.0, 10.0),)),
    Subdevice(Kind.DI, 4, 1, ((0.0, 5.0),)),
    Subdevice(Kind.DO, 4, 1, ((0.0, 5.0),)),
    Subdevice(Kind.TIMER, 1, 0xFFFFFF, ((0.0, 1.0),)),
)
AO_LOWER, AO_UPPER = SUBDEVICES[AO].ranges[0]
AO_LAST = SUBDEVICES[AO].maxdata
AI_LAST = SUBDEVICES[AI].maxdata
# At power-up the outputs are at 0 V, the code in the middle.
AO_START = (AO_LAST + 1) // 2
# So many numbers of the noise are drawn at once.
DRAWN = 512


@dataclass(frozen=True)
class CardSettings:
    """How good the converter is.

    Attributes:
        noise_codes: Standard deviation of a conversion, in codes of the ±10 V range.
        seed: Of noise and delays.
        late_share, late_mean: Share of calls that something else on the machine delays, and by how
            much on average: an exponential distribution [-], [s].
    """

    noise_codes: float = 0.5
    seed: int = 0
    late_share: float = 1e-3
    late_mean: float = 1e-3


class Card:
    """One APCI-3120.

    Args:
        wall: Wall clock of its kernel: the time that the inputs are of [s].

    Attributes:
        gone: Every call fails with ENODEV.
        delay: How much longer every call takes [s].
        stuck, saturated: Codes that channels 0 to 15 give instead of their own; saturation wins.
        noise_v (16,): Standard deviation of what disturbs the channels from outside [V].
    """

    def __init__(self, settings: CardSettings, wall: Callable[[], float] = time.time) -> None:
        self._settings, self._wall = settings, wall
        self._delays = np.random.default_rng((settings.seed, 1))
        self._volts = np.zeros(SUBDEVICES[AI].channels)
        self._written = [0] * SUBDEVICES[AO].channels
        self._codes = [AO_START] * SUBDEVICES[AO].channels
        self._outputs: Array | None = None
        self._normal = _normal(np.random.default_rng(settings.seed))
        self._digital = 0
        self._owners: dict[int, object] = {}
        self._last: dict[int, int] = {}
        self.gone = False
        self.delay = 0.0
        self.stuck: dict[int, int] = {}
        self.saturated: dict[int, int] = {}
        self.noise_v = np.zeros(SUBDEVICES[AI].channels)

    def inputs(self, volts: ArrayLike) -> None:
        """Apply six voltages to the analogue inputs 0 to 5, shape (6,) [V]."""
        self._volts[:LEGS] = volts

    @property
    def outputs(self) -> Array:
        """Voltages of the analogue outputs 0 to 5, shape (6,) [V]."""
        if self._outputs is None:
            share = np.array(self._codes[:LEGS], dtype=np.float64) / AO_LAST
            self._outputs = np.asarray(AO_LOWER + (AO_UPPER - AO_LOWER) * share)
        return self._outputs

    @property
    def digital_outputs(self) -> tuple[bool, ...]:
        """Levels of the digital outputs 0 to 3."""
        return tuple(bool(self._digital >> n & 1) for n in range(SUBDEVICES[DO].channels))

    def last_code(self, channel: int) -> int:
        """Return what an analogue input gave last."""
        return self._last.get(channel, (AI_LAST + 1) // 2)

    def handle(self, request: bytes, owner: object) -> bytes:
        """Carry out one call of an open file, which may lock, and return its answer."""
        try:
            call = Request.decode(request)
        except ValueError:
            return Answer(0, -errno.EINVAL, self._late()).encode()
        return self.answer(call, owner).encode()

    def answer(self, call: Request, owner: object) -> Answer:
        """Carry out one call of an open file."""
        data: Sequence[Sequence[int]] = ()
        if self.gone:
            result = -errno.ENODEV
        elif call.operation is Operation.RUN:
            result, data = self._run(call.instructions, owner)
        else:
            result = self._lock(call, owner)
        return Answer(call.number, result, self._late(), data)

    def _late(self) -> float:
        """Return how long this call is held up [s]."""
        settings = self._settings
        if self._delays.random() >= settings.late_share:
            return self.delay
        return self.delay + float(self._delays.exponential(settings.late_mean))

    def release(self, owner: object) -> None:
        """Give up what a closed file had locked; the outputs stay as they are."""
        self._owners = {key: who for key, who in self._owners.items() if who is not owner}

    def _lock(self, call: Request, owner: object) -> int:
        if not 0 <= call.subdevice < len(SUBDEVICES):
            return -errno.EINVAL
        holder = self._owners.get(call.subdevice)
        if holder is not None and holder is not owner:
            return -errno.EBUSY if call.operation is Operation.LOCK else -errno.EACCES
        if call.operation is Operation.LOCK:
            self._owners[call.subdevice] = owner
        else:
            self._owners.pop(call.subdevice, None)
        return 0

    def _run(
        self, instructions: Sequence[Instruction], owner: object
    ) -> tuple[int, Sequence[Sequence[int]]]:
        """Carry out a list up to the first instruction that is refused, as the kernel does."""
        results: list[Sequence[int]] = []
        for item in instructions:
            outcome = self._one(item, owner)
            if isinstance(outcome, int):
                return outcome, ()
            results.append(outcome)
        return len(results), results

    def _one(self, item: Instruction, owner: object) -> Sequence[int] | int:
        """Return the data of one instruction, or a negative error number."""
        if item.code == GTOD and len(item.data) == 2:
            return divmod(round(1e6 * self._wall()), 1_000_000)
        if not 0 <= item.subdevice < len(SUBDEVICES) or not item.data:
            return -errno.EINVAL
        subdevice = SUBDEVICES[item.subdevice]
        if self._owners.get(item.subdevice, owner) is not owner:
            return -errno.EACCES
        # The kernel driver's channel list has no place for the reference in the top bits.
        channel, chosen = item.channel_spec & 0xFFFF, item.channel_spec >> 16 & 0xFF
        if channel >= subdevice.channels or chosen >= len(subdevice.ranges):
            return -errno.EINVAL
        if item.code == WRITE and not all(0 <= x <= subdevice.maxdata for x in item.data):
            return -errno.EINVAL
        match subdevice.kind, item.code:
            case Kind.AI, code if code == READ:
                return tuple(self._convert(channel, chosen) for _ in item.data)
            case Kind.AO, code if code == READ:
                return (self._written[channel],) * len(item.data)
            case Kind.AO, code if code == WRITE:
                self._codes[channel] = self._written[channel] = item.data[-1]
                self._outputs = None
                return item.data
            case ((Kind.DI | Kind.DO), code) if code == BITS and len(item.data) == 2:
                return self._bits(subdevice.kind, *item.data)
        return -errno.EINVAL

    def _convert(self, channel: int, chosen: int) -> int:
        """Convert one voltage; beyond the range the converter stays at its last code."""
        lower, upper = AI_RANGES[chosen]
        volts = float(self._volts[channel]) + next(self._normal) * float(self.noise_v[channel])
        code = (volts - lower) / (upper - lower) * AI_LAST
        code += self._settings.noise_codes * next(self._normal)
        own = int(min(max(floor(code + 0.5), 0), AI_LAST))
        given = self.saturated.get(channel, self.stuck.get(channel, own))
        self._last[channel] = given
        return given

    def _bits(self, kind: Kind, mask: int, bits: int) -> tuple[int, ...]:
        if kind is Kind.DI:
            return mask, 0
        mask &= (1 << SUBDEVICES[DO].channels) - 1
        self._digital = self._digital & ~mask | bits & mask
        return mask, self._digital


def _normal(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.standard_normal(DRAWN).tolist()
