# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the software segment.

SegmentError
├── FrameError        what came is no EtherCAT frame
├── FaultError        a fault that does not exist, or with arguments that do not fit
├── NamespaceError    this machine does not let us make a network of our own
└── ControlError      the segment's control socket refused or is gone
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stewart_simulation.ethercat.permissions import EVERY


class SegmentError(Exception):
    """Root of all errors of the software segment."""


class FrameError(SegmentError, ValueError):
    """What came is no EtherCAT frame."""

    def __init__(self, frame: bytes | bytearray, reason: str) -> None:
        """Show the beginning of the frame and what is wrong with it."""
        super().__init__(f'not an EtherCAT frame ({reason}): {bytes(frame[:32]).hex(" ")}')
        self.reason = reason


class FaultError(SegmentError, ValueError):
    """A fault does not exist, or its arguments do not fit."""

    def __init__(self, fault: str, reason: str, known: Iterable[str] = ()) -> None:
        """Name the fault, what is wrong and what there is."""
        offer = f'; there are {", ".join(sorted(known))}' if known else ''
        super().__init__(f'fault {fault!r}: {reason}{offer}')
        self.fault = fault


class ControlError(SegmentError):
    """The segment's control socket refused a call or is gone."""


class NamespaceError(SegmentError, OSError):
    """A network of our own cannot be made on this machine."""

    def __init__(self, step: str, reason: str, lines: Sequence[str] = EVERY) -> None:
        """Name the step that failed and the lines that may permit it."""
        offered = '\n  '.join(lines)
        super().__init__(f'cannot {step}: {reason}. What permits it:\n  {offered}')
        self.step = step
        self.reason = reason
