# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Make Markdown tables of the results in build/benchmarks: to standard output, or into a page.

With --into, the sections between the markers of the page, and the rows of its table of peers, are
renewed where there is a result; the others stay as they are, and figures that the page shows are
copied to where it shows them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
import json
from pathlib import Path
import shutil
import sys
from typing import Any

from harness import OUTPUT
import peers
from tables import Result, TABLES

BEGIN, END = '<!-- results: begin -->', '<!-- results: end -->'
PEERS_BEGIN, PEERS_END = '<!-- peers: begin -->', '<!-- peers: end -->'
HEADING = '## '
PROPER = {'ethercat': 'EtherCAT', 'imu': 'IMU'}

SILENT = {'results', 'system', 'command', 'date', 'limit'}
"""What a result says beside its machine, and the name of a kernel."""


def title(name: str) -> str:
    """Return a heading made of the name of a result."""
    words = ' '.join(PROPER.get(word, word) for word in name.split('_'))
    return words[0].upper() + words[1:]


def origin(result: Result) -> tuple[str, str, Mapping[str, Any]]:
    """Return the command of a result, its day, and what it says of its machine."""
    about = result.get('machine', result)
    about = about if isinstance(about, dict) else result
    return about.get('command', 'not noted'), about.get('date', 'undated'), about


def section(path: Path) -> list[str]:
    """Return heading, machine and table of one result."""
    result = json.loads(path.read_text(encoding='utf-8'))
    table = next((make for key, make in TABLES.items() if key in result), None)
    if table is None:
        return []
    made, day, about = origin(result)
    machine = ', '.join(
        f'{key} {value}'
        for key, value in about.items()
        if key not in SILENT and isinstance(value, int | str)
    )
    command = f'`{made}`, {day}'
    return [HEADING + title(path.stem), '', f'{command}, on {machine}.', '', *table(result), '']


def against_peers(paths: Iterable[Path]) -> dict[tuple[str, str], str]:
    """Return the rows of the table of peers, by question and peer."""
    found = {}
    for path in paths:
        result = json.loads(path.read_text(encoding='utf-8'))
        made, day, about = origin(result)
        load = about.get('load at the start', 'not noted')
        where = f'{about.get("processor", "")}, load {load}, {day}, `{made}`'
        for question, ours, peer, ratio in peers.rows(path.stem, result):
            cells = question, ours, peer, ratio, where
            found[question, peer.partition(':')[0]] = f'| {" | ".join(cells)} |'
    return found


def renewed(page: str, made: Mapping[tuple[str, str], str]) -> str:
    """Return a page with those rows of its table of peers renewed."""
    before, rest = page.split(PEERS_BEGIN)
    old, after = rest.split(PEERS_END)
    rows = {}
    for line in old.strip().splitlines()[2:]:
        cells = [cell.strip() for cell in line.split('|')[1:-1]]
        rows[cells[0], cells[2].partition(':')[0]] = line
    table = [peers.HEAD, '|---|---:|---|---:|---|', *dict(sorted((rows | made).items())).values()]
    text = '\n'.join(table)
    return f'{before}{PEERS_BEGIN}\n\n{text}\n\n{PEERS_END}{after}'


def place(page: Path, made: Mapping[str, str]) -> None:
    """Renew sections between the markers of a page, given by heading, and its figures."""
    before, rest = page.read_text(encoding='utf-8').split(BEGIN)
    old, after = rest.split(END)
    sections = dict(_headed(old)) | made
    text = '\n'.join(sections[name].strip() + '\n' for name in sorted(sections, key=str.casefold))
    page.write_text(f'{before}{BEGIN}\n\n{text}\n{END}{after}', encoding='utf-8')
    for figure in OUTPUT.glob('*.png'):
        target = page.parent / 'figures' / figure.name
        if f'figures/{figure.name}' in before + after:
            shutil.copy(figure, target)


def _headed(text: str) -> Iterator[tuple[str, str]]:
    """Yield heading and text of every section."""
    for part in text.split(HEADING)[1:]:
        yield part.partition('\n')[0], HEADING + part


def main() -> int:
    """Print, or write into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--into', type=Path, metavar='PAGE', help='like docs/measurements.md')
    parser.add_argument('--only', default='*', metavar='NAME', help='the result of this name')
    arguments = parser.parse_args()
    results = sorted(OUTPUT.glob(f'{arguments.only}.json'))
    text = '\n'.join(line for path in results for line in section(path))
    if not text:
        print(f'no results in {OUTPUT}: run `make bench` first', file=sys.stderr)
        return 1
    if arguments.into is None:
        print(text)
    else:
        place(arguments.into, dict(_headed(text)))
        page = arguments.into.read_text(encoding='utf-8')
        if PEERS_BEGIN in page:
            arguments.into.write_text(renewed(page, against_peers(results)), encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
