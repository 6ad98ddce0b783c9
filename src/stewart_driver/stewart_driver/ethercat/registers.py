# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Registers of one slave, by pysoem, which gives a frame a few milliseconds to come back.

Among them the watchdog: after which silence of the master a slave leaves OP (ETG.1000.4).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import time

import pysoem
from stewart_driver.ethercat.errors import NotOperational
from stewart_driver.ethercat.sdo import T

# So long a register is asked for again [s].
PATIENCE = 0.5
MILLISECONDS = 1e3
# Of the sync manager of the outputs, and its bit that lets them feed the watchdog.
OUTPUTS_CONTROL, WATCHDOG_TRIGGER = 0x0814, 0x40
# Of all watchdogs, and what it is after power-up: they count tenths of milliseconds.
WATCHDOG_DIVIDER, TENTHS_OF_MILLISECONDS = 0x0400, 2498


def insist(call: Callable[[], T]) -> T:
    """Try again where one frame may take 2 ms only; raises `pysoem.WkcError` in the end."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        with suppress(pysoem.WkcError):
            return call()
    return call()


def read(slave: pysoem.CdefSlave, register: int, length: int) -> int:
    """Return an unsigned number of so many octets; raises `pysoem.WkcError`."""
    return int.from_bytes(insist(lambda: slave._fprd(register, length)), 'little')


def set_watchdog(slave: pysoem.CdefSlave, silence: float, place: str) -> None:
    """Set after which silence a slave leaves OP [s]; raises `NotOperational` if it cannot.

    It counts to 65535, and what it counts another master or its EEPROM may have changed.
    """
    if read(slave, WATCHDOG_DIVIDER, 2) != TENTHS_OF_MILLISECONDS:
        # One that it does not take is read again for the time.
        with suppress(pysoem.WkcError):
            wanted = TENTHS_OF_MILLISECONDS.to_bytes(2, 'little')
            insist(lambda: slave._fpwr(WATCHDOG_DIVIDER, wanted))
    try:
        insist(lambda: slave.set_watchdog('processdata', MILLISECONDS * silence))
    except AttributeError as error:
        divider = read(slave, WATCHDOG_DIVIDER, 2)
        said = f'{place}: the watchdog time: {error}, for its divider (0400h) stays {divider}'
        raise NotOperational('SAFEOP', [said]) from error


def watchdog_time(slave: pysoem.CdefSlave) -> float:
    """Return after which silence a slave leaves OP [s]; its EEPROM may have switched that off."""
    fed = read(slave, OUTPUTS_CONTROL, 1) & WATCHDOG_TRIGGER
    time_ms = insist(lambda: slave.get_watchdog('processdata'))
    return float(time_ms) / MILLISECONDS if fed else 0.0
