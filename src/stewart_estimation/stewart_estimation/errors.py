# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the state estimation.

StewartError
└── EstimationError       an estimate cannot be made or continued
    ├── SampleError       a sample is not one: not finite, of no pose
    └── CovarianceError   a covariance is not positive definite, nor can it be made so
"""

from __future__ import annotations

from stewart_kinematics.errors import StewartError


class EstimationError(StewartError):
    """An estimate cannot be made or continued."""


class SampleError(EstimationError, ValueError):
    """A sample is not one: not finite, or lengths that no pose has."""


class CovarianceError(EstimationError):
    """A covariance is not positive definite, nor can it be made so."""

    def __init__(self, message: str, row: int = 0) -> None:
        """Take the sentence, and of several rows the one before which it is so."""
        super().__init__(message)
        self.row = row
