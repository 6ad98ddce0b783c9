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
        arguments: Leading arguments of ``forward_kernels.derivative``.
        retracted (6,): Leg lengths at stroke 0 [m].
        start (13,): State at rest at the start pose.
        effective_mass: Largest mass that one drive feels along its leg at the start [kg].
        damping_rate: Fastest rate at which friction damps a motion there, next to standstill
            [1/s].
    """

    arguments: tuple[Array | float, ...]
    retracted: Array
    start: Array
    effective_mass: float
    damping_rate: float
