# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""All that is known of a fault in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stewart_driver.ethercat.cia402.error_codes import error_text

AL_STATES = {1: 'INIT', 2: 'PREOP', 3: 'BOOT', 4: 'SAFEOP', 8: 'OP'}
AL_STATE, AL_ERROR = 0x0F, 0x10
AL_OPERATIONAL = 8


class Emergency(NamedTuple):
    """An emergency of a drive: error code, error register, and the maker's five octets."""

    code: int
    register: int
    data: bytes


class AlStatus(NamedTuple):
    """State of a slave, with the error bit, and its AL status code with the standard's text."""

    state: int
    code: int
    text: str

    def __str__(self) -> str:
        """Return state, code and text."""
        if self.state == 0:
            return 'does not answer'
        name = AL_STATES.get(self.state & AL_STATE, f'0x{self.state:02X}')
        if not (self.state & AL_ERROR or self.code):
            return name
        return f'{name} with error 0x{self.code:04X} ({self.text})'


def fault_text(code: int, emergencies: Sequence[Emergency], status: AlStatus) -> str:
    """Say what is known of a fault: its text, then what emergencies and AL status add to it.

    Args:
        code: Error code of the drive, 0 if it is not known.
        emergencies: What the drive has sent since the last reset.
        status: State of its EtherCAT side.
    """
    parts = [error_text(code) if code else 'no error code']
    for emergency in emergencies:
        if emergency.code:
            same = emergency.code == code
            name = 'emergency' if same else f'emergency 0x{emergency.code:04X}'
            meaning = '' if same else f', {error_text(emergency.code)}'
            data = f', data {emergency.data.hex(" ")}' if any(emergency.data) else ''
            parts.append(f'{name} (register 0x{emergency.register:02X}{meaning}{data})')
    if status.state != AL_OPERATIONAL:
        parts.append(f'EtherCAT state {status}')
    return '; '.join(parts)
