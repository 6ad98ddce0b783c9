# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The verb ``stewart dynamics``: from a motion of the platform to the forces of its legs.

The table needs pose, twist and acceleration. Where it has not, `--differentiate` makes them: a
spline of continuous acceleration through the samples, cubic through poses and quintic through
poses and twists, and its exact derivatives.
"""

from __future__ import annotations

import argparse

from stewart_dynamics.feed_forward import efforts_of
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import Reactions, reactions
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.motion_csv import derivatives, motion_in_base, poses_in_base
from stewart_kinematics.trajectories import Sampled
from stewart_kinematics.verbs.arguments import add_table_arguments, read_watched, write_beside
from stewart_tables.columns import ACCELERATION, MOTION, TIME, TWIST
from stewart_tables.csv_tables import Table

HELP = 'turn a motion of the platform into the forces of its legs'

EXAMPLES = """
Forces push the joints apart where positive. Platforms without masses (srs) are refused. Of cranks
the torques are written, of carriages the forces along the rails; their rods have no mass, and
--reactions is refused.

examples:
  stewart trajectory circle | stewart dynamics -o forces.csv
  stewart dynamics recorded_poses.csv --differentiate --platform ex800
  stewart dynamics motion.csv --reactions --platform my_platform.yaml -o reactions.csv
"""

WRENCH = tuple(f'platform_{name}' for name in ('fx_n', 'fy_n', 'fz_n', 'mx_nm', 'my_nm', 'mz_nm'))
JOINTS = {
    'spherical_forces': ('spherical', 'f', 'n'),
    'universal_forces': ('universal', 'f', 'n'),
    'universal_moments': ('universal', 'm', 'nm'),
    'prismatic_forces': ('prismatic', 'f', 'n'),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_table_arguments(parser, 'a motion: pose, twist and acceleration', EXAMPLES)
    parser.add_argument(
        '--differentiate',
        action='store_true',
        help='make missing twists and accelerations by a spline through the samples',
    )
    parser.add_argument(
        '--reactions',
        action='store_true',
        help='write the wrench on the platform and what the joints bear, in base axes, too',
    )


def main(arguments: argparse.Namespace) -> int:
    """Read a motion, write forces; return 0."""
    platform = Platform.from_yaml(arguments.platform)
    forces = efforts_of(platform)
    table = read_watched(arguments.table, MOTION)
    reference = platform.geometry.named_pose(arguments.relative_to)
    motion = _motion(table, reference, spline=arguments.differentiate)
    columns = platform.kind.columns()['effort']
    if arguments.reactions:
        result = reactions(InertialModel.from_platform(platform), motion)
        names, values = _reaction_columns(result)
        write_beside(
            arguments.output, table, [*columns, *names], [result.actuator_forces, *values]
        )
    else:
        write_beside(arguments.output, table, columns, [forces(motion)])
    return 0


def _motion(table: Table, reference: Pose, *, spline: bool) -> Motion:
    """Return the samples with all derivatives, made by a spline if asked for."""
    twist, acceleration = derivatives(table)
    if twist is not None and acceleration is not None:
        return motion_in_base(table, reference)
    if not spline:
        found, missing = ', '.join(table.values), TWIST if twist is None else ACCELERATION
        expected = f'the columns {", ".join(missing)} as well, or --differentiate'
        raise ConfigurationError(table.head, found, expected)
    time = table.take([TIME])[:, 0]
    return Sampled(time, *poses_in_base(table, reference), twist).sample(time - time[0])


def _reaction_columns(result: Reactions) -> tuple[list[str], list[Array]]:
    """Return names and blocks of wrench and joint reactions."""
    names, blocks = [*WRENCH], [result.platform_wrench]
    for field, (joint, quantity, unit) in JOINTS.items():
        names += [
            f'leg_{leg}_{joint}_{quantity}{axis}_{unit}' for leg in range(1, 7) for axis in 'xyz'
        ]
        blocks.append(getattr(result, field).reshape(-1, 18))
    return names, blocks
