# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Objects that are exchanged in every cycle, by the names that drives/*.yaml uses."""

from __future__ import annotations

from dataclasses import dataclass

from stewart_driver.ethercat.cia402 import objects


@dataclass(frozen=True)
class Signal:
    """An object of the cyclic exchange: where it is, how long, and its code in struct."""

    index: int
    subindex: int
    bits: int
    code: str

    @property
    def entry(self) -> int:
        """The 32 bits of a PDO map."""
        return objects.pack_mapping(self.index, self.subindex, self.bits)


OUTPUTS = {
    'controlword': Signal(objects.CONTROLWORD, 0, 16, 'H'),
    'target_position': Signal(objects.TARGET_POSITION, 0, 32, 'i'),
    'torque_offset': Signal(objects.TORQUE_OFFSET, 0, 16, 'h'),
}
INPUTS = {
    'statusword': Signal(objects.STATUSWORD, 0, 16, 'H'),
    'position_actual': Signal(objects.POSITION_ACTUAL, 0, 32, 'i'),
    'velocity_actual': Signal(objects.VELOCITY_ACTUAL, 0, 32, 'i'),
    'torque_actual': Signal(objects.TORQUE_ACTUAL, 0, 16, 'h'),
    'error_code': Signal(objects.ERROR_CODE, 0, 16, 'H'),
    'mode_display': Signal(objects.MODE_DISPLAY, 0, 8, 'b'),
    'digital_inputs': Signal(objects.DIGITAL_INPUTS, 0, 32, 'I'),
}
NEEDED_OUTPUTS = ('controlword', 'target_position')
NEEDED_INPUTS = ('statusword', 'position_actual')
