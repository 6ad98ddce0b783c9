# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig on an analogue card: driver, sensors and all the rest, as its rig file has them.

The default is a machine that is not there. On metal: ``rig:=/path/of/my_rig.yaml``, a file without
the section ``virtual_rig``. The card has no watchdog: read docs/safety.md before.
"""

from __future__ import annotations

from launch import LaunchDescription
from stewart_bringup.launching import rig_arguments, rig_processes


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*rig_arguments('ex800_daq'), rig_processes('daq')])
