# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six drives without brakes, by the octets of their frames: nothing here is the driver's.

States, words and maps are written down from CiA 402 and ETG.1000 by hand. A leg without power
sags. A drive takes its time to come on, acts on the controlword and on the target of some frames
ago, each by its own delay, and holds its leg by a position loop of finite stiffness, so that the
load pulls it a little below its target.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
import struct
from typing import Any

COUNTS = 8388608 / 0.01
CYCLE = 0.002
# What is on the wire: 6040h, 607Ah, 60B2h; 6041h, 6064h, 603Fh, 6077h.
OUT, IN = '<Hih', '<HiHh'
OFF, READY, ON, OPERATION, QUICK_STOP, FAULT = 0x0250, 0x0231, 0x0233, 0x1237, 0x0217, 0x0218
FINE = 8


@dataclass
class SaggingDrive:
    """One of them; lengths in metres, times in frames."""

    position: float = 0.3
    switches_on_in: int = 0
    word_delay: int = 0
    target_delay: int = 0
    sag: float = 0.05
    stiffness: float = 120.0
    load: float = 0.004
    feed_forward: float = 0.0
    deceleration: float = 6.0
    holds: bool = False
    word: int = OFF
    velocity: float = 0.0
    code: int = 0
    waited: int = 0
    acted: float = 0.0
    ahead: float = 0.0
    before: int = 0
    words: deque[int] = field(default_factory=lambda: deque([0] * 8, maxlen=8))
    targets: deque[float] = field(default_factory=lambda: deque(maxlen=8))

    def receive(self, word: int, target: float) -> None:
        """Take one frame, and live for a cycle."""
        self.words.append(word)
        self.targets.append(target)
        held = list(self.targets)
        before = self.acted if self.word == OPERATION else self.position
        self.acted = held[max(len(held) - 1 - self.target_delay, 0)]
        self.ahead = self.feed_forward * (self.acted - before) / CYCLE
        self._change(self.words[-1 - self.word_delay])
        for _ in range(FINE):
            self._move(CYCLE / FINE)

    def _change(self, word: int) -> None:
        rising, self.before = word & ~self.before, word
        voltage, quick = word & 0x02, word & 0x04
        if self.word == FAULT:
            if rising & 0x80:
                self.word, self.code = OFF, 0
        elif not voltage:
            self.word = OFF
        elif self.word == OPERATION and not quick:
            self.word = QUICK_STOP
        elif self.word == QUICK_STOP:
            if self.velocity == 0.0 and not self.holds:
                self.word = OFF
        elif self.word == OFF and word & 0x07 == 0x06:
            self.word = READY
        elif self.word == READY and word & 0x07 == 0x07:
            self.word, self.waited = ON, 0
        elif self.word == ON and word & 0x0F == 0x0F:
            self.waited += 1
            if self.waited > self.switches_on_in:
                self.word = OPERATION
        elif self.word in {ON, OPERATION} and word & 0x0F == 0x07:
            self.word = ON
        elif word & 0x07 == 0x06 and self.word in {ON, OPERATION}:
            self.word = READY

    def _move(self, time: float) -> None:
        if self.word == OPERATION:
            wanted = self.stiffness * (self.acted - self.position) + self.ahead - self.load
            self.velocity += (wanted - self.velocity) * min(time / 0.003, 1.0)
        elif self.word == QUICK_STOP:
            change = self.deceleration * time
            slower = max(abs(self.velocity) - change, 0.0)
            self.velocity = slower if self.velocity > 0.0 else -slower
        else:
            self.velocity += (-self.sag - self.velocity) * min(time / 0.01, 1.0)
        self.position += self.velocity * time


class SaggingWire:
    """Six of them in one frame.

    Attributes:
        sent: What came: controlword, target [count], torque.
        told: Where the legs were [m] when each of these was made, as the drives had reported it.
    """

    expected = 18
    clock: int = 0

    def __init__(self, drives: Sequence[SaggingDrive]) -> None:
        self.drives = list(drives)
        self.time = 0.0
        self.sent: list[list[tuple[int, int, int]]] = []
        self.told: list[list[float]] = []
        self.counter = 18
        self.closed_at: float | None = None
        for drive in self.drives:
            drive.velocity = -drive.sag

    def now(self) -> float:
        return self.time

    def sleep(self, duration: float) -> None:
        self.time += duration

    def exchange(self, outputs: Sequence[bytes]) -> int:
        frame = [struct.unpack(OUT, data) for data in outputs]
        self.told.append([drive.position for drive in self.drives])
        self.sent.append(frame)
        for drive, (word, target, _) in zip(self.drives, frame, strict=True):
            drive.receive(word, target / COUNTS)
        return self.counter

    def inputs(self) -> list[bytes]:
        return [
            struct.pack(IN, drive.word, round(drive.position * COUNTS), drive.code, 0)
            for drive in self.drives
        ]

    def statuses(self) -> list[Any]:
        from stewart_driver.ethercat.errors import AlStatus

        return [AlStatus(8, 0, '')] * 6

    def request(self, state: int) -> None:
        """They are in OP all the time."""

    def emergencies(self, leg: int) -> list[Any]:
        return []

    def close(self) -> None:
        self.closed_at = self.time
