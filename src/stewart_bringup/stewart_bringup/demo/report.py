# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The page: one file with everything inside, nothing is fetched when it is opened."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from string import Template

import numpy as np
from stewart_bringup.demo.analysis import Check, Result, summary
from stewart_bringup.demo.identification import Identification
from stewart_bringup.demo.loaded import FORCE_NOISE, JOINT_ERROR, PAYLOAD_MASS, PAYLOAD_POSITION
from stewart_bringup.demo.machine import ADVICE, Machine
from stewart_bringup.demo.plots import Estimate
from stewart_bringup.demo.recording import Failure


class _Html(str):
    """Part of the page; every other text is escaped."""


@dataclass(frozen=True)
class Chapter:
    """What the report says about one scenario.

    Attributes:
        facts: Platform, backend, seed and the like.
        pictures: PNG files by caption.
        estimate: Where a state estimator ran beside a truth.
        machine: How punctual the machine was; None in simulated time.
    """

    name: str
    title: str
    facts: Mapping[str, str]
    simulated: bool
    result: Result
    pictures: Mapping[str, bytes]
    estimate: Estimate | None = None
    machine: Machine | None = None

    @property
    def verdict(self) -> str:
        """Return one or two words for a table."""
        found = {check.verdict for check in self.result.checks}
        return next((word for word in ('FAILED', 'not kept') if word in found), 'held')

    @property
    def real_time(self) -> str:
        """Return whether real time was kept, and if not, why; empty in simulated time."""
        if self.machine is None:
            return ''
        spoilt = [check.sentence for check in self.result.checks if check.excused]
        if spoilt:
            return not_kept(self.machine, '; '.join(spoilt))
        if any(check.real_time and check.failed for check in self.result.checks):
            return f'real time: not kept, and the machine is no excuse: {self.machine}'
        return f'real time: kept; {self.machine}'


def not_kept(machine: Machine, spoilt: str) -> str:
    """Return the sentence on what a late machine has spoilt."""
    return (
        f'real time: not kept on this machine, because {machine}. Spoilt: {spoilt}. '
        f'What helps: {ADVICE}'
    )


def render(
    chapters: Sequence[Chapter],
    origin: Mapping[str, str],
    found: Identification | None = None,
    failures: Sequence[Failure] = (),
) -> str:
    """Write the page: HTML with a chapter per scenario, and those that did not end well."""
    failed = [failure.name for failure in failures if not failure.excuse]
    failed += [chapter.name for chapter in chapters if not chapter.result.passed]
    if found is not None and not found.passed:
        failed.append('identification')
    verdict = f'FAILED: {", ".join(failed)}' if failed else 'every check held'
    verdicts = [chapter.verdict for chapter in chapters] + [item.verdict for item in failures]
    if not failed and 'not kept' in verdicts:
        verdict = 'no check failed; real time was not kept on this machine'
    template = resources.files('stewart_bringup.demo').joinpath('report.html').read_text('utf-8')
    return Template(template).substitute(
        verdict=escape(verdict),
        verdict_class=_class(not failed),
        summary=_summary(chapters, failures),
        scenarios='\n'.join(
            [*map(_failed, failures), *map(_chapter, chapters), *_identification(found)]
        ),
        origin=_table([], origin.items()),
    )


def overview(chapter: Chapter) -> list[str]:
    """Return the row of one scenario in the summary, for the page and the terminal."""
    result = chapter.result
    rows = summary(result.tracking)
    position, attitude = (
        rows[f'{name}, along the path [{unit}]']
        for name, unit in (('position', 'mm'), ('attitude', '°'))
    )
    regular = [item.rate for item in result.traffic if not np.isnan(item.rate)]
    return [
        chapter.name,
        f'{position[0]:.3f} / {position[1]:.3f}',
        f'{1e3 * attitude[0]:.1f} / {1e3 * attitude[1]:.1f}',
        ' / '.join(f'{value:.1f}' for value in percentiles(result)),
        f'{min(regular):.1f}',
        str(sum(item.lost for item in result.traffic)),
        chapter.verdict,
    ]


OVERVIEW = (
    *('scenario', 'position [mm]', 'attitude [m°]'),
    *('latency [ms]', 'rate [Hz]', 'lost', 'checks'),
)

LEGEND = (
    'position, attitude: error along the path, RMS / max; latency: end to end, p50 / p99 / max; '
    'rate: the lowest of the regular topics'
)


