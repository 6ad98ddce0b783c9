# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The container files are well made and name what is there: a static check, no image is built.

Docker resolves paths, verbs and stages when it builds and runs; this holds them against the
repository before that.
"""

from __future__ import annotations

import json
from pathlib import Path
import re
import shlex
import shutil
import subprocess
from typing import Any

import pytest
from stewart_bringup.main import find_verbs
from stewart_bringup.rigs import config_file
import yaml

ROOT = Path(__file__).resolve().parents[1]
DOCKER = ROOT / 'docker'
STAGES = {'dependencies', 'build', 'runtime', 'rviz'}


@pytest.fixture(scope='module')
def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile with their lines joined."""
    text = re.sub(r'^#.*\n', '', (DOCKER / 'Dockerfile').read_text(), flags=re.MULTILINE)
    lines = text.replace('\\\n', ' ').splitlines()
    return [(word, rest) for word, _, rest in (line.partition(' ') for line in lines) if word]


@pytest.fixture(scope='module')
def compose() -> dict[str, Any]:
    """Return compose.yaml with its variables at their defaults."""
    text = (DOCKER / 'compose.yaml').read_text()
    document: dict[str, Any] = yaml.safe_load(re.sub(r'\$\{\w+:-([^}]*)\}', r'\1', text))
    return document


def test_hadolint_finds_nothing() -> None:
    program = shutil.which('hadolint')
    if program is None:
        pytest.skip('hadolint is not installed: it comes with requirements/dev.txt')
    run = subprocess.run(
        [program, '--no-color', DOCKER / 'Dockerfile'], check=False, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout


def test_every_stage_is_built_from_a_stage_or_a_tagged_image(
    instructions: list[tuple[str, str]],
) -> None:
    seen: set[str] = set()
    for word, rest in instructions:
        if word == 'FROM':
            base, _, name = rest.partition(' AS ')
            assert base in seen or ':' in base
            seen.add(name)
    assert seen == STAGES


def test_what_is_copied_exists_and_reaches_the_engine(instructions: list[tuple[str, str]]) -> None:
    ignored = (ROOT / '.dockerignore').read_text().splitlines()
    let_through = [line[1:] for line in ignored if line.startswith('!')]
    for word, rest in instructions:
        words = shlex.split(rest)
        if word != 'COPY' or words[0].startswith('--from'):
            continue
        for source in [item for item in words[:-1] if not item.startswith('--')]:
            assert list(ROOT.glob(source)), source
            assert any(source.startswith(path) for path in let_through), source


def test_the_images_run_as_an_ordinary_user(instructions: list[tuple[str, str]]) -> None:
    user = ''
    by_stage = {}
    for word, rest in instructions:
        if word == 'FROM':
            stage = rest.partition(' AS ')[2]
        if word == 'USER':
            user = rest
        by_stage[stage] = user
    (number,) = (
        words[words.index('--uid') + 1]
        for word, rest in instructions
        if word == 'RUN' and 'useradd' in (words := shlex.split(rest))
    )
    assert by_stage['runtime'] == by_stage['rviz'] == number


def test_there_are_three_profiles(compose: dict[str, Any]) -> None:
    profiles = [service['profiles'] for service in compose['services'].values()]
    assert profiles == [['simulation'], ['rig'], ['rviz']]


def test_every_service_is_built_from_a_stage(compose: dict[str, Any]) -> None:
    for service in compose['services'].values():
        assert service['build']['target'] in STAGES
        assert (DOCKER / service['build']['context'] / service['build']['dockerfile']).is_file()


def test_every_command_is_a_verb_on_a_rig_that_is_there(compose: dict[str, Any]) -> None:
    mounted = {'my_rig.yaml'}
    for name in ('simulation', 'rig'):
        program, verb, rig, *options = compose['services'][name]['command']
        assert program == 'stewart'
        assert verb in find_verbs()
        assert rig in mounted or config_file('rig', rig).is_file()
        if '--wave' in options:
            assert config_file('wave', options[options.index('--wave') + 1]).is_file()


def test_rviz_is_launched_with_the_model_that_it_shows(
    compose: dict[str, Any], instructions: list[tuple[str, str]]
) -> None:
    """A bare rviz2 waits for the URDF, and ``stewart run`` has no robot_state_publisher."""
    *program, package, name = command = compose['services']['rviz']['command']
    assert program == ['ros2', 'launch']
    launch = (ROOT / 'src' / package / 'launch' / name).read_text()
    assert 'model(context, platform)' in launch
    (last,) = [rest for word, rest in instructions if word == 'CMD'][-1:]
    assert json.loads(last) == command


def test_the_readme_says_how_a_platform_moves_and_stops(compose: dict[str, Any]) -> None:
    """``docker compose exec`` passes the entrypoint by, without which there is no ``stewart``."""
    lines = re.findall(r'^docker compose .* exec (.*)$', (DOCKER / 'README.md').read_text(), re.M)
    commands = [shlex.split(line, comments=True) for line in lines]
    for service, *program, verb, _ in commands:
        assert service in compose['services']
        assert program == ['stewart-entrypoint', 'stewart']
        assert verb in find_verbs()
    assert [(words[0], *words[3:]) for words in commands] == [
        ('simulation', 'drive', 'enable'),
        ('simulation', 'wave', 'start'),
        ('rig', 'drive', 'quick-stop'),
    ]


def test_the_folder_of_the_rig_is_where_its_command_runs_and_can_be_written(
    compose: dict[str, Any],
) -> None:
    """The driver writes into its calibration file, which replaces the one of before."""
    rig = compose['services']['rig']
    (folder,) = (item for item in rig['volumes'] if isinstance(item, dict))
    assert rig['working_dir'] == folder['target']
    assert not folder.get('read_only')
    assert 'devices' not in rig, 'a rig without an IMU has to start'


def test_the_rig_keeps_what_the_entrypoint_hands_over(compose: dict[str, Any]) -> None:
    kept = re.search(r'^keep=(.*)$', (DOCKER / 'entrypoint').read_text(), re.MULTILINE)
    assert kept is not None
    names = {item.lstrip('+').upper() for item in kept[1].split(',')}
    given = set(compose['services']['rig']['cap_add'])
    assert compose['services']['rig']['cap_drop'] == ['ALL']
    assert given == names | {'SETUID', 'SETGID', 'SETPCAP'}
