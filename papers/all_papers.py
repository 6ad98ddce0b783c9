# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Reproduce every paper and write one page of all tables and figures.

``make papers`` runs this; ``build/papers/index.html`` needs no other file. It exits with 1 if a
row of any paper fails.
"""

from __future__ import annotations

import argparse
from html import escape
from importlib import import_module
from pathlib import Path
import sys
import time

from reproduction import BUILD, html_page, KINDS, Report

PAPERS = ('vigo', 'ex800', 'ps6tl', 'srs', 'cylindrical')
"""Modules beside this one; each has `reproduce`, which takes nothing and returns a Report."""


def main(argv: list[str] | None = None) -> int:
    """Reproduce, print, write; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--output', type=Path, default=BUILD, help='folder of pages and figures')
    arguments = parser.parse_args(argv)
    reports: dict[str, Report] = {}
    for name in PAPERS:
        started = time.monotonic()
        report = reports[name] = import_module(name).reproduce()
        print(f'\n== {report.title}', flush=True)
        report.print(sys.stdout)
        report.write(arguments.output, name)
        print(f'{name}: {time.monotonic() - started:.0f} s', file=sys.stderr)
    page = arguments.output / 'index.html'
    page.write_text(html_page('Five papers, reproduced', body(reports)), encoding='utf-8')
    failed = [name for name, report in reports.items() if report.exit_code]
    print(f'\n{page}' + (f': rows of {", ".join(failed)} FAILED' if failed else ''))
    return 1 if failed else 0


def body(reports: dict[str, Report]) -> list[str]:
    """Return a table of contents with the counts, then every paper."""
    words = ('contradicted', 'FAILED')
    heads = [f'{kind}, agree' for kind in KINDS] + list(words)
    lines = [
        '<h1>Five papers, reproduced</h1>',
        '<p>What is published, derived from it, or a result of ours that guards us (regression); '
        'ours; and a tolerance from a data file, which also names the few '
        'that were set after a first look. A row "contradicted" stands for what a paper says or '
        'prints and a correct model does not bear out.</p>',
        '<table><tr><th>paper</th>' + ''.join(f'<th>{word}</th>' for word in heads) + '</tr>',
    ]
    for name, report in reports.items():
        verdicts = [row.verdict for row in report.rows]
        cells = [f'{agree} of {total}' for agree, total in report.counts.values()]
        cells += [str(verdicts.count(word)) for word in words]
        counts = ''.join(f'<td class="number">{cell}</td>' for cell in cells)
        lines.append(f'<tr><td><a href="#{name}">{escape(report.title)}</a></td>{counts}</tr>')
    lines.append('</table>')
    for name, report in reports.items():
        lines += [f'<section id="{name}">', *report.section(), '</section>']
    return lines


if __name__ == '__main__':
    sys.exit(main())
