# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The page: one file with everything inside, nothing is fetched when it is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
from stewart_bringup.demo.analysis import Check, Result, summary
from stewart_bringup.demo.machine import ADVICE, Machine
from stewart_bringup.demo.tracking import largest
from stewart_tables.page import drawing, failures, Html, judged, page, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OVERVIEW = (
    *('scenario', 'position [mm]', 'attitude [m°]'),
    *('latency [ms]', 'rate [Hz]', 'lost', 'checks'),
)
LEGEND = (
    'position, attitude: error along the path, RMS / max; latency: end to end, p50 / p99 / max; '
    'rate: the lowest of the regular topics'
)


NOT_MEASURED = 'not measured'
STOPPED_ADVICE = (
    'it was stopped before its end, so nothing of it was judged; look this message up in '
    'docs/troubleshooting.md, then at what the driver said, below'
)
SIMULATED_NOTICE = (
    '<b>SIMULATED.</b> Drives, mechanics and encoders were simulated '
    '(<code>stewart_simulation</code>). No metal moved, and nothing here is a measurement of a '
    'machine.'
)


@dataclass(frozen=True)
class Chapter:
    """What was played, and how it ended: a scenario, or the identification.

    Attributes:
        body: What the page tells below the title, as HTML.
        checks: What had to hold.
        result: What was measured; None of what did not come to its end.
        cover: A picture for the first screen.
        simulated: Whether it was played to its end and no metal moved.
        real_time: Whether real time was kept, and if not, why; empty in simulated time. Of what
            did not come to its end: why the machine is the reason, empty if it is not.
        reason: Why it did not come to its end: what the driver, a node or a service said.
    """

    name: str
    title: str
    body: str
    checks: Sequence[Check] = ()
    result: Result | None = None
    cover: str = ''
    simulated: bool = False
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
        figures = _figures(self.result) if self.result else ('',) * 5
        return [self.name, *figures, self.verdict]

    @property
    def wrong(self) -> list[tuple[str, str]]:
        """Return what failed, each with what it means and what to do."""
        if self.reason:
            return [] if self.real_time else [(self.reason, STOPPED_ADVICE)]
        return [(item.sentence, item.meaning) for item in self.checks if item.failed]


