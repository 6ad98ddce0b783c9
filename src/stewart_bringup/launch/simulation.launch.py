# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig without metal: one process per node, robot_state_publisher, RViz if wanted.

What moves the legs says the rig file: simulated drives, or a virtual rig behind real wires.
"""

from __future__ import annotations

from launch import LaunchDescription
from stewart_bringup.launching import rig_arguments, rig_processes


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*rig_arguments('vigo', wave='jonswap'), rig_processes()])
