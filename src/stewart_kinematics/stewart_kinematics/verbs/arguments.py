# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the verbs have in common: arguments, typed poses, tables with a bar, reports."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import sys

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.motion import Pose
from stewart_kinematics.spatial import rpy_deg
from stewart_tables.columns import TIME
from stewart_tables.csv_tables import (
    output_text,
    read_table,
    STANDARD_STREAM,
    Table,
    write_table,
)
from stewart_tables.errors import LARGEST, listed
from stewart_tables.outputs import output_stream
from stewart_tables.progress import show_part, tell

SHOWN = 10  # lines that are reported one by one; of the others only the number is
SIX = ('X', 'Y', 'Z', 'ROLL', 'PITCH', 'YAW')  # names of the six numbers in a help


def add_examples(parser: argparse.ArgumentParser, examples: str) -> None:
    """Show examples, as they are, below the help."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = examples


def add_platform(parser: argparse.ArgumentParser) -> None:
    """Add ``--platform``."""
    parser.add_argument(
        '--platform', default='vigo', help='name or YAML file (default: %(default)s)'
    )


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--output``, a file or standard output."""
    text = f'{what}; - is stdout'
    parser.add_argument(
        '-o', '--output', type=output_stream, default=STANDARD_STREAM, metavar='FILE', help=text
    )


def add_reference(parser: argparse.ArgumentParser, text: str) -> None:
    """Add ``--relative-to``; see `Geometry.named_pose`."""
    choices, text = ('base', 'zero', 'neutral'), f'{text} (default: %(default)s)'
    parser.add_argument('--relative-to', choices=choices, default='base', help=text)


def add_table_arguments(parser: argparse.ArgumentParser, holds: str, examples: str) -> None:
    """Add input, output, platform and reference; `holds` says what the input holds."""
    add_examples(parser, examples)
    text = f'CSV file with {holds}; - is stdin'
    parser.add_argument('table', nargs='?', default=STANDARD_STREAM, metavar='FILE', help=text)
    add_output(parser, 'CSV file')
    add_platform(parser)
    add_reference(parser, 'pose of the platform that the poses of the table count from')


def typed_pose(option: str, numbers: Sequence[float]) -> Pose:
    """Return a pose typed for an option as x, y, z [m], roll, pitch, yaw [deg].

    Raises:
        ConfigurationError: If one is no number up to `LARGEST`.
    """
    if not np.all(np.abs(numbers) <= LARGEST):
        expected = f'six numbers from {-LARGEST:g} to {LARGEST:g}'
        raise ConfigurationError(option, list(numbers), expected)
    return Pose.from_rpy(numbers[:3], np.radians(numbers[3:]))


def in_words(pose: Pose) -> str:
    """Return a pose as text, in mm and deg."""
    x, y, z = np.round(pose.position * 1e3, 1) + 0.0
    roll, pitch, yaw = np.round(rpy_deg(pose), 1) + 0.0
    return (
        f'x {x:.1f}, y {y:.1f}, z {z:.1f} mm, '
        f'roll {roll:.1f}, pitch {pitch:.1f}, yaw {yaw:.1f} deg'
    )


def read_watched(
    source: str, columns: Sequence[str], gaps: Sequence[str] = (), unneeded: Sequence[str] = ()
) -> Table:
    """Read a table as `read_table` does, with a bar; say if its time goes back.

    Columns that are not read are told, except those that another verb writes and this one has no
    need of, `unneeded`.

    Raises:
        ConfigurationError: If it has no line below the names of its columns, or as `read_table`.
    """
    with show_part('reading') as progress:
        table = read_table(source, columns, progress, gaps=gaps)
    unread = [name for name in table.others if name not in unneeded]
    if unread:
        note([f'{table.head}: columns that are not read: {listed(unread)}'])
    if not table.lines.size:
        below = f'{table.source}:{table.header_line + 1}'
        raise ConfigurationError(below, None, 'a line of numbers below the names')
    if table.has([TIME]):
        back = np.flatnonzero(np.diff(table.take([TIME])[:, 0]) < 0.0)
        if back.size:
            place = table.line(back[0] + 1)
            note([f'{place}: the time runs backwards here; lines keep their order'])
    return table


def write_watched(target: str, columns: Sequence[str], values: ArrayLike) -> None:
    """Write a table as `write_table` does, with a bar unless it scrolls over the terminal."""
    if target == STANDARD_STREAM and sys.stdout.isatty():
        write_table(target, columns, values)
        return
    with show_part('writing') as progress:
        write_table(target, columns, values, progress)


def write_beside(
    target: str, table: Table, columns: Sequence[str], values: Sequence[ArrayLike]
) -> None:
    """Write columns that belong to the rows of a table, behind its time if it has one."""
    if table.has([TIME]):
        columns, values = [TIME, *columns], [table.take([TIME]), *values]
    write_watched(target, columns, np.column_stack(values))


def write_text(target: str, text: str) -> None:
    """Write a text to a file, as a whole or not at all, or to standard output."""
    with output_text(target) as stream:
        stream.write(text)


def report(sentences: Sequence[str], what: str) -> None:
    """Print the first sentences to standard error, and how many more there are of `what`."""
    for sentence in sentences[:SHOWN]:
        tell(sentence)
    if len(sentences) > SHOWN:
        tell(f'... and {len(sentences) - SHOWN} more {what}')


def note(sentences: Sequence[str]) -> None:
    """Print what is doubtful to standard error."""
    for sentence in sentences:
        tell(f'  note: {sentence}')
