# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the verbs that turn one table into another have in common."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import sys

from numpy.typing import ArrayLike
from stewart_kinematics.geometry import Geometry
from stewart_kinematics.motion import Pose
from stewart_tables.csv_tables import read_table, STANDARD_STREAM, Table, write_table
from stewart_tables.outputs import output_stream
from stewart_tables.progress import show_part

SHOWN = 10
"""Lines that are reported one by one; of the others only the number is."""


def add_table_arguments(parser: argparse.ArgumentParser, holds: str, examples: str) -> None:
    """Add input, output, platform and reference, and examples below the help.

    Args:
        parser: Parser of the verb.
        holds: What the input holds, for the help.
        examples: Text below the options.
    """
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = examples
    add = parser.add_argument
    add('table', nargs='?', default='-', metavar='FILE', help=f'CSV file with {holds}; - is stdin')
    add(
        '-o',
        '--output',
        type=output_stream,
        default='-',
        metavar='FILE',
        help='CSV file; - is stdout',
    )
    add('--platform', default='vigo', help='name or YAML file (default: %(default)s)')
    add(
        '--relative-to',
        choices=('base', 'zero', 'neutral'),
        default='base',
        help='pose of the platform that the poses of the table count from (default: %(default)s)',
    )


def reference_pose(geometry: Geometry, name: str) -> Pose:
    """Return the pose that `--relative-to` names."""
    named = {'zero': geometry.zero_pose, 'neutral': geometry.neutral_pose}
    return named.get(name, Pose.identity())


def read_watched(source: str, columns: Sequence[str]) -> Table:
    """Read a table as `read_table` does, with a bar."""
    with show_part('reading') as progress:
        return read_table(source, columns, progress)


def write_watched(target: str, columns: Sequence[str], values: ArrayLike) -> None:
    """Write a table as `write_table` does, with a bar unless it scrolls over the terminal."""
    if target == STANDARD_STREAM and sys.stdout.isatty():
        write_table(target, columns, values)
        return
    with show_part('writing') as progress:
        write_table(target, columns, values, progress)


def report(sentences: Sequence[str], what: str) -> None:
    """Print the first sentences to standard error, and how many more there are of `what`."""
    for sentence in sentences[:SHOWN]:
        print(sentence, file=sys.stderr)
    if len(sentences) > SHOWN:
        print(f'... and {len(sentences) - SHOWN} more {what}', file=sys.stderr)
