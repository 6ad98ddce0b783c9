# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the reproduction of the Vigo paper."""

from __future__ import annotations

from collections.abc import Iterator
import io
import itertools
from pathlib import Path
import re
from types import ModuleType

import numpy as np
import pytest

PAPERS = Path(__file__).resolve().parents[1]


@pytest.fixture(scope='module')
def vigo() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PAPERS))
        import vigo

        yield vigo


@pytest.fixture(scope='module')
def report(vigo: ModuleType):
    return vigo.reproduce()


def test_every_row_agrees(report) -> None:
    assert [row.name for row in report.rows if not row.passed] == []
    assert report.exit_code == 0


def test_all_eight_rows_of_table_2_are_compared_in_both_directions(report) -> None:
    for number in range(1, 9):
        names = [row.name for row in report.rows if row.name.startswith(f'#{number} ')]
        assert len(names) == 4, names


def test_only_the_two_coarsely_printed_poses_have_a_tolerance_derived_from_their_strokes(
    report,
) -> None:
    for number in range(1, 9):
        position, angle = (
            row
            for row in report.rows
            if row.name.startswith(f'#{number} ') and 'from the strokes' in row.name
        )
        if number in {4, 7}:
            assert 'through the Jacobian' in position.note
            assert 1.5e-4 < position.tolerance < 2e-2
            assert 3e-7 < angle.tolerance < 3e-5
        else:
            assert (position.tolerance, angle.tolerance) == (1.5e-4, 3e-7)


def test_derived_tolerance_is_reached_by_forward_kinematics_and_not_passed(
    vigo: ModuleType,
) -> None:
    platform = vigo.Platform.from_yaml('vigo')
    geometry, pose = platform.geometry, platform.geometry.neutral_pose
    lengths = vigo.leg_lengths(geometry, pose.position, pose.quaternion_xyzw)
    allowed = vigo._carried(platform, pose, 1e-3)

    away = []
    for signs in itertools.product((-1e-6, 1e-6), repeat=6):
        found = vigo.forward(geometry, lengths + signs, pose)
        away.append(1e3 * np.linalg.norm(found.position - pose.position))

    assert max(away) == pytest.approx(allowed['position_mm'], rel=1e-3)


def test_forward_kinematics_needs_at_most_five_iterations(report) -> None:
    iterations = [row.ours for row in report.rows if 'iterations' in row.name]
    assert len(iterations) == 8
    assert max(iterations) <= 5


def test_rows_can_fail(vigo: ModuleType) -> None:
    from reproduction import Report

    report = Report('none')
    entry = {'value': 1.0, 'tolerance': 0.1, 'unit': 'm', 'source': 'nowhere'}
    assert report.add('off', 1.2, entry).verdict == 'FAILED'
    assert report.add('not a number', float('nan'), entry).verdict == 'FAILED'
    assert report.add('too much', 1.2, {**entry, 'relation': '<='}).verdict == 'FAILED'
    assert report.add('too little', 0.8, {**entry, 'relation': '>='}).verdict == 'FAILED'
    assert report.add('near', 1.05, entry).verdict == 'ok'
    assert report.add('less', 0.1, {**entry, 'relation': '<='}).verdict == 'ok'
    assert report.add('more', 9.0, {**entry, 'relation': '>='}).verdict == 'ok'
    assert report.exit_code == 1
    stream = io.StringIO()
    report.print(stream)
    for begin in ('derived from Eq. 1', 'not in the paper: ours'):
        report.add(begin, 1.0, {**entry, 'source': begin})
    assert [row.kind for row in report.rows[-3:]] == ['published', 'derived', 'regression']
    report.print(stream)
    *_, last = stream.getvalue().splitlines()
    assert last == (
        'published: 3 of 7 rows agree; derived: 1 of 1 rows agree; regression: 1 of 1 rows agree'
    )


def test_page_stands_alone(report, tmp_path: Path) -> None:
    page = report.write(tmp_path, 'vigo').read_text(encoding='utf-8')
    assert len(list(tmp_path.glob('vigo_*.png'))) == 4
    for name in ('Figure 7', 'Figure 10', 'Figure 11', 'Figure 12'):
        assert f'<h2>{name}</h2>' in page
    assert page.count('src="data:image/png;base64,') == 4
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert '213.64096' in page
