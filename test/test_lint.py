# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The linters find nothing. They are configured in pyproject.toml."""

from __future__ import annotations

import fcntl
import importlib.util
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize('command', ['ruff check', 'ruff format --check', 'mypy'])
def test_linter_finds_nothing(command: str) -> None:
    module, *arguments = command.split()
    if not importlib.util.find_spec(module):
        pytest.skip(f'{module} is not installed: it comes with requirements/dev.txt')
    # What scripts/test has begun fills the cache for this one.
    with (ROOT / f'.cache/{module}.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run = subprocess.run(
            [sys.executable, '-m', module, *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    assert run.returncode == 0, f'{command}:\n{run.stdout}'


@pytest.mark.parametrize(
    'entry', ['"{}",', '"src/{}",', '/src/{}'], ids=['isort', 'pytest', 'mypy']
)
def test_configuration_names_every_package(entry: str) -> None:
    configuration = (ROOT / 'pyproject.toml').read_text()
    packages = [path.parent.name for path in ROOT.glob('src/*/setup.py')]
    assert [name for name in packages if entry.format(name) not in configuration] == []