def scenario_chapter(
    name: str,
    title: str,
    facts: Mapping[str, str],
    result: Result,
    *,
    simulated: bool,
    pictures: Mapping[str, Figure],
    cover: Figure | None = None,
    estimate: Sequence[str] = (),
    machine: Machine | None = None,
) -> Chapter:
    """Tell of a scenario that came to its end; `name` is that of its folder.

    Args:
        facts: Platform, back end, seed and the like.
        pictures: Figures by caption.
        cover: Picture for the first screen.
        estimate: What `compare_estimate` tells.
        machine: How punctual the machine was; None in simulated time.
    """
    timed, picture = _real_time(result.checks, machine), ''
    if cover is not None:
        picture = drawing(f'{name}: platform and path; height and path error', cover, wide=False)
    commanded = np.percentile(result.latency.commanded, [50, 99])
    told = {
        **facts,
        'constant delay of the strokes': f'{1e3 * result.tracking.delay:.2f} ms',
        'setpoints judged for latency': len(result.latency.executed),
        'left out, legs hardly moved': result.latency.slow,
        'command reached the recorder after, p50 / p99': ' / '.join(
            f'{1e3 * value:.2f} ms' for value in commanded
        ),
        'end-to-end latency p50 / p99 / max': _told_latency(result, ' ms'),
    }
    body = [
        table([], told.items()),
        '<h3>What had to hold</h3>',
        f'<p>{escape(timed)}.</p>' if timed else '',
        checks_table(result.checks),
        '<h3>Tracking error</h3>',
        errors_table('', summary(result)),
        *_forces(result),
        *estimate,
        '<h3>Messages</h3>',
        _messages(result),
        *(drawing(*item) for item in pictures.items()),
    ]
    return Chapter(
        name,
        title,
        '\n'.join(body),
        result.checks,
        result,
        picture,
        simulated,
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
    excuse = _not_kept(machine, stopped if history else 'the start') if machine else ''
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
    though = 'every check held although this machine was late: ' if machine.late else ''
    return f'real time: kept; {though}{machine}'


def _not_kept(machine: Machine, spoilt: str) -> str:
    why = 'because' if machine.late else 'although it was punctual, its nodes too slow:'
    return (
        f'real time: not kept on this machine, {why} {machine}. Spoilt: {spoilt}. '
        f'What helps: {ADVICE}'
    )


def render(chapters: Sequence[Chapter], origin: Mapping[str, str]) -> str:
    """Write the page: HTML with all chapters, those that did not come to their end first."""
    failed = [chapter.name for chapter in chapters if chapter.failed]
    verdict = f'FAILED: {", ".join(failed)}' if failed else 'every check held'
    if not failed and any(chapter.verdict == 'not kept' for chapter in chapters):
        verdict = 'no check failed; real time was not kept on this machine'
    wrong = [(f'{item.title}: {what}', advice) for item in chapters for what, advice in item.wrong]
    wrong += [(item.title, item.real_time) for item in chapters if item.verdict == 'not kept']
    heads, rows, legend = overview(chapters)
    runs = [table(heads, rows), f'<p>{legend}</p>' if legend else '', *_worth(chapters)]
    method = resources.files('stewart_bringup.demo').joinpath('method.html').read_text('utf-8')
    covers = [item.cover for item in sorted(chapters, key=lambda item: not item.failed)]
    bodies = {item.title: item.body for item in sorted(chapters, key=lambda item: not item.reason)}
    return page(
        'Stewart demo',
        verdict,
        held=not failed,
        figures=_five(chapters),
        picture=next(filter(None, covers), ''),
        sections={
            **({'What did not hold, and what to do': failures(wrong)} if wrong else {}),
            'All runs': '\n'.join(runs),
            **bodies,
            **({'How the figures are made': method} if legend else {}),
            'Where this comes from': table([], origin.items()),
        },
        notice=SIMULATED_NOTICE if any(chapter.simulated for chapter in chapters) else '',
    )


def overview(chapters: Sequence[Chapter]) -> tuple[list[str], list[list[str]], str]:
    """Return heads and rows of the table of all runs, and what its figures are.

    Where no run has figures along a path, there are names and verdicts, and nothing to explain.
    """
    rows = [chapter.row for chapter in chapters]
    if any(chapter.result for chapter in chapters):
        return list(OVERVIEW), rows, LEGEND
    return [OVERVIEW[0], OVERVIEW[-1]], [[row[0], row[-1]] for row in rows], ''


def _five(chapters: Sequence[Chapter]) -> dict[str, str]:
    """Return the figures of the first screen: the worst of all runs, or what was judged."""
    fine = sum(chapter.verdict == 'held' for chapter in chapters)
    found = {'runs in which every check held': f'{fine} of {len(chapters)}'}
    results = {chapter.name: chapter.result for chapter in chapters if chapter.result}
    if not results:
        checks = [check for chapter in chapters for check in chapter.checks][-4:]
        return found | {check.name: check.found for check in checks}
    found |= dict([_worst_path_error(results), _worst_latency(results)])
    worst = max(results, key=lambda name: results[name].following)
    legs, most = results[worst].legs, results[worst].following
    label = f'following error of the {legs.quantities}, p95, worst in {worst}'
    found[label] = f'{legs.scale * most:.3g} {legs.unit}'
    messages = [item for result in results.values() for item in result.traffic]
    lost, published = sum(item.lost for item in messages), sum(item.published for item in messages)
    return found | {'messages lost': f'{lost} of {published}'}


def _worst_path_error(results: Mapping[str, Result]) -> tuple[str, str]:
    """Return a label, and the largest path error with its instant: often the start's."""
    tracking = {name: result.tracking for name, result in results.items()}
    worst = max(tracking, key=lambda name: largest(tracking[name].path.position))
    lengths = 1e3 * np.linalg.norm(tracking[worst].path.position, axis=1)
    at = tracking[worst].pose_time[int(np.argmax(lengths))]
    return (
        f'path error of the position, max, worst in {worst}',
        f'{lengths.max():.3g} mm, at {at:.2g} s; median {np.median(lengths):.2g} mm',
    )


def _worst_latency(results: Mapping[str, Result]) -> tuple[str, str]:
    """Return a label, and the longest 99th percentile of the runs in which one was measured."""
    label = 'end-to-end latency, p99'
    measured = {
        name: _percentiles(result)[1]
        for name, result in results.items()
        if len(result.latency.executed)
    }
    if not measured:
        return label, NOT_MEASURED
    worst = max(measured, key=lambda name: measured[name])
    return f'{label}, worst in {worst}', f'{measured[worst]:.3g} ms'


def _figures(result: Result) -> list[str]:
    """Return the figures of a result in the overview."""
    rows = summary(result)
    position = rows['position, along the path [mm]']
    attitude = rows['attitude, along the path [°]']
    return [
        f'{position[0]:.3f} / {position[1]:.3f}',
        f'{1e3 * attitude[0]:.1f} / {1e3 * attitude[1]:.1f}',
        _told_latency(result),
        f'{min(item.rate for item in result.traffic if not np.isnan(item.rate)):.1f}',
        str(sum(item.lost for item in result.traffic)),
    ]


def _percentiles(result: Result) -> tuple[float, float, float]:
    """Return median, 99th percentile and maximum of the end-to-end latency [ms]."""
    p50, p99, most = 1e3 * np.percentile(result.latency.executed, [50, 99, 100])
    return float(p50), float(p99), float(most)


def _told_latency(result: Result, unit: str = '') -> str:
    """Return the percentiles as text; without an executed setpoint there are none."""
    if not len(result.latency.executed):
        return NOT_MEASURED
    return ' / '.join(f'{value:.1f}{unit}' for value in _percentiles(result))


def _worth(chapters: Sequence[Chapter]) -> list[str]:
    """Tell what feed-forward takes off the following error, where a motion was played twice."""
    results = {item.name: item.result for item in chapters if item.result}
    pairs = [(name.removesuffix('_unaided'), name) for name in results]
    told = []
    for aided, name in pairs:
        if aided == name or aided not in results:
            continue
        legs = results[name].legs
        alone, fed = (legs.fine_scale * results[key].following for key in (name, aided))
        told.append(
            f'<p>{escape(aided)}: without feed-forward 95 % of the following errors of the '
            f'{legs.quantities} stay below {alone:.1f} {legs.fine_unit}, with it below '
            f'{fed:.1f} {legs.fine_unit}.</p>'
        )
    return told


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
            judged(check.verdict, held=not check.failed),
            '' if check.held else check.meaning,
        ]
        for check in checks
    ]
    return table(['', 'found', 'asked', '', ''], rows, words=(0, 1, 2, 3, 4))


def _forces(result: Result) -> list[str]:
    if result.forces is None:
        return []
    legs, delivered = result.legs, result.forces.delivered
    mean, most = map(legs.told_effort, result.forces.difference)
    highest = legs.told_effort(float(np.abs(delivered).max()), digits=1)
    row = [f'delivered minus feed-forward [{legs.effort_unit}]', mean, most, highest]
    heads = ['', 'RMS', 'max', f'largest {legs.effort} delivered']
    return [f'<h3>Leg {legs.effort}s</h3>', table(heads, [row])]


def _messages(result: Result) -> str:
    heads = ['topic', 'published', 'recorded', 'lost', 'rate [Hz]', 'longest gap [ms]']
    rows = []
    for item in result.traffic:
        regular = not np.isnan(item.rate)
        rows.append(
            [
                Html(f'<code>{escape(item.topic)}</code>'),
                item.published,
                item.recorded,
                judged(str(item.lost), held=item.lost == 0),
                f'{item.rate:.2f}' if regular else '',
                f'{1e3 * item.longest_gap:.1f}' if regular else '',
            ]
        )
    return table(heads, rows)
