# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the back end ``ethercat``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stewart_driver.errors import TransportError
from stewart_driver.ethercat.cia402.error_codes import error_text


class NoInterface(TransportError):
    """There is no such network interface."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        offer = ', '.join(known) or 'none'
        super().__init__(f'there is no network interface {name!r}; there are: {offer}')


class BusTaken(TransportError):
    """Another driver is on this interface."""

    def __init__(self, interface: str) -> None:
        super().__init__(f'another EtherCAT master of this suite is on {interface}: end it first')


class WrongBus(TransportError):
    """The slaves on the cable are not the drives of the legs."""


class WrongCount(WrongBus):
    """There are not as many slaves as legs."""

    def __init__(self, interface: str, names: Sequence[str], expected: int) -> None:
        text = f'no slave answers on {interface}: are the drives on, is this their port?'
        if names:
            found = ', '.join(f'{place}: {name}' for place, name in enumerate(names, 1))
            text = f'{len(names)} slaves answer on {interface}, expected are {expected} ({found})'
        super().__init__(text)


class SdoRefused(TransportError):
    """A drive aborted an SDO or did not answer it."""

    def __init__(self, leg: int, index: int, subindex: int, reason: str) -> None:
        super().__init__(f'drive of leg {leg} refuses object {index:04X}h:{subindex:X}: {reason}')
        self.reason = reason


class UnusableMap(TransportError):
    """A drive exchanges too little, and that cannot be changed."""


class NotOperational(TransportError):
    """A drive does not go to the state asked for."""

    def __init__(self, wanted: str, found: Sequence[str]) -> None:
        super().__init__(f'not every drive reaches {wanted}: ' + '; '.join(found))


class DisturbedMap(NotOperational):
    """An emergency came while the process data were laid out, and they are not usable.

    Attributes:
        remembered: Whether drives had software limits before this try gave them any.
    """

    remembered = False


AL_STATES = {1: 'INIT', 2: 'PREOP', 3: 'BOOT', 4: 'SAFEOP', 8: 'OP'}
AL_STATE, AL_ERROR = 0x0F, 0x10
SAFEOP, OP = 4, 8


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
    if status.state != OP:
        parts.append(f'EtherCAT state {status}')
    return '; '.join(parts)
