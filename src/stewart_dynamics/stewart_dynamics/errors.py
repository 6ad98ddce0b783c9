# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the dynamics."""

from __future__ import annotations

import numpy as np
from stewart_kinematics.errors import StewartError
from stewart_kinematics.motion import Array

__all__ = [
    'MissingMasses',
    'SingularPose',
    'StewartError',
    'UnphysicalInertia',
    'refuse_not_finite',
]


class UnphysicalInertia(StewartError, ValueError):
    """No rigid body has these masses and moments."""


class MissingMasses(StewartError):
    """The platform's description holds no masses."""

    def __init__(self, name: str) -> None:
        super().__init__(f'platform {name} has no masses in its description: no dynamics')


class SingularPose(StewartError):
    """The six leg directions do not span all wrenches."""

    def __init__(self, condition_number: float, index: int | None = None) -> None:
        where = '' if index is None else f' at sample {index}'
        super().__init__(f'singular pose{where}: condition number {condition_number:.3g}')
        self.condition_number = condition_number
        self.index = index


def refuse_not_finite(name: str, values: Array) -> None:
    """Raise StewartError naming the first sample of `values` that is NaN or infinite."""
    if np.isfinite(values).all():
        return
    index = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
    raise StewartError(f'{name} must be finite, got {values[index]} at index {index}')
