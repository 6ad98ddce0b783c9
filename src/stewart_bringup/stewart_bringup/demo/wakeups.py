# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Wake up every millisecond and measure how late; print the latenesses in steps of 0.1 ms.

A process of its own, for a thread of the rig's would wait for the rig's interpreter lock and
measure that. It ends when its standard input does.
"""

from __future__ import annotations

from collections import Counter
import json
import select
import sys
import time

PERIOD = 1e-3
STEP = 1e-4


def main() -> None:
    """Measure until standard input ends, then print {steps: count} as JSON."""
    counts: Counter[int] = Counter()
    due = time.monotonic() + PERIOD
    over = False
    while not over:
        over = bool(select.select([sys.stdin], [], [], max(due - time.monotonic(), 0.0))[0])
        now = time.monotonic()
        # A pause swallows wake-ups; each of them was late by what it had to wait.
        while due <= now:
            counts[int((now - due) / STEP)] += 1
            due += PERIOD
    print(json.dumps(counts))


if __name__ == '__main__':
    main()
