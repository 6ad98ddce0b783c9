# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How positions, errors and efforts of the legs are told, by family of legs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_kinematics.model.leg_kinds import LegKind, ROTARY


@dataclass(frozen=True)
class LegUnits:
    """Words and units of one family of legs.

    Attributes:
        quantity: Position of the joint that is driven.
        unit, scale: Of a position, and how many of it are one m or rad.
        fine_unit: A thousandth of it, for errors.
        effort, effort_unit: What a drive exerts.
    """

    quantity: str
    unit: str
    scale: float
    fine_unit: str
    effort: str
    effort_unit: str

    @classmethod
    def of(cls, kind: LegKind) -> LegUnits:
        """Return those of a family of legs."""
        if kind is ROTARY:
            degrees = float(np.degrees(1.0))
            return cls(kind.quantity, '°', degrees, 'm°', 'torque', kind.effort_unit)
        return cls(kind.quantity, 'mm', 1e3, 'µm', 'force', kind.effort_unit)

    @property
    def quantities(self) -> str:
        """Positions of all joints that are driven, in words."""
        return f'{self.quantity}s'

    @property
    def fine_scale(self) -> float:
        """How many of `fine_unit` are one m or rad."""
        return 1e3 * self.scale

    def told_effort(self, value: float, digits: int = 2) -> str:
        """Return an effort as text; torques, which may be some mN m, with three digits."""
        return f'{value:.3g}' if self.effort == 'torque' else f'{value:.{digits}f}'
