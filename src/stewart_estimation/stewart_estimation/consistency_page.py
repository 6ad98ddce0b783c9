# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The verdicts on a recording as one page with everything inside."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from string import Template
from typing import TYPE_CHECKING

from stewart_estimation.advice import Advice
from stewart_estimation.consistency import Band, Consistency, Verdict
from stewart_tables import page as pages

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ADVICE = 'Add {} to the command: this recording asks for it; tried, {}.'
OTHERWISE = (
    'No other noise of legs or IMU and no delay of the IMU makes this recording fit better: look '
    'at geometry, mounting of the IMU, and at what the pictures show.'
)

HEADS = ('test', 'leg', 'found', 'exact', 'tolerated', 'verdict')


def page(
    consistency: Consistency,
    facts: Mapping[str, str],
    pictures: Mapping[str, Figure],
    advice: Advice | None = None,
    problem: str = '',
) -> str:
    """Write the page.

    Args:
        facts: Where it comes from.
        pictures: Figures by caption.
        advice: Options that were tried and hold better; None where none were found.
        problem: Why the estimates cannot be believed, whatever the tests say.

    Returns:
        HTML that fetches nothing.
    """
    rows = [
        [*cells, pages.judged(verdict.partition(':')[0], held=item.held)]
        for item in consistency.verdicts
        for *cells, verdict in [verdict_cells(item)]
    ]
    cover, *others = (
        pages.drawing(*item, wide=bool(place)) for place, item in enumerate(pictures.items())
    )
    method = resources.files('stewart_estimation').joinpath('consistency_method.html')
    explained = Template(method.read_text('utf-8')).substitute(
        confidence=f'{100.0 * consistency.confidence:g} %'
    )
    used, rejected, broken = consistency.used, consistency.rejected, consistency.broken
    counts = zip(range(1, 7), used, rejected, strict=True)
    wrong = [(f'{_named(item)}: {item.found:.4g}', item.hint) for item in broken]
    held = consistency.held and not problem
    told = problem or OTHERWISE
    if advice is not None:
        told = ADVICE.format(' '.join(advice.options), advice.said)
    return pages.page(
        'Consistency of the estimates',
        'every test held' if held else 'not consistent',
        held=held,
        figures={
            'tests held': f'{len(rows) - len(broken)} of {len(rows)}',
            'mean NIS, 6 is expected': f'{consistency.mean_nis:.3f}',
            'innovations inside 2 sigma, 95.4 % expected': f'{100 * consistency.inside:.1f} %',
            'samples judged': str(consistency.rows),
            'lengths rejected': f'{sum(rejected)} of {sum(used) + sum(rejected)}',
        },
        picture=cover,
        sections={
            **(
                {
                    'What did not hold, and what to do': f'<p><strong>{pages.text(told)}'
                    f'</strong></p>{pages.failures(wrong)}'
                }
                if not held
                else {}
            ),
            'Tests': pages.table(HEADS, rows, words=(0, 5)) + explained,
            'Pictures': '\n'.join(others),
            'Legs': pages.table(('leg', 'used', 'rejected'), counts),
            'Where this comes from': pages.table([], facts.items()),
        },
    )


def _named(verdict: Verdict) -> str:
    return verdict.name if verdict.leg is None else f'{verdict.name} of leg {verdict.leg}'


def verdict_cells(verdict: Verdict) -> list[str]:
    """Return a verdict as the texts under `HEADS`, for the page and the terminal."""
    return [
        verdict.name,
        '' if verdict.leg is None else str(verdict.leg),
        f'{verdict.found:.4g}',
        _band(verdict.exact),
        _band(verdict.tolerated),
        'held' if verdict.held else f'BROKEN: {verdict.hint}',
    ]


def _band(band: Band | None) -> str:
    return 'nothing' if band is None else f'{band[0]:.4g} to {band[1]:.4g}'
