# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What comes of live samples: one by one, or as rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stewart_estimation.kernels.records import (
    R_DELAY,
    R_FORCE_BIAS,
    REPORT,
    V_SIGMA,
    V_USED,
    VERDICTS,
)
from stewart_estimation.samples import Stamped
from stewart_kinematics.motion import Array


@dataclass(frozen=True, eq=False)
class LiveRows(Stamped):
    """What came of n leg samples, as rows of numbers.

    Attributes:
        stamps (n,): Of the samples [s].
        report, errors, rate_errors, verdicts: As `kernels.records.Rows` has them; verdicts are NaN
            where the filter started from the sample.
        restarted (n,): Whether the filter was started anew from it.
    """

    report: Array
    errors: Array
    rate_errors: Array
    verdicts: Array
    restarted: NDArray[np.bool_]

    def fit(self, *, delayed: bool) -> Array:
        """Return what an EstimatorStatus tells: innovations, sigmas, NIS, biases, delay, (n, 20).

        Args:
            delayed: Whether the delay of the IMU is estimated; NaN where it is not [s].
        """
        told = np.empty((len(self), V_USED + R_DELAY - R_FORCE_BIAS + 1))
        told[:, :V_USED] = self.verdicts[:, :V_USED]
        told[:, V_USED:-1] = self.report[:, R_FORCE_BIAS:R_DELAY]
        told[:, -1] = self.report[:, R_DELAY] if delayed else np.nan
        return told

    @classmethod
    def joined(cls, blocks: Sequence[LiveRows]) -> LiveRows:
        """Return the rows of all blocks."""
        if not blocks:
            return NOTHING
        if len(blocks) == 1:
            return blocks[0]
        columns = zip(*(vars(block).values() for block in blocks), strict=True)
        return cls(*(np.concatenate(column) for column in columns))


NOTHING = LiveRows(
    np.empty(0),
    np.empty((0, REPORT)),
    np.empty((0, 15, 15)),
    np.empty((0, 3, 3)),
    np.empty((0, VERDICTS)),
    np.empty(0, dtype=bool),
)


def used_legs(verdicts: Array) -> NDArray[np.bool_]:
    """Return which legs each row of verdicts (..., 19) has used, shape (..., 6)."""
    return verdicts[..., V_USED:] > 0.0


def refused_legs(verdicts: Array) -> NDArray[np.bool_]:
    """Return which legs each row has refused, (..., 6); those that are missing are neither."""
    return np.isfinite(verdicts[..., :V_SIGMA]) & (verdicts[..., V_USED:] == 0.0)
