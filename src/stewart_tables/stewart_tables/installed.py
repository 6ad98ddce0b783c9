# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the installed packages offer: nodes, verbs, back ends, cards."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points, EntryPoints
import sys


def installed(group: str) -> EntryPoints:
    """Return the entry points of a group.

    To read them takes 10 ms, as all packages on the path are looked at, and a rig asks for each of
    its nodes: they are read once for a path.
    """
    return _on_path(group, *sys.path)


@cache
def _on_path(group: str, *_path: str) -> EntryPoints:
    return entry_points(group=group)
