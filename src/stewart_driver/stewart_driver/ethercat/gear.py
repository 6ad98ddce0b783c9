# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The electronic gear: a leg's metres in counts of its encoder, newtons in torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import Annotated

import numpy as np
from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import Array, LegLimits
from stewart_tables.yaml_models import Check, Positive

LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1
# Drives report torque in thousandths of the rated one.
PER_MILLE = 1e-3


@dataclass(frozen=True)
class Gear:
    """From the encoder of a motor to the rod of a leg.

    Attributes:
        counts_per_revolution: Of the motor, in the position unit of the drive [count].
        ratio: Revolutions of the motor per revolution of the screw [-].
        lead: Stroke per revolution of the screw [m].
        direction: 1 if counts grow while the leg gets longer, else -1.
        rated_torque: Of the motor [N m].
        largest_torque: Share of the rated torque that feed-forward may ask for [-].
    """

    counts_per_revolution: Annotated[int, Check(least=1, most=1 << 31)]
    ratio: Positive
    lead: Annotated[float, Check(key='lead_m', positive=True)]
    direction: Annotated[int, Check(least=-1, most=1, nonzero=True)]
    rated_torque: Annotated[float, Check(key='rated_torque_nm', positive=True)]
    largest_torque: Positive

    @property
    def counts_per_metre(self) -> float:
        """Signed: positive if counts grow with the stroke [count/m]."""
        return self.direction * self.counts_per_revolution * self.ratio / self.lead

    @property
    def rated_force(self) -> float:
        """Force of a leg at the rated torque, signed like the counts, without friction [N]."""
        return self.direction * 2.0 * pi * self.ratio * self.rated_torque / self.lead

    def counts(self, strokes: Array, zeros: Array) -> list[int]:
        """Return the positions of the drives [count] for strokes [m] and counts at zero stroke."""
        return [int(x) for x in np.rint(zeros + self.counts_per_metre * strokes)]

    def strokes(self, counts: Array, zeros: Array) -> Array:
        """Return strokes [m] for positions of the drives and counts at zero stroke."""
        return (counts - zeros) / self.counts_per_metre

    def torques(self, forces: Array) -> list[int]:
        """Return torque offsets 60B2h [0.1 %] for forces [N], within the largest torque."""
        most = self.largest_torque / PER_MILLE
        return [
            int(x) for x in np.rint(np.clip(forces / self.rated_force / PER_MILLE, -most, most))
        ]

    def check(self, zeros: Sequence[int], limits: LegLimits, margin: float) -> None:
        """Raise `ConfigurationError` if a position does not fit into 32 bits with zero offsets.

        Every leg has to reach both ends of its stroke, and `margin` [m] beyond them.
        """
        for leg, zero in enumerate(zeros, 1):
            lower = float(limits.stroke_lower[leg - 1]) - margin
            upper = float(limits.stroke_upper[leg - 1]) + margin
            ends = (self.counts_per_metre * lower, self.counts_per_metre * upper)
            least, most = LOWEST - min(*ends, 0.0), HIGHEST - max(*ends, 0.0)
            if not least <= zero <= most:
                raise ConfigurationError(
                    f'drives.zero_offsets_counts[{leg}]',
                    zero,
                    f'{least:.0f} to {most:.0f} counts, so that the whole stroke fits in 32 bits',
                )
