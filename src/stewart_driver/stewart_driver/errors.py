# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the driver."""

from __future__ import annotations

from collections.abc import Sequence

from stewart_tables.errors import ConfigurationError, StewartError

__all__ = ['ConfigurationError', 'StewartError']


class DriverError(StewartError):
    """Root of what can go wrong with drives and sensors; a wrong value is `ConfigurationError`."""


class UnknownBackend(DriverError, LookupError):
    """No installed package offers a back end of this name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        offer = ', '.join(sorted(known)) or 'none'
        super().__init__(f'there is no driver back end {name!r}; installed are: {offer}')
        self.known = tuple(sorted(known))


class TransportError(DriverError):
    """The way to the drives is broken: no exchange is possible."""


class DriveFault(DriverError):
    """One drive reports a fault."""

    def __init__(self, leg: int, code: int, text: str) -> None:
        super().__init__(f'drive of leg {leg} reports fault 0x{code:04X}: {text}')
        self.leg = leg
        self.code = code
        self.text = text

    def __reduce__(self) -> tuple[type[DriveFault], tuple[int, int, str]]:
        """Rebuild from the three values when it crosses a process boundary."""
        return type(self), (self.leg, self.code, self.text)


class HomingError(DriverError):
    """The strokes cannot be trusted to be absolute."""


class TransitionRefused(DriverError):
    """The state does not allow what was asked."""


class CycleError(DriverError):
    """The cyclic process did not start, did not answer or did not survive."""


class CardError(TransportError):
    """The card cannot be opened, is not what was expected, refuses a call or is gone."""

    def __init__(self, device: str, reason: str) -> None:
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
        super().__init__(leg, code, text)
        self.args = (f'position sensor of leg {leg}: {text}',)
