# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the analogue card."""

from __future__ import annotations

from stewart_driver.errors import DriveFault, DriverError, TransportError


class CardError(TransportError):
    """The card cannot be opened, is not what was expected, refuses a call or is gone."""

    def __init__(self, device: str, reason: str) -> None:
        """Name the device and what is wrong."""
        super().__init__(f'analogue card {device}: {reason}')
        self.device = device
        self.reason = reason

    def __reduce__(self) -> tuple[type[CardError], tuple[str, str]]:
        """Rebuild from the two texts when it crosses a process boundary."""
        return type(self), (self.device, self.reason)


class CalibrationError(DriverError, ValueError):
    """Volts and strokes do not belong together."""


class SensorFault(DriveFault):
    """A position sensor cannot be trusted."""

    SATURATED = 1
    STUCK = 2

    def __init__(self, leg: int, code: int, text: str) -> None:
        """Name the leg (1 to 6), the kind of fault and what was seen."""
        super().__init__(leg, code, text)
        self.args = (f'position sensor of leg {leg}: {text}',)
