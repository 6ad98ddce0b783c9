# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What ROS ignores in a parameter file is refused, and what is meant for others is not."""

from __future__ import annotations

from pathlib import Path
import re
from typing import Any

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from rclpy.node import Node
from stewart_node_support.parameters import files_of, parameters_of, require_known
from stewart_node_support.running import run
from stewart_tables.errors import ParameterError


@pytest.fixture
def node(context: None) -> Node:
    node = Node('arm', namespace='deep')
    node.declare_parameter('limit_scale', 1.0)
    node.declare_parameter('simulated.start', 'neutral')
    return node


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / 'rig.yaml'
    path.write_text(text)
    return path


@pytest.mark.parametrize('text', ['arm: [', 'arm: 2026-02-30', '[' * 5000, '\x00'])
def test_what_is_no_yaml_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ParameterError, match='a YAML file'):
        parameters_of(written(tmp_path, text), 'arm')


def test_lists_that_launch_has_written_are_read(tmp_path: Path) -> None:
    text = 'arm:\n  ros__parameters:\n    bags: !!python/tuple\n    - first\n    - second\n'
    assert parameters_of(written(tmp_path, text), 'arm') == {'bags': ['first', 'second']}


@pytest.mark.parametrize('key', ['/**/arm', 'arm', '/deep/arm'])
@pytest.mark.parametrize(
    ('parameters', 'meant'),
    [
        ('{limit_scal: 0.1}', 'limit_scale'),
        ('{limit_scale: 0.1, simulated: {strat: neutral}}', 'simulated.start'),
        ('{simulatd: {start: neutral}}', 'simulated.start'),
    ],
)
def test_misspelt_parameter_is_refused_with_the_one_that_is_meant(
    node: Node, tmp_path: Path, key: str, parameters: str, meant: str
) -> None:
    path = written(tmp_path, f'{key}: {{ros__parameters: {parameters}}}\n')
    said = rf'arm in {re.escape(str(path))}: .* \(did you mean {re.escape(meant)}\?'
    with pytest.raises(ParameterError, match=said):
        require_known(node, [path])


@pytest.mark.parametrize(
    'text',
    [
        '/**: {ros__parameters: {limit_scal: 0.1}}',
        '/**/leg: {ros__parameters: {limit_scal: 0.1}}',
        '/**/arm: {ros__parameters: {limit_scale: 0.1, simulated: {start: rest}}}',
        '/**/arm: {ros__parameters: {ethercat: {interface: eth0}}}',
        'deep: {arm: {ros__parameters: {limit_scale: 0.1}}}',
        '',
    ],
)
def test_what_is_known_or_meant_for_others_is_let_pass(
    node: Node, tmp_path: Path, text: str
) -> None:
    node.unused_parameters = ('ethercat.',)
    require_known(node, [written(tmp_path, text)])


def test_namespaces_may_be_nested(tmp_path: Path) -> None:
    path = written(tmp_path, 'deep: {arm: {ros__parameters: {a: {b: 1}, c: [2]}}}')
    assert parameters_of(path, 'arm') == {'a.b': 1, 'c': [2]}


def test_executable_refuses_before_it_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, '/**/arm: {ros__parameters: {limit_scal: 0.1}}')
    arguments = ['arm', '--ros-args', '--params-file', str(path)]
    assert files_of(arguments) == [path]

    def make() -> Any:
        made = Node('arm')
        made.declare_parameter('limit_scale', 1.0)
        return made

    with pytest.raises(SystemExit, match='did you mean limit_scale'):
        run(make, args=arguments)
