# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults of a rig by name: its card, its sensor, its plant, and all tables in one.

Every public method of a table is a fault, or mends one; legs are 1 to 6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any

import numpy as np
from stewart_simulation.control import FaultTable, whole, within
from stewart_simulation.daq_card.card import AI_LAST, Card
from stewart_simulation.ethercat.faults import Faults
from stewart_simulation.rigid_drives import RigidDrives
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor
from stewart_simulation.serial_imu.protocol import BAUDS

# Codes of an input that stands at an end of its range.
ENDS = {'low': 0, 'high': AI_LAST}
# An encoder may jump so far [m].
FURTHEST = 10.0


def leg_index(leg: Any) -> int:
    """Return 0 to 5 for a leg 1 to 6; raises ValueError for another."""
    return whole('leg', leg, 1, 6) - 1


class CardFaults(FaultTable):
    """What can go wrong with an analogue card."""

    def __init__(self, card: Card) -> None:
        self._card = card

    def observe(self) -> dict[str, Any]:
        """Return what can be measured at the card's terminals."""
        card = self._card
        return {
            'outputs_v': card.outputs.tolist(),
            'digital_outputs': list(card.digital_outputs),
            'gone': card.gone,
        }

    def saturate(self, leg: int, end: str = 'high') -> None:
        """Let the input of a leg stand at an end of its range."""
        if end not in ENDS:
            raise ValueError(f'end must be low or high, not {end!r}')
        self._card.saturated[leg_index(leg)] = ENDS[end]

    def stick(self, leg: int) -> None:
        """Let the input of a leg give what it gave last, without any noise."""
        channel = leg_index(leg)
        self._card.stuck[channel] = self._card.last_code(channel)

    def disturb(self, leg: int, volts: float) -> None:
        """Put noise of this standard deviation [V] on the input of a leg; 0 ends it."""
        self._card.noise_v[leg_index(leg)] = within('volts', volts, 0)

    def remove(self) -> None:
        """Take the card out: every call fails, the outputs hold their last code."""
        self._card.gone = True

    def slow(self, seconds: float) -> None:
        """Let every call take this much longer [s]; 0 ends it."""
        self._card.delay = float(within('seconds', seconds, 0))

    def mend(self) -> None:
        """End every fault."""
        card = self._card
        card.gone, card.delay = False, 0.0
        card.stuck.clear()
        card.saturated.clear()
        card.noise_v[:] = 0.0


class ImuFaults(FaultTable):
    """What can be done to the inertial sensor and its line."""

    def __init__(self, imu: PluggedSensor) -> None:
        self._imu = imu

    def garbage(self, count: int) -> None:
        """Send this many random bytes once."""
        self._imu.line.garbage += whole('count', count, 0)

    def lose(self, count: int) -> None:
        """Lose the next bytes."""
        self._imu.line.lose += whole('count', count, 0)

    def checksum(self, count: int) -> None:
        """Give the next frames a wrong sum."""
        self._imu.line.corrupt += whole('count', count, 0)

    def noise(self, probability: float) -> None:
        """Flip one bit of each byte with this probability; 0 ends it."""
        self._imu.line.bit_errors = float(within('probability', probability, 0, 1))

    def baud(self, baud: int) -> None:
        """Let the sensor talk at another speed."""
        if whole('baud', baud, 0) not in BAUDS.values():
            raise ValueError(f'needs one of {", ".join(map(str, BAUDS.values()))}')
        self._imu.sensor.baud = int(baud)

    def rate(self, hertz: float) -> None:
        """Lower the rate, and tell nobody; 0 ends it."""
        self._imu.sensor.rate_cap = float(hertz) if hertz > 0.0 else inf

    def silence(self, on: bool = True) -> None:
        """Send nothing; 0 ends it."""
        self._imu.sensor.silent = bool(on)

    def freeze(self, on: bool = True) -> None:
        """Never change the values; 0 ends it."""
        self._imu.sensor.frozen = bool(on)

    def unplug(self) -> None:
        """Take the port, and with it the sensor's power."""
        self._imu.unplug()

    def plug(self) -> None:
        """Plug it in again."""
        self._imu.plug()


class PlantFaults(FaultTable):
    """What can be done to the drives' mechanics and encoders."""

    def __init__(self, drives: RigidDrives) -> None:
        self._drives = drives

    def encoder_jump(self, leg: int, metres: float) -> None:
        """Let the encoder of a leg read this much more from now on."""
        jump = within('metres', metres, -FURTHEST, FURTHEST)
        self._drives.encoder_errors[leg_index(leg)] += jump

    def encoder_stuck(self, leg: int) -> None:
        """Let the encoder of a leg stay at its present reading."""
        index = leg_index(leg)
        self._drives.stuck_encoders[index] = self._drives.encoder_strokes[index]

    def torque_limit(self, leg: int, share: float) -> None:
        """Let the drive of a leg push with this share of its largest force."""
        largest = within('share', share, 0, 1) * self._drives.force_limit
        self._drives.force_limits[leg_index(leg)] = largest

    def sto(self, leg: int) -> None:
        """Take the torque of a leg by its safety circuit: its motor has no voltage."""
        self._drives.sto[leg_index(leg)] = True

    def mend(self) -> None:
        """End every fault of the plant."""
        drives = self._drives
        drives.sto[:] = False
        drives.encoder_errors[:] = 0.0
        drives.stuck_encoders[:] = np.nan
        drives.force_limits[:] = drives.force_limit

    def observe(self) -> dict[str, Any]:
        """Return where the legs are, how fast, and what moves or holds them."""
        drives = self._drives
        return {
            'strokes_m': drives.strokes.tolist(),
            'rates_mps': drives.rates.tolist(),
            'forces_n': drives.delivered.tolist(),
            'powered': drives.live.tolist(),
            'braked': drives.braked.tolist(),
            'sto': drives.sto.tolist(),
        }


TABLES: Mapping[str, type[FaultTable]] = {
    'ethercat': Faults,
    'card': CardFaults,
    'imu': ImuFaults,
    'plant': PlantFaults,
}


class RigFaults(FaultTable):
    """The tables of all wires that a rig has, by wire; a fault is called ``wire.fault``."""

    def __init__(self, tables: Mapping[str, FaultTable]) -> None:
        self._tables = {wire: tables[wire] for wire in TABLES if wire in tables}

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that `apply` knows."""
        return tuple(
            f'{wire}.{name}' for wire, table in self._tables.items() for name in table.names
        )

    def _cause(self, fault: str) -> Callable[..., None]:
        wire, _, name = fault.partition('.')
        return self._tables[wire].find(name)

    def observe(self) -> dict[str, Any]:
        """Return what can be seen from outside, by wire."""
        return {wire: table.observe() for wire, table in self._tables.items()}


def listing() -> list[tuple[str, str, str]]:
    """Return name, arguments and meaning of every fault that a rig with all wires has."""
    return [
        (f'{wire}.{name}', arguments, meaning)
        for wire, table in TABLES.items()
        for name, (arguments, meaning) in table.describe().items()
    ]
