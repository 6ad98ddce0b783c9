# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig that moves: everything of simulation.launch.py, and an operator that plays a wave on it.

A rig file that says itself what its operator starts, as one that stabilises, is left to that.
When the wave has been played and the drives are off, everything ends.
"""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import OpaqueFunction, SetLaunchConfiguration
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from stewart_bringup.launching import (
    arguments,
    AUTO,
    clock,
    end_with,
    in_simulated_time,
    rig_arguments,
    rig_processes,
    value_of,
)
from stewart_bringup.rigs import config_file, nodes_of, setting

USUAL_WAVE = 'jonswap'


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription(
        [
            *rig_arguments('vigo', wave=AUTO, rviz='true'),
            *arguments(duration='15.0'),
            OpaqueFunction(function=choose_wave),
            rig_processes(operators=operators),
        ]
    )


def choose_wave(context):
    """Return the wave of who names none: laid over the rig file, it would replace its operator."""
    if value_of(context, 'wave') != AUTO:
        return []
    rig = config_file('rig', value_of(context, 'rig'))
    own = setting([rig], 'wave_operator', 'services')
    return [SetLaunchConfiguration('wave', '' if own else USUAL_WAVE)]


def operators(context):
    """Return the operator, with whose end everything ends."""
    rig, wave = config_file('rig', value_of(context, 'rig')), value_of(context, 'wave')
    files = [rig, *([config_file('wave', wave)] if wave else [])]
    operator = Node(
        package='stewart_bringup',
        executable='wave_operator',
        namespace=LaunchConfiguration('namespace'),
        parameters=[
            *(ParameterFile(str(path.absolute()), allow_substs=False) for path in files),
            {
                'duration': ParameterValue(LaunchConfiguration('duration'), value_type=float),
                # The others come up one after another, and compile their kernels on a first run.
                'patience': 120.0,
                'nodes': nodes_of([rig]),
            },
            clock(context, simulated=in_simulated_time(context)),
        ],
        output='screen',
        sigterm_timeout='15',
    )
    return [end_with(operator, 'the wave was played'), operator]
