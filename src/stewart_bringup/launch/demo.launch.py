# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
A rig that moves: everything of simulation.launch.py, and an operator that plays a wave on it.

When the wave has been played and the drives are off, everything ends.

"""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    RegisterEventHandler,
    Shutdown,
)
from launch.event_handlers import OnProcessExit
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare

ARGUMENTS = [
    DeclareLaunchArgument(
        'rig',
        default_value='vigo',
        choices=['vigo', 'ex800', 'ps6tl_1500', 'srs'],
        description='machine to run',
    ),
    DeclareLaunchArgument(
        'wave',
        default_value='jonswap',
        choices=['jonswap', 'random', 'eq18'],
        description='what ocean and excitation play',
    ),
    DeclareLaunchArgument('duration', default_value='15.0', description='time of the wave [s]'),
    DeclareLaunchArgument('namespace', default_value='', description='namespace of every node'),
    DeclareLaunchArgument('rviz', default_value='true', description='show the platform in RViz'),
    DeclareLaunchArgument('record', default_value='false', description='record every topic'),
    DeclareLaunchArgument(
        'bag', default_value='recording', description='new folder to record into'
    ),
    DeclareLaunchArgument(
        'log_level', default_value='info', description='debug, info, warn, error or fatal'
    ),
]
PASSED_ON = ('rig', 'wave', 'namespace', 'rviz', 'record', 'bag', 'log_level')


def generate_launch_description() -> LaunchDescription:
    share = FindPackageShare('stewart_bringup')
    simulation = PathJoinSubstitution([share, 'launch', 'simulation.launch.py'])
    wave = PathJoinSubstitution([share, 'config', 'wave_'])
    rig = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(simulation),
        launch_arguments=[(name, LaunchConfiguration(name)) for name in PASSED_ON],
    )
    operator = Node(
        package='stewart_bringup',
        executable='wave_operator',
        namespace=LaunchConfiguration('namespace'),
        parameters=[
            ParameterFile([wave, LaunchConfiguration('wave'), '.yaml']),
            {'duration': ParameterValue(LaunchConfiguration('duration'), value_type=float)},
        ],
        output='screen',
    )
    finish = RegisterEventHandler(
        OnProcessExit(target_action=operator, on_exit=[Shutdown(reason='the wave was played')])
    )
    return LaunchDescription([*ARGUMENTS, rig, operator, finish])
