# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the node can ask the control loop for."""

from __future__ import annotations

from enum import IntEnum


class Request(IntEnum):
    """A request; the last two have a value."""

    ENABLE = 1
    DISABLE = 2
    HOME = 3
    RESET_FAULT = 4
    OVERRIDE = 5
    """1: legs may be outside their strokes; 0: no more."""
    SPEED_SCALING = 6
    """Speed at which paths are played, 0.01 to 1."""
