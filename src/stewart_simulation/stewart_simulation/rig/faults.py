# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""All faults of a rig in one table, named ``wire.fault``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stewart_simulation.daq_card.faults import CardFaults
from stewart_simulation.ethercat.errors import FaultError
from stewart_simulation.ethercat.faults import Faults
from stewart_simulation.fault_table import FaultTable
from stewart_simulation.rig.plant_faults import PlantFaults
from stewart_simulation.serial_imu.faults import ImuFaults

TABLES: Mapping[str, type[FaultTable]] = {
    'ethercat': Faults,
    'card': CardFaults,
    'imu': ImuFaults,
    'plant': PlantFaults,
}


class RigFaults(FaultTable):
    """The tables of all wires that a rig has.

    Args:
        tables: By wire.
    """

    def __init__(self, tables: Mapping[str, FaultTable]) -> None:
        """Take the tables."""
        super().__init__()
        self._tables = tables

    @classmethod
    def of(cls, tables: Mapping[str, FaultTable]) -> RigFaults:
        """Return the tables of a rig in the order of `TABLES`."""
        return cls({wire: tables[wire] for wire in TABLES if wire in tables})

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that `apply` knows."""
        return tuple(
            f'{wire}.{name}' for wire, table in self._tables.items() for name in table.names
        )

    def apply(self, fault: str, **arguments: Any) -> None:
        """Call a fault by its name; raises `FaultError` where name or arguments do not fit."""
        table, name = self._find(fault)
        table.apply(name, **arguments)

    def check(self, fault: str, arguments: Mapping[str, Any]) -> None:
        """Raise `FaultError` where name or arguments do not fit, without breaking anything."""
        table, name = self._find(fault)
        table.check(name, arguments)

    def observe(self) -> dict[str, Any]:
        """Return what can be seen from outside, by wire."""
        return {wire: table.observe() for wire, table in self._tables.items()}

    def _find(self, fault: str) -> tuple[FaultTable, str]:
        wire, _, name = fault.partition('.')
        if wire not in self._tables or name not in self._tables[wire].names:
            raise FaultError(fault, 'does not exist', self.names)
        return self._tables[wire], name


def listing() -> list[tuple[str, str, str]]:
    """Return name, arguments and meaning of every fault that a rig with all wires has."""
    return [
        (f'{wire}.{name}', arguments, meaning)
        for wire, table in TABLES.items()
        for name, (arguments, meaning) in table.describe().items()
    ]
