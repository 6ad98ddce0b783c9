# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig with drives on EtherCAT: driver, sensors and all the rest, as its rig file has them.

The default is a machine that is not there. On metal: ``rig:=/path/of/my_rig.yaml``, a file without
the section ``virtual_rig``; docs/tutorials/ethercat.md tells what to write and check before.
"""

from __future__ import annotations

from launch import LaunchDescription
from stewart_bringup.launching import rig_arguments, rig_processes


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*rig_arguments('vigo_ethercat'), rig_processes('ethercat')])
