# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The YAML files reach real nodes, value by value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip('rclpy')

from stewart_bringup.composition import make_node
from stewart_bringup.rigs import available, nodes_of, RECORDER, RIG
from stewart_bringup.simulation.rig_parameters import RigParameters
from stewart_kinematics.nodes.parameters import InverseKinematicsParameters, TrajectoryParameters
from stewart_node_support.lifecycle import take_down
from stewart_node_support.parameters import flattened
import yaml

pytestmark = pytest.mark.ros


@pytest.mark.usefixtures('context')
@pytest.mark.parametrize('rig', sorted(available('rig')))
def test_every_value_in_yaml_arrives_at_its_node(rig: str, tmp_path: Path) -> None:
    files = [available('rig')[rig], *available('wave').values()]
    wanted = {}
    for path in files:
        for key, section in yaml.safe_load(path.read_text()).items():
            wanted[key.removeprefix('/**').removeprefix('/')] = section['ros__parameters']
    # The virtual rig is a process that takes seconds; its file is checked without it.
    for name in (*nodes_of(files, RIG), RECORDER):
        if name == 'virtual_rig':
            continue
        overrides = {'output': str(tmp_path / 'bag')} if name == RECORDER else {}
        node: Any = make_node(name, files, namespace='deep', overrides=overrides)
        for key, value in flattened(wanted.get(name, {})):
            found = node.get_parameter(key).value
            assert (list(found) if isinstance(value, list) else found) == value, (name, key)
        if node.has_parameter('platform'):
            assert node.get_parameter('platform').value == wanted['']['platform']
        take_down(node)


@pytest.mark.parametrize('rig', [None, *sorted(available('rig'))])
@pytest.mark.parametrize('wave', [None, *sorted(available('wave'))])
def test_nodes_agree_on_silence(rig: str | None, wave: str | None) -> None:
    """A motion waits for inverse kinematics."""
    files = [available('rig')[rig]] if rig else []
    files += [available('wave')[wave]] if wave else []
    parameters = RigParameters(files)

    def value(node: str, cls: type, key: str) -> Any:
        return parameters.value(node, key, getattr(cls(), key))

    heard = value('inverse_kinematics', InverseKinematicsParameters, 'silence')
    waited = [
        value(node, TrajectoryParameters, 'silence')
        for node in ('cycloidal_trajectory', 'excitation_trajectory', 'ocean_trajectory')
    ]

    assert min(waited) > heard
