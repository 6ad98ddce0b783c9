# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a case of the fault matrix consists of, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stewart_bringup.rigs import config_file, setting

VIGO, EX800 = 'vigo_ethercat', 'ex800_daq'
# Cycles of the shipped configurations [s].
CYCLES = {
    rig: setting([config_file('rig', rig)], 'driver', backend)['cycle_time']
    for rig, backend in ((VIGO, 'ethercat'), (EX800, 'daq'))
}
STATE, BUS, COMMANDS, IMU = 'driver/state', 'driver: cycle', 'driver: commands', 'imu: sensor'
SILENCE = 'actuator_states'
ANSWER = 'answer'
GONE = 'no driver'
# Legs that are held do not fall; an amplifier that lags ends its way at 63 mm/s. Where all lose
# their voltage together no joint moves further than the stroke. Where one loses it first the
# platform may land askew, its joints turned to their ends [m].
STAYS, DOWN, ASKEW = 0.003, 0.4, 1.0


@dataclass(frozen=True)
class Act:
    """Something that is done to the rig.

    Attributes:
        name: A fault of ``stewart virtual-rig --list-faults``, or ``do.`` and a method of the
            bench.
        arguments: What it is told.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


def act(name: str, **arguments: Any) -> Act:
    """Return an act in one word."""
    return Act(name, arguments)


@dataclass(frozen=True)
class Case:
    """One fault and what has to come of it.

    Attributes:
        name: Row of the table.
        acts: What is done.
        says: Pattern of the sentence that the operator sees; empty if nobody notices, see `why`.
        state: Where the driver ends: ``ENABLED``, ``DISABLED``, ``FAULT``, or `GONE`.
        within: Longest time to the sentence [s].
        moves: Furthest way of a platform joint until the driver is in its final state, or furthest
            any leg gets off its path where the motion goes on [m].
        sinks: Whether the legs lose their voltage and come to lie on their mechanical ends.
        askew: Whether they do not lose it together.
        source: Where the sentence stands: a topic, a status of ``/diagnostics``, or a service's
            answer.
        rig: Shipped configuration.
        moving: Whether the platform moves when it happens.
        repair: What ends the fault.
        before_repair: Pattern of what ``driver/reset_fault`` answers while the fault lasts; empty:
            not asked.
        after_repair: Pattern of what it answers afterwards.
        why: Why nobody notices.
        wrecks: Whether the platform may be left where no driver takes it back from.
    """

    name: str
    acts: tuple[Act, ...]
    says: str
    state: str
    within: float
    moves: float
    source: str = STATE
    rig: str = VIGO
    sinks: bool = False
    askew: bool = False
    moving: bool = True
    repair: tuple[Act, ...] = ()
    before_repair: str = ''
    after_repair: str = '^fault reset, (the drives are off|all drives come on)'
    why: str = ''
    wrecks: bool = False

    @property
    def falls(self) -> float:
        """Furthest way of a platform joint after the driver is in its final state [m]."""
        if self.askew:
            return ASKEW
        return DOWN if self.sinks else STAYS

    @property
    def goes_on(self) -> bool:
        """Whether the motion is not interrupted."""
        return self.state == 'ENABLED' and self.source != STATE

    @property
    def cycles(self) -> int:
        """Longest time to the sentence, in cycles of the rig."""
        return round(self.within / CYCLES[self.rig])


@dataclass(frozen=True)
class Outcome:
    """What came of a fault.

    Attributes:
        detected: Time to the sentence [s].
        sentence: What the operator saw.
        state: Where the driver ended.
        moved, fallen: See `Case.moves` and `Case.falls` [m].
        lowest: Stroke of the lowest leg at the end [m].
    """

    detected: float | None
    sentence: str
    state: str
    moved: float
    fallen: float
    lowest: float
