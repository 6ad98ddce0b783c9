# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Reports: parsed as a browser would, drawings included."""

from __future__ import annotations

from html.parser import HTMLParser
import re
from typing import Any
from xml.etree import ElementTree

from matplotlib.figure import Figure
import pytest
from stewart_tables.page import drawing, failures, Html, page, table

VOID = {'meta', 'br'}


class Page(HTMLParser):
    """Links, targets and words of a page; every element has to be closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.targets: list[str] = []
        self.words = ''
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        values = dict(attrs)
        assert tag not in {'script', 'link', 'iframe', 'img'}
        self.links += [values[name] for name in ('src', 'href', 'xlink:href') if name in values]
        self.targets += [values['id']] if 'id' in values else []
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def example() -> Figure:
    figure = Figure(figsize=(6, 3))
    axes = figure.subplots()
    axes.plot([0, 1, 2], [0, 1, 0], 'k', label='black')
    axes.plot([0, 1, 2], [1, 0, 1], 'tab:red', label='red')
    axes.legend()
    return figure


def test_a_page_links_only_to_itself_and_escapes_what_it_is_given() -> None:
    rows = table(['<a>', 'b'], [['<x>', 1], [Html('<b>bold</b>'), 2]])
    html = page(
        '<title>',
        'FAILED: <y>',
        held=False,
        figures={'<latency>': '1 < 2 ms'},
        picture=drawing('one', example()),
        sections={'First <s>': rows, 'Second': failures([('<what>', 'do & see')])},
    )
    read = Page(html)

    assert all(link.startswith('#') for link in read.links)
    assert {link[1:] for link in read.links} <= set(read.targets)
    assert {'#s1', '#s2'} <= set(read.links)
    for words in ('<title>', 'FAILED: <y>', '1 < 2 ms', '<x>', 'bold', 'First <s>', 'do & see'):
        assert words in read.words
    assert 'url(' not in html.replace('url(#', '')
    assert '@import' not in html


def test_a_drawing_takes_black_from_the_page_and_leaves_the_ground_free() -> None:
    html = drawing('a "caption"', example())
    svg = ElementTree.fromstring(re.search('<svg.*</svg>', html, re.S)[0])  # type: ignore[index]

    assert not re.search('#(000000|ffffff)', html)
    assert 'stroke: currentColor' in html
    assert '#d62728' in html
    assert svg.get('width') is None
    assert svg.get('viewBox') == '0 0 432 216'
    assert html == drawing('a "caption"', example())


@pytest.mark.parametrize(('heads', 'numbers'), [(['a', 'b'], 2), ([], 0)])
def test_numbers_stand_right_where_a_table_has_heads(heads: list[str], numbers: int) -> None:
    assert table(heads, [['x', 1]]).count('class=n') == numbers


def test_a_number_and_its_unit_stay_on_one_line() -> None:
    made = table([], [('0.47 s', 'no command in time')]) + table(['', 'a'], [('kg m²', 1)])
    assert '<td class=s>0.47 s</td><td>no command in time</td>' in made
    assert '<td class=s>kg m²</td><td class=n>1</td>' in made
