# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where verbs write: refused while the command line is read, not when the work is done.

Pictures, too: asked for with ``--plot``, and written as a whole.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import re
from typing import TYPE_CHECKING

from stewart_tables.csv_tables import STANDARD_STREAM
from stewart_tables.errors import ConfigurationError
from stewart_tables.whole_files import OutputName, whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Sections of a calibration file (stewart_driver.rig_file).
CALIBRATED = re.compile(r'^(drives|daq):', re.MULTILINE)
# No calibration has as many letters, and a recording has more.
LONGEST_CALIBRATION = 1 << 18


def output_file(text: str) -> OutputName:
    """Return the name of a file that can be written and is not the calibration of a machine."""
    path = Path(os.path.realpath(text))
    if path.is_dir():
        raise _refused('file', text, f'{path} is a folder')
    if not path.parent.is_dir():
        raise _refused('file', text, f'there is no folder {path.parent}')
    # A device or a pipe is written to; any other file is replaced by one that is made beside it.
    straight = path.exists() and not path.is_file()
    if not os.access(path if straight else path.parent, os.W_OK):
        raise _refused('file', text, 'permission denied')
    if path.is_file():
        with path.open(encoding='utf-8', errors='replace') as stream:
            found = CALIBRATED.search(stream.read(LONGEST_CALIBRATION))
        if found:
            reason = f'it is the calibration of a machine ({found[1]!r}), which stays'
            raise _refused('file', text, reason)
    return OutputName(text)


def output_stream(text: str) -> str:
    """Return the name of a file that can be written, or ``-``: standard output."""
    return text if text == STANDARD_STREAM else output_file(text)


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add ``--force``, for verbs whose file people go on to edit; see `spare_file`."""
    parser.add_argument('--force', action='store_true', help='replace a file that is there')


def spare_file(name: str, *, force: bool) -> None:
    """Refuse a file that is there, and may have been edited, unless it is to be replaced.

    Raises:
        ConfigurationError: If `name` is one; standard output, a device or a pipe is none.
    """
    if name != STANDARD_STREAM and not force and Path(name).is_file():
        expected = 'a file that is not there yet (--force replaces it, and all edits with it)'
        raise ConfigurationError('--output', name, expected)


def output_folder(text: str) -> Path:
    """Return a folder that can be written to, or be made."""
    path = Path(text)
    there = next(item for item in (path, *path.absolute().parents) if item.exists())
    if not there.is_dir():
        raise _refused('folder', text, f'{there} is a file')
    if not os.access(there, os.W_OK):
        raise _refused('folder', text, 'permission denied')
    return path


def _refused(kind: str, text: str, reason: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(
        f'expected a {kind} that can be written, got {text!r}: {reason}'
    )


FORMATS = ('.pdf', '.png', '.svg')


def add_picture_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--plot``, which takes the name of a picture."""
    parser.add_argument(
        '--plot', metavar='FILE', type=_picture, help='draw it into a file (.pdf, .png, .svg)'
    )


def output_page(name: str) -> OutputName:
    """Return the name of a web page that can be written."""
    return _ending(name, '.html', '.htm')


def _picture(name: str) -> OutputName:
    return _ending(name, *FORMATS)


def _ending(name: str, *suffixes: str) -> OutputName:
    if Path(name).suffix.lower() not in suffixes:
        raise argparse.ArgumentTypeError(
            f'expected a file ending in {", ".join(suffixes)}, got {name!r}'
        )
    return output_file(name)


def save_picture(figure: Figure, name: str) -> None:
    """Write a figure in the format of the file's suffix."""
    with whole_file(name, binary=True) as stream:
        figure.savefig(stream, format=Path(name).suffix.lower()[1:], dpi=120)
