# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The garbage collector leaves alone what was there before, whoever keeps it away."""

from __future__ import annotations

import gc

from stewart_tables.short_collections import short_collections


def test_what_was_there_before_is_left_alone_until_the_end() -> None:
    before = gc.get_freeze_count()
    gc.unfreeze()
    try:
        with short_collections():
            assert gc.get_freeze_count() > 10_000

        assert gc.get_freeze_count() == 0
    finally:
        if before:
            gc.freeze()


def test_what_somebody_else_keeps_away_stays_away() -> None:
    kept = gc.get_freeze_count()
    gc.freeze()
    try:
        with short_collections():
            pass

        assert gc.get_freeze_count() > 10_000
    finally:
        if not kept:
            gc.unfreeze()
