# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled end of a correction by an external pose, whose gain numpy has found."""

from __future__ import annotations

import numpy as np
from stewart_estimation.kernels.correction import transport
from stewart_estimation.kernels.records import FILTER_TYPE, FilterState, SETUP_TYPE
from stewart_estimation.kernels.tangent import retract
from stewart_kinematics.kernels.compiled import kernel, VECTOR, VOID
from stewart_kinematics.motion import Array


@kernel(VOID, SETUP_TYPE, FILTER_TYPE, VECTOR)
def shift(setup: np.record, filtered: FilterState, change: Array) -> None:
    """Move the state by a vector of the tangent and take its covariance along."""
    retract(filtered.state, change, setup)
    transport(filtered.covariance, change)
