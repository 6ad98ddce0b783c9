# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the virtual rig and of what it is made of.

StewartError
├── SegmentError
│   ├── FrameError        what came is no EtherCAT frame
│   ├── FaultError        a fault that does not exist, or with arguments that do not fit
│   ├── NamespaceError    this machine does not let us make a network (`ethercat.namespace`)
│   └── ControlError      the control socket refused or is gone
└── RigError              the virtual rig cannot start, or is gone
"""

from __future__ import annotations

from collections.abc import Iterable

from stewart_tables.errors import StewartError


class SegmentError(StewartError):
    """Root of all errors of the software segment."""


class FrameError(SegmentError, ValueError):
    """What came is no EtherCAT frame."""

    def __init__(self, frame: bytes | bytearray, reason: str) -> None:
        super().__init__(f'not an EtherCAT frame ({reason}): {bytes(frame[:32]).hex(" ")}')


class FaultError(SegmentError, ValueError):
    """A fault does not exist, or its arguments do not fit."""

    def __init__(self, fault: str, reason: str, known: Iterable[str] = ()) -> None:
        offer = f'; there are {", ".join(sorted(known))}' if known else ''
        super().__init__(f'fault {fault!r}: {reason}{offer}')


class ControlError(SegmentError):
    """The control socket refused a call or is gone."""


class RigError(StewartError):
    """The virtual rig cannot start, or is gone."""
