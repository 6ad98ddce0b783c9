# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What can go wrong while a rig is run.

BringupError
├── UnknownRig           there is no configuration of that name
├── CompositionError     the nodes do not come together
├── LaunchRefused        a launch argument cannot be used
├── SpeedRefused         time cannot pass that fast
├── LaunchFailed         a launched process has failed, and with it the launch
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


class CompositionError(BringupError):
    """The nodes do not come together."""


class LaunchRefused(BringupError):
    """A launch argument cannot be used."""


class SpeedRefused(BringupError):
    """Time cannot pass that fast."""


class LaunchFailed(BringupError):
    """A launched process has failed, and with it the launch."""


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
