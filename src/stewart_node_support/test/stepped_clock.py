# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A process whose system clock a test can set, while the machine's stays as it is."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
import struct
import subprocess

SOURCE, FILE = Path(__file__).with_name('stepped_clock.c'), 'STEPPED_CLOCK'


def environment(folder: Path) -> dict[str, str]:
    """Compile what is preloaded, and return the environment of a process with it."""
    library, offset = folder / 'preloaded.so', folder / 'offset'
    command = ['cc', '-O2', '-Wall', '-Werror', '-shared', '-fPIC', SOURCE, '-o', library, '-ldl']
    subprocess.run(command, check=True)
    offset.write_bytes(bytes(8))
    return {**os.environ, 'LD_PRELOAD': str(library), FILE: str(offset)}


def step(seconds: float) -> None:
    """Set the system clock of this process, and of its children, by this much from the truth."""
    with Path(os.environ[FILE]).open('r+b') as file, mmap.mmap(file.fileno(), 8) as shared:
        shared[:] = struct.pack('<q', round(seconds * 1e9))
