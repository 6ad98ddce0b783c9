# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the verdict that setpoints are not executed."""

from __future__ import annotations

from stewart_kinematics.control.playback import Hearing, LOOKS


def test_setpoints_are_lost_after_the_patience_but_not_by_a_stall_of_this_process() -> None:
    hearing, executed = Hearing(0.5), 7
    assert not hearing.lost(0.0, lambda: executed)
    # Without a processor for a minute: one look, as any other.
    assert not hearing.lost(60.0, lambda: executed)
    assert not hearing.lost(60.05, lambda: executed)
    lost = [hearing.lost(60.0 + 0.11 * look, lambda: executed) for look in range(1, LOOKS + 1)]
    assert lost == [False] * (LOOKS - 1) + [True]
    hearing.begin_anew()
    assert not hearing.lost(0.0, lambda: executed)
