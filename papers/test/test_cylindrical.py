# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the reproduction of the Cylindrical paper, in small; `make papers` runs it whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

PAPERS = Path(__file__).resolve().parents[1]


@pytest.fixture(scope='module')
def cylindrical() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PAPERS))
        import cylindrical

        yield cylindrical


@pytest.fixture(scope='module')
def said(cylindrical: ModuleType) -> dict[str, Any]:
    found: dict[str, Any] = cylindrical.published('cylindrical')
    found['choices']['runs'] = 3
    return found


@pytest.fixture(scope='module')
def report(cylindrical: ModuleType, said: dict[str, Any]):
    """Everything but Table III and the planning of excitations, which take seconds."""
    from reproduction import Report

    report, model = Report(said['paper']), cylindrical.robot(said)
    samples = cylindrical.section_7_samples(said, model)
    cylindrical.compare_limits(report, said)
    verdicts = cylindrical.compare_structure(report, said, model, samples)
    runs = cylindrical.compare_runs(report, said, model, samples, verdicts)
    cylindrical.draw_forces(report, said, model, samples, runs)
    cylindrical.note_readings(report, said)
    return report


def test_printed_tables_arrive_at_the_parameters_that_they_name(
    cylindrical: ModuleType, said: dict[str, Any]
) -> None:
    from cylindrical_cases import ORDER, parameters, statuses

    names = cylindrical.robot(said).parameter_names
    truth = dict(zip(names, parameters(said, 'truth'), strict=True))
    mean = dict(zip(names, parameters(said, 'mean'), strict=True))
    status = dict(zip(names, statuses(said), strict=True))
    assert sorted(ORDER) == list(range(12))
    # Tables V to VII, read in the text by name.
    assert (truth['I1xx'], truth['I1yy'], truth['I1zz']) == (4, 1, 4)
    assert (mean['I2xz'], mean['I2yz'], mean['I2xy']) == (1.38, 0.98, 0.83)
    assert (truth['s3z'], mean['s3z'], status['s3z']) == (-0.5, -0.51, 'I')
    assert (mean['fv3'], mean['fc3']) == (0.93, 0.77)
    assert (status['fv3'], status['fc3'], status['m2']) == ('I', 'SI/NUI', 'I')


def test_every_row_is_as_expected(report) -> None:
    # The mean of three runs in place of ten says nothing; how fast it is neither, beside others.
    failed = {row.name for row in report.rows if not row.passed}
    assert {
        name for name in failed if 'mean of ten' not in name and 'Table IV' not in name
    } == set()


def test_verdicts_stand_beside_the_papers_for_every_parameter(report, said) -> None:
    lines = [note for note in report.notes if 'by the regressor' in note]

    assert len(lines) == 36
    line = next(line for line in lines if line.startswith('s2y:'))
    assert 'paper -0.51 (NUI)' in line
    assert line.endswith('by the regressor unidentifiable')
    assert next(line for line in lines if line.startswith('m3:')).endswith('identifiable')


def test_forces_are_those_of_the_printed_equation(cylindrical: ModuleType, said) -> None:
    """Hold the robot at rest, then move one joint: what remains can be written down by hand."""
    from serial_robot import JointMotion
    from stewart_identification.experiment import Experiment

    model = cylindrical.robot(said)
    value = dict(zip(model.parameter_names, model.nominal, strict=True))
    position, velocity, acceleration = np.zeros((3, 2, 3))
    acceleration[1, 1] = 2.0
    motion = JointMotion(position, velocity, acceleration)
    still, lifted = model.predict(
        model.nominal, Experiment(np.arange(2.0), motion, np.zeros((2, 3)))
    )
    moved = value['m2'] + value['m3']
    assert still[1] == pytest.approx(moved * said['choices']['gravity_mps2'])
    assert lifted[1] - still[1] == pytest.approx(2.0 * moved)


def test_signs_that_the_text_lost_are_chosen_and_the_limits_stay_broken(said) -> None:
    from cylindrical_cases import excess, instants, least_excess, sines

    for name in ('equation_16', 'equation_17'):
        given = said[name]
        least, a, c = least_excess(said, given['a'], given['w'], given['c'], said['limits_15'])
        printed = sines(
            np.array(given['a']), np.array(given['w']), np.array(given['c']), instants(said)
        )
        assert 0.0 < least <= excess(printed, said['limits_15']).max() + 1e-2
        assert np.array_equal(np.abs(a), np.abs(given['a']))
        assert np.array_equal(np.abs(c), np.abs(given['c']))


def test_four_parameters_of_table_3_are_found_from_clean_samples(cylindrical, said) -> None:
    from cylindrical_cases import instants, least_excess, sines
    from cylindrical_table_3 import FourParameters, REAL
    from searches import fit_by_descent
    from stewart_identification.experiment import Experiment

    whole = cylindrical.robot(said)
    model = FourParameters(whole, said['box'])
    given, start = said['table_2']['planned'], said['limits_14']['start']
    _, a, _ = least_excess(said, given['a'], given['w'], start, said['limits_14'])
    motion = sines(a, np.array(given['w']), np.array(start), instants(said))
    still = Experiment(instants(said), motion, np.zeros((len(instants(said)), 3)))
    clean = still.with_forces(whole.predict(model.full(REAL), still))
    found = fit_by_descent(model, clean)
    assert found.parameters == pytest.approx(REAL, rel=1e-5)


def test_a_planned_motion_is_inside_and_judged_by_the_papers_determinant(
    cylindrical, said
) -> None:
    from cylindrical_excitation import Planner

    planner = Planner(said, cylindrical.robot(said))
    first, second = planner.random(2, 0)
    q = np.stack([first.position, first.velocity, first.acceleration], axis=-1).reshape(-1, 9)
    assert planner.inside(first)
    assert planner.inside(second)
    assert planner.by_q(first) == pytest.approx(np.linalg.slogdet(q.T @ q)[1], rel=1e-9)
    assert np.isfinite(planner.by_w(second))


def test_page_says_what_was_chosen_and_what_the_text_does_not_hold(report, tmp_path: Path) -> None:
    page = report.write(tmp_path, 'cylindrical').read_text(encoding='utf-8')

    for words in (
        'T = 10.0 s, N = 100',
        'g = 9.81',
        'box {',
        'Tables VIII and IX',
        '<h2>Figure 3</h2>',
    ):
        assert words in page
