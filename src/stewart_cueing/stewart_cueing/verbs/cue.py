# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart cue``: turn a vehicle's recorded specific force and rate into setpoints."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from stewart_bags.bag_files import is_bag
from stewart_bags.reading import Bag
from stewart_bags.series import ImuSeries, read_series
from stewart_bags.unstamped import stamped
from stewart_cueing.errors import VehicleInputError
from stewart_cueing.vehicle.inputs import read_ride, VehicleRide
from stewart_cueing.vehicle.methods import METHODS
from stewart_cueing.vehicle.response import FREQUENCIES, PAIRS, responses
from stewart_cueing.vehicle.ride import cued, CuedRide, fitted, MOST_GAIN, settings_for
from stewart_cueing.vehicle.washout import WashoutSettings
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.verbs.arguments import (
    add_examples,
    add_output,
    add_platform,
    write_watched,
)
from stewart_tables.columns import ACCELERATION, POSE, TIME, TWIST
from stewart_tables.csv_tables import STANDARD_STREAM
from stewart_tables.errors import counted
from stewart_tables.numbers import positive_up_to
from stewart_tables.outputs import add_picture_argument, save_picture
from stewart_tables.progress import show_part, tell

HELP = "turn a vehicle's specific force and rates into setpoints within every limit"

EXAMPLES = """
Settings have presets for vigo and srs; --washout takes others (docs/motion_cueing.md). The
classical washout is followed within every limit of the platform: where the platform cannot follow,
it is late. The optimal method plans with strokes, rates and accelerations of the legs in view.
--fit scales the ride until the washout alone keeps the limits, and takes that scale for both.
--plot draws what is felt by both methods against what is wanted, or the responses of the chosen
method beside those of the washout.

examples:
  stewart cue flight.csv --platform srs -o setpoints.csv
  stewart cue drive_1 --topic imu/data --fit -o setpoints.csv
  stewart cue drive.csv --method optimal --plot felt.svg -o setpoints.csv
  stewart cue drive.csv --washout my_cab.yaml -o setpoints.csv
  stewart cue --omct --method optimal --platform srs --plot omct.svg -o omct.csv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_examples(parser, EXAMPLES)
    add = parser.add_argument
    what = parser.add_mutually_exclusive_group(required=True)
    text = 'CSV with time_s, fx_mps2 ..., p_radps ...; - ; or a bag'
    what.add_argument('ride', metavar='FILE', nargs='?', help=text)
    text = 'instead of a ride: frequency responses of the ten tests of ICAO 9625'
    what.add_argument('--omct', action='store_true', help=text)
    add('--topic', default='imu/data', help='sensor_msgs/Imu in the bag (default: %(default)s)')
    add('--method', choices=METHODS, default='washout', help='(default: %(default)s)')
    text = "preset, or YAML file with what is other than in the platform's: scales, head ..."
    add('--washout', metavar='NAME|FILE', default='', help=text)
    add(
        '--gain',
        type=positive_up_to(MOST_GAIN),
        default=1.0,
        help=f'factor of force and rate, up to {MOST_GAIN:g} (default: %(default)s)',
    )
    add('--fit', action='store_true', help='find the gain with which no limit is met')
    add_platform(parser)
    add_output(parser, 'CSV file with pose, twist and acceleration; of --omct, gain and phase')
    add_picture_argument(parser)


def main(arguments: argparse.Namespace) -> int:
    """Read, cue, write; print what was used and felt.

    Raises:
        StewartError, BagError: If the ride cannot be used.
        OSError: If a file cannot be read or written.
    """
    platform = Platform.from_yaml(arguments.platform)
    settings = settings_for(platform.name, arguments.gain, arguments.washout)
    if arguments.omct:
        if arguments.fit:
            raise ConfigurationError('--fit', True, 'a ride: the tests of --omct are small')
        return _test(arguments, platform, settings)
    ride = _read(arguments.ride, arguments.topic)
    for remark in ride.remarks:
        tell(f'warning: {arguments.ride}: {remark}')
    if arguments.fit:
        settings, factor, reason = fitted(ride, platform, settings)
        tell(f'fitted: gain {factor * arguments.gain:.3g}, limited by {reason}')
    with show_part('cueing') as progress:
        found = cued(ride, platform, settings, method=arguments.method, progress=progress)
    motion = found.motion
    samples = np.column_stack(
        [found.time, motion.position, motion.quaternion_xyzw, motion.twist, motion.acceleration]
    )
    write_watched(arguments.output, (TIME, *POSE, *TWIST, *ACCELERATION), samples)
    _tell(found)
    if arguments.plot:
        from stewart_cueing.vehicle.plotting import felt_against_wanted

        others = [method for method in METHODS if method != arguments.method]
        rides = {arguments.method: found}
        rides |= {method: cued(ride, platform, settings, method=method) for method in others}
        save_picture(felt_against_wanted(rides), arguments.plot)
    return 0


def _test(arguments: argparse.Namespace, platform: Platform, settings: WashoutSettings) -> int:
    """Write the frequency responses of a method: number of the test, frequency, gain, phase."""
    with show_part('testing') as progress:
        found = responses(arguments.method, platform, settings, progress)
    shape = found.shape
    numbers = np.broadcast_to([[pair.number] for pair in PAIRS], shape)
    parts = (
        numbers,
        np.broadcast_to(FREQUENCIES, shape),
        np.abs(found),
        np.degrees(np.angle(found)),
    )
    columns = ('test', 'frequency_radps', 'gain', 'phase_deg')
    write_watched(arguments.output, columns, np.column_stack([part.ravel() for part in parts]))
    tell(
        f'{len(PAIRS)} tests at {len(FREQUENCIES)} frequencies, {FREQUENCIES[0]:.3g} to '
        f'{FREQUENCIES[-1]:.5g} rad/s: {arguments.method} on {platform.name}'
    )
    if arguments.plot:
        from stewart_cueing.vehicle.plotting import response_figure

        drawn = {'washout': responses('washout', platform, settings), arguments.method: found}
        save_picture(response_figure(drawn, platform.name), arguments.plot)
    return 0


def _tell(found: CuedRide) -> None:
    """Print what was used and felt."""
    error = np.sqrt(np.mean((found.given_perceived - found.wanted_perceived) ** 2, axis=0))
    force, rate = (' '.join(f'{value:.3g}' for value in half) for half in error.reshape(2, 3))
    tell(
        f'{found.time.size} samples, {found.time[-1]:.4g} s; {100.0 * found.workspace:.0f} % of '
        f'the legs used, held back in {100.0 * np.mean(found.held < 1.0):.1f} % of the samples; '
        f'input beyond force_limit in {100.0 * found.beyond[0]:.1f} %, beyond rate_limit in '
        f'{100.0 * found.beyond[1]:.1f} %\n'
        f'perceived against wanted, rms: force {force} m/s², rate {rate} rad/s; '
        f'{counted(found.cues.count, "false cue")} of {found.cues.seconds:.2f} s'
    )


def _read(source: str, topic: str) -> VehicleRide:
    """Return the ride of a CSV file or of a bag's IMU.

    Raises:
        StewartError, BagError: If there is none, or one of its halves is said to be not measured.
    """
    if source == STANDARD_STREAM or not is_bag(Path(source)):
        return read_ride(source)
    with Bag(source) as bag:
        imu = stamped(read_series(bag, topic, ImuSeries), tell)
        seconds = np.asarray(imu.seconds(bag.start_ns))
    for name, covariance in (
        ('linear_acceleration', imu.specific_force_covariance),
        ('angular_velocity', imu.angular_velocity_covariance),
    ):
        if missing := int((covariance[:, 0, 0] == -1.0).sum()):
            raise VehicleInputError(
                f'{missing} of {len(imu)} messages of {topic} say that {name} is not measured '
                '(its covariance begins with -1): a ride needs specific force and rates'
            )
    samples = np.hstack([imu.specific_force, imu.angular_velocity])
    places = [f'{topic}: message {number}' for number in range(1, len(imu) + 1)]
    return VehicleRide.recorded(seconds, samples, places)
