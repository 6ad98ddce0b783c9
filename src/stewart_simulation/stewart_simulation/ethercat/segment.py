# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A line of slaves: one frame goes through all of them and comes back, or gets lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import itertools
from math import inf
import random

from stewart_simulation.ethercat import frames
from stewart_simulation.ethercat.clock import Instant
from stewart_simulation.ethercat.drive_model import AxisCommand, DriveModel, FollowingDrives
from stewart_simulation.ethercat.frames import Command, Span, WORKING_COUNTER
from stewart_simulation.ethercat.omron_1s import DriveType
from stewart_simulation.ethercat.slave import Slave

CABLE_DELAY = 640
LOCALLY_ADMINISTERED = 0x02
LONGEST_STEP, IDLE = 1_000_000, 5_000_000
# Drives whose clocks have settled have their SYNC0 within this [ns].
TOGETHER = 50_000
# By how much the clocks of slaves run fast or slow, in turns [-].
DRIFTS = (0.0, 12e-6, -18e-6, 5e-6, 15e-6, -9e-6)
# Where a frame gets lost: before the slaves have seen it, or after.
WAYS = OUT, BACK = 'out', 'back'


class Segment:
    """Drives on one cable, usable without any socket.

    Args:
        types: The drives in the order of the cable.
        clock: Returns the true time [ns]; it must not go back.
        model: What the drives move; None gives axes that follow with a lag, at count 0.
        since: Up to when the model has come, on the same clock; None stands for now [ns].

    Attributes:
        slaves, powered: In the order of the cable, and whether each has its supply.
    """

    def __init__(
        self,
        types: Sequence[DriveType],
        clock: Callable[[], int],
        model: DriveModel | None = None,
        since: int | None = None,
    ) -> None:
        self._time = clock
        self.instant = Instant(clock())
        self.slaves = [
            Slave(kind, self.instant, drift)
            for kind, drift in zip(types, itertools.cycle(DRIFTS), strict=False)
        ]
        count = len(self.slaves)
        self.model = model or FollowingDrives([0.0] * count)
        self._advanced: float = self.instant.ns if since is None else since
        self._updated: list[float] = [self._advanced] * count
        self._axes = list(range(count))
        self._commands = [AxisCommand()] * count
        self._synchronous: list[tuple[Slave, int]] = []
        self._free: list[tuple[Slave, int]] = []
        self._due = inf
        self.powered = [True] * count
        self._cut_after: int | None = None
        self._reached: list[Slave] = []
        self.connect()

    # The cable.

    @property
    def reached(self) -> int:
        """How many slaves a frame passes."""
        return len(self._reached)

    def power(self, number: int, *, on: bool) -> None:
        """Switch slave 1, 2, … on or off; what is behind it on the cable goes with it."""
        if on and not self.powered[number - 1]:
            self.slaves[number - 1].power_up()
        self.powered[number - 1] = on
        self.connect()

    def cut(self, after: int | None) -> None:
        """Cut the cable behind a slave (0: before the first), or mend it with None."""
        self._cut_after = after
        self.connect()

    def position(self, number: int) -> float:
        """Return where the axis of slave 1, 2, … really is [count]."""
        return self.model.positions[self._axes[number - 1]]

    def set_torque_off(self, number: int, active: bool) -> None:
        """Let the safety circuit take the torque of slave 1, 2, … or give it back."""
        self.model.torque_off[self._axes[number - 1]] = active

    def swap(self, one: int, other: int) -> None:
        """Exchange two drives with their motors on the cable, as a fitter does by mistake."""
        slaves, axes, i, j = self.slaves, self._axes, one - 1, other - 1
        slaves[i], slaves[j] = slaves[j], slaves[i]
        axes[i], axes[j] = axes[j], axes[i]
        for number in (one, other):
            self.slaves[number - 1].power_up()
        self.connect()

    def connect(self) -> None:
        """Lay cable and clocks out, at first and after slaves were built anew."""
        count = len(self.slaves) if self._cut_after is None else self._cut_after
        count = min(count, self.powered.index(False)) if False in self.powered else count
        self._reached = self.slaves[:count]
        furthest = CABLE_DELAY * max(count - 1, 0)
        for position, slave in enumerate(self.slaves):
            behind = position + 1 < count
            slave.set_links(before=position < count, behind=behind)
            forward = CABLE_DELAY * position
            slave.clock.place(forward, 2 * furthest - forward if behind else None)
        self.instant.rearranged = True

    # Time.

    @property
    def due(self) -> float:
        """When the drives go on by themselves: at a SYNC0, or after an idle time [s]."""
        self._arrange()
        return 1e-9 * min(self._due, self._advanced + IDLE)

    def tick(self, until: int | None = None) -> None:
        """Let drives and mechanics go on until now or an instant [ns]; look what is overdue."""
        now = self.instant.ns = self._time() if until is None else max(until, self.instant.ns)
        self._arrange()
        while self._due <= now:
            self._advance(max(self._due, self._advanced))
            together = self._due + TOGETHER
            for slave, axis in self._synchronous:
                if slave.clock.due <= together:
                    slave.sync0()
                    self._update(slave, axis)
            self.model.command(self._commands)
            self._find_due()
        if self._free or now - self._advanced >= IDLE:
            self._advance(now)
            for slave, axis in self._free:
                self._update(slave, axis)
            self.model.command(self._commands)
        for slave, on in zip(self.slaves, self.powered, strict=True):
            if on:
                slave.watch(now)

    def _advance(self, until: float) -> None:
        elapsed, self._advanced = 1e-9 * (until - self._advanced), until
        self.model.advance(elapsed)

    def _update(self, slave: Slave, axis: int) -> None:
        """Let a drive measure, act and show what it has measured."""
        model, drive, turns = self.model, slave.drive, slave.turns
        elapsed = 1e-9 * (self._advanced - self._updated[axis])
        self._updated[axis] = self._advanced
        drive.sto = bool(model.torque_off[axis])
        drive.measure(model.positions[axis] + turns, model.velocities[axis], model.torques[axis])
        drive.update(elapsed)
        slave.present()
        command = drive.command
        self._commands[axis] = (
            command._replace(position=command.position - turns) if turns else command
        )

    def _arrange(self) -> None:
        """Tell the drives that act on SYNC0 from those that do not, or not yet."""
        if not self.instant.rearranged:
            return
        self.instant.rearranged = False
        self._synchronous, self._free = [], []
        for slave, axis, on in zip(self.slaves, self._axes, self.powered, strict=True):
            if not on:
                self._commands[axis] = AxisCommand()
                continue
            if slave.clock.due < inf:
                self._synchronous.append((slave, axis))
            if not slave.clock.begun:
                self._free.append((slave, axis))
        self.model.command(self._commands)
        self._find_due()

    def _find_due(self) -> None:
        self._due = min((slave.clock.due for slave, _ in self._synchronous), default=inf)

    # Frames.

    def process(self, frame: bytearray, at: int | None = None) -> bytearray:
        """Send one frame through the segment; raises `FrameError` if it is none.

        Args:
            frame: Whole Ethernet frame; not changed.
            at: When it has come, on the segment's clock; None stands for now [ns].

        Returns:
            The frame as it comes back; empty if not even the first slave is there.
        """
        spans = frames.spans(frame)
        now = self._time() if at is None else max(at, self.instant.ns)
        cyclic = any(span.command in frames.LOGICAL for span in spans)
        if cyclic or now - self._advanced >= LONGEST_STEP:
            self.tick(now)
        self.instant.ns = now
        if not self._reached:
            return bytearray()
        answer = bytearray(frame)
        answer[frames.SOURCE_ADDRESS] |= LOCALLY_ADMINISTERED
        for span in spans:
            if span.command in frames.LOGICAL:
                counter = self._logical(answer, span)
            else:
                counter = self._physical(answer, span)
            if counter:
                at = span.start + span.length
                total = WORKING_COUNTER.unpack_from(answer, at)[0] + counter
                WORKING_COUNTER.pack_into(answer, at, total & 0xFFFF)
        return answer

    def _logical(self, frame: bytearray, span: Span) -> int:
        address = span.address | span.offset << 16
        return sum(
            slave.fmmus.exchange(span.command, address, frame, span.start, span.length)
            for slave in self._reached
        )

    def _physical(self, frame: bytearray, span: Span) -> int:
        """Let the addressed slaves read and write; count the position up where it is counted."""
        command, counter, position = span.command, 0, span.address
        broadcast = command in {Command.BRD, Command.BWR, Command.BRW}
        multiple = command in frames.READ_MULTIPLE_WRITE
        for slave in self._reached:
            if command in frames.FIXED:
                addressed = slave.station == span.address
            else:
                addressed = broadcast or position == 0
                position = position + 1 & 0xFFFF
            if addressed and (command in frames.READS or multiple):
                counter += _read(slave, frame, span, merge=broadcast)
            if (addressed and command in frames.WRITES) or (multiple and not addressed):
                data = frame[span.start : span.start + span.length]
                written = slave.write(span.offset, data)
                counter += (2 if command in frames.READS else 1) if written else 0
        if command not in frames.FIXED:
            address = span.start - frames.DATAGRAM_HEADER.size + 2
            frame[address : address + 2] = position.to_bytes(2, 'little')
        return counter


