# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the suite's core."""

from __future__ import annotations

from dataclasses import dataclass
import math

from stewart_tables.errors import ConfigurationError, StewartError

__all__ = [
    'ConfigurationError',
    'ConvergenceError',
    'GeometryError',
    'LegFamilyError',
    'MotionRefused',
    'ShapeError',
    'StewartError',
    'TrajectoryError',
    'Violation',
]


class ShapeError(StewartError, ValueError):
    """An array does not have the documented shape."""

    def __init__(self, name: str, expected: str, shape: tuple[int, ...]) -> None:
        super().__init__(f'{name}: expected shape {expected}, got {shape}')


class GeometryError(StewartError, ValueError):
    """The joints do not make a usable platform."""


class LegFamilyError(StewartError):
    """What is written for linear legs is asked of a platform whose legs are rods."""

    def __init__(self, name: str, kind: str) -> None:
        super().__init__(
            f'{name} has {kind} legs, rods of constant length: what was asked is there for linear '
            'legs only, which have a fixed base joint and a length of their own'
        )


class ConvergenceError(StewartError):
    """An iteration ended without a solution."""


class TrajectoryError(StewartError, ValueError):
    """A trajectory cannot be made from what was asked."""


@dataclass(frozen=True)
class Violation:
    """What a refused motion would have broken, in `unit`.

    Attributes:
        leg: 1 to 6; None where the platform as a whole is meant.
        index: Sample concerned in a checked sequence; None for a single sample.
    """

    quantity: str
    value: float
    lower: float
    upper: float
    unit: str
    leg: int | None = None
    index: int | None = None

    @property
    def subject(self) -> str:
        """The quantity, and the leg that it is of."""
        return self.quantity if self.leg is None else f'{self.quantity} of leg {self.leg}'

    def __str__(self) -> str:
        """Say it in one sentence."""
        where = '' if self.index is None else f' at sample {self.index}'
        unit = '' if self.unit == '1' else f' {self.unit}'
        return f'{self.subject}{where} is {self.value:.6g}{unit}, {self._allowed(unit)}'

    def _allowed(self, unit: str) -> str:
        """Say which values are allowed; a side without a bound is not mentioned."""
        if math.isinf(self.lower) and math.isinf(self.upper):
            return 'allowed is any finite number'
        if math.isinf(self.lower):
            return f'allowed is at most {self.upper:.6g}{unit}'
        if math.isinf(self.upper):
            return f'allowed is at least {self.lower:.6g}{unit}'
        return f'allowed are {self.lower:.6g} to {self.upper:.6g}{unit}'


class MotionRefused(StewartError):
    """A motion leaves what the platform may do."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(str(violation))
        self.violation = violation
