# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What can go wrong while a rig is run.

BringupError             the nodes do not come together, or an argument cannot be used
├── UnknownRig           there is no configuration of that name
├── StopRequested        somebody wants it to end
├── RequestRefused       a service of the rig said no, or nothing
└── OutputRefused        a folder that would be replaced holds something else
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


class BringupError(Exception):
    """Root of all errors about running a rig."""


class UnknownRig(BringupError):
    """There is no configuration of that name."""

    def __init__(self, name: str, available: Iterable[str]) -> None:
        super().__init__(f'no configuration {name!r}, there are {", ".join(sorted(available))}')


class RequestRefused(BringupError):
    """A service of the rig said no, or nothing."""

    def __init__(self, service: str, reason: str) -> None:
        super().__init__(f'{service}: {reason}')
        self.reason = reason


class StopRequested(BringupError):
    """Somebody wants it to end."""


class OutputRefused(BringupError):
    """A folder that would be replaced holds something else than what is written there."""

    def __init__(self, folder: Path, strange: Iterable[str]) -> None:
        found = ', '.join(sorted(strange))
        super().__init__(f'{folder} holds {found} and is not replaced; choose another --output')
