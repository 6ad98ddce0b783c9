# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
Errors of the inertial sensor.

DriverError
├── PortError              the serial port cannot be used
│   ├── PortMissing        there is no such device
│   ├── PortDenied         this user may not open it
│   ├── PortBusy           another process has it
│   └── PortLost           it was open and is gone: unplugged
├── SensorSilent           the sensor does not answer, or nothing intelligible comes
└── RegisterRefused        a register does not hold what was written to it

"""

from __future__ import annotations

from stewart_driver.errors import DriverError


class PortError(DriverError):
    """The serial port cannot be used."""

    def __init__(self, port: str, reason: str) -> None:
        """Name the port and what is wrong with it."""
        super().__init__(f'{port}: {reason}')
        self.port = port
        self.reason = reason


class PortMissing(PortError):
    """There is no such device."""


class PortDenied(PortError):
    """The user may not open the device."""


class PortBusy(PortError):
    """Another process has the device."""


class PortLost(PortError):
    """The device was open and is gone."""


class SensorSilent(DriverError):
    """The sensor does not answer, or nothing intelligible comes."""


class RegisterRefused(DriverError):
    """A register does not hold what was written to it."""

    def __init__(self, register: str, wanted: int, found: int) -> None:
        """Name the register, what was written and what is read."""
        super().__init__(
            f'the sensor keeps 0x{found:04X} in {register}, 0x{wanted:04X} was written to it'
        )
        self.register = register
        self.wanted = wanted
        self.found = found
