# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Reports as one HTML file: first screen, contents, sections; nothing is fetched to show it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from io import StringIO
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = resources.files('stewart_tables').joinpath('page.css').read_text('utf-8')


SHORT = 12
"""Texts of so many letters, a number with its unit for example, stay on one line of a table."""


class Html(str):
    """Part of a page; every other text is escaped where it is put into one."""


def page(
    title: str,
    verdict: str,
    *,
    held: bool,
    figures: Mapping[str, str],
    picture: str,
    sections: Mapping[str, str],
    notice: str = '',
) -> str:
    """Return a report as HTML.

    Args:
        title, verdict: Headline, and the result in one sentence.
        held: Whether nothing failed.
        figures: The five numbers that matter most, with units, by name.
        picture: What stands beside them, as of `drawing`.
        sections: HTML by title, in order; they stand in the contents list.
        notice: HTML of what must not be overlooked, such as that nothing was measured.
    """
    numbers = (f'<dt>{escape(name)}</dt><dd>{text(value)}</dd>' for name, value in figures.items())
    entries = [(f's{number}', escape(name)) for number, name in enumerate(sections, 1)]
    contents = ''.join(f'<li><a href="#{key}">{name}</a></li>' for key, name in entries)
    bodies = (
        f'<h2 id="{key}">{name}</h2>\n{body}'
        for (key, name), body in zip(entries, sections.values(), strict=True)
    )
    first = f'{picture}<dl><div>{"</div><div>".join(numbers)}</div></dl>'
    head = f'<title>{escape(title)}: {escape(verdict)}</title><style>\n{STYLE}</style></head>'
    return '\n'.join(
        (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta name="viewport" content="width=device-width, initial-scale=1">{head}',
            f'<body><h1>{escape(title)}</h1>',
            f'<p class="verdict">{judged(verdict, held=held)}</p>',
            f'<div class="notice">{notice}</div>' if notice else '',
            f'<div class="first">{first}</div><nav><ol>{contents}</ol></nav>',
            *bodies,
            '</body></html>\n',
        )
    )


def text(value: object) -> str:
    """Return a value as HTML, escaped unless it is `Html`."""
    return value if isinstance(value, Html) else escape(str(value))


def judged(words: str, *, held: bool) -> Html:
    """Return words in the colour of what held or failed."""
    return Html(f'<span class="{"held" if held else "broken"}">{escape(words)}</span>')


def failures(found: Iterable[tuple[str, str]]) -> Html:
    """Return a list of what failed, each with what it means and what to do."""
    items = (f'<li>{judged(what, held=False)}<br>{text(advice)}</li>' for what, advice in found)
    return Html(f'<ul>{"".join(items)}</ul>')


def table(
    heads: Sequence[str], rows: Iterable[Iterable[object]], words: Container[int] = (0,)
) -> Html:
    """Return a table; where it has heads, all columns but those of `words` are numbers."""
    lines = []
    for tag, cells in [*([('th', heads)] if heads else []), *(('td', row) for row in rows)]:
        lines.append('<tr>')
        for column, cell in enumerate(cells):
            shown = text(cell)
            kind = ' class=s' if len(shown) <= SHORT else ''
            if heads and column not in words:
                kind = ' class=n'
            lines.append(f'<{tag}{kind}>{shown}</{tag}>')
        lines.append('</tr>')
    return Html(f'<div class="wide"><table>{"".join(lines)}</table></div>')


def drawing(caption: str, figure: Figure, *, wide: bool = True) -> Html:
    """Return a figure as SVG whose black is the page's text colour and whose white is nothing."""
    from matplotlib import rc_context

    stream = StringIO()
    nothing = dict.fromkeys(('Creator', 'Date', 'Format', 'Type'))
    with rc_context({'svg.hashsalt': 'stewart', 'path.simplify_threshold': 0.3}):
        figure.savefig(stream, format='svg', transparent=True, metadata=nothing)
    svg = stream.getvalue().partition('<svg')[2]
    svg = re.sub(r' (width|height)="[\d.]+pt"', '', svg, count=2)
    svg = re.sub(r' id="[\w.]+_\d+"|(?<=\s)\s+|\n', '', svg)
    svg = re.sub(r' d="[^"]*"', lambda path: re.sub(r'(\.\d)\d+', r'\1', path[0]), svg)
    svg = svg.replace('#000000', 'currentColor').replace('fill: #ffffff', 'fill: none')
    words = escape(caption)
    return Html(
        f'<figure{" class=wide" if wide else ""}><svg role="img" aria-label="{words}"{svg}'
        f'<figcaption>{words}</figcaption></figure>'
    )
