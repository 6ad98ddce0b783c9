# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Eyes on a graph that runs elsewhere: a launched rig, ``stewart run``, or a bag that is played.

It shows the platform that forward_kinematics of the rig says it is; a bag says none, so name it.
RViz's model follows ``joint_states`` of forward_kinematics. The URDF and tf come from
robot_state_publisher, which ``stewart run`` does not have; so one is started here. The page for a
browser needs neither; whoever reaches it can move the platform, so it is served to this machine
only.
"""

from __future__ import annotations

from launch import LaunchDescription
from launch.substitutions import LaunchConfiguration
from launch_ros.parameter_descriptions import ParameterValue
from stewart_bringup.launching import (
    arguments,
    asked,
    clock,
    model,
    node,
    once_known,
    rviz,
    text,
    this_machine,
    value_of,
)


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription(
        [
            *this_machine(),
            *arguments(platform='', namespace='', use_sim_time='false', rviz='true'),
            *arguments(model='true', config='', web='false', port='8080'),
            once_known(view),
        ]
    )


def view(context, platform):
    """Return RViz with what it needs, and the page."""
    found = []
    if asked(context, 'rviz'):
        found += rviz(context, platform, value_of(context, 'config'))
    if asked(context, 'model'):
        found.append(model(context, platform))
    if asked(context, 'web'):
        port = ParameterValue(LaunchConfiguration('port'), value_type=int)
        parameters = [{'platform': text(platform), 'port': port}, clock(context)]
        found.append(node('web_viewer', parameters))
    return found
