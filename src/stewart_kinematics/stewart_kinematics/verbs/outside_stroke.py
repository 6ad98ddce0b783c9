# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Lines of a table whose legs the platform does not have."""

from __future__ import annotations

import numpy as np
from stewart_kinematics.errors import Violation
from stewart_kinematics.limits.guard import SLACK
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_tables.csv_tables import Table


def outside_stroke(table: Table, stroke: Array, platform: Platform) -> dict[int, str]:
    """Return sentences by row, for each outside the stroke, about the leg that is farthest out.

    `stroke` (n, 6) are positions of the legs' joints [m], [rad]; NaN where a rod does not reach.
    """
    kind, limits = platform.kind, platform.limits.stroke
    beyond = np.maximum(limits[:, 0] - stroke, stroke - limits[:, 1])
    # A rod that does not reach has no position: nothing is farther out.
    beyond = np.where(np.isnan(beyond), np.inf, beyond)
    sentences = {}
    rounding = 0.5 * SLACK * np.ptp(limits, axis=1)
    for row in np.flatnonzero(np.any(beyond > rounding, axis=1)).tolist():
        leg = int(np.argmax(beyond[row]))
        (lower, upper), value = limits[leg], stroke[row, leg]
        violation = Violation(kind.quantity, value, lower, upper, kind.unit, leg + 1)
        told = f'the rod of leg {leg + 1} does not reach' if np.isnan(value) else violation
        sentences[row] = f'{table.line(row)}: {told}'
    return sentences
