# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
Make Markdown tables of the results in build/benchmarks: to standard output, or into a page.

With --into, what stands in the page between the markers is replaced, and figures that it shows are
copied to where it shows them.

"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
import json
from pathlib import Path
import shutil
import sys
from typing import Any

from harness import OUTPUT

BEGIN, END = '<!-- results: begin -->', '<!-- results: end -->'

SILENT = {'results', 'system'}
"""What a result says beside its machine, and the name of a kernel."""

Result = Mapping[str, Any]


def timings(result: Result) -> list[str]:
    """Return the table of a benchmark that times tasks."""
    lines = [
        '| task | median | least | limit | ratio |',
        '|---|---:|---:|---:|---:|',
    ]
    for row in result['timings']:
        limit = '' if row['limit_us'] is None else f'{row["limit_us"]:g}'
        lines.append(
            f'| {row["name"]} | {row["median_us"]:.3g} | {row["least_us"]:.3g} | {limit} '
            f'| {row["ratio"]:.3g} |'
        )
    return [*lines, '', 'Microseconds per sample; the ratio is to the first line.']


def runs(result: Result) -> list[str]:
    """Return the table of the forward dynamics: precision and cost."""
    lines = [
        '| method | step [ms] | cost [ms/s] | pose error [m] | energy drift [J] | gap [m] |',
        '|---|---:|---:|---:|---:|---:|',
    ]
    lines += [
        f'| {row["method"]} | {row["step_ms"]:g} | {row["cost_ms_per_s"]:.3g} '
        f'| {row["pose_error_m"]:.1e} | {row["energy_drift_j"]:.1e} | {row["gap_m"]:.0e} |'
        for row in result['runs']
    ]
    return lines


def comparisons(result: Result) -> list[str]:
    """Return the table of the bags."""
    lines = [
        '| storage | operation | messages | time / time of bare rosbags |',
        '|---|---|---:|---:|',
    ]
    lines += [
        f'| {row["storage"]} | {row["operation"]} | {row["messages"]} '
        f'| {row["ratio_of_medians"]:.2f} |'
        for row in result['results']
    ]
    return lines


TABLES: dict[str, Callable[[Result], list[str]]] = {
    'runs': runs,
    'timings': timings,
    'results': comparisons,
}


def section(path: Path) -> list[str]:
    """Return heading, machine and table of one result."""
    result = json.loads(path.read_text(encoding='utf-8'))
    table = next((make for key, make in TABLES.items() if key in result), None)
    if table is None:
        return []
    about = result.get('machine', result)
    about = about if isinstance(about, dict) else result
    machine = ', '.join(f'{key} {value}' for key, value in about.items() if key not in SILENT)
    day = datetime.fromtimestamp(path.stat().st_mtime, tz=timezone.utc).date()
    heading = path.stem.replace('_', ' ').capitalize()
    command = f'`python benchmarks/{path.stem}.py`, {day.isoformat()}'
    return [f'## {heading}', '', f'{command}, on {machine}.', '', *table(result), '']


def place(page: Path, text: str) -> None:
    """Replace what stands between the markers of a page, and renew its figures."""
    before, rest = page.read_text(encoding='utf-8').split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(f'{before}{BEGIN}\n\n{text}\n{END}{after}', encoding='utf-8')
    for figure in OUTPUT.glob('*.png'):
        target = page.parent / 'figures' / figure.name
        if f'figures/{figure.name}' in before + after:
            shutil.copy(figure, target)


def main() -> int:
    """Print, or write into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--into', type=Path, metavar='PAGE', help='like docs/benchmarks.md')
    arguments = parser.parse_args()
    text = '\n'.join(line for path in sorted(OUTPUT.glob('*.json')) for line in section(path))
    if not text:
        print(f'no results in {OUTPUT}: run `make bench` first', file=sys.stderr)
        return 1
    if arguments.into is None:
        print(text)
    else:
        place(arguments.into, text)
    return 0


if __name__ == '__main__':
    sys.exit(main())
