# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every shell block of the tutorials does what the tutorial says, in the order of the page.

A page is one shell session in an empty folder, in which the first command that fails ends it.
"""

from __future__ import annotations

import os
from pathlib import Path
import re
import signal
import subprocess
from typing import Any

import numpy as np
import pytest
from stewart_kinematics.limits.usual import unusual
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.ring_dimensions import document, RingDimensions
import yaml

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from stewart_bringup.composition import make_node
from stewart_bringup.rigs import nodes_of
from stewart_node_support.lifecycle import take_down

TUTORIALS = sorted((Path(__file__).resolve().parents[1] / 'docs' / 'tutorials').glob('*.md'))
BLOCK = re.compile(r'^```sh\n(.*?)^```$', re.MULTILINE | re.DOTALL)
# Like a terminal: jobs have their own process groups, so that Ctrl-C is for one of them, and a
# pipe has the status of its last command.
SETTINGS = """set -e -m
trap 'echo "line $LINENO: $BASH_COMMAND"' ERR
"""
PATIENCE = 240.0


def page(path: Path) -> object:
    """Leave the long pages to ``make test-slow``."""
    long = '<!-- long -->' in path.read_text()
    return pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if long else [])


@pytest.mark.timeout(PATIENCE + 30.0)
@pytest.mark.parametrize('path', [page(path) for path in TUTORIALS])
def test_every_command_of_a_tutorial_works(path: Path, tmp_path: Path) -> None:
    blocks = BLOCK.findall(path.read_text())
    assert blocks, path
    # Not a pipe: whoever is left in the background holds its other end, and reading would not end.
    log = tmp_path / 'said.log'
    folder = tmp_path / 'session'
    folder.mkdir()
    with log.open('w') as said:
        session = subprocess.Popen(
            ['bash', '-c', SETTINGS + ''.join(blocks)],
            cwd=folder,
            env={**os.environ, 'ROS_PYTHON_CHECK_FIELDS': '1'},
            stdout=said,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        code: object = session.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        code = f'still running after {PATIENCE:g} s'
    finally:
        # What a page left running in the background ends with it.
        for line in Path('/proc').glob('[0-9]*/stat'):
            end_if_of(session.pid, line)
        session.wait()
    assert code == 0, log.read_text()
    if path.stem == 'first_wave':
        # The drives go off when the platform is home, at rest.
        last = np.genfromtxt(folder / 'setpoints.csv', delimiter=',', names=True)[-1]
        pose = [last[name] for name in ('x_m', 'y_m', 'z_m', 'qx', 'qy', 'qz', 'qw')]
        neutral = Platform.from_yaml('ex800').geometry.neutral_pose
        assert pose == pytest.approx([*neutral.position, *neutral.quaternion_xyzw], abs=1e-6)
        assert not any(last[name] for name in last.dtype.names if name.startswith(('v', 'w', 'a')))


def example(key: str) -> str:
    """Return the YAML block of the page about one's own platform that begins with a key."""
    page = next(path for path in TUTORIALS if path.stem == 'own_platform')
    blocks = re.findall(r'^```yaml\n(.*?)^```$', page.read_text(), re.MULTILINE | re.DOTALL)
    (text,) = (block for block in blocks if block.startswith(f'{key}:'))
    return str(text)


def test_masses_and_sensor_of_ones_own_platform_are_all_there(tmp_path: Path) -> None:
    rings = document(RingDimensions('mine', 0.2, 0.15, 20.0, 20.0, 0.25, 0.1))
    file = tmp_path / 'mine.yaml'
    file.write_text(yaml.safe_dump(rings) + example('masses'))

    platform = Platform.from_yaml(file)

    assert platform.masses is not None
    assert platform.imu is not None
    bodies = {'platform', 'payload', 'cylinder', 'rod'}
    assert all(getattr(platform.masses, name).mass > 0.0 for name in bodies)
    assert unusual(platform) == []


@pytest.mark.usefixtures('context')
def test_the_rig_file_for_metal_reaches_its_nodes(tmp_path: Path) -> None:
    text = example('/**')
    file = tmp_path / 'my_rig.yaml'
    file.write_text(text.replace('/home/me/rig/my_platform.yaml', 'vigo'))
    wanted = yaml.safe_load(file.read_text())
    assert {'imu', 'state_estimator'} <= set(nodes_of([file]))
    assert not {'virtual_rig', 'position_sensors'} & set(nodes_of([file]))
    for name in nodes_of([file]):
        node: Any = make_node(name, [file], namespace='', overrides={})
        section = wanted.get(f'/**/{name}', {'ros__parameters': {}})['ros__parameters']
        options = section.pop('ethercat', {})
        section |= {f'ethercat.{key}': value for key, value in options.items()}
        for key, value in section.items():
            assert node.get_parameter(key).value == value, (name, key)
        if node.has_parameter('platform'):
            assert node.get_parameter('platform').value == 'vigo'
        take_down(node)


@pytest.mark.parametrize('path', TUTORIALS, ids=lambda path: path.stem)
def test_no_command_waits_for_tee_which_always_succeeds(path: Path) -> None:
    assert not re.findall(
        r'^\s*(?:until|while|if) [^;\n]*\| *tee [^|;\n]*;.*', path.read_text(), re.M
    )


def end_if_of(session: int, stat: Path) -> None:
    """Kill a process if it belongs to a session."""
    try:
        fields = stat.read_text().rpartition(')')[2].split()
        if int(fields[3]) == session:
            os.kill(int(stat.parent.name), signal.SIGKILL)
    except (OSError, ValueError):
        return
