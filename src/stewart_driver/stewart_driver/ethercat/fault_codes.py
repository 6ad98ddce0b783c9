# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Codes of faults that came without one: drives are asked by SDO, while the frames go on."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from functools import partial

from stewart_driver.errors import DriveFault, LegFault
from stewart_driver.ethercat.cia402.objects import ERROR_CODE
from stewart_driver.ethercat.errors import SdoRefused
from stewart_driver.ethercat.sdo import number, SdoChannel
from stewart_driver.ethercat.wires import Wire


class FaultCodes:
    """What the drives on a wire have in 603Fh; each is asked once a fault."""

    def __init__(self, wire: Wire, drives: Sequence[SdoChannel]) -> None:
        self._wire, self._drives = wire, drives
        self._fault: DriveFault | None = None
        self._answer: Iterator[None] = iter(())

    def of(self, fault: LegFault | None) -> int:
        """Return the code of a fault without one in the cycle that brings it; else 0."""
        if not isinstance(fault, DriveFault) or fault.code:
            return 0
        if fault is not self._fault:
            self._fault, self._answer = fault, self.ask(fault.leg)
        try:
            next(self._answer)
        except StopIteration as answer:
            return int(answer.value or 0)
        return 0

    def ask(self, leg: int) -> Generator[None, None, int]:
        """Ask a drive; yields once a cycle until it has answered, 0 where it refuses."""
        call = partial(number, self._drives[leg - 1], ERROR_CODE, 0, '<H')
        try:
            return (yield from self._wire.beside(leg, call))
        except SdoRefused:
            return 0
