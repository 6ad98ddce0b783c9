# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Let verbs write to a disk that takes nothing: `disk_verbs.py full|read-only INPUTS DISK`.

DISK is an empty file system of 256 KiB in a mount namespace of this process. Prints, for every
verb, its exit code, what it said, and what it left.
"""

from __future__ import annotations

from contextlib import redirect_stderr, redirect_stdout
import io
import json
from pathlib import Path
import shutil
import subprocess
import sys

from stewart_bringup.main import main as stewart

FILLER = 'filler'


def inputs(folder: Path) -> dict[str, list[str]]:
    """Make what the verbs read; return the command of each, without where it writes."""
    motion, legs, bag = (str(folder / name) for name in ('motion.csv', 'legs.csv', 'bag'))
    for words in (
        ('trajectory', 'circle', '--platform', 'vigo', '-o', motion),
        ('ik', motion, '--platform', 'vigo', '-o', legs),
        ('simulate', 'eq18', '--rig', 'ex800_daq', '--duration', '2', '-o', bag),
    ):
        with redirect_stderr(io.StringIO()) as said, redirect_stdout(io.StringIO()):
            code = stewart(words)
        if code:
            sys.exit(f'{words}: {said.getvalue()}')
    return {
        'trajectory': ['circle', '-o', 'motion.csv'],
        'ik': [motion, '-o', 'legs.csv'],
        'fk': [legs, '-o', 'poses.csv'],
        'dynamics': [motion, '-o', 'forces.csv'],
        'export': ['vigo', '--format', 'mjcf', '-o', 'vigo.xml'],
        'platform': ['show', 'vigo', '--plot', 'vigo.png'],
        'simulate': ['eq18', '--rig', 'ex800', '--duration', '2', '-o', 'bag'],
        'bag': [bag, '--rescue', 'rescued'],
        'estimate': [bag, '-o', 'states.csv'],
        'consistency': [bag, '--page', 'page.html'],
    }


def tried(verb: str, words: list[str], disk: Path) -> dict[str, object]:
    """Run a verb that writes to the disk."""
    words = [*words[:-1], str(disk / words[-1])]
    with redirect_stderr(io.StringIO()) as said, redirect_stdout(io.StringIO()):
        code = stewart([verb, *words])
    left = sorted(item.name for item in disk.iterdir() if item.name != FILLER)
    for name in left:
        shutil.rmtree(disk / name, ignore_errors=True)
        (disk / name).unlink(missing_ok=True)
    return {'verb': verb, 'code': code, 'said': said.getvalue().splitlines(), 'left': left}


def main() -> None:
    """Fill the disk or make it read-only, and try every verb."""
    kind, folder, disk = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    words = inputs(folder)
    if kind == 'full':
        # A page is left, so that writing fails in the middle of a file.
        (disk / FILLER).write_bytes(bytes(shutil.disk_usage(disk).free - 4096))
    else:
        subprocess.run(['mount', '-o', 'remount,ro', disk], check=True)
    print(json.dumps([tried(verb, items, disk) for verb, items in words.items()]))


if __name__ == '__main__':
    main()
