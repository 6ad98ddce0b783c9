# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart identify``: from recordings to parameters with intervals, and what they are worth."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import sys

import numpy as np
from stewart_bags.verbs.topic_names import add_topic_argument
from stewart_identification.bags_to_parameters import identify_bags
from stewart_identification.errors import ConfigurationError
from stewart_identification.executors import executor_of
from stewart_identification.identify import Options
from stewart_identification.outcome import Parameter
from stewart_identification.recording.from_bag import Extraction
from stewart_identification.report import written
from stewart_identification.verbs.arguments import (
    add_model_arguments,
    add_settings,
    add_worker_arguments,
)
from stewart_identification.verbs.progress import SearchProgress
from stewart_tables.outputs import output_folder
from stewart_tables.progress import tell
from stewart_tables.settings import part

HELP = 'identify mass, centre of mass, inertia and friction from recordings'

DETAILS = """
Reads actuator_states (strokes and efforts) of every bag, writes report.html and, where the
recordings determine a body, parameters.yaml, which is a platform file. Ctrl-C during the fit keeps
the best found so far. The same bags, options and seed give the same files.

examples:
  stewart identify run_1 --platform ex800 --out identified
  stewart identify run_1 run_2 --platform ex800 --estimator swarm --seed 3 --out identified
  stewart identify run_1 --platform ex800 --validate run_2
  stewart identify run_1 --platform ex800 --loaded run_2 --load 2.0 0.05 -0.03 0.08
  stewart identify run_1 --platform ex800 --estimate estimate.csv --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add = parser.add_argument
    add('bags', nargs='+', metavar='BAG', help='recording; several count as one')
    add_topic_argument(parser)
    add_model_arguments(parser)
    names = 'estimator', 'terms', 'level', 'false_alarm', 'inertia_tolerance'
    add_settings(parser, Options, *names)
    add_settings(parser, Extraction, 'passband', 'rate', 'instruments')
    _add_load_arguments(parser)
    add(
        '--estimate',
        type=Path,
        metavar='CSV',
        help='take the motion of the one bag from a result of stewart estimate',
    )
    other = 'another recording of the machine, whose forces the parameters shall predict'
    add('--validate', metavar='BAG', help=other)
    add_worker_arguments(parser, 'reading the bags')
    folder = Path('identified')
    add('-o', '--out', type=output_folder, default=folder, help='folder (default: identified)')
    add('--json', action='store_true', help='print everything as JSON')


def _add_load_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        '--loaded',
        metavar='BAG',
        help='a recording of the same machine with the body of --load bolted on: it tells the '
        'gains of the forces',
    )
    place = 'mass of that body [kg] and its centre in platform_link [m]'
    add('--load', type=float, nargs=4, metavar=('KG', 'X', 'Y', 'Z'), help=place)


def main(arguments: argparse.Namespace) -> int:
    """Identify; return 0 where the recordings determine a body, else 1."""
    extraction = part(arguments, Extraction)
    if arguments.estimate is not None and arguments.instruments:
        raise ConfigurationError(
            '--instruments', str(arguments.estimate), 'no --estimate, whose motion has none'
        )
    if arguments.estimate is not None and len(arguments.bags) != 1:
        raise ConfigurationError('--estimate', str(arguments.estimate), 'one bag beside it')
    if arguments.estimate is not None and arguments.loaded is not None:
        expected = 'no --loaded, whose motion is another one'
        raise ConfigurationError('--estimate', str(arguments.estimate), expected)
    options = part(arguments, Options)
    if (arguments.loaded is None) != (arguments.load is None):
        raise ConfigurationError('--load', arguments.load, 'given together with --loaded')
    with (
        executor_of(arguments.workers, arguments.dask) as executor,
        SearchProgress(sys.stderr) as progress,
    ):
        written = identify_bags(
            arguments.bags,
            arguments.platform,
            arguments.out,
            options=options,
            extraction=extraction,
            estimate=arguments.estimate,
            validation=arguments.validate,
            renamed=dict(arguments.topic),
            loaded=arguments.loaded,
            load=arguments.load,
            stage=progress.stage,
            progress=progress,
            executor=executor,
        )
    outcome = written.outcome
    if arguments.json:
        print(json.dumps(written.as_dict(), indent=2, ensure_ascii=False))
    else:
        for remark in outcome.remarks:
            tell(remark)
        for item in (*outcome.parameters, *outcome.payload):
            print(_line(item))
        print(f'residuals    {outcome.fit}')
        if outcome.validation is not None:
            print(f'validation   {outcome.validation}')
    tell(f'{written.report}: {outcome.verdict}')
    if written.parameters is None:
        older = '' if written.aside is None else f'; the older one is {written.aside} now'
        tell(f'stewart identify: no parameters.yaml is written{older}')
        return 1
    return 0


def _line(item: Parameter) -> str:
    if not item.numbered:
        return f'{item.name:12} {item.verdict.value}: {item.note or "not shown by this motion"}'
    if np.isnan(item.value):
        return f'{item.name:12} no number: the mass that was found is not above 0'
    ends = written(item.low, item), written(item.high, item)
    interval = f'[{", ".join(ends)}]' if item.bounded else '[no interval holds]'
    doubt = item.note if item.known else f'{item.verdict.value}: {item.note}'
    line = f'{item.name:12} {written(item.value, item):>12}  {interval} {item.unit}  {doubt}'
    return line.rstrip()
