# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A controller_manager that drives the legs of a running rig, by way of the driver.

It takes the place of inverse_kinematics: start no motion with that, and enable first. Strokes,
speeds, stops and faults stay with the driver; the platform's own limits, which the guard of
inverse_kinematics watches, are then those of whoever plans the trajectories. Needs the packages
robot_state_publisher, ros2_control, ros2_controllers and joint_state_topic_hardware_interface.
"""

from __future__ import annotations

from launch import LaunchDescription
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from stewart_bringup.launching import arguments, clock, once_known, text, this_machine
from stewart_bringup.rigs import config_file
from stewart_description.urdf import render_urdf

# The manager takes the description from a topic; the rig's own lacks what controllers need.
DESCRIPTION = 'ros2_control_description'
CONTROLLERS = ('joint_state_broadcaster', 'leg_trajectory_controller')


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription(
        [
            *this_machine(),
            *arguments(platform='', namespace='', use_sim_time='false'),
            once_known(controllers),
        ]
    )


def controllers(context, platform):
    """Return what describes the legs, the controller_manager, and what starts controllers."""
    namespace = LaunchConfiguration('namespace')
    urdf = render_urdf(platform, ros2_control=True)
    # It tells the description alone: where the platform is, that of the rig says.
    apart = ('joint_states', '/tf', '/tf_static')
    description = Node(
        package='robot_state_publisher',
        executable='robot_state_publisher',
        name=DESCRIPTION,
        namespace=namespace,
        parameters=[{'robot_description': text(urdf)}, clock(context)],
        remappings=[
            ('robot_description', DESCRIPTION),
            *((name, f'{DESCRIPTION}/{name.lstrip("/")}') for name in apart),
        ],
        output='screen',
    )
    manager = Node(
        package='controller_manager',
        executable='ros2_control_node',
        namespace=namespace,
        parameters=[str(config_file('ros2', 'controllers')), clock(context)],
        remappings=[('robot_description', DESCRIPTION)],
        output='screen',
    )
    spawner = Node(
        package='controller_manager',
        executable='spawner',
        namespace=namespace,
        arguments=[*CONTROLLERS, '--controller-manager', 'controller_manager'],
        parameters=[clock(context)],
        output='screen',
    )
    return [description, manager, spawner]
