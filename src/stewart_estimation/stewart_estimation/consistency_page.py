# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The verdicts on a recording as one page with everything inside."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
import io
from string import Template
from typing import TYPE_CHECKING

from stewart_estimation.consistency import Band, Consistency, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADS = ('test', 'leg', 'found', 'exact', 'tolerated', 'verdict')


def page(
    consistency: Consistency, facts: Mapping[str, str], pictures: Mapping[str, Figure]
) -> str:
    """Write the page.

    Args:
        consistency: What was found.
        facts: Where it comes from.
        pictures: Figures by caption.

    Returns:
        HTML that fetches nothing.
    """
    template = resources.files('stewart_estimation').joinpath('consistency_page.html')
    rows = [
        [*map(escape, verdict_cells(item)[:-1]), _marked(item)] for item in consistency.verdicts
    ]
    counts = zip(range(1, 7), consistency.used, consistency.rejected, strict=True)
    return Template(template.read_text('utf-8')).substitute(
        verdict=_word(consistency.held),
        verdict_class=_class(consistency.held),
        confidence=f'{100.0 * consistency.confidence:g} %',
        facts=_table([], ([escape(key), escape(value)] for key, value in facts.items())),
        verdicts=_table(HEADS, rows),
        legs=_table(('leg', 'used', 'rejected'), ([str(cell) for cell in row] for row in counts)),
        pictures='\n'.join(_figure(*item) for item in pictures.items()),
    )


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


def _word(held: bool) -> str:
    return 'every test held' if held else 'not consistent'


def _class(held: bool) -> str:
    return 'held' if held else 'broken'


def _marked(verdict: Verdict) -> str:
    text = escape(verdict_cells(verdict)[-1])
    return f'<span class="{_class(verdict.held)}">{text}</span>'


def _figure(caption: str, figure: Figure) -> str:
    stream = io.BytesIO()
    figure.savefig(stream, format='png', dpi=110)
    source = f'data:image/png;base64,{b64encode(stream.getvalue()).decode("ascii")}'
    text = escape(caption)
    return f'<figure><img alt="{text}" src="{source}"><figcaption>{text}</figcaption></figure>'


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are HTML already."""
    lines = ['<table>']
    if heads:
        lines.append(f'<tr>{"".join(f"<th>{escape(head)}</th>" for head in heads)}</tr>')
    lines += [f'<tr>{"".join(f"<td>{cell}</td>" for cell in row)}</tr>' for row in rows]
    return '\n'.join([*lines, '</table>'])
