# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart export``: a platform as other simulators read it."""

from __future__ import annotations

import argparse
import sys

from stewart_description.urdf import render_urdf
from stewart_kinematics.exchange.mjcf import mjcf
from stewart_kinematics.exchange.sdf import sdf
from stewart_kinematics.platform import Platform
from stewart_tables.csv_tables import STANDARD_STREAM
from stewart_tables.outputs import output_stream
from stewart_tables.whole_files import whole_file

HELP = 'write a platform as MuJoCo, Gazebo or ROS read it'

EXAMPLES = """
mjcf (MuJoCo) and sdf (Gazebo) close the six loops and have limits, inertias, actuators and
sensors. urdf (ROS) is a tree: its loops stand in it as Drake reads them, others ignore them.

examples:
  stewart export vigo --format mjcf -o vigo.xml
  stewart export my_rig.yaml --format sdf -o my_rig.sdf
  stewart export ex800 --format urdf > ex800.urdf
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    parser.add_argument('platform', help='name or YAML file')
    parser.add_argument('--format', choices=['mjcf', 'sdf', 'urdf'], required=True)
    parser.add_argument(
        '-o',
        '--output',
        type=output_stream,
        default=STANDARD_STREAM,
        help='file to write (default: stdout)',
    )


def main(arguments: argparse.Namespace) -> int:
    """Write the model.

    Args:
        arguments: As `add_arguments` defines them.

    Returns:
        0.

    Raises:
        ConfigurationError, GeometryError: If the platform cannot be used.
        OSError: If a file cannot be read or written.
    """
    platform = Platform.from_yaml(arguments.platform)  # also refuses what xacro would pass
    if arguments.format == 'urdf':
        text = render_urdf(arguments.platform)
    else:
        text = {'mjcf': mjcf, 'sdf': sdf}[arguments.format](platform)
    if arguments.output == STANDARD_STREAM:
        sys.stdout.write(text)
    else:
        with whole_file(arguments.output) as stream:
            stream.write(text)
    if platform.masses is None:
        print(f'note: {platform.name} has no masses: forces mean nothing', file=sys.stderr)
    return 0
