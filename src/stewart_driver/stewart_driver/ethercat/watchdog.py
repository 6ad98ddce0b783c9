# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The watchdog of a slave: after which silence of the master it leaves OP (ETG.1000.4)."""

from __future__ import annotations

from contextlib import suppress

import pysoem
from stewart_driver.ethercat import registers
from stewart_driver.ethercat.errors import NotOperational

MILLISECONDS = 1e3
# Of the sync manager of the outputs, and its bit that lets them feed the watchdog.
OUTPUTS_CONTROL, WATCHDOG_TRIGGER = 0x0814, 0x40
# Of all watchdogs, and what it is after power-up: they count tenths of milliseconds.
WATCHDOG_DIVIDER, TENTHS_OF_MILLISECONDS = 0x0400, 2498


def set_watchdog(slave: pysoem.CdefSlave, time: float, place: str) -> None:
    """Set after which silence a slave leaves OP [s]; raises `NotOperational` if it cannot.

    It counts to 65535, and what it counts another master or its EEPROM may have changed.
    """
    if registers.read(slave, WATCHDOG_DIVIDER, 2) != TENTHS_OF_MILLISECONDS:
        # One that it does not take is read again for the time.
        with suppress(pysoem.WkcError):
            wanted = TENTHS_OF_MILLISECONDS.to_bytes(2, 'little')
            registers.insist(lambda: slave._fpwr(WATCHDOG_DIVIDER, wanted))
    try:
        registers.insist(lambda: slave.set_watchdog('processdata', MILLISECONDS * time))
    except AttributeError as error:
        divider = registers.read(slave, WATCHDOG_DIVIDER, 2)
        said = f'{place}: the watchdog time: {error}, for its divider (0400h) stays {divider}'
        raise NotOperational('SAFEOP', [said]) from error


def watchdog_time(slave: pysoem.CdefSlave) -> float:
    """Return after which silence a slave leaves OP [s]; its EEPROM may have switched that off."""
    fed = registers.read(slave, OUTPUTS_CONTROL, 1) & WATCHDOG_TRIGGER
    time_ms = registers.insist(lambda: slave.get_watchdog('processdata'))
    return float(time_ms) / MILLISECONDS if fed else 0.0
