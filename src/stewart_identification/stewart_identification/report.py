# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``report.html``: one file with everything inside, nothing is fetched when it is opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import floor, log10
from pathlib import Path
from typing import Any

import numpy as np
from stewart_identification.estimators.result import rms
from stewart_identification.outcome import Outcome, Parameter
from stewart_tables.page import drawing, failures, Html, judged, page, table, text
from stewart_tables.whole_files import whole_file

NAME = 'report.html'
INTERVALS = (
    'Estimates and intervals against the description, in percent: of the mass, of the radius of '
    'the joints for the centre of mass, of the inertia (for products the geometric mean of both '
    'moments); orange: too uncertain, grey: no interval'
)
PARAMETERS = (
    'Of the platform with all that is fixed to it: mass, centre of mass in '
    '<code>platform_link</code>, inertia about the centre of mass in its axes; then friction of '
    'the drives. Intervals are at {:g} % and allow for coloured residuals and for joints that are '
    'not where the drawing has them. A parameter that the recording does not show has no number, '
    'whatever an estimator may have returned; an inertia whose interval is wide beside it is too '
    'uncertain to count as determined.'
)
EXCITE = (
    'record a motion that determines it, as planned by "stewart excite", or give several bags '
    'that together do'
)
MISFIT = (
    'the intervals do not hold, so no parameters are written; check --platform, the units and '
    'signs of the efforts, and look at the residuals over time below'
)
OTHER = (
    'nothing of what was found holds; name the right platform with --platform, or correct the '
    'order of the legs and sign and unit of the efforts where they are recorded'
)
UNPHYSICAL = (
    'no parameters are written; check --platform, and that the efforts are forces on the legs in '
    'N, positive where they push the joints apart'
)


def render(outcome: Outcome, truth: Mapping[str, float] | None = None) -> str:
    """Return the page as HTML.

    Args:
        truth: True values by name, where a simulation knows them; they are put beside the
            estimates.
    """
    from stewart_identification.plots import intervals, pictures

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
    wrong = list(_wrong(outcome))
    drawn = pictures(outcome)
    if any(item.bounded for item in outcome.parameters[:10]):
        cover = drawing(INTERVALS, intervals(outcome), wide=False)
    else:
        # What was measured says more than ten columns without a number.
        forces = next(iter(drawn))
        cover = drawing(forces, drawn.pop(forces), wide=False)
    tables = [f'<p>{PARAMETERS.format(100 * outcome.result.level)}</p>']
    # Why one of the ten is not known stands among what is wrong.
    ten = [item if item.known else replace(item, note='') for item in outcome.parameters[:10]]
    tables.append(_parameters([*ten, *outcome.parameters[10:]], truth))
    if outcome.payload:
        tables.append('<h3>A payload that the description does not know</h3>')
        tables.append(_parameters(outcome.payload, truth))
    return page(
        f'Identification: {outcome.platform.title}',
        # It may end with a question.
        f'{outcome.verdict[:1].upper()}{outcome.verdict[1:]}'
        f'{"" if outcome.verdict.endswith("?") else "."}',
        held=not wrong,
        figures=_five(outcome),
        picture=cover,
        sections={
            **({'What is wrong, and what to do': failures(wrong)} if wrong else {}),
            'Parameters': '\n'.join(tables),
            'Fit': table([], facts.items()),
            **({'What was odd': _list(outcome.remarks)} if outcome.remarks else {}),
            'Pictures': '\n'.join(drawing(*item) for item in drawn.items()),
            'Where this comes from': table([], _flat(outcome.provenance)),
        },
    )


def _five(outcome: Outcome) -> dict[str, str]:
    """Return the figures of the first screen: none of a body that is not that of the platform."""
    mass, *centre = outcome.parameters[:4]
    off, holds = outcome.fit.whole, not outcome.another
    places = ' / '.join(_millimetres(item) for item in centre)
    return {
        'mass': _number(mass) if holds else '—',
        'centre of mass x, y, z [mm]': places if holds else '—',
        'parameters determined': f'{10 - len(outcome.unknown) if holds else 0} of 10',
        'residual of the leg forces, RMS': f'{rms(outcome.result.residuals):.3g} N',
        f'residual beside noise, limit {outcome.fit.limit:.3g}': '—'
        if np.isnan(off)
        else f'{off:.2f} times',
    }


def _number(item: Parameter) -> str:
    if not item.known or np.isnan(item.value):
        return '—'
    half = f' ± {0.5 * (item.high - item.low):.2g}' if item.bounded else ''
    return f'{item.value:.4g}{half} {item.unit}'


def _millimetres(item: Parameter) -> str:
    if not item.known or np.isnan(item.value):
        return '—'
    half = f' ± {500.0 * (item.high - item.low):.2g}' if item.bounded else ''
    # One figure stays on one line.
    return f'{1e3 * item.value:.2f}{half}'.replace('-', '−').replace(' ', '\N{NO-BREAK SPACE}')


def _wrong(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Give what keeps the result from being used, each with what to do."""
    if outcome.another:
        yield outcome.another, OTHER
        return
    if outcome.blind:
        yield 'none of the ten parameters is determined', outcome.blind
    # First: a better motion does not mend it.
    if outcome.suspects:
        yield f'model misfit: {outcome.suspects}', MISFIT
    elif outcome.body is None and not outcome.unknown:
        yield outcome.verdict, UNPHYSICAL
    for item in outcome.parameters[:10]:
        if not (item.known or outcome.blind):
            yield f'{item.name}: {item.verdict.value}', f'{item.note}; {EXCITE}'
    if outcome.interrupted:
        yield 'the search was stopped', 'this is the best it had; run it again to the end'


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
        verdict = judged(item.verdict.value, held=item.known)
        row: list[object] = [
            item.name,
            written(item.value, item) if item.numbered and not np.isnan(item.value) else '—',
            f'{written(item.low, item)} … {written(item.high, item)}' if item.bounded else '—',
            item.unit,
            '' if np.isnan(item.described) else written(item.described, item),
            # The note of a number that is too uncertain stands among what is wrong.
            Html(f'{verdict}<br>{text(item.note)}')
            if item.note and (item.known or not item.numbered)
            else verdict,
        ]
        if truth is not None:
            row.insert(4, _truth(item, truth))
        rows.append(row)
    return table(heads, rows, words=(0, 3, len(heads) - 1))


def written(value: float, item: Parameter) -> str:
    """Write a value with the digits that its interval leaves: three of half the interval."""
    half = 0.5 * (item.high - item.low)
    if not item.bounded or not half > 0.0 or abs(value) > 1e5 or half < 1e-9:
        return f'{value:.6g}'
    rounded = f'{value:.{max(0, 2 - floor(log10(half)))}f}'
    return f'{0.0:.{len(rounded.partition(".")[2])}f}' if float(rounded) == 0.0 else rounded


def _truth(item: Parameter, truth: Mapping[str, float]) -> str:
    if item.name not in truth:
        return ''
    value = truth[item.name]
    if not item.bounded:
        return f'{value:.6g}'
    return judged(f'{value:.6g}', held=item.low <= value <= item.high)


def _flat(values: Mapping[str, Any], prefix: str = '') -> Iterator[tuple[str, Html]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f'{prefix}{key}.')
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            for number, item in enumerate(value, 1):
                yield from _flat(item, f'{prefix}{key}[{number}].')
        else:
            yield f'{prefix}{key}', Html(f'<code>{text(value)}</code>')


def _list(items: Iterable[str]) -> str:
    return '<ul>' + ''.join(f'<li>{text(item)}</li>' for item in items) + '</ul>'
