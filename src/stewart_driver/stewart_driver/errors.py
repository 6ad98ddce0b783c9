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


class LegFault(DriverError):
    """A leg is lost, cannot be believed, or was asked for something impossible.

    Leg 0 is none of them: a bus, or another way to all. Arguments and not the sentence are kept,
    so that a fault can cross a process boundary.
    """

    def __init__(self, leg: int, text: str) -> None:
        super().__init__(leg, text)
        self.leg, self.text = leg, text

    def __str__(self) -> str:
        """Return one sentence."""
        return f'leg {self.leg}: {self.text}' if self.leg else self.text


class DriveFault(LegFault):
    """One drive reports a fault, which has a code."""

    def __init__(self, leg: int, code: int, text: str) -> None:
        DriverError.__init__(self, leg, code, text)
        self.leg, self.code, self.text = leg, code, text

    def __str__(self) -> str:
        """Return one sentence."""
        return f'drive of leg {self.leg} reports fault 0x{self.code:04X}: {self.text}'


class SensorFault(LegFault):
    """A position sensor is saturated, or stuck."""

    def __str__(self) -> str:
        """Return one sentence."""
        return f'position sensor of leg {self.leg}: {self.text}'


class HomingError(DriverError):
    """The strokes cannot be trusted to be absolute."""


class TransitionRefused(DriverError):
    """The state does not allow what was asked."""


class CycleError(DriverError):
    """The cyclic process did not start, did not answer or did not survive."""


class CardError(TransportError):
    """The card cannot be opened, is not what was expected, refuses a call or is gone."""

    def __init__(self, device: str, reason: str) -> None:
        super().__init__(device, reason)
        self.device, self.reason = device, reason

    def __str__(self) -> str:
        """Return one sentence."""
        return f'analogue card {self.device}: {self.reason}'


class CalibrationError(DriverError, ValueError):
    """Volts and strokes do not belong together."""
