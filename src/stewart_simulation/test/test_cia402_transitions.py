# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every arrow of the drive profile is made by a simulated drive, asked through its wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from stewart_driver.ethercat.cia402 import State, TRANSITIONS
from stewart_simulation.ethercat.drive import Drive

Arrows = set[tuple[State, State]]

# Controlwords from SWITCH ON DISABLED to each state, and on to others; QUICK STOP ACTIVE stays
# with option 6 of 605Ah.
WAYS = (
    *((0x06, 0x00), (0x06, 0x02), (0x06, 0x07, 0x06, 0x00)),
    *((0x06, 0x07, 0x00), (0x06, 0x07, 0x02), (0x06, 0x07, 0x0F, 0x07, 0x00)),
    *((0x06, 0x07, 0x0F, 0x06, 0x00), (0x06, 0x07, 0x0F, 0x00)),
    (0x06, 0x07, 0x0F, 0x02, 0x0F, 0x02, 0x00),
)
FAULT_AFTER = ((), (0x06,), (0x06, 0x07), (0x06, 0x07, 0x0F), (0x06, 0x07, 0x0F, 0x02))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Arrows:
    """Every change of state that a drive makes from now on."""
    arrows: Arrows = set()

    def note(drive: Drive, name: str, value: Any) -> None:
        before = drive.__dict__.get('state')
        if name == 'state' and before is not None and before is not value:
            arrows.add((before, value))
        object.__setattr__(drive, name, value)

    monkeypatch.setattr(Drive, '__setattr__', note)
    return arrows


def test_every_transition_of_the_table_is_made_and_no_other(
    build: Callable[..., Any], made: Arrows
) -> None:
    bench = build(1).op()
    bench.sdo_write(1, 0x605A, 0, b'\x06\x00')

    def say(*words: int) -> None:
        for word in words:
            bench.run(4, lambda _, word=word: [(word, 0)])

    for way in WAYS:
        say(0x00, *way)
    for way in FAULT_AFTER:
        say(0x00, *way)
        bench.segment.slaves[0].drive.fault(0x2310)
        say(way[-1] if way else 0x00, 0x00, 0x80)
    starting = build(1).segment.slaves[0].drive
    assert starting.state is State.NOT_READY_TO_SWITCH_ON
    starting.fault(0x2310)

    assert made == {(arrow.source, arrow.target) for arrow in TRANSITIONS}
    assert {arrow.number for arrow in TRANSITIONS} == set(range(1, 17))
