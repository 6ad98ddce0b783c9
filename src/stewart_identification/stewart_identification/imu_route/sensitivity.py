# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Finite-difference sensitivity of forces to parameters (Machines 2026, 14, 218, Eq. 21)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from stewart_kinematics.motion import Array

CHANGE = 0.1
"""The paper varies a parameter by ten percent to either side."""


def sensitivity(
    predict: Callable[[Array], Array],
    parameters: Array,
    *,
    scale: Array | None = None,
    change: float = CHANGE,
) -> Array:
    """Differentiate forces by parameters, by central differences.

    Args:
        predict: Takes parameters, shape (p,), and returns forces of any shape (...).
        parameters (p,): Where.
        scale (p,): What `change` is a share of; the parameters themselves by default, which must
            not be 0.
        change: Step, as a share.

    Returns:
        (..., p): Derivative by each parameter, per its unit.
    """
    centre = np.asarray(parameters, dtype=float)
    steps = change * (np.abs(centre) if scale is None else np.asarray(scale, dtype=float))
    columns = []
    for index, step in enumerate(steps):
        ahead, behind = centre.copy(), centre.copy()
        ahead[index] += step
        behind[index] -= step
        columns.append((predict(ahead) - predict(behind)) / (2.0 * step))
    return np.stack(columns, axis=-1)
