# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear algebra has one thread, unless somebody wants more."""

from __future__ import annotations

import pytest
from stewart_tables.one_thread import ONE_THREAD, prefer_one_thread


def test_one_thread_is_preferred_to_none_but_not_to_what_somebody_has_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environment = {'OMP_NUM_THREADS': '4'}
    monkeypatch.setattr('os.environ', environment)
    prefer_one_thread()
    assert environment == {**ONE_THREAD, 'OMP_NUM_THREADS': '4'}
