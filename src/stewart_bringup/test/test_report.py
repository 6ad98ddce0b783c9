# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The page says what was found, and fetches nothing."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from stewart_bringup.demo import recording
from stewart_bringup.demo.analysis import analyse, LOST, Result
from stewart_bringup.demo.machine import Machine
from stewart_bringup.demo.plots import cover, pictures
from stewart_bringup.demo.report import Chapter, render, scenario_chapter, unfinished_chapter
from stewart_bringup.demo.run import _put_in_place, closing_table, DemoLine, FOUND
from stewart_bringup.demo.scenarios import Bounds
from stewart_kinematics.model.leg_kinds import LegKind, ROTARY, SLIDING

GENEROUS = Bounds(path_position=1.0, path_rotation=1.0, latency=1.0)
SHORT = 4.0


class Links(HTMLParser):
    """Everything that a browser would fetch, and every word."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.words = ''

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.fetched += [
            value for name, value in attrs if name in {'src', 'href', 'srcset', 'xlink:href'}
        ]
        assert tag not in {'script', 'link', 'iframe'}

    def handle_data(self, data: str) -> None:
        self.words += data


def chapter(
    synthetic: SimpleNamespace, lost: int = 0, *, simulated: bool = True, drawn: bool = False
) -> Chapter:
    made = synthetic.recording(duration=SHORT)
    published = {**made.counts, '/setpoint': made.counts['/setpoint'] + lost}
    result = analyse(made, published, GENEROUS)
    facts = {'platform': '<vigo>', 'seed': '7'}
    images = pictures(made, result) if drawn else {}
    return scenario_chapter(
        'vigo_x',
        'vigo: <x>',
        facts,
        result,
        simulated=simulated,
        pictures=images,
        cover=cover(made, result, 'vigo') if drawn else None,
    )


def read(page: str) -> Links:
    links = Links()
    links.feed(page)
    return links


@pytest.fixture(scope='module')
def drawn(synthetic: SimpleNamespace) -> Chapter:
    """Return a chapter with its pictures, of which three messages were lost."""
    return chapter(synthetic, lost=3, drawn=True)


def test_page_is_one_file_with_six_drawings_inside(drawn: Chapter) -> None:
    page = render([drawn], {'command line': 'stewart demo'})
    links = read(page)

    assert page.count('<figure') == page.count('</svg>') == 6
    assert all(item.startswith('#') for item in links.fetched)
    assert 'http' not in links.words


def test_the_first_screen_has_verdict_picture_figures_and_contents(drawn: Chapter) -> None:
    first = render([drawn], {}).partition('<h2')[0]

    assert first.count('<svg') == 1
    assert first.count('<dt>') == 5
    for words in ('FAILED: vigo_x', '0 of 1', '3 of ', 'All runs', 'SIMULATED'):
        assert words in first


def test_what_ran_in_simulated_time_is_not_said_to_have_had_the_clock_of_this_machine(
    drawn: Chapter,
) -> None:
    words = ' '.join(read(render([drawn], {})).words.split())
    assert 'clock of this machine, or in simulated time that of the simulation.' in words


def test_a_failed_check_comes_first_with_its_meaning_and_advice(
    synthetic: SimpleNamespace,
) -> None:
    words = read(render([chapter(synthetic), chapter(synthetic, lost=3)], {})).words

    section = words.partition('What had to hold')[0].partition('What did not hold')[2]
    assert '3 of /setpoint, asked is 0' in section
    assert LOST in section


def test_page_says_simulated_only_when_it_was(synthetic: SimpleNamespace) -> None:
    simulated = read(render([chapter(synthetic)], {})).words
    real = read(render([chapter(synthetic, simulated=False)], {})).words

    assert 'SIMULATED' in simulated
    assert 'SIMULATED' not in real


def test_page_escapes_what_it_is_given(synthetic: SimpleNamespace) -> None:
    words = read(render([chapter(synthetic)], {'command line': '<b>'})).words

    assert 'vigo: <x>' in words
    assert '<vigo>' in words
    assert '<b>' in words


def test_lost_messages_change_the_verdict_and_stand_in_the_table(
    synthetic: SimpleNamespace,
) -> None:
    page = render([chapter(synthetic, lost=3)], {})

    assert 'FAILED: vigo_x' in read(page).words
    assert '<span class="broken">3</span>' in page
    assert '3 of /setpoint' in page


def test_topics_are_listed_with_their_counts(synthetic: SimpleNamespace) -> None:
    made = synthetic.recording(duration=SHORT)

    page = render([chapter(synthetic)], {})

    for topic, count in made.counts.items():
        assert f'<td><code>{topic}</code></td><td class=n>{count}</td>' in page


def test_a_rig_that_executes_nothing_is_told_and_loses_no_other_run(
    synthetic: SimpleNamespace,
) -> None:
    # Upwards only, and always further below than half a second of motion makes up for.
    made = synthetic.recording(duration=0.7, offset=0.1)
    result = analyse(made, made.counts, GENEROUS)
    assert not len(result.latency.executed)

    images = pictures(made, result)
    ignored = scenario_chapter('never', 'never', {}, result, simulated=True, pictures=images)

    assert not any('latency' in caption for caption in images)
    alone = read(render([ignored], {})).words
    both = read(render([ignored, chapter(synthetic)], {})).words
    assert 'setpoints never executed' in alone
    assert 'end-to-end latency, p99not measured' in alone
    assert 'end-to-end latency, p99, worst in vigo_x' in both
    for words in (alone, both):
        assert not re.search(r'\bnan\b', words)


@pytest.mark.parametrize(
    ('kind', 'following', 'asked', 'wrong'),
    [
        (
            ROTARY,
            (np.degrees(1.0), '°'),
            ('crank angles, along the path [°]', 'Leg torques', 'minus feed-forward [N m]'),
            ('[N]', 'strokes, along'),
        ),
        (
            SLIDING,
            (1e3, 'mm'),
            ('carriage positions, along the path [mm]', 'Leg forces', '[N]'),
            ('N m', 'strokes, along'),
        ),
    ],
)
def test_units_are_those_of_the_legs(
    synthetic: SimpleNamespace,
    kind: LegKind,
    following: tuple[float, str],
    asked: tuple[str, ...],
    wrong: tuple[str, ...],
) -> None:
    made = synthetic.recording(duration=SHORT, delay=0.0, offset=0.01)
    result = analyse(made, made.counts, GENEROUS, kind=kind)
    images = pictures(made, result)
    told = scenario_chapter('legs', 'legs', {}, result, simulated=True, pictures={})

    labels = [axis.get_ylabel() for figure in images.values() for axis in figure.axes]
    words = read(render([told], {})).words.rpartition('How the figures are made')[0]
    found = ' '.join([words, *images, *labels])
    scale, unit = following
    for what in (*asked, f'{scale * result.following:.3g} {unit}'):
        assert what in found
    for what in wrong:
        assert what not in found


def told(width: int, *chapters: Chapter) -> list[str]:
    """Return what stands in a terminal of so many columns in the end."""
    text = StringIO()
    Console(file=text, width=width).print(closing_table(chapters, width))
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    return lines


@pytest.mark.parametrize(('width', 'begins'), [(80, '1 │'), (90, 'vigo_x')])
def test_closing_table_has_a_line_per_run(
    synthetic: SimpleNamespace, width: int, begins: str
) -> None:
    lines = told(width, chapter(synthetic))
    assert [line.count(' / ') for line in lines if line.startswith(begins)] == [4]
    for unit in ('[mm]', '[m°]', '[ms]', '[Hz]'):
        assert unit in '\n'.join(lines)


def test_closing_table_cuts_no_name_short(synthetic: SimpleNamespace) -> None:
    name = 'vigo_ethercat_random_unaided'
    lines = told(80, *(replace(chapter(synthetic), name=name) for _ in range(2)))
    assert f'1 {name}, 2 {name}; position' in ' '.join(map(str.strip, lines))


@pytest.mark.parametrize('terminal', [True, False])
def test_a_terminal_sees_every_phase_and_a_log_one_line_per_chapter(terminal: bool) -> None:
    text = StringIO()
    console = Console(file=text, width=100, force_terminal=terminal)

    with DemoLine(console) as line:
        line.chapter('vigo')
        line.begin('vigo', 15.0)
        for phase in ('enabling', 'playing', 'playing', 'switching off'):
            line.watch(phase, 1.5)
        line.end('done')

    if terminal:
        assert 'done' in text.getvalue()
        assert '1.5 of 15 s' in text.getvalue()
    else:
        assert text.getvalue() == 'vigo: done (0 s)\n'


def test_a_motion_played_twice_tells_what_feed_forward_is_worth(
    synthetic: SimpleNamespace,
) -> None:
    aided, unaided = (
        scenario_chapter(
            'rig_wave' + suffix, '', {}, judged(synthetic, offset), simulated=True, pictures={}
        )
        for suffix, offset in (('', 1e-5), ('_unaided', 4e-5))
    )

    page = render([aided, unaided], {})

    below = re.search(r'stay below ([\d.]+) µm, with it below ([\d.]+) µm', page)
    assert below is not None
    # an offset of all strokes, and what the fitted delay makes of it
    assert [float(number) for number in below.groups()] == pytest.approx([40.0, 10.0], rel=0.2)


def judged(synthetic: SimpleNamespace, offset: float) -> Result:
    """Analyse a recording whose strokes are all too low by `offset`."""
    recording = synthetic.recording(delay=0.0, offset=offset)
    return analyse(recording, recording.counts, Bounds())


def test_failed_scenario_stands_first_with_its_reason_and_the_fault(
    synthetic: SimpleNamespace,
) -> None:
    history = ((0.0, 'DISABLED', 'started'), (2.5, 'FAULT', 'drive 3: <overcurrent>'))
    facts = {'bag': 'build/demo/vigo_y'}
    failure = unfinished_chapter('vigo_y', 'vigo: y', facts, 'drive 3 <gone>', history)
    words = read(render([chapter(synthetic), failure], {})).words

    assert 'FAILED: vigo_y' in words
    assert words.index('drive 3 <gone>') < words.index('What had to hold')
    assert 'drive 3: <overcurrent>' in words
    console = Console(file=StringIO(), width=200)
    console.print(closing_table([chapter(synthetic), failure], console.width))
    assert 'FAILED' in console.file.getvalue()


def test_a_machine_may_be_late_where_every_check_held(synthetic: SimpleNamespace) -> None:
    made = synthetic.recording(duration=SHORT)
    late = Machine(2e-4, 30e-3, 3000, 0, 4e-3)
    for machine, said in (
        (late, 'real time: kept; every check held although this machine was late: wake-ups were '),
        (replace(late, longest=3e-3), 'real time: kept; wake-ups were '),
    ):
        result = analyse(made, made.counts, GENEROUS, machine)
        told = scenario_chapter('x', 'x', {}, result, simulated=True, pictures={}, machine=machine)
        assert told.real_time == said + str(machine).removeprefix('wake-ups were ')
    assert '30.0 ms at most' in str(late)
    assert str(late).endswith('(a machine counts as late from 1 ms on at p99, or 5 ms once)')


def test_what_a_late_machine_has_stopped_did_not_fail(synthetic: SimpleNamespace) -> None:
    late = Machine(3e-3, 40e-3, 3000, 17, 35e-3)
    stopped = unfinished_chapter('vigo_y', 'vigo: y', {}, 'no command in time', (), late)
    words = read(render([chapter(synthetic), stopped], {})).words

    assert stopped.verdict == 'not kept'
    assert not stopped.failed
    assert 'no check failed; real time was not kept on this machine' in words
    assert str(late) in words


def test_what_the_driver_repeats_stands_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said = SimpleNamespace(
        bag_time_ns=np.arange(5) * 500_000_000,
        names=['DISABLED', 'ENABLING', 'ENABLING', 'ENABLED', 'ENABLING'],
        reason=['started', 'asked for', 'asked for', 'all are on', 'asked for'],
    )
    monkeypatch.setattr(recording, 'Bag', lambda _: nullcontext())
    monkeypatch.setattr(recording, 'read_series', lambda *_: said)
    assert recording.driver_history(Path('bag')) == (
        (0.0, 'DISABLED', 'started'),
        (0.5, 'ENABLING', 'asked for'),
        (1.5, 'ENABLED', 'all are on'),
        (2.0, 'ENABLING', 'asked for'),
    )


def test_what_was_found_names_the_bags_where_they_are_in_the_end(tmp_path: Path) -> None:
    found = tmp_path / 'unfinished' / FOUND
    found.mkdir(parents=True)
    (found / 'parameters.yaml').write_text(f'bag: {tmp_path}/unfinished/loaded\n')
    _put_in_place(tmp_path, [])
    assert (tmp_path / FOUND / 'parameters.yaml').read_text() == f'bag: {tmp_path}/loaded\n'
    assert not found.parent.exists()
