# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""env.sh gives a shell what was set up or built, and leaves its options as they were."""

from __future__ import annotations

from pathlib import Path
import shutil
import subprocess

import places
import pytest
import ros_environment
import workspace

ROOT = Path(__file__).parents[1]


@pytest.fixture
def clone(empty_clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a clone with special characters in its path, set up as far as env.sh sees it."""
    folder = tmp_path / 'rig(2)&~'
    monkeypatch.setattr(places, 'ROOT', folder)
    monkeypatch.setattr(places, 'VENV', folder / '.venv')
    places.VENV.mkdir(parents=True)
    (folder / 'install').mkdir()
    for ending in ('sh', 'bash', 'zsh'):
        (folder / 'install' / f'local_setup.{ending}').touch()
    ros_environment.write_environment()
    return folder


def typed(
    shell: str, script: str, folder: Path, options: str = '-c'
) -> subprocess.CompletedProcess[str]:
    """Run a script in a shell beside a copy of env.sh; return what came of it."""
    if not shutil.which(shell):
        pytest.skip(f'{shell} is not installed')
    shutil.copy(ROOT / 'env.sh', folder)
    return subprocess.run(
        [shell, options, script], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize('shell', ['bash', 'dash', 'zsh'])
def test_environment_says_when_nothing_is_set_up(shell: str, tmp_path: Path) -> None:
    run = typed(shell, '. ./env.sh; echo "code $?"; set | grep ^_stewart', tmp_path)
    assert run.stdout == 'code 1\n'
    assert run.stderr == f'Nothing is set up in {tmp_path} yet: run make there first.\n'


@pytest.mark.parametrize('shell', ['bash', 'dash', 'zsh'])
def test_environment_of_an_installed_ros_is_that_of_what_colcon_built(
    shell: str, tmp_path: Path
) -> None:
    command = tmp_path / 'install' / 'some_package' / 'lib' / 'some_package' / 'some_node'
    command.parent.mkdir(parents=True)
    command.write_text('#!/bin/sh\n')
    command.chmod(0o755)
    for ending in ('sh', 'bash', 'zsh'):
        (tmp_path / 'install' / f'setup.{ending}').write_text('echo "${undefined}ROS"\n')
    script = '. ./env.sh; command -v some_node; set | grep ^_stewart || true'
    run = typed(shell, script, tmp_path, '-euc')
    assert run.stdout.splitlines() == ['ROS', str(command)], run.stderr
    (tmp_path / '.venv').mkdir()
    assert typed(shell, '. ./env.sh', tmp_path).returncode != 0


@pytest.mark.ros
@pytest.mark.parametrize('shell', ['bash', 'dash', 'zsh'])
def test_environment_works_in_a_strict_shell_and_leaves_its_options(shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f'{shell} is not installed')
    script = """
    . ./env.sh
    command -v colcon
    command -v stewart
    case $- in *e*) echo still strict ;; esac
    echo $undefined
    """
    run = subprocess.run(
        [shell, '-euc', script],
        cwd=ROOT,
        env={'PATH': '/usr/bin:/bin', 'HOME': '/nonexistent'},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.splitlines() == [
        f'{ROOT}/.venv/bin/colcon',
        f'{ROOT}/install/stewart_bringup/lib/stewart_bringup/stewart',
        'still strict',
    ]
    assert 'undefined' in run.stderr
    assert run.returncode != 0


@pytest.mark.parametrize('language', ['C', 'C.UTF-8'])
@pytest.mark.parametrize('shell', ['bash', 'dash', 'zsh'])
def test_clone_is_found_whatever_its_path_and_not_after_a_move(
    shell: str, language: str, clone: Path, tmp_path: Path
) -> None:
    script = f'export LC_ALL={language}; . ./env.sh; echo "$VIRTUAL_ENV"'
    assert typed(shell, script, clone).stdout == f'{clone}/.venv\n'
    moved = clone.rename(tmp_path / 'moved')
    assert typed(shell, script, moved).stderr.startswith('Nothing is set up')


@pytest.mark.parametrize(
    ('chosen', 'discovery_range'),
    [
        ('ROS_STATIC_PEERS=', 'LOCALHOST'),
        ('ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET', 'SUBNET'),
        ('ROS_STATIC_PEERS=10.0.0.2', ''),
        ('ROS_LOCALHOST_ONLY=1', ''),
    ],
)
def test_graph_stays_on_this_machine_unless_its_range_was_chosen(
    chosen: str, discovery_range: str, clone: Path
) -> None:
    script = f"""
    unset ROS_AUTOMATIC_DISCOVERY_RANGE ROS_STATIC_PEERS ROS_LOCALHOST_ONLY
    export {chosen}
    . ./env.sh
    echo "${{ROS_AUTOMATIC_DISCOVERY_RANGE-}}"
    """
    assert typed('bash', script, clone, '-euc').stdout.strip() == discovery_range


@pytest.mark.parametrize('shell', ['bash', 'dash', 'zsh'])
def test_build_that_is_older_than_its_sources_is_told(shell: str, clone: Path) -> None:
    message = clone / 'src/stewart_x/msg/Leg.msg'
    message.parent.mkdir(parents=True)
    shutil.copytree(ROOT / 'requirements', clone / 'requirements')
    for path in (message, clone / 'src/stewart_x/package.xml'):
        path.write_text('as it was built')
    workspace.write_sums()
    message.touch()
    script = '. ./env.sh; echo went on; set | grep ^_stewart || true'
    assert typed(shell, script, clone, '-euc').stderr == ''
    message.write_text('a field more')
    run = typed(shell, script, clone, '-euc')
    assert run.stdout == 'went on\n'
    assert run.stderr == f'{clone} has changed since it was built: run make setup there.\n'
