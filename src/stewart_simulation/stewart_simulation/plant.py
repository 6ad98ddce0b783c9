# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A plant as plain arrays: what the kernels take, and what crosses to the cyclic process."""

from __future__ import annotations

from dataclasses import dataclass

from stewart_driver.legs import Array


@dataclass(frozen=True, eq=False)
class Plant:
    """Plain arrays of a plant, ready for the kernels and for another process.

    Attributes:
        arguments: Leading arguments of ``forward_kernels.loaded_derivative``.
        cones (2, 6, 3): Middles of the cones of base and platform joints, in base and platform
            axes.
        joint_angles (2,): Their half angles, where a joint is at its end [rad].
        retracted (6,): Leg lengths at stroke 0 [m].
        start (13,): State at rest at the start pose.
        effective_mass: Largest mass that one drive feels along its leg at the start [kg].
        damping_rate: Fastest rate at which friction damps a motion there, next to standstill
            [1/s].
    """

    arguments: tuple[Array | float, ...]
    cones: Array
    joint_angles: Array
    retracted: Array
    start: Array
    effective_mass: float
    damping_rate: float