def _read(slave: Slave, frame: bytearray, span: Span, *, merge: bool) -> int:
    """Put what a slave answers into the frame; a broadcast merges the answers bit by bit."""
    data = slave.read(span.offset, span.length)
    if data is None:
        return 0
    if merge:
        old = frame[span.start : span.start + span.length]
        data = bytes(a | b for a, b in zip(old, data, strict=True))
    frame[span.start : span.start + span.length] = data
    return 1


class Line:
    """A segment behind a wire on which frames get lost, at random by a seed, or come back late.

    Attributes:
        probability: Of the loss of a frame, half of it on either way [-].
        delay: How much later every frame comes back [ns].
        sent, lost: Frames of the master, and how many of them never came back.
    """

    def __init__(self, segment: Segment, seed: int) -> None:
        self.segment, self._random = segment, random.Random(seed)
        self._next = dict.fromkeys(WAYS, 0)
        self._skip = dict.fromkeys(WAYS, 0)
        self.probability = 0.0
        self.delay = self.sent = self.lost = 0

    def lose_next(self, count: int, way: str, skip: int = 0) -> None:
        """Let some frames pass, then lose the next ones, all of them."""
        self._next[way], self._skip[way] = count, skip

    def send(self, frame: bytearray, at: int | None = None) -> bytearray:
        """Send a frame, now or at [ns]; it comes back empty if it is lost; raises `FrameError`."""
        self.sent += 1
        answer = bytearray()
        if not self._loses(OUT):
            answer = self.segment.process(frame, at)
            if answer and self._loses(BACK):
                answer = bytearray()
        self.lost += not answer
        return answer

    def _loses(self, way: str) -> bool:
        if self._next[way] and self._skip[way]:
            self._skip[way] -= 1
        elif self._next[way]:
            self._next[way] -= 1
            return True
        return bool(self.probability) and self._random.random() < 0.5 * self.probability
