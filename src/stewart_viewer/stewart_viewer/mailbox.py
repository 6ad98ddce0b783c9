# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The latest of everything, from one thread to another."""

from __future__ import annotations

from dataclasses import replace
import threading
from typing import Any

from stewart_viewer.snapshot import Snapshot


class Mailbox:
    """Keep what came last until somebody looks.

    Pictures are made in a thread of their own, so that a slow browser never holds up a node.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latest = Snapshot(0.0)
        self._changed = threading.Event()
        self._ended = False

    def put(self, time: float, **values: Any) -> None:
        """Replace some fields of the latest snapshot, at an instant [s]."""
        with self._lock:
            self._latest = replace(self._latest, time=time, **values)
        self._changed.set()

    def take(self, patience: float) -> Snapshot | None:
        """Wait for a change, and return the latest; None if there was none in this time [s]."""
        if not self._changed.wait(patience):
            return None
        self._changed.clear()
        with self._lock:
            return self._latest

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self._ended

    def end(self) -> None:
        """Wake whoever waits for the last time."""
        self._ended = True
        self._changed.set()
