# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart study``: what a design could do if some of its measures were others."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import copy
from dataclasses import astuple, fields
import itertools
import math
from typing import Any

from stewart_description.paths import platform_path
from stewart_description.yaml_text import parsed
from stewart_kinematics.errors import ConfigurationError, StewartError
from stewart_kinematics.limits.design import design_metrics, DesignMetrics, half_out, MARGIN_CELLS
from stewart_kinematics.limits.workspace import MOST_CELLS
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.schema import read_yaml, Section
from stewart_kinematics.verbs.arguments import add_examples, add_output, add_platform, note
from stewart_tables.csv_tables import write_table
from stewart_tables.errors import LARGEST
from stewart_tables.numbers import whole_from
from stewart_tables.progress import each, show_part

HELP = 'compare designs over a grid of their measures'

EXAMPLES = """
A measure is the path of a number in the platform's YAML file. One row per design, each judged
about the height at which its legs are half way out; the figures of a design that cannot be built,
or may not rest there, are nan, and standard error says why.

examples:
  stewart study --platform ex800 --vary platform_joints.ring.radius_m 0.1 0.2 5
  stewart study --vary legs.retracted_length_m 1.2 1.4 3 --vary base_joints.ring.radius_m 0.6 0.8 3
"""
MOST_DESIGNS = 100_000  # more is a slip of the keyboard, and takes days

UNITS = {
    **dict.fromkeys(('x', 'y', 'z'), 'm'),
    **dict.fromkeys(('roll', 'pitch', 'yaw'), 'rad'),
    'volume': 'm3',
    'leg_rate_turning': 'm',
    'leg_force_turning': 'per_m',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_examples(parser, EXAMPLES)
    add_platform(parser)
    add, words = parser.add_argument, ('MEASURE', 'FROM', 'TO', 'COUNT')
    text = 'number of the YAML file to vary; may be repeated, for a grid'
    add('--vary', action='append', nargs=4, required=True, metavar=words, help=text)
    text = 'along an edge of the volume (%(default)s)'
    add('--cells', type=whole_from(2, MOST_CELLS), default=MARGIN_CELLS, help=text)
    add_output(parser, 'CSV file')


def main(arguments: argparse.Namespace) -> int:
    """Judge every design of the grid; return 0."""
    path = platform_path(arguments.platform)
    read_yaml(path)
    content = parsed(path.read_text(encoding='utf-8'))
    names = [words[0] for words in arguments.vary]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError('--vary', name, 'every measure once')
    axes = [_values(content, *words) for words in arguments.vary]
    count = math.prod(map(len, axes))
    if count > MOST_DESIGNS:
        raise ConfigurationError('--vary', count, f'a grid of at most {MOST_DESIGNS} designs')
    designs = list(itertools.product(*axes))
    rows, notes = [], []
    with show_part('designs') as progress:
        for design in each(designs, progress):
            try:
                figures = _judged(content, names, design, arguments.cells)
            except StewartError as error:
                figures = [math.nan] * len(fields(DesignMetrics))
                changed = zip(names, design, strict=True)
                said = ', '.join(f'{name} {value:.6g}' for name, value in changed)
                notes.append(f'{said}: {error}')
            rows.append([*design, *figures])
    columns = [name.replace('.', '_') for name in names]
    for item in fields(DesignMetrics):
        columns.append(f'{item.name}_{UNITS[item.name]}' if item.name in UNITS else item.name)
    write_table(arguments.output, columns, rows)
    note(notes)
    return 0


def _values(content: dict[str, Any], name: str, low: str, high: str, count: str) -> list[float]:
    """Return the values that a measure takes."""
    _holder(content, name)
    words = f'{low} {high} {count}'
    try:
        first, last, number = float(low), float(high), int(count)
    except ValueError as error:
        raise ConfigurationError('--vary', words, 'two numbers and a count') from error
    if not 1 <= number <= MOST_DESIGNS or not (abs(first) <= LARGEST and abs(last) <= LARGEST):
        expected = f'numbers up to {LARGEST:g} and a count from 1 to {MOST_DESIGNS}'
        raise ConfigurationError('--vary', words, expected)
    step = (last - first) / max(number - 1, 1)
    return [first + step * index for index in range(number)]


def _holder(content: dict[str, Any], name: str) -> tuple[dict[str, Any], str]:
    """Return the section that holds a number, and its key there."""
    *parents, key = name.split('.')
    place: Any = content
    for parent in parents:
        place = place.get(parent) if isinstance(place, dict) else None
    if not isinstance(place, dict) or not isinstance(place.get(key), (int, float)):
        raise ConfigurationError('--vary', name, "the path of a number in the platform's file")
    return place, key


def _judged(
    content: dict[str, Any], names: Sequence[str], design: Sequence[float], cells: int
) -> list[float]:
    """Return the figures of a design; raises StewartError for one that cannot be."""
    changed = copy.deepcopy(content)
    for name, value in zip(names, design, strict=True):
        place, key = _holder(changed, name)
        place[key] = value
    height = half_out(Platform.from_section(Section(changed, '')))
    changed['neutral_pose']['position_m'][2] = height
    return list(astuple(design_metrics(Platform.from_section(Section(changed, '')), cells)))
