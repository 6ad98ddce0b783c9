# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors inside the master; its bus tells the driver in the driver's own."""

from __future__ import annotations

from stewart_simulation.ethercat.errors import SegmentError


class MasterError(SegmentError):
    """A slave did not do what it was asked for; the message says why, without a full stop."""
