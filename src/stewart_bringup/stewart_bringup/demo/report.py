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
from stewart_bringup.demo.machine import ADVICE, Machine

OVERVIEW = (
    *('scenario', 'position [mm]', 'attitude [m°]'),
    *('latency [ms]', 'rate [Hz]', 'lost', 'checks'),
)
LEGEND = (
    'position, attitude: error along the path, RMS / max; latency: end to end, p50 / p99 / max; '
    'rate: the lowest of the regular topics'
)


class _Html(str):
    """Part of the page; every other text is escaped."""


@dataclass(frozen=True)
class Chapter:
    """What was played, and how it ended: a scenario, or the identification.

    Attributes:
        body: What the page tells below the title, as HTML.
        checks: What had to hold.
        figures: Cells of the overview between name and verdict.
        simulated: Whether it was played to its end and no metal moved.
        following: 95 % of the following errors of the strokes along the path stay below [m].
        real_time: Whether real time was kept, and if not, why; empty in simulated time. Of what
            did not come to its end: why the machine is the reason, empty if it is not.
        reason: Why it did not come to its end: what the driver, a node or a service said.
    """

    name: str
    title: str
    body: str
    checks: Sequence[Check] = ()
    figures: Sequence[str] = ('',) * 5
    simulated: bool = False
    following: float = float('nan')
    real_time: str = ''
    reason: str = ''

    @property
    def failed(self) -> bool:
        """Whether something went wrong; what a late machine has spoilt did not."""
        ended = bool(self.reason and not self.real_time)
        return ended or any(check.failed for check in self.checks)

    @property
    def verdict(self) -> str:
        """Return one or two words for a table."""
        if self.failed:
            return 'FAILED'
        spoilt = self.reason or any(check.excused for check in self.checks)
        return 'not kept' if spoilt else 'held'

    @property
    def row(self) -> list[str]:
        """Return its row in the overview, for the page and the terminal."""
        return [self.name, *self.figures, self.verdict]


def scenario_chapter(
    name: str,
    title: str,
    facts: Mapping[str, str],
    result: Result,
    *,
    simulated: bool,
    pictures: Mapping[str, bytes],
    estimate: Sequence[str] = (),
    machine: Machine | None = None,
) -> Chapter:
    """Tell of a scenario that came to its end.

    Args:
        name: Of its folder.
        facts: Platform, back end, seed and the like.
        pictures: PNG files by caption.
        estimate: What `compare_estimate` tells.
        machine: How punctual the machine was; None in simulated time.
    """
    timed = _real_time(result.checks, machine)
    commanded = np.percentile(result.latency.commanded, [50, 99])
    told = {
        **facts,
        'constant delay of the strokes': f'{1e3 * result.tracking.delay:.2f} ms',
        'setpoints judged for latency': len(result.latency.executed),
        'left out, legs hardly moved': result.latency.slow,
        'command reached the recorder after, p50 / p99': ' / '.join(
            f'{1e3 * value:.2f} ms' for value in commanded
        ),
        'end-to-end latency p50 / p99 / max': ' / '.join(
            f'{value:.1f} ms' for value in _percentiles(result)
        ),
    }
    body = [
        table([], told.items()),
        '<h3>What had to hold</h3>',
        f'<p>{escape(timed)}.</p>' if timed else '',
        checks_table(result.checks),
        '<h3>Tracking error</h3>',
        errors_table('', summary(result.tracking)),
        *_forces(result),
        *estimate,
        '<h3>Messages</h3>',
        _messages(result),
        *(figure(caption, data) for caption, data in pictures.items()),
    ]
    return Chapter(
        name,
        title,
        '\n'.join(body),
        result.checks,
        _figures(result),
        simulated,
        result.following,
        timed,
    )


def unfinished_chapter(
    name: str,
    title: str,
    facts: Mapping[str, str],
    reason: str,
    history: Sequence[tuple[float, str, str]] = (),
    machine: Machine | None = None,
) -> Chapter:
    """Tell of what did not come to its end.

    Args:
        name, title, facts: As of `scenario_chapter`.
        reason: Why: what the driver, a node or a service said.
        history: The states of the driver: seconds after the first one, state, reason.
        machine: What the machine did, where that is the reason.
    """
    stopped = 'the driver brought the platform to rest, as safety asks for'
    excuse = _not_kept(machine, stopped) if machine else ''
    body = [
        f'<p class="broken">{escape(reason)}</p>',
        f'<p>{escape(excuse)}</p>' if excuse else '',
        table([], facts.items()),
    ]
    if history:
        said = [(f'{seconds:.2f} s', *words) for seconds, *words in history]
        body += ['<h3>What the driver said</h3>', table([], said)]
    return Chapter(name, title, '\n'.join(body), real_time=excuse, reason=reason)


