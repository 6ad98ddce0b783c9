# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the reproduction of the SRS paper; its Monte Carlo with all seeds is `make papers`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import re
from types import ModuleType

import pytest

PAPERS = Path(__file__).resolve().parents[1]


@pytest.fixture(scope='module')
def srs() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PAPERS))
        import srs

        yield srs


@pytest.fixture(scope='module')
def report(srs: ModuleType):
    return srs.reproduce(seeds=2)


@pytest.mark.slow
def test_every_row_agrees(report) -> None:
    # How fast it is says nothing on a machine with other work.
    failed = [row.name for row in report.rows if not row.passed]
    assert [name for name in failed if 'per sample' not in name] == []


@pytest.mark.slow
def test_the_paper_is_contradicted_where_it_errs(report) -> None:
    against = {row.name for row in report.rows if row.verdict == 'contradicted'}
    assert '16 states, forward Euler: RMS of the velocity, claim' in against
    assert 'cut-off of τ_d = 0.04 s' in against


@pytest.mark.slow
def test_all_figures_are_drawn_on_one_page(report, tmp_path: Path) -> None:
    page = report.write(tmp_path, 'srs').read_text(encoding='utf-8')
    for number in range(9, 18):
        assert f'<h2>Figure {number}</h2>' in page
    assert not re.search(r'(src|href)="(?!data:)', page)


def test_sixteen_states_follow_the_platform(srs: ModuleType) -> None:
    import numpy as np
    from srs_simulated import AT_JOINT_CENTRE, simulate
    from srs_sixteen import run

    simulated = simulate('MP2', 0, duration=4.0, mounting=AT_JOINT_CENTRE)
    found = run(simulated, midpoint=True)
    late = slice(200, None)
    error = (found.position - simulated.truth.position)[late]
    assert np.sqrt(np.mean(error**2)) < 8e-6
    assert 0.9 < np.mean(np.abs(found.innovations / found.sigmas)[late] < 2.0) < 0.995
