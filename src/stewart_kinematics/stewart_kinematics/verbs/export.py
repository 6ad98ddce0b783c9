# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart export``: a platform as other simulators read it."""

from __future__ import annotations

import argparse

from stewart_description.urdf import render_urdf
from stewart_kinematics.exchange.mjcf import mjcf
from stewart_kinematics.exchange.sdf import sdf
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.verbs.arguments import add_examples, add_output, write_text
from stewart_tables.progress import tell

HELP = 'write a platform as MuJoCo, Gazebo or ROS read it'

EXAMPLES = """
mjcf (MuJoCo) and sdf (Gazebo) close the six loops and have limits, inertias, actuators and
sensors; they are there for linear legs. urdf (ROS), for legs of every kind, is a tree: its loops
stand in it as Drake reads them, others ignore them.

examples:
  stewart export vigo --format mjcf -o vigo.xml
  stewart export my_platform.yaml --format sdf -o my_platform.sdf
  stewart export ex800 --format urdf > ex800.urdf
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_examples(parser, EXAMPLES)
    parser.add_argument('platform', help='name or YAML file')
    parser.add_argument('--format', choices=['mjcf', 'sdf', 'urdf'], required=True)
    add_output(parser, 'file to write')


def main(arguments: argparse.Namespace) -> int:
    """Write the model; return 0."""
    platform = Platform.from_yaml(arguments.platform)  # also refuses what xacro would pass
    if arguments.format == 'urdf':
        text = render_urdf(arguments.platform)
    else:
        text = {'mjcf': mjcf, 'sdf': sdf}[arguments.format](platform)
    write_text(arguments.output, text)
    if platform.masses is None:
        tell(f'note: {platform.name} has no masses: forces mean nothing')
    return 0
