# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the back end ``ethercat``."""

from __future__ import annotations

from collections.abc import Sequence

from stewart_driver.errors import DriveFault, DriverError, TransportError


class NoInterface(TransportError):
    """There is no such network interface."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        """Name it and those that there are."""
        offer = ', '.join(known) or 'none'
        super().__init__(f'there is no network interface {name!r}; there are: {offer}')


class BusTaken(TransportError):
    """Another driver is on this interface."""

    def __init__(self, interface: str) -> None:
        """Name the interface."""
        super().__init__(f'another EtherCAT master of this suite is on {interface}: end it first')


class WrongBus(TransportError):
    """The slaves on the cable are not the drives of the legs."""


class WrongCount(WrongBus):
    """There are not as many slaves as legs."""

    def __init__(self, interface: str, names: Sequence[str], expected: int) -> None:
        """Say how many there are, and which, in the order of the cable."""
        text = f'no slave answers on {interface}: are the drives on, is this their port?'
        if names:
            found = ', '.join(f'{place}: {name}' for place, name in enumerate(names, 1))
            text = f'{len(names)} slaves answer on {interface}, expected are {expected} ({found})'
        super().__init__(text)


class SdoRefused(TransportError):
    """A drive aborted an SDO or did not answer it."""

    def __init__(self, leg: int, index: int, subindex: int, reason: str) -> None:
        """Name the leg, the object and why, which `reason` keeps."""
        super().__init__(f'drive of leg {leg} refuses object {index:04X}h:{subindex}: {reason}')
        self.reason = reason


class UnusableMap(TransportError):
    """A drive exchanges too little, and that cannot be changed."""


class NotOperational(TransportError):
    """A drive does not go to the state asked for."""

    def __init__(self, wanted: str, found: Sequence[str]) -> None:
        """Name the state wanted, and state and reason of each leg that has another."""
        super().__init__(f'not every drive reaches {wanted}: ' + '; '.join(found))


class LegFault(DriveFault):
    """A leg is lost or was asked for something impossible; the drive has no code for it.

    Leg 0 is the bus: frames come back that not all drives took part in.
    """

    def __init__(self, leg: int, text: str) -> None:
        """Name the leg and say what happened."""
        DriverError.__init__(self, f'leg {leg}: {text}' if leg else text)
        self.leg, self.code, self.text = leg, 0, text

    def __reduce__(self) -> tuple[type[LegFault], tuple[int, str]]:  # type: ignore[override]
        """Rebuild from its two values when it crosses a process boundary."""
        return type(self), (self.leg, self.text)
