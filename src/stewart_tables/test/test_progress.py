# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A bar is shown to whoever watches, if the step is long, and the cursor comes back."""

import io

import pytest
from stewart_tables import progress
from stewart_tables.progress import between, LiveLine, show_part

SHOW_CURSOR = '\x1b[?25h'


def terminal(monkeypatch):
    """Put a terminal in the place of standard error; every step is long."""
    # Called by the test itself: between a fixture and its test pytest sets standard error anew.
    stream = io.StringIO()
    monkeypatch.setattr(stream, 'isatty', lambda: True)
    monkeypatch.setattr('sys.stderr', stream)
    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.setattr(progress, 'PATIENCE', 0.0)
    return stream


def test_a_bar_is_drawn_and_taken_away(monkeypatch):
    stream = terminal(monkeypatch)
    with show_part('reading') as show:
        show(None)
        show(0.5)
    said = stream.getvalue()
    assert 'reading' in said
    assert '50%' in said
    assert SHOW_CURSOR in said.rpartition('50%')[2]


def test_an_interruption_gives_the_cursor_back(monkeypatch):
    stream = terminal(monkeypatch)

    def interrupted():
        with show_part('reading') as show:
            show(0.5)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert SHOW_CURSOR in stream.getvalue().rpartition('50%')[2]


def test_nothing_is_shown_of_a_short_step_or_where_nobody_watches(monkeypatch):
    stream = terminal(monkeypatch)
    monkeypatch.setattr(progress, 'PATIENCE', 60.0)
    with show_part('reading') as show:
        show(0.5)
    assert stream.getvalue() == ''
    monkeypatch.setattr(progress, 'PATIENCE', 0.0)
    monkeypatch.setattr(stream, 'isatty', lambda: False)
    with show_part('reading') as show:
        show(0.5)
    assert stream.getvalue() == ''


def test_a_part_of_a_step_takes_its_share():
    told = []
    show = between(told.append, 0.2, 0.6)
    for part in (0.0, 0.5, None, 1.0):
        show(part)
    assert told == pytest.approx([0.2, 0.4, None, 0.6])


@pytest.mark.parametrize('always', [False, True])
def test_a_line_is_shown_where_nobody_watches_to_who_asks_for_it(always):
    stream = io.StringIO()
    line = LiveLine(stream, always=always)
    line.show('50 %')
    line.end()
    assert stream.getvalue() == ('\r\x1b[K50 %\n' if always else '')
