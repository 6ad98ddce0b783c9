# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compile the workspace's kernels into numba's cache, and tell coverage which lines they have.

The latter where NUMBA_JIT_COVERAGE asks for it: coverage learns the lines of a kernel from numba
while it is compiled, and from nobody afterwards. Traced line by line, numba takes twice as long;
so nothing is traced here, and the tests find the kernels in the cache.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from graphlib import TopologicalSorter
from importlib import import_module
from multiprocessing.util import Finalize
import os
from pathlib import Path
import sys

ROOT = Path(__file__).resolve().parents[1]
PAPERS = ROOT / 'papers'
WORKERS = 2


def kernel_modules() -> dict[str, set[str]]:
    """Return the modules that make kernels, each with those of them that it imports.

    Kernels are compiled when their module is imported. Those of the papers import the packages,
    in whichever way, and come last.
    """
    trees = {
        '.'.join(path.relative_to(package).with_suffix('').parts): ast.parse(text)
        for package in sorted(ROOT.glob('src/stewart_*'))
        for path in sorted(package.glob('stewart_*/**/*.py'))
        if b'compiled import' in (text := path.read_bytes())
    }
    modules = {
        name: {
            node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module in trees
        }
        for name, tree in trees.items()
    }
    papers = [path.stem for path in PAPERS.glob('*.py') if b'compiled import' in path.read_bytes()]
    return modules | {name: set(modules) for name in sorted(papers)}


def compile_module(name: str) -> None:
    """Import a module that makes kernels."""
    import_module(name)


def compile_in(pool: ProcessPoolExecutor) -> Iterator[str]:
    """Compile side by side, every module after those it imports; yield what is done."""
    order = TopologicalSorter(kernel_modules())
    order.prepare()
    running: dict[Future[None], str] = {}
    while order.is_active():
        for name in order.get_ready():
            running[pool.submit(compile_module, name)] = name
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
            order.done(name := running.pop(future))
            yield name


def watch() -> None:
    """Let coverage learn the lines of what this process compiles, and write them at its end."""
    from coverage import Coverage

    coverage = Coverage(data_suffix=True)
    coverage.set_option('run:disable_warnings', ['trace-changed', 'no-data-collected'])
    coverage.start()
    sys.settrace(None)

    def save() -> None:
        coverage.stop()
        coverage.save()

    # Processes of a pool end without `atexit`.
    Finalize(None, save, exitpriority=1)


def main() -> None:
    """Compile side by side."""
    sys.path.append(str(PAPERS))
    total = len(kernel_modules())
    watched = watch if os.environ.get('NUMBA_JIT_COVERAGE') else None
    with ProcessPoolExecutor(WORKERS, initializer=watched) as pool:
        for count, name in enumerate(compile_in(pool), 1):
            print(f'{count} of {total} modules: {name}', flush=True)


if __name__ == '__main__':
    main()
