# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the reproduction of the EX800 paper's dynamics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import re
from types import ModuleType

import numpy as np
import pytest

PAPERS = Path(__file__).resolve().parents[1]


@pytest.fixture(scope='module')
def ex800() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PAPERS))
        import ex800

        yield ex800


@pytest.fixture(scope='module')
def report(ex800: ModuleType):
    return ex800.reproduce()


@pytest.fixture(scope='module')
def variants(ex800: ModuleType) -> ModuleType:
    import ex800_variants

    return ex800_variants


def test_every_row_agrees(report) -> None:
    assert [row.name for row in report.rows if not row.passed] == []
    assert report.exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize('name', ['printed', 'corrected'])
@pytest.mark.parametrize('turn', ['before', 'after'])
def test_every_row_agrees_in_the_other_readings(
    ex800: ModuleType, variants: ModuleType, name: str, turn: str
) -> None:
    report = ex800.reproduce(variants.Variant(name, turn, exchanged=True))

    assert [row.name for row in report.rows if not row.passed] == []


def test_both_models_are_compared_on_every_motion(report) -> None:
    rows = [row for row in report.rows if '78 coordinates against' in row.name]

    assert len(rows) == 6
    assert all(0.0 < row.ours < 1e-9 for row in rows)


def test_readings_differ(variants: ModuleType) -> None:
    time = np.linspace(0.0, 1.0, 20)
    readings = [
        variants.Variant(name, turn, exchanged).wave(time).quaternion_xyzw
        for name in ('corrected', 'printed')
        for turn in ('after', 'before')
        for exchanged in (False, True)
    ]

    different = [
        np.abs(one - other).max() > 1e-3
        for index, one in enumerate(readings)
        for other in readings[:index]
    ]
    # With 0.029 rad for both angles an exchange changes nothing, before or after the turn.
    assert different.count(False) == 2


@pytest.mark.parametrize('turn', ['after', 'before'])
def test_accelerations_are_the_second_derivative(variants: ModuleType, turn: str) -> None:
    variant, step = variants.Variant('printed', turn), 1e-4
    time = np.linspace(0.1, 1.5, 15)
    before, centre, after = (variant.wave(time + k * step) for k in (-1.0, 0.0, 1.0))

    rate = (after.angular_velocity - before.angular_velocity) / (2.0 * step)
    assert np.abs(rate - centre.angular_acceleration).max() < 1e-6
    assert np.abs(centre.angular_acceleration).max() > 1.0


def test_corrected_variant_is_the_stored_platform(variants: ModuleType) -> None:
    from stewart_kinematics.model.platform import Platform

    stored, ours = Platform.from_yaml('ex800'), variants.Variant('corrected').platform

    assert np.array_equal(stored.masses.cylinder.inertia, ours.masses.cylinder.inertia)
    pair = variants.joints(stored, 12.0, 8.0)
    assert np.allclose(pair[0], stored.geometry.base_joints, atol=1e-15)
    assert np.allclose(pair[1], stored.geometry.platform_joints, atol=1e-15)


def test_a_wrong_number_fails_the_run(ex800: ModuleType, monkeypatch, tmp_path, capsys) -> None:
    said = ex800.published('ex800')
    said['effects']['spin_circle']['value'] = 9.0e-7
    monkeypatch.setattr(ex800, 'published', lambda _name: said)
    # They have nothing to do with that number, and take most of the time.
    parts = ['compare_models', 'compare_singularity', 'compare_identification']
    parts += [name for name in vars(ex800) if name.startswith('draw_figure_')]
    for part in parts:
        monkeypatch.setattr(ex800, part, lambda *_: None)

    assert ex800.main(['--output', str(tmp_path)]) == 1
    assert 'Eq. 17 without leg spin' in capsys.readouterr().out


def test_page_stands_alone(report, tmp_path: Path) -> None:
    page = report.write(tmp_path, 'ex800').read_text(encoding='utf-8')

    assert len(list(tmp_path.glob('ex800_*.png'))) == 8
    for number in (4, 7, 8, 9, 10, 11, 12, 13):
        assert f'<h2>Figure {number}</h2>' in page
    assert 'shown, not checked' not in page
    assert not re.search(r'(src|href)="(?!data:)', page)
    for misprint in ('21.1302e-3', '0.29 rad', 'X_cly', 'φ_0 = 60°', 'range45'):
        assert misprint in page
