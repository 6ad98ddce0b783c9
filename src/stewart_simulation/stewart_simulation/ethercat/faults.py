# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults of a segment and of the line in front of it, and what can be seen from outside."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from stewart_simulation.control import FaultTable, whole, within
from stewart_simulation.ethercat.homing import HomingSwitches
from stewart_simulation.ethercat.omron_1s import COUNTS_PER_REVOLUTION, DriveType
from stewart_simulation.ethercat.registers import AlState
from stewart_simulation.ethercat.segment import Line, Segment, WAYS
from stewart_simulation.ethercat.slave import Slave

LARGEST_DRIFT_PPM = 500.0
# Bounds of a drive type's whole numbers; where two mailboxes fit into the memory [octet].
BOUNDS = {
    'mailbox': (32, 1024),
    'sync_error_limit': (0, 0xFFFF),
    'controlword_delay': (-1000, 1000),
    'clock_bits': (32, 64),
}
LONGEST_DELAY, LARGEST_NUMBER = 10.0, 0xFFFFFFFF
KINDS = {field.name: type(field.default) for field in fields(DriveType)}
KINDS['homing'] = HomingSwitches


def fitting(name: str, value: Any) -> Any:
    """Return what a field of `DriveType` is set to; raises ValueError if that is none for it."""
    kind: Any = KINDS.get(name)
    if kind is None:
        raise ValueError(f'a drive type has no {name}; there are {", ".join(sorted(KINDS))}')
    if kind is frozenset:
        if not isinstance(value, list | set | frozenset):
            raise ValueError(f'{name} must be a list of objects, not {value!r}')
        return frozenset(whole(f'an object of {name}', index, 0, 0xFFFF) for index in value)
    if kind is float:
        return within(name, value, 0.0, LONGEST_DELAY)
    if kind is int:
        number = whole(name, value, *BOUNDS[name])
        if name == 'clock_bits' and number not in BOUNDS[name]:
            raise ValueError(f'{name} must be 32 or 64, not {value!r}')
        return number
    if isinstance(value, kind) or (name == 'homing' and value is None):
        return value
    raise ValueError(f'{name} must be of type {kind.__name__}, not {value!r}')


