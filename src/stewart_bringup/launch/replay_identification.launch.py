# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Identify a platform from a recording, and see meanwhile what it did.

The node identification reads the bag itself and keeps to the clock of this machine; the player is
for people: it publishes the recording with /clock, which RViz and the model follow, all in a
namespace, so that a rig which runs on the same machine does not take it for its own. The result is
the latched topic ``identification/result`` in there, and the folder `output`.
"""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.parameter_descriptions import ParameterValue
from stewart_bringup.launching import (
    arguments,
    asked,
    model,
    process,
    rviz,
    text,
    this_machine,
    value_of,
)

CLOCK_RATE = 100.0


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription(
        [
            *this_machine(),
            DeclareLaunchArgument('bag', description='recording of a rig that was excited'),
            *arguments(platform='ex800', namespace='replay', use_sim_time='true', rviz='false'),
            *arguments(model='true', log_level='info', output='identified'),
            *arguments(estimator='consistent', friction='per leg', play='true', rate='1.0'),
            OpaqueFunction(function=replay),
        ]
    )


def replay(context):
    """Return the identification, and the recording to look at."""
    bag = value_of(context, 'bag')
    names = ('platform', 'output', 'estimator', 'friction')
    chosen = {name: text(value_of(context, name)) for name in names}
    found = [process('identification', parameters=[{**chosen, 'bags': [bag]}])]
    if asked(context, 'play'):
        rate = ParameterValue(LaunchConfiguration('rate'), value_type=float)
        player = {'bag': text(bag), 'rate': rate, 'publish_clock': CLOCK_RATE}
        if namespace := value_of(context, 'namespace').strip('/'):
            player['prefix'] = f'/{namespace}'
        found.append(process('player', parameters=[player]))
        if asked(context, 'model'):
            found.append(model(context, value_of(context, 'platform')))
    if asked(context, 'rviz'):
        found += rviz(context, value_of(context, 'platform'))
    return found
