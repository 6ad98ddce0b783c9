# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A counter that stands is told from one that was not looked at."""

from __future__ import annotations

import pytest
from stewart_driver.control.supervision import StallDetector


def test_a_counter_stands_for_as_long_as_it_was_seen_to() -> None:
    stall = StallDetector()

    assert stall.look(7, 1000.0) == 0.0
    assert stall.look(7, 1000.04) == pytest.approx(0.04)
    assert stall.look(7, 1000.10) == pytest.approx(0.10)
    assert stall.look(8, 1000.15) == 0.0


def test_a_pause_of_who_looks_is_not_one_of_who_counts() -> None:
    stall = StallDetector()
    stall.look(7, 1000.0)

    # As after both were frozen, with the machine.
    assert stall.look(7, 1060.0) == pytest.approx(0.1)
