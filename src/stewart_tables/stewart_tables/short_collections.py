# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Keep the garbage collector away from what a process has made before its work begins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import gc

_kept = False


@contextmanager
def short_collections() -> Iterator[None]:
    """Keep Python's garbage collector from pausing the work.

    With rclpy, scipy and numba loaded, a full collection walks a million objects for 50 to 100 ms,
    in which no setpoint leaves and the driver takes the source for dead. What is there when the
    work begins stays for good and need not be walked again, nor now: what litter is among it waits
    for the end.
    """
    global _kept
    if _kept:
        # Somebody has begun before, and to thaw ours would thaw all.
        yield
        return
    _kept = True
    gc.freeze()
    try:
        yield
    finally:
        _kept = False
        gc.unfreeze()
