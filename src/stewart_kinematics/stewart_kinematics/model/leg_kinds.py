# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Families of legs: what the position of a leg's joint is, and how people call it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LegKind:
    """One family of legs.

    Attributes:
        name: What a platform file calls it.
        quantity: Position of the joint that is driven, in words.
        unit: Of the position; rates and accelerations have it per s and s².
        effort_unit: Of what the drive exerts.
        column: What the position is called in a table.
        suffix: How the position's unit is written in keys and columns.
        effort_suffix: The same of the effort.
    """

    name: str
    quantity: str
    unit: str
    effort_unit: str
    column: str
    suffix: str
    effort_suffix: str

    @property
    def rate_suffix(self) -> str:
        """How the unit of a rate is written in keys and columns."""
        return f'{self.suffix}ps'

    def columns(self) -> dict[str, tuple[str, ...]]:
        """Return the columns ``position``, ``rate``, ``acceleration``, ``effort`` of six legs."""
        names = {
            'position': (self.column, self.suffix),
            'rate': ('leg', self.rate_suffix),
            'acceleration': ('leg', f'{self.rate_suffix}2'),
            'effort': ('leg', self.effort_suffix),
        }
        return {
            key: tuple(f'{name}_{leg}_{unit}' for leg in range(1, 7))
            for key, (name, unit) in names.items()
        }


LINEAR = LegKind('linear', 'stroke', 'm', 'N', 'stroke', 'm', 'n')
ROTARY = LegKind('rotary', 'crank angle', 'rad', 'N m', 'angle', 'rad', 'nm')
SLIDING = LegKind('sliding', 'carriage position', 'm', 'N', 'carriage', 'm', 'n')
KINDS = {kind.name: kind for kind in (LINEAR, ROTARY, SLIDING)}
