# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a node's executable does before the node is there."""

from __future__ import annotations

import os
from pathlib import Path
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from stewart_node_support import errors

# As long as kernels are compiled, Python is busy and nothing else happens.
SLOW = """
from stewart_node_support import executable

def compile_kernels(name):
    print('compiling', flush=True)
    while True:
        pass

executable.node_class = compile_kernels
executable.main()
"""

UNINSTALLED = """
import sys
from stewart_node_support import executable

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            raise ModuleNotFoundError(f'No module named {{name!r}}', name=name)

def load(name):
    import {name}

sys.meta_path.insert(0, Missing())
executable.node_class = load
sys.argv[0] = '/somewhere/web_viewer'
executable.main()
"""


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_node_that_is_still_imported(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, '-c', SLOW],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == 'compiling\n'
        process.send_signal(number)
        assert process.wait(timeout=60.0) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ('name', 'sentence'),
    [
        ('viser', 'the Python package viser is not installed: run `'),
        ('rclpy', 'the Python module rclpy was not found: source env.sh'),
    ],
)
def test_a_missing_package_is_one_sentence_that_tells_how_to_install_it(
    name: str, sentence: str
) -> None:
    done = subprocess.run(
        [sys.executable, '-c', UNINSTALLED.format(name=name)],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=60.0,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f'web_viewer: {sentence}')
    assert done.stderr.count('\n') == 1


def test_a_missing_module_of_ours_is_a_bug() -> None:
    done = subprocess.run(
        [sys.executable, '-c', UNINSTALLED.format(name='stewart_lost')],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=60.0,
        check=False,
    )
    assert 'Traceback' in done.stderr


def test_the_command_is_the_one_that_this_pip_obeys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv('PIP_BREAK_SYSTEM_PACKAGES', raising=False)
    monkeypatch.setattr(errors.sysconfig, 'get_path', lambda _: str(tmp_path))
    monkeypatch.setattr(sys, 'prefix', sys.base_prefix)
    assert errors.pip_command('viser') == 'pip install viser'
    (tmp_path / 'EXTERNALLY-MANAGED').touch()
    assert errors.pip_command('viser') == 'PIP_BREAK_SYSTEM_PACKAGES=1 pip install viser'
    monkeypatch.setattr(sys, 'prefix', '/somewhere/.venv')
    assert errors.pip_command('viser') == 'pip install viser'
