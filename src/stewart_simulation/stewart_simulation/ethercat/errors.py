# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
Errors of the software segment.

SegmentError
├── FrameError        what came is no EtherCAT frame
├── FaultError        a fault that does not exist, or with arguments that do not fit
├── NamespaceError    this machine does not let us make a network of our own
└── ControlError      the segment's control socket refused or is gone

"""

from __future__ import annotations

from collections.abc import Iterable


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


PERMISSIONS = (
    'Ubuntu 24.04: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0',
    'Debian before 11, hardened kernels: sudo sysctl kernel.unprivileged_userns_clone=1',
    'all namespaces used up: sudo sysctl user.max_user_namespaces=10000 '
    'user.max_net_namespaces=10000',
    'Docker, Podman: run with --cap-add=NET_ADMIN --cap-add=NET_RAW',
)


class NamespaceError(SegmentError, OSError):
    """A network of our own cannot be made on this machine."""

    def __init__(self, step: str, reason: str) -> None:
        """Name the step that failed and every line that may permit it."""
        lines = '\n  '.join(PERMISSIONS)
        super().__init__(f'cannot {step}: {reason}. What permits it:\n  {lines}')
        self.step = step
        self.reason = reason
