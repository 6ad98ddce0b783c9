# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the reproduction of the PS-6TL paper."""

from __future__ import annotations

from collections.abc import Iterator
import io
from pathlib import Path
import re
from types import ModuleType

import numpy as np
import pytest

PAPERS = Path(__file__).resolve().parents[1]


@pytest.fixture(scope='module')
def ps6tl() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PAPERS))
        import ps6tl

        yield ps6tl


@pytest.fixture(scope='module')
def report(ps6tl: ModuleType):
    return ps6tl.reproduce()


def test_every_row_is_as_expected(report) -> None:
    assert [row.name for row in report.rows if not row.passed] == []
    assert report.exit_code == 0


def test_every_printed_formula_is_contradicted_and_every_repair_holds(report) -> None:
    by_formula = {
        verdict: {re.match(r'Eq\. \d+', row.name)[0] for row in report.rows if row.name in names}
        for verdict, names in (
            ('printed', {r.name for r in report.rows if r.verdict == 'contradicted'}),
            ('repaired', {r.name for r in report.rows if 'repaired' in r.name}),
        )
        for names in [{name for name in names if name.startswith('Eq. ')}]
    }

    assert by_formula['printed'] == {'Eq. 15', 'Eq. 17', 'Eq. 20', 'Eq. 21', 'Eq. 24', 'Eq. 25'}
    assert by_formula['repaired'] == {'Eq. 15', 'Eq. 21', 'Eq. 24', 'Eq. 25'}


def test_contradictions_are_counted_apart(report) -> None:
    stream = io.StringIO()
    report.print(stream)

    last = stream.getvalue().splitlines()[-1]
    *counts, against = (int(number) for number in re.findall(r'\d+', last))
    assert sum(counts[::2]) + against == sum(counts[1::2]) == len(report.rows)
    assert against == sum(row.relation == '!=' for row in report.rows)


@pytest.mark.slow
def test_a_contradiction_that_vanishes_fails_the_run(
    ps6tl: ModuleType, monkeypatch, tmp_path, capsys
) -> None:
    said = ps6tl.published('ps6tl')
    said['sentences']['pitch_1']['value'] = 7.7
    monkeypatch.setattr(ps6tl, 'published', lambda _name: said)
    # They have nothing to do with that number, and take most of the time.
    for part in ('compare_cases', 'compare_formulas', 'compare_angle_limits'):
        monkeypatch.setattr(ps6tl, part, lambda *_: None)

    assert ps6tl.main(['--output', str(tmp_path)]) == 1
    assert re.search(r'F1 by pitch: largest change .* FAILED', capsys.readouterr().out)


def test_repaired_formulas_are_the_packages(ps6tl: ModuleType) -> None:
    from lagrangian import LagrangianModel
    import ps6tl_printed
    from stewart_kinematics.model.platform import Platform

    platform = Platform.from_yaml('ps6tl_1500')
    model, rng = LagrangianModel.from_platform(platform), np.random.default_rng(1)
    x = rng.uniform(-0.3, 0.3, size=(10, 6))
    x[:, 2] += 2.3
    joints = model.base_joints, model.platform_joints

    repaired = ps6tl_printed.jacobian(*joints, x, repaired=True)
    assert np.abs(repaired - model.jacobian(x)).max() < 1e-14
    as_printed = ps6tl_printed.jacobian(*joints, x, repaired=False)
    assert np.abs(as_printed - model.jacobian(x))[..., :4].max() < 1e-14
    assert np.abs(as_printed - model.jacobian(x))[..., 4:].max() > 0.1


def test_both_stops_explain_limits_that_are_made_of_them(ps6tl: ModuleType) -> None:
    """The test of the limits is one that right limits would pass."""
    from scipy.spatial.transform import Rotation
    from stewart_kinematics.model.platform import Platform

    geometry = Platform.from_yaml('ps6tl_1500').geometry
    base, upper, height = geometry.base_joints, geometry.platform_joints, 1.6

    def extremes(rpy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        turned = np.einsum('nij,kj->nki', Rotation.from_euler('xyz', rpy).as_matrix(), upper)
        lengths = np.linalg.norm(turned + np.array([0.0, 0.0, height]) - base, axis=2)
        return lengths.min(axis=1), lengths.max(axis=1)

    ((shortest,), (longest,)) = extremes(np.radians([[15.0, 0.0, 0.0]]))
    limits = []
    for axis in np.vstack([np.eye(3), -np.eye(3)]):
        angles = np.radians(np.arange(0.0, 60.0, 0.01))
        low, high = extremes(angles[:, None] * axis)
        inside = (shortest - 1e-9 <= low) & (high <= longest + 1e-9)
        limits.append(axis * angles[int(np.argmin(inside)) - 1])

    assert ps6tl._stop_misfit(base, upper, limits, height) < 3e-4
    limits[1] = limits[1] * 0.9
    assert ps6tl._stop_misfit(base, upper, limits, height) > 3e-3


def test_page_stands_alone(report, tmp_path: Path) -> None:
    page = report.write(tmp_path, 'ps6tl').read_text(encoding='utf-8')

    assert len(list(tmp_path.glob('ps6tl_*.png'))) == 10
    for number in range(5, 15):
        assert f'<h2>Figure {number}</h2>' in page
    assert 'shown, not checked' not in page
    assert 'contradicted' in page
    assert not re.search(r'(src|href)="(?!data:)', page)
    for misprint in ('P_6', 'C_3', 'J(i,4)', 'R_y R_x Z', 'I_z cos β'):
        assert misprint in page
