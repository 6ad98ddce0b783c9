# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the demo plays, as data: platform, trajectory node, its parameters, what has to hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """
    What has to hold for a scenario to pass.

    Attributes
    ----------
    rate : float
        Nominal rate of setpoints, commands, actuator states and poses [Hz].
    least_rate_share : float
        Smallest mean rate, as a share of `rate`.
    path_position, path_rotation : float
        Largest tracking error along the path [m], [rad].
    latency : float
        Largest 99th percentile from setpoint stamp to the state that has executed it [s].

    """

    rate: float = 200.0
    least_rate_share: float = 0.95
    path_position: float = 1e-3
    path_rotation: float = 1.75e-3
    latency: float = 0.06
