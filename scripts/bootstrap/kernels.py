# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The numerical kernels, compiled beside the build of the workspace."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
import importlib.util
from pathlib import Path

from pins import venv_key
import places
from ros_environment import underlay
from steps import is_stamped, run, step
from workspace import package_folders


def kernel_stamp() -> Path:
    """Return the file that says that all kernels of the present sources are compiled."""
    path = places.ROOT / 'src/stewart_kinematics/stewart_kinematics/kernels/kernel_cache.py'
    spec = importlib.util.spec_from_file_location('kernel_cache', path)
    assert spec is not None
    assert spec.loader is not None
    kernel_cache = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernel_cache)
    digest = kernel_cache.source_digest([str(folder) for folder in package_folders().values()])
    return places.CACHE / 'numba' / f'{kernel_cache.PREFIX}{digest}' / '.complete'


@contextmanager
def compiled_kernels() -> Iterator[None]:
    """Compile all kernels of the workspace while something else is done, unless they are."""
    stamp, key = kernel_stamp(), venv_key()
    if is_stamped(stamp, key):
        yield
        return
    alone_now = False

    def progress(line: str) -> str | None:
        return line.strip() if alone_now else None

    command = [str(places.VENV / 'bin/python'), 'scripts/compile_kernels.py']
    sources = ':'.join(map(str, package_folders().values()))
    environment = underlay() | {'PYTHONPATH': sources, 'OMP_NUM_THREADS': '1'}
    with ThreadPoolExecutor(1) as pool:
        compilation = pool.submit(run, command, environment, progress, places.KERNEL_LOG)
        yield
        alone_now = True
        with step('Compiling the numerical kernels'):
            compilation.result()
            stamp.write_text(key)
