# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the identification.

StewartError
├── NotIdentifiable           the motion does not show what was asked for
├── FitError                  an estimator cannot fit this model to this experiment
└── UnusableRecording         nothing, or not enough, can be used; one sentence says what and why
"""

from __future__ import annotations

from stewart_kinematics.errors import ConfigurationError, ShapeError, StewartError

__all__ = ['ConfigurationError', 'ShapeError', 'StewartError']


class NotIdentifiable(StewartError):
    """The motion does not show what was asked for."""


class FitError(StewartError):
    """An estimator cannot fit this model to this experiment."""


class UnusableRecording(StewartError):
    """Nothing, or not enough, of a recording can be used."""
