# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart excite``: plan the motion that shows inertial parameters best, inside all limits."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
import json
import shlex
import sys
from typing import get_args

import numpy as np
from stewart_identification.estimators.swarm import Swarm
from stewart_identification.excitation import (
    Criterion,
    Design,
    Excitation,
    ExcitationPlanner,
    FINE_RATE,
)
from stewart_identification.executors import executor_of, spread
from stewart_identification.identifiability import cramer_rao
from stewart_identification.models.platform import FrictionKind, PlatformModel
from stewart_identification.verbs.arguments import (
    add_model_arguments,
    add_worker_arguments,
    model_options,
)
from stewart_identification.verbs.progress import SearchProgress
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_tables.numbers import number_from, positive, positive_up_to, whole_from
from stewart_tables.outputs import output_file
from stewart_tables.progress import tell
from stewart_tables.whole_files import whole_file
import yaml

HELP = 'plan the motion that shows the inertial parameters best, inside all limits'

DETAILS = """
A swarm chooses sines and cosines of six axes about the neutral pose. The criterion `information`
is D-optimality: the determinant of what drive forces say about the ten parameters when friction is
found along with them. `joints` is that of the Cylindrical paper, |det(Q'Q)| of strokes, rates and
accelerations, which needs no model and knows less. The motion written passes every limit of the
platform, also while it is faded in and out; `excitation_trajectory` plays it (parameter `motion`).
Ctrl-C keeps the best found so far. The same options and seed give the same file.

What is printed beside the parameters is the smallest standard deviation that one period allows:
the Cramer-Rao bound for the noise given, inertias about the origin of platform_link. Friction is
unknown, and so are joints, the age and the scale of the forces and the lean of the base, as far as
`identify` allows for them; of the mass the scale decides, which no motion tells (--force-gain 0
where the forces were calibrated).

examples:
  stewart excite --platform ex800 -o motion.yaml
  stewart excite --platform vigo --duration 20 --harmonics 1 2 3 5 8 --travel 0.2 --seed 4
  stewart excite --platform ex800 --criterion joints --json
"""

