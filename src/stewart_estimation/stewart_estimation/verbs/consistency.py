# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart consistency``: whether the filter is as good as it says, on a recording."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
import json
import sys
from typing import Any, TextIO, TYPE_CHECKING

import numpy as np
from stewart_estimation.advice import Advice, advise, better
from stewart_estimation.consistency import Consistency
from stewart_estimation.consistency_page import HEADS, page, verdict_cells
from stewart_estimation.verbs.filter_arguments import add_filter_arguments, Run, run_filter
from stewart_tables.numbers import not_negative, number_from
from stewart_tables.outputs import output_page
from stewart_tables.progress import show_part
from stewart_tables.whole_files import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HELP = 'say whether the estimates of a recording are as good as they claim'

TRIED = 8000
"""So many leg samples at most are filtered again and again for advice."""

DETAILS = """
The exit code is 1 if a test is broken, or where stewart estimate would call it a failure. Then
noises are scaled to what the innovations ask for, a delay is tried, and the options that hold best
are named; with other options the same recording is judged again. The page needs no other file and
no network.

examples:
  stewart consistency run_1 --page consistency.html
  stewart consistency run_1 --imu-sigma 0.02 0.001 --leg-sigma 1e-5
  stewart consistency --imu imu.csv --legs legs.csv --platform srs --settled 2
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_filter_arguments(parser)
    parser.add_argument(
        '--settled',
        type=not_negative,
        default=0.0,
        metavar='S',
        help='leave out the first S seconds (default: %(default)g)',
    )
    parser.add_argument(
        '--confidence',
        type=number_from(0.5, 0.999999),
        default=0.99,
        help='of the exact bands (default: %(default)g)',
    )
    parser.add_argument('--strict', action='store_true', help='tolerate nothing beside them')
    parser.add_argument(
        '--page', type=output_page, metavar='FILE', help='write a page with plots (.html)'
    )
    parser.add_argument('--json', action='store_true', help='print the verdicts as JSON')


def main(arguments: argparse.Namespace) -> int:
    """Filter a recording and judge the innovations; return 1 if a test is broken."""
    with show_part('consistency') as show:
        run = run_filter(arguments, show)

    def judged(run: Run) -> Consistency:
        rows = _settled(run, arguments)
        return run.judged(rows, confidence=arguments.confidence, strict=arguments.strict)

    found = judged(run)
    problem = run.problem
    advice = None if found.held or problem else _advice(run, found, judged)
    if arguments.page is not None:
        with whole_file(arguments.page) as stream:
            pictures = _pictures(run, found, _settled(run, arguments))
            stream.write(page(found, _facts(arguments, run), pictures, advice, problem))
    if arguments.json:
        print(json.dumps(_as_json(found, advice, problem), indent=2))
    else:
        _print(sys.stdout, found, problem)
        if advice is not None:
            sys.stdout.write(f'{advice}\n')
    if problem:
        sys.stderr.write(f'stewart consistency: {problem}\n')
    return 1 if problem or not found.held else 0


def _settled(run: Run, arguments: argparse.Namespace) -> Any:
    """Return which rows are judged."""
    stamps = run.filtered.stamps
    return stamps >= stamps[0] + arguments.settled


def _advice(run: Run, found: Consistency, judged: Callable[[Run], Consistency]) -> Advice | None:
    """Search on the beginning of a long recording, and judge what was found on the whole."""
    part = run.beginning(TRIED)
    so_far = found if part is run else judged(part)
    advice = advise(run.settings, so_far, lambda other: judged(part.again(other)))
    if advice is not None and part is not run:
        advice = replace(advice, found=judged(run.again(advice.settings)))
    return advice if better(advice, found) else None


def _facts(arguments: argparse.Namespace, run: Run) -> dict[str, str]:
    """Return where the verdicts come from."""
    noise = run.settings.imu_noise
    return {
        'recording': arguments.bag or f'{arguments.imu}, {arguments.legs}',
        'platform': run.platform.title,
        'rows': str(len(run.filtered)),
        'duration': f'{run.filtered.stamps[-1] - run.filtered.stamps[0]:.2f} s',
        'sigma of specific force [m/s²]': _numbers(noise.specific_force),
        'sigma of angular velocity [rad/s]': _numbers(noise.angular_velocity),
        'sigma of the lengths [m]': _numbers(run.settings.leg_noise),
    }


def _numbers(values: Any) -> str:
    return ', '.join(f'{value:.4g}' for value in values)


def _pictures(run: Run, found: Consistency, rows: Any) -> dict[str, Figure]:
    """Draw innovations, their consistency and the biases."""
    from matplotlib.figure import Figure
    from stewart_estimation.plotting import plot_bands, plot_consistency, plot_innovations

    series = run.filtered
    time = series.stamps[rows]
    innovations, tests, biases = (
        Figure(figsize=(9, height), layout='constrained') for height in (7.5, 7.0, 5.0)
    )
    plot_innovations(innovations, time, series.innovations[rows], series.sigmas[rows])
    judged = series.used[rows].any(axis=1) & np.isfinite(series.innovations[rows]).any(axis=1)
    plot_consistency(tests, time[judged], found)
    sigmas = np.sqrt(series.variances[rows])
    plot_bands(
        biases,
        time,
        [
            (
                'bias of the accelerometer [mm/s²]',
                1e-3,
                series.accelerometer_bias[rows],
                sigmas[:, 9:12],
            ),
            ('bias of the gyroscope [mrad/s]', 1e-3, series.gyroscope_bias[rows], sigmas[:, 12:]),
        ],
        about_zero=False,
    )
    return {
        'Innovations of the legs and their two-sigma bands': innovations,
        'NIS, distribution of the normalised innovations, their autocorrelation': tests,
        'Biases of the IMU and their two-sigma bands': biases,
    }


def _as_json(found: Consistency, advice: Advice | None, problem: str) -> dict[str, Any]:
    """Return the verdicts as plain data, and which options hold better."""
    return {
        'consistent': found.held and not problem,
        'problem': problem or None,
        'advice': None
        if advice is None
        else {'options': list(advice.options), 'consistent': advice.found.held},
        'rows': found.rows,
        'confidence': found.confidence,
        'used_by_leg': found.used.tolist(),
        'rejected_by_leg': found.rejected.tolist(),
        'verdicts': [
            {
                'name': item.name,
                'leg': item.leg,
                'found': item.found,
                'exact': list(item.exact),
                'tolerated': item.tolerated or [None, None],
                'held': item.held,
                'hint': item.hint,
            }
            for item in found.verdicts
        ],
    }


def _print(out: TextIO, found: Consistency, problem: str) -> None:
    """Print one line a test."""
    cells = [list(HEADS), *(verdict_cells(item) for item in found.verdicts)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADS) - 1)]
    for row in cells:
        padded = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
        out.write('  '.join([*padded, row[-1]]) + '\n')
    word = 'consistent' if found.held and not problem else 'NOT consistent'
    out.write(f'{word}, {found.rows} rows, mean NIS {found.mean_nis:.3f}\n')
