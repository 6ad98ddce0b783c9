# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig with simulated drives: one process per node, robot_state_publisher, RViz if wanted."""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import Command, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare

RIGS = ['vigo', 'ex800', 'ps6tl_1500', 'srs']
WAVES = ['jonswap', 'random', 'eq18']

ARGUMENTS = [
    DeclareLaunchArgument('rig', default_value='vigo', choices=RIGS, description='machine to run'),
    DeclareLaunchArgument(
        'wave',
        default_value='jonswap',
        choices=WAVES,
        description='what ocean and excitation play',
    ),
    DeclareLaunchArgument('namespace', default_value='', description='namespace of every node'),
    DeclareLaunchArgument(
        'use_sim_time',
        default_value='false',
        description='take time from /clock; the driver refuses it, drives follow real time',
    ),
    DeclareLaunchArgument('rviz', default_value='false', description='show the platform in RViz'),
    DeclareLaunchArgument('record', default_value='false', description='record every topic'),
    DeclareLaunchArgument(
        'bag', default_value='recording', description='new folder to record into'
    ),
    DeclareLaunchArgument(
        'log_level', default_value='info', description='debug, info, warn, error or fatal'
    ),
]


def config_file(kind: str) -> ParameterFile:
    """Return ``config/<kind>_<name>.yaml``, the name being the argument `kind`."""
    folder = PathJoinSubstitution([FindPackageShare('stewart_bringup'), 'config', f'{kind}_'])
    return ParameterFile([folder, LaunchConfiguration(kind), '.yaml'])


def generate_launch_description() -> LaunchDescription:
    namespace = LaunchConfiguration('namespace')
    time = {'use_sim_time': LaunchConfiguration('use_sim_time')}
    description = FindPackageShare('stewart_description')
    files = [config_file('rig'), config_file('wave')]
    urdf = Command(
        [
            'xacro ',
            PathJoinSubstitution([description, 'urdf', 'stewart.urdf.xacro']),
            ' platform:=',
            LaunchConfiguration('rig'),
        ]
    )
    common = {
        'namespace': namespace,
        'parameters': [*files, time],
        'arguments': ['--ros-args', '--log-level', LaunchConfiguration('log_level')],
    }
    nodes = [
        # First, so that it is there when the others begin.
        Node(
            package='stewart_bags',
            executable='recorder',
            condition=IfCondition(LaunchConfiguration('record')),
            **{**common, 'parameters': [*files, time, {'output': LaunchConfiguration('bag')}]},
        ),
        # The YAML's `autostart` makes lifecycle nodes configure and activate themselves.
        Node(package='stewart_driver', executable='driver', **common),
        Node(package='stewart_kinematics', executable='inverse_kinematics', **common),
        Node(package='stewart_dynamics', executable='feed_forward', **common),
        Node(package='stewart_kinematics', executable='forward_kinematics', **common),
        Node(package='stewart_kinematics', executable='cycloidal_trajectory', **common),
        Node(package='stewart_kinematics', executable='ocean_trajectory', **common),
        Node(package='stewart_kinematics', executable='excitation_trajectory', **common),
        Node(
            package='robot_state_publisher',
            executable='robot_state_publisher',
            namespace=namespace,
            parameters=[{'robot_description': ParameterValue(urdf, value_type=str)}, time],
        ),
        Node(
            package='rviz2',
            executable='rviz2',
            namespace=namespace,
            parameters=[time],
            arguments=['-d', PathJoinSubstitution([description, 'rviz', 'stewart.rviz'])],
            condition=IfCondition(LaunchConfiguration('rviz')),
        ),
    ]
    return LaunchDescription([*ARGUMENTS, *nodes])
