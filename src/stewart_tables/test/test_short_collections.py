# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The garbage collector leaves alone what was there before, whoever keeps it away."""

from __future__ import annotations

from collections.abc import Iterator
import gc

import pytest
from stewart_tables import short_collections as module
from stewart_tables.short_collections import short_collections


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget that pytest keeps it away, and keep it away again in the end."""
    monkeypatch.setattr(module, '_kept', False)
    gc.unfreeze()
    yield
    gc.freeze()


def test_what_was_there_before_is_left_alone_until_the_end() -> None:
    with short_collections():
        assert gc.get_freeze_count() > 10_000

    assert gc.get_freeze_count() == 0


def test_what_is_kept_away_stays_away_when_a_part_ends() -> None:
    with short_collections():
        with short_collections():
            pass

        assert gc.get_freeze_count() > 10_000
