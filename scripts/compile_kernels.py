# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Compile the workspace's kernels into numba's cache, and tell coverage which lines they have.

The latter where NUMBA_JIT_COVERAGE asks for it: coverage learns the lines of a kernel from numba
while it is compiled, and from nobody afterwards. Traced line by line, numba takes twice as long;
so nothing is traced here, and the tests find the kernels in the cache.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from graphlib import TopologicalSorter
from importlib import import_module
import os
from pathlib import Path
import sys

SOURCES = Path(__file__).resolve().parents[1] / 'src'
WORKERS = 2


def kernel_modules() -> dict[str, set[str]]:
    """Return the modules that make kernels, each with those of them that it imports.

    Kernels of a signature are compiled when their module is imported.
    """
    trees = {
        '.'.join(path.relative_to(package).with_suffix('').parts): ast.parse(text)
        for package in sorted(SOURCES.glob('stewart_*'))
        for path in sorted(package.glob('stewart_*/**/*.py'))
        if b'compiled import' in (text := path.read_bytes())
    }
    return {
        name: {
            node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module in trees
        }
        for name, tree in trees.items()
    }


def compile_module(name: str) -> None:
    """Import a module that makes kernels."""
    import_module(name)


def compile_multibody() -> None:
    """Call the kernels of the multibody model, which have no signatures."""
    from stewart_dynamics.multibody import MultibodyModel
    from stewart_kinematics.model.platform import Platform
    from stewart_kinematics.motion import Motion

    platform = Platform.from_yaml('vigo')
    neutral = Motion.at_rest(platform.geometry.neutral_pose)
    MultibodyModel.from_platform(platform).solve(neutral)


def compile_servos() -> None:
    """Call the kernels of the simulated drives, which have no signatures."""
    import numpy as np
    from stewart_driver.legs import LegLimits, LEGS
    from stewart_kinematics.model.platform import Platform
    from stewart_simulation.plant_options import PlantOptions

    platform = Platform.from_yaml('vigo')
    options = PlantOptions()
    limits = LegLimits(np.zeros(LEGS), np.ones(LEGS), rate=1.0, acceleration=1.0)
    plant = options.plant(platform, platform.geometry.neutral_pose)
    options.drives(plant, limits, hold_after=0.1)


# What is compiled when it is called, and the module that has to be there before.
CALLS: dict[str, Callable[[], None]] = {
    'stewart_dynamics.multibody.kernel': compile_multibody,
    'stewart_simulation.servo': compile_servos,
}


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
    list(pool.map(_call, CALLS.values()))


def _call(function: Callable[[], None]) -> None:
    function()


def main() -> None:
    """Compile, side by side unless one process has to see it all."""
    if not os.environ.get('NUMBA_JIT_COVERAGE'):
        total = len(kernel_modules())
        with ProcessPoolExecutor(WORKERS) as pool:
            for count, name in enumerate(compile_in(pool), 1):
                print(f'{count} of {total} modules: {name}', flush=True)
        return
    from coverage import Coverage

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
