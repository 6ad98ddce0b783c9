# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the back end ``ethercat``.

TransportError
├── NoInterface        there is no such network interface
├── NoPermission       raw sockets are not allowed; the message has the line that permits them
├── BusTaken           another driver is on this interface
├── NoNamespace        the network namespace cannot be entered
├── WrongBus           not as many slaves as legs, or one is not what was expected
│   └── WrongCount     not as many slaves as legs
├── SdoRefused         a drive aborted an SDO or did not answer it
├── UnusableMap        a drive exchanges too little, and that cannot be changed
└── NotOperational     a drive does not go to the state asked for
DriveFault
├── LegFault           a leg is lost, or was asked for something impossible
└── BusFault           frames come back that not all drives have taken part in
"""

from __future__ import annotations

from collections.abc import Sequence
import os
import sys

from stewart_driver.errors import DriveFault, DriverError, TransportError

CAPABILITIES = '+net_raw,+net_admin'


class NoInterface(TransportError):
    """There is no such network interface."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        """Name it and those that there are."""
        offer = ', '.join(known) or 'none'
        super().__init__(f'there is no network interface {name!r}; there are: {offer}')


class NoPermission(TransportError):
    """Raw sockets are not allowed."""

    def __init__(self, interface: str) -> None:
        """Say what permits it."""
        user, group = os.getuid(), os.getgid()
        line = (
            f'sudo setpriv --reuid={user} --regid={group} --init-groups '
            f'--inh-caps={CAPABILITIES} --ambient-caps={CAPABILITIES} <command>'
        )
        super().__init__(
            f'no permission for raw Ethernet frames on {interface}; permitted by: {line}, or for '
            f'good: sudo setcap cap_net_raw,cap_net_admin=ep {os.path.realpath(sys.executable)}'
        )


class BusTaken(TransportError):
    """Another driver is on this interface."""

    def __init__(self, interface: str) -> None:
        """Name the interface."""
        super().__init__(f'another EtherCAT master of this suite is on {interface}: end it first')


class NoNamespace(TransportError):
    """A network namespace cannot be entered."""

    def __init__(self, path: str, reason: str) -> None:
        """Name it and say why."""
        super().__init__(f'cannot enter the network namespace {path}: {reason}')


class WrongBus(TransportError):
    """The slaves on the cable are not the drives of the legs."""


class WrongCount(WrongBus):
    """There are not as many slaves as legs."""

    def __init__(self, interface: str, names: Sequence[str], expected: int) -> None:
        """Say how many there are, and which, in the order of the cable."""
        if not names:
            super().__init__(
                f'no slave answers on {interface}: are the drives on, is this their port?'
            )
            return
        found = ', '.join(f'{place}: {name}' for place, name in enumerate(names, 1))
        super().__init__(
            f'{len(names)} slaves answer on {interface}, expected are {expected} ({found})'
        )


class SdoRefused(TransportError):
    """A drive did not carry out an SDO."""

    def __init__(self, leg: int, index: int, subindex: int, reason: str) -> None:
        """Name the leg, the object and why, which `reason` keeps."""
        super().__init__(f'drive of leg {leg} refuses object {index:04X}h:{subindex}: {reason}')
        self.reason = reason


class UnusableMap(TransportError):
    """A drive does not exchange what is needed."""


class NotOperational(TransportError):
    """A drive does not go to the state asked for."""

    def __init__(self, wanted: str, found: Sequence[str]) -> None:
        """Name the state wanted, and state and reason of each leg that has another."""
        super().__init__(f'not every drive reaches {wanted}: ' + '; '.join(found))


class LegFault(DriveFault):
    """A leg is lost, or was asked for something impossible; the drive has no code for it."""

    def __init__(self, leg: int, text: str) -> None:
        """Name the leg and say what happened."""
        DriverError.__init__(self, f'leg {leg}: {text}')
        self.leg, self.code, self.text = leg, 0, text

    def __reduce__(self) -> tuple[type[LegFault], tuple[int, str]]:  # type: ignore[override]
        """Rebuild from its two values when it crosses a process boundary."""
        return type(self), (self.leg, self.text)


class BusFault(DriveFault):
    """Frames come back that not all drives took part in, and nobody knows whose fault it is."""

    def __init__(self, text: str) -> None:
        """Say what happened."""
        DriverError.__init__(self, text)
        self.leg, self.code, self.text = 0, 0, text

    def __reduce__(self) -> tuple[type[BusFault], tuple[str]]:  # type: ignore[override]
        """Rebuild from its text when it crosses a process boundary."""
        return type(self), (self.text,)
