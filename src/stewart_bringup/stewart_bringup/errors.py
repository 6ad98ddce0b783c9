# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What can go wrong while a rig is run.

BringupError             the nodes do not come together, or an argument cannot be used
├── StopRequested        somebody wants it to end
└── RequestRefused       a service of the rig said no, or nothing
"""

from __future__ import annotations


class BringupError(Exception):
    """Root of all errors about running a rig."""


class RequestRefused(BringupError):
    """A service of the rig said no, or nothing."""

    def __init__(self, service: str, reason: str) -> None:
        super().__init__(f'{service}: {reason}')
        self.reason = reason


class StopRequested(BringupError):
    """Somebody wants it to end."""
