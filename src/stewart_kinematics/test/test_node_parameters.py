# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from stewart_kinematics.nodes.cycloidal_trajectory import CycloidalTrajectoryParameters
from stewart_kinematics.nodes.excitation_trajectory import ExcitationTrajectoryParameters
from stewart_kinematics.nodes.forward_kinematics import ForwardKinematicsParameters
from stewart_kinematics.nodes.inverse_kinematics import InverseKinematicsParameters
from stewart_kinematics.nodes.ocean_trajectory import OceanTrajectoryParameters

CLASSES = (
    CycloidalTrajectoryParameters,
    ExcitationTrajectoryParameters,
    ForwardKinematicsParameters,
    InverseKinematicsParameters,
    OceanTrajectoryParameters,
)
README = (Path(__file__).parents[1] / 'README.md').read_text(encoding='utf-8')


@pytest.mark.parametrize('cls', CLASSES, ids=lambda cls: cls.__name__)
def test_readme_has_every_parameter_with_its_default(cls: type) -> None:
    for item in fields(cls):
        default = list(item.default) if isinstance(item.default, tuple) else item.default
        row = f'| `{item.name}` | {default} |'

        assert row in README
        assert item.metadata['description'] in README
