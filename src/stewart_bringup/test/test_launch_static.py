# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
Static checks of the launch files and their YAML: nothing is launched here.

They run everywhere, also where launch is not installed. That the files really launch is the
matter of test_launch.py.

"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stewart_bringup.demo.scenarios import WAVES
from stewart_bringup.rigs import available, RIG
import yaml

SRC = Path(__file__).parents[2]
LAUNCH_FILES = sorted((SRC / 'stewart_bringup' / 'launch').glob('*.launch.py'))
CONFIGS = sorted((SRC / 'stewart_bringup' / 'config').glob('*.yaml'))
# Started but not ours.
EXTERNAL = {('robot_state_publisher', 'robot_state_publisher'), ('rviz2', 'rviz2')}
# Declared by rclpy, or by stewart_node_support for every lifecycle node.
EVERY_NODE = {'use_sim_time', 'autostart'}


def calls(path: Path, name: str) -> Iterator[dict[str, ast.expr]]:
    """Yield the keyword arguments of every call of a function in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            found = {str(item.arg): item.value for item in node.keywords}
            if node.args:
                found['0'] = node.args[0]
            yield found


def executables() -> dict[str, str]:
    """Return the package of every executable that a setup.py installs."""
    found = {}
    for path in SRC.glob('*/setup.py'):
        tree = ast.parse(path.read_text(encoding='utf-8'))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                name, _, target = node.value.partition(' = ')
                if ':' in target:
                    found[name] = path.parent.name
            # A table of nodes from which the lines are made.
            if isinstance(node, ast.Dict):
                keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
                found |= {str(key): path.parent.name for key in keys}
    return found


def parameters_of(package: str) -> set[str]:
    """Return every field made by ``param`` in the nodes of a package."""
    found = set()
    for path in (SRC / package / package / 'nodes').glob('*.py'):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and isinstance(node.value, ast.Call)
                and isinstance(node.value.func, ast.Name)
                and node.value.func.id == 'param'
            ):
                found.add(node.target.id)
    return found


def sections(path: Path) -> dict[str, dict[str, Any]]:
    """Return the parameters of a YAML file by node; ``''`` stands for every node."""
    content = yaml.safe_load(path.read_text(encoding='utf-8'))
    found = {}
    for key, value in content.items():
        assert set(value) == {'ros__parameters'}, f'{path.name}: {key}'
        assert key == '/**' or key.startswith('/**/'), f'{path.name}: {key} fits no namespace'
        found[key.removeprefix('/**').removeprefix('/')] = value['ros__parameters']
    return found


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_static_every_launched_executable_is_installed(path: Path) -> None:
    known = executables()
    nodes = list(calls(path, 'Node'))

    assert nodes
    for keywords in nodes:
        package = ast.literal_eval(keywords['package'])
        executable = ast.literal_eval(keywords['executable'])
        if (package, executable) not in EXTERNAL:
            assert known.get(executable) == package


def test_static_the_launch_files_start_the_same_nodes_as_the_composition() -> None:
    simulation = SRC / 'stewart_bringup' / 'launch' / 'simulation.launch.py'
    started = [ast.literal_eval(item['executable']) for item in calls(simulation, 'Node')]

    assert [name for name in started if name in RIG] == list(RIG)


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_static_every_argument_is_described(path: Path) -> None:
    for keywords in calls(path, 'DeclareLaunchArgument'):
        assert len(ast.literal_eval(keywords['description'])) > 10, ast.unparse(keywords['0'])


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_static_every_argument_that_is_used_is_declared(path: Path) -> None:
    declared = {ast.literal_eval(item['0']) for item in calls(path, 'DeclareLaunchArgument')}
    used = {
        item['0'].value
        for item in calls(path, 'LaunchConfiguration')
        if isinstance(item['0'], ast.Constant)
    }

    assert used <= declared


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_static_choices_are_the_configurations_that_exist(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding='utf-8'))
    lists = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for keywords in calls(path, 'DeclareLaunchArgument'):
        name = ast.literal_eval(keywords['0'])
        if name not in {'rig', 'wave'}:
            continue
        choices = keywords['choices']
        listed = lists[choices.id] if isinstance(choices, ast.Name) else choices
        assert set(ast.literal_eval(listed)) == set(available(name))


@pytest.mark.parametrize('path', CONFIGS, ids=lambda path: path.name)
def test_static_every_parameter_in_yaml_exists(path: Path) -> None:
    known = executables()
    for node, values in sections(path).items():
        if not node:
            every = set().union(*(parameters_of(known[name]) for name in RIG))
            assert set(values) <= every | EVERY_NODE
            continue
        declared = parameters_of(known[node])
        # Options of a back end stand under its name and are checked with the node itself.
        plain = {name for name, value in values.items() if not isinstance(value, dict)}
        assert plain <= declared, f'{path.name}: {node}'
        assert set(values) - plain <= {values.get('backend')}


def test_static_every_wave_is_played_by_the_node_of_its_file() -> None:
    for name, path in available('wave').items():
        found = sections(path)
        assert set(found) == {WAVES[name].node, 'wave_operator'}
        assert WAVES[name].node.startswith(found['wave_operator']['services'])
