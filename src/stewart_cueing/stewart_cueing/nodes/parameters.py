# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the nodes; no ROS."""

from __future__ import annotations

from dataclasses import dataclass

from stewart_kinematics.nodes.parameters import TrajectoryParameters
from stewart_node_support.fields import param


@dataclass(frozen=True)
class MotionCueingParameters(TrajectoryParameters):
    """Parameters of the node that follows a vehicle."""

    gain: float = param(
        1.0, "factor of the preset's scales of force and rate [-]", min=1e-3, max=100.0
    )
    input_silence: float = param(
        0.2, 'without a sample for so long, the input goes to rest [s]', min=0.02, max=10.0
    )
