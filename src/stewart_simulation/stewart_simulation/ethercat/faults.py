# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults that can be put on a segment, by call or by name, and what can be seen from outside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stewart_simulation.ethercat.errors import FaultError
from stewart_simulation.ethercat.line import Line, Way
from stewart_simulation.ethercat.omron_1s import COUNTS_PER_REVOLUTION
from stewart_simulation.ethercat.registers import AlState
from stewart_simulation.ethercat.segment import Segment
from stewart_simulation.ethercat.slave import Slave
from stewart_simulation.fault_table import FaultTable

LARGEST_DRIFT = 500e-6
# Fields of a drive type that are sets of objects.
OBJECTS = ('unmappable', 'absent')


class Faults(FaultTable):
    """What can be done to a segment.

    Slaves are numbered 1, 2, … in the order of the cable.

    Args:
        segment: What breaks.
        line: The wire in front of it.
    """

    def __init__(self, segment: Segment, line: Line) -> None:
        """Break nothing yet."""
        super().__init__()
        self._segment, self._line = segment, line

    def _slave(self, fault: str, number: int) -> Slave:
        count = len(self._segment.slaves)
        if not (isinstance(number, int) and 1 <= number <= count):
            raise FaultError(fault, f'slave must be 1 to {count}, not {number!r}')
        return self._segment.slaves[number - 1]

    # The wire.

    def lose_next(self, count: int = 1, way: str = 'out', skip: int = 0) -> None:
        """Lose the next frames before (out) or after (back) the slaves have seen them."""
        if way not in {item.value for item in Way} or count < 0 or skip < 0:
            text = f'{count!r} frames after {skip!r} cannot get lost on the way {way!r}'
            raise FaultError('lose_next', text)
        self._line.lose_next(count, Way(way), skip)

    def lose_some(self, probability: float) -> None:
        """Lose frames at random; 0 ends it."""
        if not 0.0 <= probability <= 1.0:
            raise FaultError('lose_some', f'probability must be 0 to 1, not {probability!r}')
        self._line.lose_some(probability)

    def delay(self, seconds: float) -> None:
        """Let every frame come back late; 0 ends it."""
        if not 0.0 <= seconds <= 10.0:
            raise FaultError('delay', f'seconds must be 0 to 10, not {seconds!r}')
        self._line.delay = round(1e9 * seconds)

    def cut(self, after: int) -> None:
        """Cut the cable behind a slave; 0 cuts it in front of the first."""
        if after:
            self._slave('cut', after)
        self._segment.cut(after)

    def mend(self) -> None:
        """Join the cable."""
        self._segment.cut(None)

    # A slave.

    def power_off(self, slave: int) -> None:
        """Take the supply from a slave; it passes no frames on."""
        self._slave('power_off', slave)
        self._segment.power(slave, on=False)

    def power_on(self, slave: int) -> None:
        """Give it back: the slave starts in INIT, without an address."""
        self._slave('power_on', slave)
        self._segment.power(slave, on=True)

    def power_cycle(self, slave: int) -> None:
        """Take the supply away for a moment, too short for the line to notice."""
        self.power_off(slave)
        self.power_on(slave)

    def identity(
        self, slave: int, vendor: int = 0x83, product: int = 0xAB, revision: int = 0x00010004
    ) -> None:
        """Replace the drive by another type; the default is a smaller one of the same series."""
        self._slave('identity', slave).rename(vendor, product, revision)
        self._segment.refresh()

    def read_only_maps(self, slave: int) -> None:
        """Replace the drive by one whose maps cannot be written (abort 0x06010002)."""
        self.variant(slave, free_maps=False)

    def sii_checksum(self, slave: int) -> None:
        """Spoil the EEPROM and switch off and on: the slave stays in INIT and does not answer."""
        chosen = self._slave('sii_checksum', slave)
        chosen.content[0] ^= 0x01
        chosen.power_up()
        self._segment.refresh()

    def al_error(self, slave: int, code: int, state: str = 'SAFEOP') -> None:
        """Let a slave fall back to a state with an AL status code."""
        if state not in AlState.__members__ or state == 'BOOT':
            raise FaultError('al_error', f'there is no state {state!r}')
        self._slave('al_error', slave).al.fall_back(AlState[state], code)

    def watchdog(self, slave: int) -> None:
        """Let the process-data watchdog run out."""
        self._slave('watchdog', slave).expire()

    def drift(self, slave: int, ppm: float) -> None:
        """Change how fast a slave's clock runs."""
        if not abs(ppm) <= 1e6 * LARGEST_DRIFT:
            raise FaultError('drift', f'must be within ±{1e6 * LARGEST_DRIFT:g} ppm, not {ppm!r}')
        self._slave('drift', slave).clock.drift = 1e-6 * ppm

    def drive_fault(self, slave: int, code: int = 0x2310) -> None:
        """Let a drive report a fault, with an emergency; the default is an over-current."""
        if not 0 < code <= 0xFFFF:
            raise FaultError('drive_fault', f'code must be 1 to 0xFFFF, not {code!r}')
        self._slave('drive_fault', slave).drive.fault(code)

    def sto(self, slave: int, active: bool = True) -> None:
        """Take the torque of a drive by its safety circuit, or give it back."""
        self._slave('sto', slave)
        self._segment.set_torque_off(slave, active)

    def mains(self, slave: int, on: bool) -> None:
        """Switch the main circuit of a drive off or on; its control circuit stays supplied."""
        self._slave('mains', slave).drive.mains = bool(on)

    def local(self, slave: int, on: bool = True) -> None:
        """Let a drive listen to its own panel instead of 6040h: statusword bit 9 is off."""
        self._slave('local', slave).drive.local = bool(on)

    def lose_turns(self, slave: int) -> None:
        """Let a multi-turn encoder forget its turns: it knows where it is in one of them."""
        chosen = self._slave('lose_turns', slave)
        position = self._segment.position(slave)
        chosen.turns = -float(position // COUNTS_PER_REVOLUTION * COUNTS_PER_REVOLUTION)

    def swap(self, one: int, other: int) -> None:
        """Exchange two drives with their motors on the cable, and switch them off and on."""
        self._slave('swap', one)
        self._slave('swap', other)
        self._segment.swap(one, other)

    def variant(self, slave: int, **changes: Any) -> None:
        """Replace a drive by one that differs in fields of its drive type; see `DriveType`."""
        chosen = self._slave('variant', slave)
        sets = {name: frozenset(value) for name, value in changes.items() if name in OBJECTS}
        chosen.define(replace(chosen.drive_type, **{**changes, **sets}))
        self._segment.refresh()

    # What the plant and the lamps on the drives show.

    def observe(self) -> dict[str, Any]:
        """Return positions, states and counters in plain types."""
        segment = self._segment
        return {
            'positions': [float(x) for x in segment.model.positions],
            'velocities': [float(x) for x in segment.model.velocities],
            'powered': [segment.powered(number) for number, _ in enumerate(segment.slaves, 1)],
            'al_states': [slave.al.state.name for slave in segment.slaves],
            'al_codes': [int(slave.al.code) for slave in segment.slaves],
            'drive_states': [slave.drive.state.name for slave in segment.slaves],
            'error_codes': [slave.drive.error_code for slave in segment.slaves],
            'sync_errors': [slave.sync_errors for slave in segment.slaves],
            'reached': segment.reached,
            'frames': self._line.sent,
            'lost': self._line.lost,
        }
