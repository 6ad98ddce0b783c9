# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What scripts/grant does and prints; who asks for root, and what it holds, is put in its way."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path
import shlex
import shutil
import subprocess

import pytest

ROOT = Path(__file__).parents[1]
GRANT = ROOT / 'scripts' / 'grant'
NOBODY = 65534
# CAP_NET_ADMIN, CAP_NET_RAW, CAP_IPC_LOCK and CAP_SYS_NICE of linux/capability.h.
NEEDED = 1 << 12 | 1 << 13 | 1 << 14 | 1 << 23

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def grant(tmp_path: Path) -> Run:
    """Run the script where nothing but bash, dirname and the given commands is found."""
    for name in ('bash', 'dirname'):
        (tmp_path / name).symlink_to(str(shutil.which(name)))

    def run(
        *arguments: str, uid: int = NOBODY, path: str = '', **commands: str
    ) -> subprocess.CompletedProcess[str]:
        for name, text in {'id': f'echo {uid}', **commands}.items():
            (tmp_path / name).write_text(f'#!/bin/sh\n{text}\n', encoding='utf-8')
            (tmp_path / name).chmod(0o755)
        environment = {
            'PATH': f'{tmp_path}:{path}',
            'HOME': '/home/one',
            'ROS_DOMAIN_ID': '7',
            'SECRET': 'a word',
        }
        return subprocess.run(
            [GRANT, *arguments],
            check=False,
            env=environment,
            capture_output=True,
            text=True,
            timeout=90,
        )

    return run


def test_a_user_gets_a_line_for_sudo_that_keeps_home_and_domain(grant: Run) -> None:
    done = grant('stewart', 'run', 'two words', sudo='printf "%s\\n" "$@"')
    line = done.stdout.splitlines()
    assert line[:3] == ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}']
    assert line[-4:] == [str(ROOT / 'scripts' / 'run'), 'stewart', 'run', 'two words']
    assert {'HOME=/home/one', 'ROS_DOMAIN_ID=7'} <= set(line)
    assert not any('SECRET' in word for word in line)
    assert shlex.split(grant('--print', 'stewart', 'run', 'two words').stdout) == ['sudo', *line]


def test_root_runs_the_command_as_it_is(grant: Run) -> None:
    words = shlex.split(grant('--print', 'stewart', uid=0).stdout)
    assert words == [str(ROOT / 'scripts' / 'run'), 'stewart']


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [((), 'which command'), (('--off',), 'unknown option --off'), (('x',), 'there is no sudo')],
)
def test_what_cannot_be_is_said(grant: Run, arguments: tuple[str, ...], said: str) -> None:
    done = grant(*arguments)
    assert done.returncode == 1
    assert said in done.stderr


def test_a_command_runs_in_the_folder_in_which_it_was_typed(tmp_path: Path) -> None:
    clone, folder = tmp_path / 'a clone', tmp_path / 'rig'
    for place in (clone / 'scripts', folder):
        place.mkdir(parents=True)
    shutil.copy(ROOT / 'scripts' / 'run', clone / 'scripts')
    (clone / 'env.sh').write_text('export SOURCED=yes\n')
    done = subprocess.run(
        [clone / 'scripts' / 'run', 'sh', '-c', 'echo $SOURCED; pwd'],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ['yes', str(folder)]


@pytest.mark.installed
@pytest.mark.parametrize(
    ('held', 'said'), [('echo "$1 cap_net_raw=ep"', 'took -r /'), (':', 'no capabilities')]
)
def test_revoke_takes_back_what_the_interpreter_has(grant: Run, held: str, said: str) -> None:
    paths = '/usr/bin:/bin'
    done = grant('--revoke', uid=0, path=paths, getcap=held, setcap='echo took "$@"')
    assert said in done.stdout, done.stderr
    assert done.returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason='needs root, to give something up')
def test_the_line_gives_a_user_what_is_needed_and_no_more(grant: Run) -> None:
    words = shlex.split(grant('--print', 'x').stdout)[1:-2]
    done = subprocess.run(
        [*words, 'cat', '/proc/self/status'],
        check=False,
        capture_output=True,
        text=True,
        timeout=90,
    )
    if 'not permitted' in done.stderr:
        pytest.skip('this container withholds the capabilities')
    status = dict(line.split(':\t', 1) for line in done.stdout.splitlines())
    assert int(status['CapEff'], 16) == NEEDED
    assert status['Uid'].split() == [str(NOBODY)] * 4
