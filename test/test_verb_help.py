# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The help of every verb shows examples, and every example is a command line that is taken."""

from __future__ import annotations

import argparse
from importlib import import_module, metadata
import os
from pathlib import Path
import re
import shlex
import subprocess
import sys

import pytest

VERBS = {
    entry.name: entry.value
    for entry in metadata.entry_points(group='stewart.verbs')
    if entry.value.startswith('stewart_')
}
MARK = 'examples:\n'
ASSIGNMENT = re.compile(r'^ *[A-Z_]+=(\$\([^)]*\)|\S*) ')


def parser_of(verb: str) -> argparse.ArgumentParser:
    module = import_module(VERBS[verb])
    parser = argparse.ArgumentParser(
        prog=f'stewart {verb}',
        epilog=getattr(module, 'DETAILS', None),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        exit_on_error=False,
    )
    module.add_arguments(parser)
    return parser


def commands(line: str) -> list[list[str]]:
    """Split a line at pipes; leave out a variable before it and where its output goes."""
    words = shlex.split(ASSIGNMENT.sub('', line))
    parts: list[list[str]] = [[]]
    for index, word in enumerate(words):
        if word == '|':
            parts.append([])
        elif word != '>' and words[index - 1] != '>':
            parts[-1].append(word)
    return parts


@pytest.mark.skipif(not VERBS, reason='the packages are not installed here, only their sources')
def test_examples_in_the_help_are_taken() -> None:
    assert set(VERBS) >= {'ik', 'fk', 'workspace', 'trajectory', 'record', 'play', 'demo'}
    for verb in VERBS:
        text = parser_of(verb).format_help()
        assert MARK in text, verb
        lines = [line for line in text.split(MARK)[1].splitlines() if line.startswith('  ')]
        assert lines, verb
        assert any(line.split()[:2] == ['stewart', verb] for line in lines), verb
        for line in lines:
            # The viewer refuses another address without a token.
            assert '--host' not in line or ASSIGNMENT.match(line), line
            for program, name, *rest in commands(line):
                assert program == 'stewart'
                parser_of(name).parse_args(rest)


@pytest.mark.skipif(not VERBS, reason='the packages are not installed here, only their sources')
@pytest.mark.parametrize('verb', [pytest.param('ik', marks=pytest.mark.slow), 'identify'])
def test_help_of_the_heaviest_verbs_neither_compiles_nor_loads_a_kernel(
    verb: str, tmp_path: Path
) -> None:
    script = 'from stewart_bringup.main import main; import sys; code = main()\n'
    script += (
        "from stewart_kinematics.kernels import compiled; assert 'numba' not in vars(compiled)\n"
    )
    run = subprocess.run(
        [sys.executable, '-c', f'{script}sys.exit(code)', verb, '--help'],
        env={
            **os.environ,
            'PYTHONPATH': os.pathsep.join(filter(None, sys.path)),
            'NUMBA_CACHE_DIR': str(tmp_path / 'cache'),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, '')
    assert f'stewart {verb}' in run.stdout
    assert not (tmp_path / 'cache').exists()