def percentiles(result: Result) -> tuple[float, float, float]:
    """Return median, 99th percentile and maximum of the end-to-end latency [ms]."""
    if not len(result.latency.executed):
        return float('nan'), float('nan'), float('nan')
    p50, p99, most = 1e3 * np.percentile(result.latency.executed, [50, 99, 100])
    return float(p50), float(p99), float(most)


def failed_overview(failure: Failure) -> list[str]:
    """Return the row of a scenario that failed, as `overview` does for others."""
    return [failure.name, *[''] * (len(OVERVIEW) - 2), failure.verdict]


def _failed(failure: Failure) -> str:
    driver = [(f'{seconds:.2f} s', *said) for seconds, *said in failure.driver]
    lines = [
        f'<h2>{escape(failure.title)}: <span class="broken">{failure.verdict}</span></h2>',
        f'<p class="broken">{escape(failure.reason)}</p>',
        f'<p>{escape(failure.excuse)}</p>' if failure.excuse else '',
        _table([], failure.facts.items()),
    ]
    if driver:
        lines += ['<h3>What the driver said</h3>', _table([], driver)]
    return '\n'.join(lines)


def _summary(chapters: Sequence[Chapter], failures: Sequence[Failure]) -> str:
    parts = []
    if any(chapter.simulated for chapter in chapters):
        parts.append(
            '<p class="simulated"><b>SIMULATED.</b> The drives, the mechanics and the encoders '
            'were simulated (<code>stewart_simulation</code>). No metal moved, and nothing here '
            'is a measurement of a machine.</p>'
        )
    rows = [*map(overview, chapters), *map(failed_overview, failures)]
    return '\n'.join([*parts, _table(OVERVIEW, rows), f'<p>{LEGEND}</p>', *_worth(chapters)])


def _worth(chapters: Sequence[Chapter]) -> list[str]:
    """Tell what feed-forward takes off the following error, where a motion was played twice."""
    aided = {chapter.name: chapter for chapter in chapters}
    lines = []
    for chapter in chapters:
        name = chapter.name.removesuffix('_unaided')
        if name == chapter.name or name not in aided:
            continue
        # Not the RMS: one pause of the machine would decide it.
        with_it, without = (
            1e6 * float(np.percentile(np.abs(item.result.tracking.path.strokes), 95))
            for item in (aided[name], chapter)
        )
        lines.append(
            f'<p>{escape(name)}: without feed-forward 95 % of the following errors of the strokes '
            f'stay below {without:.1f} µm, with it below {with_it:.1f} µm.</p>'
        )
    return lines


def _chapter(chapter: Chapter) -> str:
    result = chapter.result
    commanded = np.percentile(result.latency.commanded, [50, 99])
    facts = {
        **chapter.facts,
        'constant delay of the strokes': f'{1e3 * result.tracking.delay:.2f} ms',
        'setpoints judged for latency': len(result.latency.executed),
        'left out, legs hardly moved': result.latency.slow,
        'command reached the recorder after, p50 / p99': ' / '.join(
            f'{1e3 * value:.2f} ms' for value in commanded
        ),
        'end-to-end latency p50 / p99 / max': ' / '.join(
            f'{value:.1f} ms' for value in percentiles(result)
        ),
    }
    return '\n'.join(
        [
            f'<h2>{escape(chapter.title)}</h2>',
            _table([], facts.items()),
            '<h3>What had to hold</h3>',
            f'<p>{escape(chapter.real_time)}.</p>' if chapter.real_time else '',
            _checks(result.checks),
            '<h3>Tracking error</h3>',
            _table(['', 'RMS', 'max'], _errors(summary(result.tracking))),
            *_forces(result),
            *_estimate(chapter.estimate),
            '<h3>Messages</h3>',
            _messages(result),
            *(_figure(caption, data) for caption, data in chapter.pictures.items()),
        ]
    )


def _errors(rows: Mapping[str, tuple[float, float]]) -> list[list[str]]:
    return [[name, f'{mean:.4f}', f'{most:.4f}'] for name, (mean, most) in rows.items()]


def _checks(checks: Sequence[Check]) -> str:
    rows = [
        [
            check.name,
            check.found,
            check.bound,
            _judged(check.verdict, held=not check.failed),
            '' if check.held else check.meaning,
        ]
        for check in checks
    ]
    return _table(['', 'found', 'asked', '', ''], rows)