INERTIA = 0.72
"""Of the swarm, with 1.5 for both others: it has sixty dimensions to go through."""
REPEATED = {
    'platform', 'criterion', 'duration', 'harmonics', 'travel', 'turn', 'margin', 'friction',
    'particles', 'iterations', 'seed',
}  # fmt: skip
"""Options that decide what is found."""
LONGEST = 3600.0
"""Period that is planned [s]: all of it is looked at for every particle."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    design = Design()
    add_model_arguments(parser)
    add, criteria = parser.add_argument, get_args(Criterion)
    largest = 'what is made as large as possible (default: information)'
    add('--criterion', choices=criteria, default=design.criterion, help=largest)
    up_to, text = positive_up_to(LONGEST), f'one period [s] (default: {design.duration:g})'
    add('--duration', type=up_to, default=design.duration, metavar='S', help=text)
    used = list(design.harmonics)
    text = f'of the period (default: {" ".join(map(str, used))})'
    add('--harmonics', type=whole_from(1), nargs='+', default=used, metavar='K', help=text)
    for name, unit in (('travel', 'm'), ('turn', 'rad')):
        default = getattr(design, name)
        text = f'largest coefficient of a harmonic [{unit}] (default: {default:g})'
        add(f'--{name}', type=positive, default=default, metavar=unit.upper(), help=text)
    text = f'part of every limit that stays free (default: {design.margin:g})'
    add('--margin', type=number_from(0.0, 0.99), default=design.margin, help=text)
    text = f'of a force at {FINE_RATE:g} Hz, for the bounds that are printed [N] (default: 0.5)'
    add('--noise', type=positive, default=0.5, metavar='N', help=text)
    add('--particles', type=whole_from(1), default=30, help='of the swarm (default: 30)')
    add('--iterations', type=whole_from(1), default=300, help='at most (default: 300)')
    add_worker_arguments(parser, 'the particles')
    text, name = 'file of the motion (default: excitation.yaml)', 'excitation.yaml'
    add('-o', '--out', type=output_file, default=name, help=text)
    add('--json', action='store_true', help='print everything as JSON')


def main(arguments: argparse.Namespace) -> int:
    """Plan, write, print; return the exit code, 0."""
    platform = Platform.from_yaml(arguments.platform)
    model = model_options(arguments).model(platform)
    design = Design(
        arguments.duration,
        tuple(arguments.harmonics),
        travel=arguments.travel,
        turn=arguments.turn,
        margin=arguments.margin,
        criterion=arguments.criterion,
    )
    chosen = (arguments.platform, arguments.friction, design)
    planner = _planner(*chosen)
    swarm = Swarm(arguments.particles, arguments.iterations, 1.5, 1.5, INERTIA)
    with (
        executor_of(arguments.workers, arguments.dask) as executor,
        SearchProgress(sys.stderr, 'planning') as progress,
    ):
        progress.stage('planning')
        found = planner.plan(
            swarm,
            np.random.default_rng(arguments.seed),
            progress,
            costs=spread(
                partial(_costs, chosen=chosen),
                executor,
                arguments.particles if arguments.dask else arguments.workers,
            ),
        )
    bounds = _bounds(planner, model, found, arguments.noise)
    with whole_file(arguments.out) as stream:
        content = found.as_yaml(*_origin(arguments, platform))
        yaml.safe_dump(content, stream, sort_keys=False, default_flow_style=None, width=100)
    if progress.stopped:
        tell('stewart excite: stopped, this is the best found until then')
    if arguments.json:
        said = {
            'file': arguments.out,
            'criterion': arguments.criterion,
            'log_determinant': found.log_determinant,
            'log_joint_determinant': found.joint_determinant,
            'condition_number': found.condition_number,
            'least_margin': found.least_margin,
            'limit': found.limit,
            'bounds': bounds,
            'noise_n': arguments.noise,
            'seed': arguments.seed,
            'stopped': progress.stopped,
        }
        print(json.dumps(said, indent=2))
    else:
        _print(found, bounds, dict(zip(model.parameter_names, model.parameter_units, strict=True)))
    tell(arguments.out)
    return 0


@cache
def _planner(platform: str, friction: FrictionKind, design: Design) -> ExcitationPlanner:
    """Make the planner once in every process: its arrays are not for sending."""
    described = Platform.from_yaml(platform)
    model = PlatformModel.from_platform(described, friction=friction)
    return ExcitationPlanner(described, model, design)


def _costs(positions: Array, chosen: tuple[str, FrictionKind, Design]) -> Array:
    return _planner(*chosen).costs(positions)


def _bounds(
    planner: ExcitationPlanner, model: PlatformModel, found: Excitation, noise: float
) -> dict[str, float]:
    """Return the least standard deviations of the ten parameters, by name."""
    experiment = replace(planner.experiment(found.motion, FINE_RATE), noise=np.array(noise))
    sigmas: Array = np.sqrt(np.diag(cramer_rao(model, model.nominal, experiment)))
    return dict(zip(model.parameter_names[:10], map(float, sigmas[:10]), strict=True))


def _origin(arguments: argparse.Namespace, platform: Platform) -> tuple[str, str]:
    """Return title and source: the command that makes the file again."""
    words = ['stewart', 'excite']
    for name, value in sorted(vars(arguments).items()):
        if name in REPEATED:
            values = value if isinstance(value, list) else [value]
            words += [f'--{name}', *map(str, values)]
    title = f'{platform.name}: planned by the criterion {arguments.criterion}'
    return f'{title}, period {arguments.duration:g} s', shlex.join(words)


def _print(found: Excitation, bounds: Mapping[str, float], units: Mapping[str, str]) -> None:
    print(f'log determinant of the information  {found.log_determinant:.3f}')
    print(f"log |det(Q'Q)| of the legs          {found.joint_determinant:.3f}")
    print(f'condition number                    {found.condition_number:.2f}')
    print(f'nearest limit                       {found.limit}, {100 * found.least_margin:.1f} %')
    print('least standard deviations after one period:')
    for name, sigma in bounds.items():
        print(f'  {name:6} {sigma:9.2g} {units[name]}')
