# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with a virtual rig."""

from __future__ import annotations


class RigError(Exception):
    """The virtual rig cannot start, or is gone."""


def is_deliberate(error: BaseException) -> bool:
    """Tell an error of ours or of the operating system, for which one sentence is enough."""
    return isinstance(error, OSError) or type(error).__module__.startswith('stewart_')