def _real_time(checks: Sequence[Check], machine: Machine | None) -> str:
    """Return `Chapter.real_time` of what came to its end."""
    if machine is None:
        return ''
    if spoilt := [check.sentence for check in checks if check.excused]:
        return _not_kept(machine, '; '.join(spoilt))
    if any(check.real_time and check.failed for check in checks):
        return f'real time: not kept, and the machine is no excuse: {machine}'
    return f'real time: kept; {machine}'


def _not_kept(machine: Machine, spoilt: str) -> str:
    return (
        f'real time: not kept on this machine, because {machine}. Spoilt: {spoilt}. '
        f'What helps: {ADVICE}'
    )


def render(chapters: Sequence[Chapter], origin: Mapping[str, str]) -> str:
    """Write the page: HTML with all chapters, those that did not come to their end first."""
    failed = [chapter.name for chapter in chapters if chapter.failed]
    verdict = f'FAILED: {", ".join(failed)}' if failed else 'every check held'
    if not failed and any(chapter.verdict == 'not kept' for chapter in chapters):
        verdict = 'no check failed; real time was not kept on this machine'
    template = resources.files('stewart_bringup.demo').joinpath('report.html').read_text('utf-8')
    return Template(template).substitute(
        verdict=escape(verdict),
        verdict_class=_class(not failed),
        summary=_summary(chapters),
        scenarios='\n'.join(map(_chapter, sorted(chapters, key=lambda item: not item.reason))),
        origin=table([], origin.items()),
    )


def _chapter(chapter: Chapter) -> str:
    verdict = f': <span class="broken">{chapter.verdict}</span>' if chapter.reason else ''
    return f'<h2>{escape(chapter.title)}{verdict}</h2>\n{chapter.body}'


def _figures(result: Result) -> list[str]:
    """Return `Chapter.figures` of a result."""
    rows = summary(result.tracking)
    position = rows['position, along the path [mm]']
    attitude = rows['attitude, along the path [°]']
    return [
        f'{position[0]:.3f} / {position[1]:.3f}',
        f'{1e3 * attitude[0]:.1f} / {1e3 * attitude[1]:.1f}',
        ' / '.join(f'{value:.1f}' for value in _percentiles(result)),
        f'{min(item.rate for item in result.traffic if not np.isnan(item.rate)):.1f}',
        str(sum(item.lost for item in result.traffic)),
    ]


def _percentiles(result: Result) -> tuple[float, float, float]:
    """Return median, 99th percentile and maximum of the end-to-end latency [ms]."""
    if not len(result.latency.executed):
        return float('nan'), float('nan'), float('nan')
    p50, p99, most = 1e3 * np.percentile(result.latency.executed, [50, 99, 100])
    return float(p50), float(p99), float(most)


def _summary(chapters: Sequence[Chapter]) -> str:
    parts = []
    if any(chapter.simulated for chapter in chapters):
        parts.append(
            '<p class="simulated"><b>SIMULATED.</b> The drives, the mechanics and the encoders '
            'were simulated (<code>stewart_simulation</code>). No metal moved, and nothing here '
            'is a measurement of a machine.</p>'
        )
    rows = table(OVERVIEW, [chapter.row for chapter in chapters])
    return '\n'.join([*parts, rows, f'<p>{LEGEND}</p>', *_worth(chapters)])


def _worth(chapters: Sequence[Chapter]) -> list[str]:
    """Tell what feed-forward takes off the following error, where a motion was played twice."""
    following = {chapter.name: 1e6 * chapter.following for chapter in chapters}
    pairs = [(name.removesuffix('_unaided'), name) for name in following]
    return [
        f'<p>{escape(aided)}: without feed-forward 95 % of the following errors of the strokes '
        f'stay below {following[name]:.1f} µm, with it below {following[aided]:.1f} µm.</p>'
        for aided, name in pairs
        if aided != name and aided in following
    ]


def errors_table(head: str, rows: Mapping[str, tuple[float, float]]) -> str:
    """Return a table of root mean squares and maxima by name."""
    cells = [[name, f'{mean:.4f}', f'{most:.4f}'] for name, (mean, most) in rows.items()]
    return table([head, 'RMS', 'max'], cells)


def checks_table(checks: Sequence[Check]) -> str:
    """Return what had to hold, what was found, and what it means where it did not hold."""
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
    return table(['', 'found', 'asked', '', ''], rows)


def _forces(result: Result) -> list[str]:
    if result.forces is None:
        return []
    mean, most = result.forces.difference
    largest = float(np.abs(result.forces.delivered).max())
    row = ['delivered minus feed-forward [N]', f'{mean:.2f}', f'{most:.2f}', f'{largest:.1f}']
    return ['<h3>Leg forces</h3>', table(['', 'RMS', 'max', 'largest force delivered'], [row])]


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
    return table(heads, rows)


def figure(caption: str, data: bytes) -> str:
    """Return a PNG picture with its caption."""
    source = f'data:image/png;base64,{b64encode(data).decode("ascii")}'
    text = escape(caption)
    return f'<figure><img alt="{text}" src="{source}"><figcaption>{text}</figcaption></figure>'


def table(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
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
