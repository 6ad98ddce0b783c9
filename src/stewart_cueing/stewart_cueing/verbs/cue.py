# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart cue``: turn a vehicle's recorded specific force and rate into setpoints."""

from __future__ import annotations

import argparse
from pathlib import Path
import sys

import numpy as np
from stewart_bags.reading import Bag
from stewart_bags.series import ImuSeries, read_series
from stewart_cueing.vehicle.inputs import read_ride, VehicleRide
from stewart_cueing.vehicle.ride import cued, fitted, settings_for
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.verbs.arguments import (
    add_examples,
    add_output,
    add_platform,
    write_watched,
)
from stewart_tables.columns import ACCELERATION, POSE, TIME, TWIST
from stewart_tables.csv_tables import STANDARD_STREAM
from stewart_tables.progress import show_part

HELP = "turn a vehicle's specific force and rates into setpoints within every limit"

EXAMPLES = """
The washout has presets for vigo and srs. Its motion is followed within every limit of the
platform: where the platform cannot follow, it is late. --fit scales the ride until the washout
alone keeps the limits.

examples:
  stewart cue flight.csv --platform srs -o setpoints.csv
  stewart cue drive_1 --topic imu/data --fit -o setpoints.csv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_examples(parser, EXAMPLES)
    add = parser.add_argument
    add('ride', metavar='FILE', help='CSV with time_s, fx_mps2 ..., p_radps ...; - ; or a bag')
    add('--topic', default='imu/data', help='sensor_msgs/Imu in the bag (default: %(default)s)')
    add('--gain', type=float, default=1.0, help='factor of force and rate (default: %(default)s)')
    add('--fit', action='store_true', help='find the gain with which no limit is met')
    add_platform(parser)
    add_output(parser, 'CSV file with pose, twist and acceleration')


def main(arguments: argparse.Namespace) -> int:
    """Read, cue, write; print what was used and felt.

    Raises:
        StewartError, BagError: If the ride cannot be used.
        OSError: If a file cannot be read or written.
    """
    platform = Platform.from_yaml(arguments.platform)
    ride = _read(arguments.ride, arguments.topic)
    settings = settings_for(platform.name, arguments.gain)
    if arguments.fit:
        settings, factor = fitted(ride, platform, settings)
        print(f'fitted: gain {factor * arguments.gain:.3g}', file=sys.stderr)
    with show_part('cueing') as progress:
        found = cued(ride, platform, settings, progress=progress)
    motion = found.motion
    samples = np.column_stack(
        [found.time, motion.position, motion.quaternion_xyzw, motion.twist, motion.acceleration]
    )
    write_watched(arguments.output, (TIME, *POSE, *TWIST, *ACCELERATION), samples)
    error = np.sqrt(np.mean((found.given_perceived - found.wanted_perceived) ** 2, axis=0))
    force, rate = (' '.join(f'{value:.3g}' for value in half) for half in error.reshape(2, 3))
    print(
        f'{found.time.size} samples, {found.time[-1]:.4g} s; {100.0 * found.workspace:.0f} % of '
        f'the legs used, held back in {100.0 * np.mean(found.held < 1.0):.1f} % of the samples\n'
        f'perceived against wanted, rms: force {force} m/s², rate {rate} rad/s; '
        f'{found.cues.count} false cues of {found.cues.seconds:.2f} s',
        file=sys.stderr,
    )
    return 0


def _read(source: str, topic: str) -> VehicleRide:
    """Return the ride of a CSV file or of a bag's IMU."""
    if source == STANDARD_STREAM or Path(source).suffix == '.csv':
        return read_ride(source)
    with Bag(source) as bag:
        imu = read_series(bag, topic, ImuSeries)
        seconds = np.asarray(imu.seconds(bag.start_ns))
    return VehicleRide(seconds, np.hstack([imu.specific_force, imu.angular_velocity]))
