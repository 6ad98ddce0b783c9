# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from stewart_kinematics.nodes.cycloidal_trajectory import CycloidalTrajectoryParameters
from stewart_kinematics.nodes.parameters import (
    ExcitationTrajectoryParameters,
    ForwardKinematicsParameters,
    InverseKinematicsParameters,
    OceanTrajectoryParameters,
)

EVERY, EXCURSIONS = 'Every trajectory node', '`ocean_trajectory` and `excitation_trajectory`'
TABLES: dict[type, tuple[str, ...]] = {
    InverseKinematicsParameters: ('`inverse_kinematics`',),
    ForwardKinematicsParameters: ('`forward_kinematics`',),
    CycloidalTrajectoryParameters: (EVERY, '`cycloidal_trajectory`'),
    OceanTrajectoryParameters: (EVERY, EXCURSIONS, '`ocean_trajectory`'),
    ExcitationTrajectoryParameters: (EVERY, EXCURSIONS, '`excitation_trajectory`'),
}
"""The README's tables of each node, by the lines above them."""
README = (Path(__file__).parents[1] / 'README.md').read_text(encoding='utf-8')


def rows_of(title: str) -> dict[str, tuple[str, str]]:
    """Return default and meaning by parameter of the table under `title`."""
    _, found, after = README.partition(f'\n{title}:\n\n')
    assert found, f'no table under {title}'
    lines = after.partition('\n\n')[0].splitlines()
    cells = [[cell.strip() for cell in line.strip('|').split('|')] for line in lines]
    assert cells[0][:4] == ['parameter', 'default', 'allowed', 'meaning']
    return {row[0].strip('`'): (row[1], row[3]) for row in cells[2:]}


@pytest.mark.parametrize('cls', TABLES, ids=lambda cls: cls.__name__)
def test_readme_has_every_parameter_with_its_default(cls: type) -> None:
    stated = {name: row for title in TABLES[cls] for name, row in rows_of(title).items()}
    declared = {}
    for item in fields(cls):
        default = list(item.default) if isinstance(item.default, tuple) else item.default
        declared[item.name] = (str(default), item.metadata['description'])

    assert stated == declared
