# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What every reproduction of a paper shares: rows, figures, a table on the terminal, one page."""

from __future__ import annotations

import argparse
import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
import io
import math
from pathlib import Path
import sys
from typing import Any, Literal, TextIO

from matplotlib.figure import Figure as Drawing
import yaml

BUILD = Path(__file__).resolve().parents[1] / 'build' / 'papers'

Relation = Literal['=', '<=', '>=', '!=']

STYLE = """
body { font: 15px/1.45 sans-serif; max-width: 72em; margin: 2em auto; color: #222 }
table { border-collapse: collapse; font-size: 13px }
td, th { padding: .2em .7em; text-align: left }
td.number { text-align: right; font-family: monospace }
tr:nth-child(even) { background: #f4f4f4 }
.failed { color: #b00020; font-weight: bold }
.note { color: #555 }
img { max-width: 100% }
"""


KINDS = ('published', 'derived', 'regression')
"""What a number is that ours is held against: printed; computed from what is printed, or what a
law says; our own earlier result, which guards us and proves nothing."""
PREFIXES = {'derived': 'derived', 'not in the paper': 'regression'}
"""How the source of a number begins that is not printed."""


@dataclass(frozen=True)
class Row:
    """One number of the paper beside ours.

    Attributes:
        name: What is compared.
        said, ours: The two numbers, in `unit`.
        tolerance: Largest difference that passes, in `unit`; fixed in the data file before the
            run.
        unit: Unit of the three numbers.
        source: Where the paper says it; otherwise it begins as `PREFIXES` say.
        relation: What ours has to be, compared with what is published; '!=' for what the paper
            says or prints and a correct model contradicts: the row fails if that changes.
        note: What the reader should know.
    """

    name: str
    said: float
    ours: float
    tolerance: float
    unit: str
    source: str
    relation: Relation = '='
    note: str = ''

    @property
    def difference(self) -> float:
        """Ours minus what is said, in `unit`."""
        return self.ours - self.said

    @property
    def kind(self) -> str:
        """One of `KINDS`."""
        found = (kind for begin, kind in PREFIXES.items() if self.source.startswith(begin))
        return next(found, 'published')

    @property
    def passed(self) -> bool:
        """Whether the difference is where the relation wants it: inside the tolerance or not."""
        if not math.isfinite(self.difference):
            return False
        if self.relation == '<=':
            return self.difference <= self.tolerance
        if self.relation == '>=':
            return -self.difference <= self.tolerance
        if self.relation == '!=':
            return abs(self.difference) > self.tolerance
        return abs(self.difference) <= self.tolerance

    @property
    def verdict(self) -> str:
        """Say it in a word."""
        if not self.passed:
            return 'FAILED'
        return 'contradicted' if self.relation == '!=' else 'ok'


@dataclass(frozen=True)
class FigureEntry:
    """One figure of the paper, drawn again, and what of it was checked."""

    name: str
    caption: str
    checked: str
    png: bytes


