# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Mode 6 of a simulated drive (CiA 402): to a limit switch or an index pulse by itself.

Switches and pulses stand in the counts of the motor, which a drive does not know before it is
home: from then on it counts from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import auto, Enum
from math import ceil, floor, inf

from stewart_simulation.ethercat import profile
from stewart_simulation.ethercat.object_dictionary import Access, Entry, ObjectDictionary

MODE, METHOD, OFFSET, SPEEDS, ACCELERATION = 6, 0x6098, 0x607C, 0x6099, 0x609A
LOWER_SWITCH, UPPER_SWITCH, INDEX_DOWN, INDEX_UP, HERE = 17, 18, 33, 34, 37
METHODS = (LOWER_SWITCH, UPPER_SWITCH, INDEX_DOWN, INDEX_UP, HERE)
START, HALT = 1 << 4, 1 << 8
AT_REST, ATTAINED, FAILED = 1 << 10, 1 << 12, 1 << 13


@dataclass(frozen=True)
class HomingSwitches:
    """What a motor finds on its way.

    Attributes:
        lower, upper: The limit switches are on below and above these places [count].
        index: One of the index pulses [count]; the others are whole revolutions away.
        revolution: [count].
        fails: Whether the drive gives up with a homing error when it reaches a switch.
    """

    lower: float = -inf
    upper: float = inf
    index: float = 0.0
    revolution: float = float(1 << 23)
    fails: bool = False


def add_objects(dictionary: ObjectDictionary) -> None:
    """Add what homing is told by, and mode 6."""
    speeds = (Entry('I', 1 << 20, Access.ALWAYS, 1), Entry('I', 1 << 18, Access.ALWAYS, 1))
    dictionary.record(SPEEDS, *speeds)
    dictionary.variable(ACCELERATION, Entry('I', 1 << 24, Access.ALWAYS, 1))
    dictionary.objects[METHOD][0].allowed = frozenset({0, *METHODS})
    mode, modes = dictionary.entry(profile.MODE), dictionary.entry(profile.SUPPORTED_MODES)
    mode.allowed |= {MODE}
    modes.value = modes.number | 1 << (MODE - 1)


class _Phase(Enum):
    IDLE = auto()
    TO_SWITCH = auto()
    OFF_SWITCH = auto()
    TO_INDEX = auto()
    DONE = auto()
    FAILED = auto()


class Homing:
    """The way of one motor to home.

    Attributes:
        demand, rate: Where the motor shall be, and how fast that moves, in its own counts.
        origin: Motor count at which the drive counts 0.
    """

    def __init__(self, dictionary: ObjectDictionary, switches: HomingSwitches) -> None:
        self._objects, self._switches = dictionary.objects, switches
        self.demand = self.rate = self.origin = 0.0
        self._phase, self._goal = _Phase.IDLE, 0.0

    @property
    def bits(self) -> int:
        """Bits 10, 12 and 13 of the statusword."""
        bits = {_Phase.DONE: ATTAINED, _Phase.FAILED: FAILED}.get(self._phase, 0)
        return bits | (AT_REST if self.rate == 0.0 else 0)

    def stand(self, position: float) -> None:
        """Stand at a motor count, in another mode or off."""
        self.demand, self.rate, self._phase = position, 0.0, _Phase.IDLE

    def step(self, word: int, elapsed: float) -> None:
        """Move on by a time [s] as a controlword asks."""
        if not word & START:
            self._phase = _Phase.IDLE
        elif self._phase is _Phase.IDLE and not word & HALT:
            self._begin()
        moving = word & START and not word & HALT
        self._move(self._wanted() if moving else 0.0, elapsed)

    def _begin(self) -> None:
        method = self._objects[METHOD][0].number
        if method in {LOWER_SWITCH, UPPER_SWITCH}:
            self._phase = _Phase.TO_SWITCH
        elif method in {INDEX_DOWN, INDEX_UP}:
            revolution, index = self._switches.revolution, self._switches.index
            turns = (self.demand - index) / revolution
            whole = floor(turns) if method == INDEX_DOWN else ceil(turns)
            self._goal, self._phase = index + whole * revolution, _Phase.TO_INDEX
        else:
            self._arrive(self.demand)

    def _wanted(self) -> float:
        """Return the speed that is wanted now [count/s], and change the phase where it is due."""
        fast, slow = (float(self._objects[SPEEDS][number].number) for number in (1, 2))
        down = self._objects[METHOD][0].number in {LOWER_SWITCH, INDEX_DOWN}
        sign = -1.0 if down else 1.0
        edge = self._switches.lower if down else self._switches.upper
        pressed = sign * (self.demand - edge) > 0.0
        if self._phase is _Phase.TO_SWITCH and pressed:
            self._phase = _Phase.FAILED if self._switches.fails else _Phase.OFF_SWITCH
        if self._phase is _Phase.OFF_SWITCH and not pressed:
            self._arrive(edge)
        if self._phase is _Phase.TO_INDEX and sign * (self.demand - self._goal) >= 0.0:
            self._arrive(self._goal)
        return {
            _Phase.TO_SWITCH: sign * fast,
            _Phase.OFF_SWITCH: -sign * slow,
            _Phase.TO_INDEX: sign * slow,
        }.get(self._phase, 0.0)

    def _arrive(self, place: float) -> None:
        """Count from a motor count on."""
        self.origin, self._phase = place + self._objects[OFFSET][0].number, _Phase.DONE

    def _move(self, wanted: float, elapsed: float) -> None:
        most = self._objects[ACCELERATION][0].number * elapsed
        before = self.rate
        self.rate += min(max(wanted - before, -most), most)
        self.demand += 0.5 * (before + self.rate) * elapsed
