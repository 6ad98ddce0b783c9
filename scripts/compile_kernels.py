# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
Compile the kernels of the workspace into numba's cache, and tell coverage which lines they have.

The latter where NUMBA_JIT_COVERAGE asks for it: coverage learns the lines of a kernel from numba
while it is compiled, and from nobody afterwards. Traced line by line, numba takes twice as long;
so nothing is traced here, and the tests find the kernels in the cache.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
import os
from pathlib import Path
import sys

from coverage import Coverage

SOURCES = Path(__file__).resolve().parents[1] / 'src'


def kernel_modules() -> list[str]:
    """Return the modules that make kernels, by name; they are compiled when imported."""
    return [
        '.'.join(path.relative_to(package).with_suffix('').parts)
        for package in sorted(SOURCES.glob('stewart_*'))
        for path in sorted(package.glob('stewart_*/**/*.py'))
        if b'njit' in (text := path.read_bytes()) or b'compiled import' in text
    ]


def compile_module(name: str) -> None:
    """Import a module that makes kernels."""
    import_module(name)


def main() -> None:
    """Compile, side by side unless one process has to see it all."""
    if not os.environ.get('NUMBA_JIT_COVERAGE'):
        with ProcessPoolExecutor(2) as pool:
            list(pool.map(compile_module, kernel_modules()))
        return
    coverage = Coverage(data_suffix=True)
    coverage.set_option('run:disable_warnings', ['trace-changed', 'no-data-collected'])
    coverage.start()
    sys.settrace(None)
    for name in kernel_modules():
        compile_module(name)
    coverage.stop()
    coverage.save()


if __name__ == '__main__':
    main()