@dataclass
class Report:
    """All that a reproduction has to say.

    Attributes:
        title: The paper.
        rows: Compared numbers.
        figures: Figures drawn again.
        notes: Misprints and readings of the text.
    """

    title: str
    rows: list[Row] = field(default_factory=list)
    figures: list[FigureEntry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, ours: float, said: dict[str, Any], note: str = '') -> Row:
        """Compare one number with an entry of the data file.

        Args:
            name: What is compared.
            ours: Our number, in the entry's unit.
            said: `value`, `tolerance`, `unit`, `source`, optionally `relation`.
            note: What the reader should know.

        Returns:
            The row, already in the report.
        """
        row = Row(
            name,
            float(said['value']),
            float(ours),
            float(said['tolerance']),
            said['unit'],
            said['source'],
            said.get('relation', '='),
            note,
        )
        self.rows.append(row)
        return row

    def draw(self, name: str, caption: str, drawing: Drawing, checked: str = '') -> None:
        """Keep a figure; `checked` names the rows that check it, none means shown only."""
        buffer = io.BytesIO()
        drawing.savefig(buffer, format='png', dpi=110)
        words = f'checked: {checked}' if checked else 'shown, not checked'
        self.figures.append(FigureEntry(name, caption, words, buffer.getvalue()))

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """How many rows agree, and of how many, kind by kind."""
        return {
            kind: (
                sum(row.verdict == 'ok' for row in self.rows if row.kind == kind),
                sum(row.kind == kind for row in self.rows),
            )
            for kind in KINDS
        }

    @property
    def exit_code(self) -> int:
        """0 if every row passed, else 1."""
        return 0 if all(row.passed for row in self.rows) else 1

    def print(self, stream: TextIO) -> None:
        """Print the rows as a table, the figures and the closing count."""
        head = ('', *KINDS, 'ours', 'difference', 'tolerance', 'unit', 'verdict')
        cells = [head, *(_cells(row) for row in self.rows)]
        widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
        for line in cells:
            numbers = '  '.join(
                text.rjust(width) for text, width in zip(line[1:-2], widths[1:-2], strict=True)
            )
            rest = f'{line[-2]:<{widths[-2]}}  {line[-1]}'
            print(f'{line[0]:<{widths[0]}}  {numbers}  {rest}'.rstrip(), file=stream)
        for figure in self.figures:
            print(f'{figure.name}: {figure.checked}', file=stream)
        against = sum(row.verdict == 'contradicted' for row in self.rows)
        rest = f', {against} contradict the paper' if against else ''
        counts = '; '.join(
            f'{kind}: {agree} of {total} rows agree'
            for kind, (agree, total) in self.counts.items()
        )
        print(f'{counts}{rest}', file=stream)

    def write(self, folder: Path, stem: str) -> Path:
        """Write ``<stem>.html``, self-contained, and one PNG file per figure.

        Args:
            folder: Where to; made if it is not there.
            stem: Beginning of the file names.

        Returns:
            The page.
        """
        folder.mkdir(parents=True, exist_ok=True)
        for number, figure in enumerate(self.figures, 1):
            (folder / f'{stem}_{number:02d}.png').write_bytes(figure.png)
        page = folder / f'{stem}.html'
        page.write_text(html_page(self.title, self.section()), encoding='utf-8')
        return page

    def section(self) -> list[str]:
        """Return the lines of HTML that say it all."""
        head = ('', *KINDS, 'ours', 'difference', 'tolerance', 'unit', 'verdict', 'source')
        lines = [
            f'<h1>{escape(self.title)}</h1>',
            '<table><tr>' + ''.join(f'<th>{word}</th>' for word in head) + '</tr>',
        ]
        for row in self.rows:
            name, *numbers, unit, verdict = _cells(row)
            note = f'<br><span class="note">{escape(row.note)}</span>' if row.note else ''
            mark = '' if row.passed else ' class="failed"'
            lines.append(
                f'<tr><td>{escape(name)}{note}</td>'
                + ''.join(f'<td class="number">{escape(text)}</td>' for text in numbers)
                + f'<td>{escape(unit)}</td><td{mark}>{verdict}</td>'
                + f'<td class="note">{escape(row.source)}</td></tr>'
            )
        lines.append('</table><h2>Misprints and readings</h2><ul>')
        lines += [f'<li>{escape(note)}</li>' for note in self.notes]
        lines.append('</ul>')
        for figure in self.figures:
            image = base64.b64encode(figure.png).decode('ascii')
            lines.append(
                f'<h2>{escape(figure.name)}</h2><p>{escape(figure.caption)} '
                f'<span class="note">({escape(figure.checked)})</span></p>'
                f'<img alt="{escape(figure.name)}" src="data:image/png;base64,{image}">'
            )
        return lines


def html_page(title: str, body: Sequence[str]) -> str:
    """Return a self-contained page."""
    head = [
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8">',
        f'<title>{escape(title)}</title><style>{STYLE}</style>',
    ]
    return '\n'.join([*head, *body, '</html>', ''])


def entry(value: float, tolerance: float, unit: str, source: str) -> dict[str, Any]:
    """Return what `Report.add` compares with, as the data files have it."""
    return {'value': value, 'tolerance': tolerance, 'unit': unit, 'source': source}


def published(name: str) -> dict[str, Any]:
    """Return what a paper states: its data file, named as the paper's module."""
    path = Path(__file__).parent / 'data' / f'{name}.yaml'
    said: dict[str, Any] = yaml.safe_load(path.read_text(encoding='utf-8'))
    return said


def command_line(description: str) -> argparse.ArgumentParser:
    """Return the parser with what every paper offers; its help begins with the first line."""
    parser = argparse.ArgumentParser(description=description.strip().splitlines()[0])
    parser.add_argument('--output', type=Path, default=BUILD, help='folder of page and figures')
    return parser


def publish(report: Report, name: str, folder: Path) -> int:
    """Print a report, write its page and figures into a folder, and return the exit code."""
    report.print(sys.stdout)
    print(report.write(folder, name), file=sys.stderr)
    return report.exit_code


def _cells(row: Row) -> tuple[str, ...]:
    """Return the texts of a row: name, a column for each kind, three numbers, unit, verdict."""
    sign = '' if row.relation == '=' else f'{row.relation} '
    return (
        row.name,
        *(f'{sign}{row.said:.9g}' if row.kind == kind else '' for kind in KINDS),
        f'{row.ours:.9g}',
        f'{row.difference:.2e}',
        f'{row.tolerance:.1e}',
        row.unit,
        row.verdict,
    )