def _identification(found: Identification | None) -> list[str]:
    if found is None:
        return []
    heads = ['', 'unit', 'truth', 'estimate', '95 % interval', 'verdict']
    ten = [
        [
            item.name,
            item.unit,
            f'{found.truth[item.name]:.5g}',
            f'{item.value:.5g}' if item.known else '—',
            f'{item.low:.5g} … {item.high:.5g}' if item.known else '—',
            item.verdict.value,
        ]
        for item in found.parameters
    ]
    followed = [
        [name, f'{1e6 * run.strokes:.1f}', f'{run.forces:.2f}']
        for name, run in (('as described', found.described), ('as identified', found.identified))
        if run is not None
    ]
    return [
        '<h2>Identification: a payload that the description does not know</h2>',
        f'<p class="simulated">The simulated EX800 carries {PAYLOAD_MASS:g} kg at '
        f'({", ".join(f"{1e3 * value:g}" for value in PAYLOAD_POSITION)}) mm, its joints are off '
        f'by {1e3 * JOINT_ERROR:g} mm, its forces are read with {FORCE_NOISE:g} N of noise. '
        'The identification is told nothing of that.</p>',
        _checks(found.checks),
        f'<h3>From the optimal motion: {escape(found.verdict)}</h3>',
        _table(heads, ten),
        f"<p>From the wave's own bag: {escape(found.wave_verdict)}.</p>",
        '<h3>The wave, with feed-forward from either set of parameters</h3>',
        _table(
            ['', '95 % of following errors below [µm]', 'delivered minus feed-forward, RMS [N]'],
            followed,
        ),
    ]


def _forces(result: Result) -> list[str]:
    if result.forces is None:
        return []
    mean, most = result.forces.difference
    largest = float(np.abs(result.forces.delivered).max())
    row = ['delivered minus feed-forward [N]', f'{mean:.2f}', f'{most:.2f}', f'{largest:.1f}']
    return ['<h3>Leg forces</h3>', _table(['', 'RMS', 'max', 'largest force delivered'], [row])]


def _estimate(estimate: Estimate | None) -> list[str]:
    if estimate is None:
        return []
    fitted = ''
    if estimate.innovations is not None:
        inside, nis = estimate.innovations
        squared = (
            'no normalised innovation squared was published'
            if np.isnan(nis)
            else f'the normalised innovation squared is {nis:.2f} on average, 6 is expected'
        )
        fitted = (
            f'<p>{100 * inside:.1f} % of the innovations lie inside two standard deviations, 95.4 '
            f'% are expected; {squared}.</p>'
        )
    return [
        '<h3>State estimate against the truth of the virtual rig</h3>',
        _table(['truth minus', 'RMS', 'max'], _errors(estimate.errors)),
        f'<p>{100 * estimate.inside:.1f} % of the errors of position and velocity lie inside the '
        'two standard deviations that the estimator claims; the estimator never sees the '
        'truth.</p>',
        fitted,
        *(_figure(caption, data) for caption, data in estimate.pictures.items()),
    ]


def _messages(result: Result) -> str:
    heads = ['topic', 'published', 'recorded', 'lost', 'rate [Hz]', 'longest gap [ms]']
    rows = []
    for item in result.traffic:
        regular = not np.isnan(item.rate)
        rows.append(
            [
                _Html(f'<code>{escape(item.topic)}</code>'),
                item.published,
                item.recorded,
                _judged(str(item.lost), held=item.lost == 0),
                f'{item.rate:.2f}' if regular else '',
                f'{1e3 * item.longest_gap:.1f}' if regular else '',
            ]
        )
    return _table(heads, rows)


def _figure(caption: str, data: bytes) -> str:
    source = f'data:image/png;base64,{b64encode(data).decode("ascii")}'
    text = escape(caption)
    return f'<figure><img alt="{text}" src="{source}"><figcaption>{text}</figcaption></figure>'


def _table(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table; where it has heads, the first column is text, the rest are numbers."""
    lines = ['<table>']
    every = [('th', heads), *(('td', row) for row in rows)]
    for tag, cells in every if heads else every[1:]:
        texts = [cell if isinstance(cell, _Html) else escape(str(cell)) for cell in cells]
        numbers = [' class="n"' if heads and column else '' for column in range(len(texts))]
        line = (f'<{tag}{at}>{text}</{tag}>' for at, text in zip(numbers, texts, strict=True))
        lines.append(f'<tr>{"".join(line)}</tr>')
    return '\n'.join([*lines, '</table>'])


def _judged(text: str, *, held: bool) -> _Html:
    return _Html(f'<span class="{_class(held)}">{escape(text)}</span>')


def _class(held: bool) -> str:
    return 'held' if held else 'broken'
