# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Questions to whoever sits at the terminal."""

from __future__ import annotations

import sys


def agreed(question: str) -> bool:
    """Ask on stderr; tell whether the answer on stdin is yes."""
    print(question, end='', file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {'y', 'yes'}
