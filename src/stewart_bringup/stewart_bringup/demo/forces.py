# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Leg forces: what feed-forward asked for against what the drives delivered.

A force is stamped as its setpoint, and a drive delivers it when it executes that setpoint, so the
constant delay of the strokes is taken out before the two are compared. What remains is what the
drives had to add: friction, a payload that the description does not know, disturbances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stewart_bags.series import JointSeries

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Forces:
    """Forces of one scenario.

    Attributes:
        time (n,): Instants of the measurements after the first commanded force, the delay taken
            out [s].
        commanded, delivered (n, 6): Legs 1 to 6, positive pushes apart [N].
    """

    time: Array
    commanded: Array
    delivered: Array

    @property
    def difference(self) -> tuple[float, float]:
        """Root mean square and largest magnitude of delivered minus commanded [N]."""
        rest = self.delivered - self.commanded
        return float(np.sqrt(np.mean(np.square(rest)))), float(np.abs(rest).max())


def compare(efforts: JointSeries | None, actuators: JointSeries, delay: float) -> Forces | None:
    """Put commanded and delivered forces side by side; None where one of the two is missing.

    Args:
        efforts: Feed-forward forces; None where there was no feed-forward.
        actuators: With measured forces, or NaN where none is measured.
        delay: Constant delay of the strokes against the setpoints' stamps [s].
    """
    if efforts is None or np.isnan(actuators.effort).all():
        return None
    _, rows = np.unique(efforts.stamp_ns, return_index=True)
    origin = int(efforts.stamp_ns[rows[0]])
    known = efforts.seconds(origin)[rows]
    time = actuators.seconds(origin) - delay
    inside = (time >= known[0]) & (time <= known[-1]) & ~np.isnan(actuators.effort).any(axis=1)
    commanded = np.column_stack(
        [np.interp(time[inside], known, efforts.effort[rows, leg]) for leg in range(6)]
    )
    return Forces(time[inside], commanded, actuators.effort[inside])
