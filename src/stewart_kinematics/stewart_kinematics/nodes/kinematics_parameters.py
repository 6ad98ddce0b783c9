# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the two kinematics nodes; no ROS."""

from __future__ import annotations

from dataclasses import dataclass

from stewart_node_support.fields import param


@dataclass(frozen=True)
class InverseKinematicsParameters:
    """Parameters of the inverse kinematics node."""

    platform: str = param('vigo', 'platform by name, or path of its YAML file')
    limit_scale: float = param(
        1.0, 'part of the rate and acceleration limits that is allowed [-]', min=1e-3, max=1.0
    )
    silence: float = param(
        0.25, 'silence of one source before another is heard [s]', min=0.01, max=60.0
    )


@dataclass(frozen=True)
class ForwardKinematicsParameters:
    """Parameters of the forward kinematics node."""

    platform: str = param('vigo', 'platform by name, or path of its YAML file')
    joint_states_rate: float = param(
        50.0, 'at most so many joint_states, for eyes [Hz]', min=1.0, max=1000.0
    )
