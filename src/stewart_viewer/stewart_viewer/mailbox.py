# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the graph has said last, kept until the thread that draws looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
import threading
import time
from typing import Any

from stewart_viewer.snapshot import Snapshot, STALE
from stewart_viewer.status import NOT_HEARD, UNKNOWN

MEASURED = ('strokes', 'forces', 'estimate')


class Mailbox:
    """Keep what came last until somebody looks; `ended` tells that nothing more will come.

    Pictures are made in a thread of their own, so that a slow browser never holds up a node.

    Args:
        stale: Once poses have come, and none has for this time [s], none is known any more; of
            what is measured beside them each goes for itself.
        now: A clock that goes on whatever happens to the rig's [s].
    """

    def __init__(self, stale: float = STALE, now: Callable[[], float] = time.monotonic) -> None:
        self._stale, self._now = stale, now
        self._posed = inf
        self._came: dict[str, float] = {}
        self._lock = threading.Lock()
        self._latest = Snapshot(0.0)
        self._changed = threading.Event()
        self.ended = False

    def put(self, time: float, **values: Any) -> None:
        """Replace some fields of the latest snapshot, at an instant [s]."""
        with self._lock:
            self._latest = replace(self._latest, time=time, **values)
            now = self._now()
            if 'pose' in values:
                self._posed = now
            self._came.update({name: now for name in MEASURED if name in values})
        self._changed.set()

    def take(self, patience: float) -> Snapshot | None:
        """Wait for a change, and return the latest; None if there was none in this time [s].

        That nothing is heard any more is a change, too, at every look.
        """
        # What comes after a wait in vain is left for the next look.
        if changed := self._changed.wait(patience):
            self._changed.clear()
        with self._lock:
            now = self._now()
            silence = now - self._posed
            old = [name for name, came in self._came.items() if now - came >= self._stale]
            gone: dict[str, Any] = dict.fromkeys(old)
            self._latest = replace(self._latest, **gone)
            for name in old:
                del self._came[name]
            if silence >= self._stale:
                return _silent(self._latest, silence)
            return self._latest if changed or old else None

    def end(self) -> None:
        """Wake whoever waits for the last time."""
        self.ended = True
        self._changed.set()


def _silent(snapshot: Snapshot, silence: float) -> Snapshot:
    """Return what is left of an instant without news of the pose [s]."""
    said = snapshot.drives or UNKNOWN
    silent = f'platform/pose: nothing heard for {silence:.0f} s'
    if said.state in (NOT_HEARD, 'FAULT') or (
        said is not UNKNOWN and snapshot.strokes is not None
    ):
        # Why the driver has given up may be why no pose comes; and it is live while strokes come.
        drives = replace(said, reason=f'{said.reason}; {silent}')
    else:
        drives = replace(said, state=NOT_HEARD, reason=f'{silent}; before that: {said.state}')
    return replace(snapshot, pose=None, drives=drives)
