# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Distributed clocks: local time with drift, port times, system time and SYNC0 (ETG.1000.4)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from stewart_simulation.ethercat import registers
from stewart_simulation.ethercat.registers import Memory

CYCLIC, SYNC0 = 0x01, 0x02
BEHIND = 1 << 31
# Proportional and integral part of the loop that pulls a clock towards the reference [1/s, 1/s²].
GAIN, INTEGRAL_GAIN = 50.0, 600.0
# What the controller can change at most: the largest deviation in its data sheet's formula at the
# default speed counter start 1000h.
STRONGEST_CORRECTION = 763e-6
# A drive's own loop locks to SYNC0 when the clocks differ by less; an assumption [ns].
SETTLED = 10_000
# A process that stood still for longer than so many cycles has missed the rest.
MISSED = 250


@dataclass
class Instant:
    """The true time at which a frame enters the segment [ns].

    Attributes:
        rearranged: Whether a clock was set or a SYNC0 begun since somebody looked.
    """

    ns: int = 0
    rearranged: bool = True


class DistributedClock:
    """Clock of one slave.

    Args:
        drift: How much it is too fast [1]; 10e-6 gains ten microseconds per second.
        started: What the local time shows at first [ns].
        bits: How many its times have, 32 or 64; with 32 they begin anew after 4.3 s.

    Attributes:
        forward, backward: When a frame passes on its way out and back, since it entered [ns].
        begun: Whether SYNC0 has come for the first time.
    """

    def __init__(
        self, memory: Memory, instant: Instant, drift: float, started: int, bits: int = 64
    ) -> None:
        self._memory, self._instant, self._span = memory, instant, 1 << bits
        self._drift, self._correction, self._integral = drift, 0.0, 0.0
        self._then, self._local, self._offset = instant.ns, float(started), 0
        self._compared: int | None = None
        # System time of the first and of the next SYNC0, which go on beyond the span; None where
        # it has not been activated in time.
        self._first = 0
        self._next: int | None = None
        self.begun = False
        self.forward = self.backward = 0
        self._more_than_one_port = False
        memory.set(registers.SPEED_COUNTER_START, 2, 0x1000)
        memory.set(registers.FILTER_DEPTH, 2, 0x0C00)
        memory.on_write(registers.RECEIVE_TIME, 4, self._latch)
        memory.on_write(registers.SYSTEM_TIME, 4, self._compare)
        memory.on_write(registers.SPEED_COUNTER_START, 2, self._forget)
        memory.on_write(registers.SYNC_ACTIVATION, 1, self._activate)
        memory.on_write(registers.SYSTEM_TIME_OFFSET, 8, self._take_offset)
        memory.before_read(registers.SYSTEM_TIME, 8, self._show)

    def place(self, forward: int, backward: int | None) -> None:
        """Say when frames pass; without a way back nothing is connected behind."""
        self.forward, self._more_than_one_port = forward, backward is not None
        self.backward = forward if backward is None else backward

    @property
    def drift(self) -> float:
        """How much the clock is too fast [1]."""
        return self._drift

    @drift.setter
    def drift(self, value: float) -> None:
        self._settle()
        self._drift = value

    def local(self, after: int) -> int:
        """Return the local time when the frame is `after` ns in the segment [ns]."""
        elapsed = self._instant.ns + after - self._then
        return int(self._local + elapsed * (1.0 + self._drift + self._correction))

    def system(self) -> int:
        """Return this slave's copy of the system time, as it shows it [ns]."""
        return self._unwrapped() % self._span

    def _unwrapped(self) -> int:
        return self.local(self.forward) + self._offset

    @property
    def sync0_active(self) -> bool:
        """Whether SYNC0 is activated with a cycle time."""
        wanted = CYCLIC | SYNC0
        activation = self._memory.octets[registers.SYNC_ACTIVATION]
        return activation & wanted == wanted and self.cycle > 0

    @property
    def sync0_running(self) -> bool:
        """Whether SYNC0 has begun; it never does if its start was in the past."""
        return self._next is not None and self._unwrapped() >= self._first

    @property
    def due(self) -> float:
        """True time of the next SYNC0; infinite without one [ns]."""
        return inf if self._next is None else self._instant.ns + self._next - self._unwrapped()

    def pass_sync0(self) -> None:
        """Look forward to the SYNC0 after the one that is due, or after many that were missed."""
        assert self._next is not None
        cycle = self.cycle
        behind = max(self._unwrapped() - self._next, 0) // cycle
        if not self.begun:
            self.begun = self._instant.rearranged = True
        self._next += cycle * (behind + 1 if behind > MISSED else 1)

    @property
    def settled(self) -> bool:
        """Whether this clock has come as near to the reference as a drive demands."""
        difference = self._memory.get(registers.SYSTEM_TIME_DIFFERENCE, 4) & BEHIND - 1
        return difference <= SETTLED

    @property
    def cycle(self) -> int:
        """Cycle time of SYNC0 [ns]."""
        return self._memory.get(registers.SYNC0_CYCLE, 4)

    def _settle(self) -> int:
        """Keep what has been counted at the speed until now; return the true time [ns]."""
        now = self._instant.ns + self.forward
        self._local += (now - self._then) * (1.0 + self._drift + self._correction)
        self._then = now
        return now

    def _latch(self) -> None:
        """Store when this frame passes the ports, as a write of any value to 0900h asks."""
        backward = self.local(self.backward) if self._more_than_one_port else 0
        self._memory.set(registers.RECEIVE_TIME, 4, self.local(self.forward))
        self._memory.set(registers.RECEIVE_TIME + 4, 4, backward)
        self._memory.set(registers.RECEIVE_TIME_UNIT, 8, self.local(self.forward) % self._span)

    def _show(self) -> None:
        self._memory.set(registers.SYSTEM_TIME, 8, self.system())

    def _compare(self) -> None:
        """Compare with the reference's time that went by, and turn the speed accordingly."""
        memory = self._memory
        reference = memory.get(registers.SYSTEM_TIME, 4)
        delay = memory.get(registers.SYSTEM_TIME_DELAY, 4)
        error = (self.system() - reference - delay + 2**31) % 2**32 - 2**31
        sign = BEHIND if error < 0 else 0
        memory.set(registers.SYSTEM_TIME_DIFFERENCE, 4, sign | min(abs(error), BEHIND - 1))
        now = self._settle()
        if self._compared is not None:
            elapsed = min((now - self._compared) * 1e-9, 1.0 / GAIN)
            self._integral = _limited(self._integral - INTEGRAL_GAIN * error * 1e-9 * elapsed)
            self._correction = _limited(self._integral - GAIN * error * 1e-9)
        self._compared = now

    def _forget(self) -> None:
        self._settle()
        self._correction = self._integral = 0.0
        self._compared = None
        self._memory.set(registers.SYSTEM_TIME_DIFFERENCE, 4, 0)

    def _activate(self) -> None:
        now, span = self._unwrapped(), self._span
        ahead = (self._memory.get(registers.SYNC0_START, 8) - now) % span
        self._first = now + ahead
        self._next = self._first if self.sync0_active and 0 < ahead < span // 2 else None
        self.begun = False
        self._instant.rearranged = True

    def _take_offset(self) -> None:
        offset, span = self._memory.get(registers.SYSTEM_TIME_OFFSET, 8), self._span
        self._offset = (offset + span // 2) % span - span // 2
        self._instant.rearranged = True


def _limited(correction: float) -> float:
    return min(max(correction, -STRONGEST_CORRECTION), STRONGEST_CORRECTION)
