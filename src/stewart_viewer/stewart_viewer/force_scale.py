# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How long and in which colour the arrow of a leg's force is, in a browser and in RViz."""

from __future__ import annotations

import numpy as np
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array

PUSH, PULL = (200, 70, 60), (60, 100, 200)
LONGEST_ARROW = 0.5
"""Length of the arrow of the largest force, in units of the retracted length."""


def size_of(platform: Platform) -> float:
    """Return the length of the longest leg, retracted, or of the longest rod [m]."""
    geometry = platform.geometry
    lengths = geometry.retracted_length if geometry.rods is None else geometry.rods.lengths
    return float(lengths.max())


class ForceScale:
    """The largest force so far has the longest arrow, of length `longest` [m]."""

    def __init__(self, retracted_length: float) -> None:
        self.longest = LONGEST_ARROW * retracted_length
        self._largest = 1.0

    @classmethod
    def of_platform(cls, name: str) -> ForceScale:
        """Read a platform, by name or by the path of its YAML file."""
        return cls(size_of(Platform.from_yaml(name)))

    def lengths(self, forces: Array) -> Array:
        """Return how far arrows reach out of their legs [m]; below 0 they point into them.

        Args:
            forces (6,): Forces of the legs, positive if they push [N].
        """
        self._largest = max(self._largest, float(np.abs(forces).max()))
        return np.asarray(self.longest / self._largest * forces)


def colour_of_force(force: float) -> tuple[int, int, int]:
    """Return red, green and blue of a force or its arrow."""
    return PUSH if force > 0.0 else PULL
