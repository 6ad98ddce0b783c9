# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``report.html``: one file with everything inside, nothing is fetched when it is opened."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from stewart_identification.outcome import Outcome, Parameter, rms
from stewart_tables.whole_files import whole_file

NAME = 'report.html'


def render(outcome: Outcome, truth: Mapping[str, float] | None = None) -> str:
    """Return the page as HTML.

    Args:
        outcome: What was found.
        truth: True values by name, where a simulation knows them; they are put beside the
            estimates.
    """
    from stewart_identification.plots import pictures

    good = outcome.body is not None and not outcome.interrupted
    facts = {
        'residual': f'{rms(outcome.result.residuals):.4g} N RMS over {len(outcome.experiment)} '
        'samples of six legs',
        'residual beside noise': str(outcome.fit),
        **({'validation': str(outcome.validation)} if outcome.validation else {}),
        'noise of the legs': ', '.join(f'{sigma:.3g}' for sigma in outcome.experiment.noise)
        + ' N',
        'estimator': outcome.result.method,
        'condition number, columns scaled': f'{outcome.identifiability.condition_number:.4g}',
        'directions seen': f'{outcome.identifiability.rank} of {len(outcome.result.names)}',
    }
    template = resources.files('stewart_identification').joinpath(NAME).read_text('utf-8')
    return Template(template).substitute(
        title=escape(outcome.platform.title),
        verdict=escape(_capital(outcome.verdict)),
        verdict_class='good' if good else 'bad',
        level=f'{100 * outcome.result.level:g}',
        summary=_table([], ([escape(key), escape(value)] for key, value in facts.items())),
        parameters=_parameters(outcome.parameters, truth),
        payload=_payload(outcome, truth),
        remarks=_list(outcome.remarks) if outcome.remarks else '<p>Nothing.</p>',
        pictures='\n'.join(_figure(text, data) for text, data in pictures(outcome).items()),
        origin=_table([], _flat(outcome.provenance)),
    )


def write_report(outcome: Outcome, target: Path, truth: Mapping[str, float] | None = None) -> None:
    """Write the page into a file, as a whole or not at all; see `render`."""
    with whole_file(target) as stream:
        stream.write(render(outcome, truth))


def _parameters(items: Sequence[Parameter], truth: Mapping[str, float] | None) -> str:
    heads = ['', 'found', 'interval', '', 'described', 'verdict']
    if truth is not None:
        heads.insert(4, 'true')
    rows = []
    for item in items:
        known = item.known
        row = [
            escape(item.name),
            f'{item.value:.6g}' if known and not np.isnan(item.value) else '—',
            f'{item.low:.6g} … {item.high:.6g}' if item.bounded else '—',
            escape(item.unit),
            '' if np.isnan(item.described) else f'{item.described:.6g}',
            f'<span class="{"good" if known else "bad"}">{escape(item.verdict.value)}</span>'
            + (f'<br>{escape(item.note)}' if item.note else ''),
        ]
        if truth is not None:
            row.insert(4, _truth(item, truth))
        rows.append(row)
    return _table(heads, rows, numbers=range(1, len(heads) - 1))


def _truth(item: Parameter, truth: Mapping[str, float]) -> str:
    if item.name not in truth:
        return ''
    value = truth[item.name]
    if not item.known:
        return f'{value:.6g}'
    held = item.low <= value <= item.high
    return f'<span class="{"good" if held else "bad"}">{value:.6g}</span>'


def _payload(outcome: Outcome, truth: Mapping[str, float] | None) -> str:
    if not outcome.payload:
        return ''
    words = '<h3>Beyond the description</h3><p>A payload that the description does not know:</p>'
    return words + _parameters(outcome.payload, truth)


def _flat(values: Mapping[str, Any], prefix: str = '') -> Iterable[list[str]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f'{prefix}{key}.')
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            for number, item in enumerate(value, 1):
                yield from _flat(item, f'{prefix}{key}[{number}].')
        else:
            yield [escape(f'{prefix}{key}'), f'<code>{escape(str(value))}</code>']


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _list(items: Iterable[str]) -> str:
    return '<ul>' + ''.join(f'<li>{escape(item)}</li>' for item in items) + '</ul>'


def _figure(caption: str, data: bytes) -> str:
    source = f'data:image/png;base64,{b64encode(data).decode("ascii")}'
    text = escape(caption)
    return f'<figure><img alt="{text}" src="{source}"><figcaption>{text}</figcaption></figure>'


def _table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()
) -> str:
    """Return a table; cells are HTML already."""
    right = set(numbers)

    def cell(tag: str, column: int, text: str) -> str:
        kind = ' class="n"' if column in right else ''
        return f'<{tag}{kind}>{text}</{tag}>'

    lines = ['<table>']
    if heads:
        cells = ''.join(cell('th', i, escape(head)) for i, head in enumerate(heads))
        lines.append(f'<tr>{cells}</tr>')
    lines += [
        '<tr>' + ''.join(cell('td', i, c) for i, c in enumerate(row)) + '</tr>' for row in rows
    ]
    return '\n'.join([*lines, '</table>'])
