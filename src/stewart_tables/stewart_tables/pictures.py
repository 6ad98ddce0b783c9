# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures that verbs write: asked for, checked before the work begins, written as a whole."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from stewart_tables.outputs import output_file
from stewart_tables.whole_files import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ('.pdf', '.png', '.svg')


def add_picture_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--plot``, which takes the name of a picture."""
    parser.add_argument(
        '--plot', metavar='FILE', type=_picture, help='draw it into a file (.pdf, .png, .svg)'
    )


def _picture(name: str) -> str:
    if Path(name).suffix.lower() not in FORMATS:
        raise argparse.ArgumentTypeError(
            f'expected a file ending in {", ".join(FORMATS)}, got {name!r}'
        )
    return output_file(name)


def save_picture(figure: Figure, name: str) -> None:
    """Write a figure in the format of the file's suffix."""
    with whole_file(name, binary=True) as stream:
        figure.savefig(stream, format=Path(name).suffix.lower()[1:], dpi=120)
