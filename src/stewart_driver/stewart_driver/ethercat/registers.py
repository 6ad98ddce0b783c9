# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Registers of one slave, by pysoem, which gives a frame a few milliseconds to come back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import time

import pysoem
from stewart_driver.ethercat.sdo import T

# So long a register is asked for again [s].
PATIENCE = 0.5


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
