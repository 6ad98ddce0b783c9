# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every fault is noticed in time, said in one sentence, and ends where it has to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
import re
from typing import Any

import pytest

pytest.importorskip('rclpy')
pytest.importorskip('pysoem')
pytest.importorskip('pyroute2')

from fault_bench import Bench
from fault_case import Case
from fault_cases import CASES
from fault_path import HEIGHT, OMEGA
from stewart_simulation.errors import RigError
from stewart_simulation.rig.faults import listing

pytestmark = pytest.mark.ros

# Of the path that a fault interrupts [m/s].
LEG_RATE = 0.5 * HEIGHT * OMEGA
DOCS = Path(__file__).resolve().parents[3] / 'docs'
# They mend.
ENDINGS = {
    *('ethercat.mend', 'ethercat.power_on', 'card.mend', 'imu.plug', 'plant.mend'),
}


class Benches:
    """One bench at a time, for its rig; ROS has one context."""

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        self._factory, self._rig = factory, ''
        self._bench: Bench | None = None

    def of(self, rig: str) -> Bench:
        if self._bench is None or rig != self._rig:
            self.end()
            self._bench, self._rig = Bench(rig, self._factory.mktemp('f') / 'd'), rig
        return self._bench

    def end(self) -> None:
        bench, self._bench = self._bench, None
        if bench is not None:
            bench.end()


@pytest.fixture(scope='module')
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Benches]:
    made = Benches(tmp_path_factory)
    yield made
    made.end()


@pytest.fixture
def bench(benches: Benches, case: Case) -> Bench:
    try:
        return benches.of(case.rig)
    except RigError as error:
        if 'What permits it' in str(error):
            pytest.skip(str(error))
        raise


@pytest.mark.slow
@pytest.mark.realtime
@pytest.mark.parametrize(
    'case', sorted(CASES, key=lambda case: case.rig, reverse=True), ids=lambda case: case.name
)
def test_a_fault_ends_as_the_matrix_says(
    bench: Bench,
    benches: Benches,
    case: Case,
    record_property: Callable[[str, Any], None],
    lateness: Callable[[], float],
) -> None:
    try:
        outcome = bench.run(case)
        # Of a machine that stands still: so long nobody hears of a fault, and legs go on.
        late = lateness()
        answer = bench.ask('reset_fault') if case.before_repair else ''
    finally:
        reset = '' if case.wrecks else bench.repair(case)
        if case.wrecks or (case.sinks and case.state != 'DISABLED'):
            benches.end()
    record_property('case', case.name)
    detected = None if outcome.detected is None else float(outcome.detected)
    record_property('detected', detected)
    record_property('sentence', outcome.sentence)
    record_property('state', outcome.state)
    record_property('moved', float(outcome.moved))
    record_property('fallen', float(outcome.fallen))
    print(outcome)

    if case.says:
        assert outcome.detected is not None
        assert outcome.detected < case.within + late
    else:
        assert outcome.sentence == ''
    assert outcome.state == case.state
    assert outcome.moved < case.moves + LEG_RATE * late
    assert outcome.fallen < case.falls
    assert (outcome.lowest < 0.0) == case.sinks
    assert re.search(case.before_repair, answer), answer
    assert not reset or re.search(case.after_repair, reset), reset


@pytest.mark.realtime
@pytest.mark.slow
@pytest.mark.parametrize('name', ['safe torque off of drive 4', 'drive 3 falls back to PREOP'])
def test_a_platform_that_came_down_is_jogged_back(benches: Benches, name: str) -> None:
    """A drive has lost its voltage, the legs lie on their ends, level or askew: a way back."""
    case = next(c for c in CASES if c.name == name)
    bench = benches.of(case.rig)
    try:
        outcome = bench.run(case)
        assert outcome.lowest < 0.0
        assert re.search(case.after_repair, bench.repair(case))

        bench.make_ready()

        assert bench.state == 'ENABLED'
        assert bench.away < 2e-3
    finally:
        benches.end()


def test_the_page_has_just_these_cases_with_these_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    fault_matrix = import_module('fault_matrix')

    lines = (DOCS / 'fault_matrix.md').read_text(encoding='utf-8').splitlines()
    rows = [[cell.strip() for cell in line.split('|')[1:-1]] for line in lines]
    told = {
        cells[0]: (cells[1].partition(' (')[0], cells[4].partition(' (')[0], cells[2])
        for cells in rows
        if len(cells) == len(fault_matrix.HEADS) and cells[0] not in {'fault', '---'}
    }
    assert told == {case.name: (*fault_matrix.bounds(case), case.state) for case in CASES}


def test_every_fault_of_the_issue_has_a_case() -> None:
    tried = {act.name for case in CASES for act in case.acts}
    assert tried >= {name for name, _, _ in listing()} - ENDINGS