class Faults(FaultTable):
    """What can be done to an EtherCAT segment and to the line in front of it.

    Slaves count 1, 2, … in the order of the cable.
    """

    def __init__(self, segment: Segment, line: Line) -> None:
        self._segment, self._line = segment, line

    def _slave(self, slave: Any) -> Slave:
        slaves = self._segment.slaves
        return slaves[whole('slave', slave, 1, len(slaves)) - 1]

    # The wire.

    def lose_next(self, count: int = 1, way: str = 'out', skip: int = 0) -> None:
        """Lose the next frames before (out) or after (back) the slaves have seen them."""
        if way not in WAYS:
            raise ValueError(f'way must be {" or ".join(WAYS)}, not {way!r}')
        self._line.lose_next(whole('count', count, 0), way, whole('skip', skip, 0))

    def lose_some(self, probability: float) -> None:
        """Lose frames at random; 0 ends it."""
        self._line.probability = within('probability', probability, 0, 1)

    def delay(self, seconds: float) -> None:
        """Let every frame come back late; 0 ends it."""
        self._line.delay = round(1e9 * within('seconds', seconds, 0, 10))

    def cut(self, after: int) -> None:
        """Cut the cable behind a slave; 0 cuts it in front of the first."""
        place = whole('after', after, 0)
        if place:
            self._slave(place)
        self._segment.cut(place)

    def mend(self) -> None:
        """Join the cable."""
        self._segment.cut(None)

    # A slave.

    def answer_late(self, slave: int, seconds: list[float]) -> None:
        """Let a slave answer its next SDOs so late, one after the other."""
        delays = [round(1e9 * within('seconds', delay, 0, 10)) for delay in seconds]
        self._slave(slave).mailbox.delays.extend(delays)

    def power_off(self, slave: int) -> None:
        """Take the supply from a slave; it passes no frames on."""
        self._slave(slave)
        self._segment.power(slave, on=False)

    def power_on(self, slave: int) -> None:
        """Give it back: the slave starts in INIT, without an address."""
        self._slave(slave)
        self._segment.power(slave, on=True)

    def power_cycle(self, slave: int) -> None:
        """Take the supply away for a moment, too short for the line to notice."""
        self.power_off(slave)
        self.power_on(slave)

    def identity(
        self, slave: int, vendor: int = 0x83, product: int = 0xAB, revision: int = 0x00010004
    ) -> None:
        """Replace the drive by another type; the default is a smaller one of the same series."""
        own = self._slave(slave).drive_type.identity
        numbers = {'vendor': vendor, 'product': product, 'revision': revision}
        given = {name: whole(name, value, 0, LARGEST_NUMBER) for name, value in numbers.items()}
        self.variant(slave, identity=replace(own, **given))

    def read_only_maps(self, slave: int) -> None:
        """Replace the drive by one whose maps cannot be written (abort 0x06010002)."""
        self.variant(slave, free_maps=False)

    def sii_checksum(self, slave: int) -> None:
        """Spoil the EEPROM and switch off and on: the slave stays in INIT and does not answer."""
        spoilt = self._slave(slave)
        spoilt.content[0] ^= 0x01
        spoilt.power_up()
        self._segment.connect()

    def al_error(self, slave: int, code: int, state: str = 'SAFEOP') -> None:
        """Let a slave fall back to a state with an AL status code."""
        if state not in AlState.__members__ or state == 'BOOT':
            raise ValueError(f'there is no state {state!r}')
        self._slave(slave).al.fall_back(AlState[state], whole('code', code, 0, 0xFFFF))

    def watchdog(self, slave: int) -> None:
        """Let the process-data watchdog run out."""
        self._slave(slave).expire()

    def drift(self, slave: int, ppm: float) -> None:
        """Change how fast a slave's clock runs."""
        part = 1e-6 * within('ppm', ppm, -LARGEST_DRIFT_PPM, LARGEST_DRIFT_PPM)
        self._slave(slave).clock.drift = part

    def drive_fault(self, slave: int, code: int = 0x2310) -> None:
        """Let a drive report a fault, with an emergency; the default is an over-current."""
        self._slave(slave).drive.fault(whole('code', code, 1, 0xFFFF))

    def sto(self, slave: int, active: bool = True) -> None:
        """Take the torque of a drive by its safety circuit, or give it back."""
        self._slave(slave)
        self._segment.set_torque_off(slave, active)

    def mains(self, slave: int, on: bool) -> None:
        """Switch the main circuit of a drive off or on; its control circuit stays supplied."""
        self._slave(slave).drive.mains = bool(on)

    def local(self, slave: int, on: bool = True) -> None:
        """Let a drive listen to its own panel instead of 6040h: statusword bit 9 is off."""
        self._slave(slave).drive.local = bool(on)

    def lose_turns(self, slave: int) -> None:
        """Let a multi-turn encoder forget its turns: it knows where it is in one of them."""
        forgetful = self._slave(slave)
        position = self._segment.position(slave)
        forgetful.turns = -float(position // COUNTS_PER_REVOLUTION * COUNTS_PER_REVOLUTION)

    def swap(self, one: int, other: int) -> None:
        """Exchange two drives with their motors on the cable, and switch them off and on."""
        self._slave(one)
        self._slave(other)
        self._segment.swap(one, other)

    def variant(self, slave: int, **changes: Any) -> None:
        """Replace a drive by one that differs in fields of its drive type; see `DriveType`."""
        replaced = self._slave(slave)
        fitted = {name: fitting(name, value) for name, value in changes.items()}
        replaced.define(replace(replaced.drive_type, **fitted))
        self._segment.connect()

    def observe(self) -> dict[str, Any]:
        """Return what the plant and the lamps on the drives show."""
        segment = self._segment
        return {
            'positions': [float(x) for x in segment.model.positions],
            'velocities': [float(x) for x in segment.model.velocities],
            'powered': list(segment.powered),
            'al_states': [slave.al.state.name for slave in segment.slaves],
            'al_codes': [int(slave.al.code) for slave in segment.slaves],
            'drive_states': [slave.drive.state.name for slave in segment.slaves],
            'error_codes': [slave.drive.error_code for slave in segment.slaves],
            'sync_errors': [slave.sync_errors for slave in segment.slaves],
            'reached': segment.reached,
            'frames': self._line.sent,
            'lost': self._line.lost,
        }
