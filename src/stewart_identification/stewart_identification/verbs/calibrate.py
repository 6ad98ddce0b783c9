# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart calibrate``: from measured poses to the joints of this machine."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import sys

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_bags.bag_files import is_bag
from stewart_bags.verbs.topic_names import add_topic_argument
from stewart_identification.calibration.fit import calibrate, Calibration, MISFIT, Prior
from stewart_identification.calibration.machine import Machine
from stewart_identification.calibration.observations import (
    Noise,
    Observations,
    read_observations,
    read_rests,
    without_copies,
)
from stewart_identification.calibration.outliers import MOST, NAMED, without_outliers
from stewart_identification.calibration.output import (
    calibrated_document,
    draw_accuracy,
    HEAD,
    LEVEL,
)
from stewart_identification.calibration.planning import best_poses
from stewart_identification.calibration.plausible import check_strokes
from stewart_identification.calibration.verdict import (
    about_others,
    accuracy,
    beyond_imu,
    beyond_prior,
    coordinates,
    imu_unknowns,
    prediction_misfit,
    remarks,
)
from stewart_identification.parameters_file import write_platform
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.platform import Platform
from stewart_tables.columns import POSE
from stewart_tables.csv_tables import write_table
from stewart_tables.numbers import positive, whole_from
from stewart_tables.outputs import add_picture_argument, output_file, save_picture
from stewart_tables.progress import LiveLine, tell

MOST_POSES = 1000
"""Poses that can be asked for at once."""

HELP = 'find the joint centres and leg lengths of a machine from measured poses'

DETAILS = """
The table has a row per pose, at rest: stroke_1_m to stroke_6_m as the encoders have them, and x_m,
y_m, z_m, qx, qy, qz, qw (or roll_deg ..., roll_rad ...) of a target on the platform, in the
coordinates of a laser tracker, camera or coordinate machine; where both sit is found as well.
Instead, or besides: fx_mps2, fy_mps2 and fz_mps2 of an IMU at rest; in motion p_radps, q_radps,
r_radps, and leg_1_mps to leg_6_mps (wx_radps ... and rate_1_mps ... are the same; no leg faster
than 1e-4 m/s is at rest). Of the IMU mounting, tilt of the base, scales and biases are found; the
file gets imu.rpy_deg and masses.gravity_mps2.
Every row needs its six strokes; what else was not measured is nan. Columns may be in mm, as
stroke_1_mm and x_mm. All noises are standard deviations. A bag in place of a table has
actuator_states and platform/external_pose (PoseStamped, or with covariance); what counts is every
rest of a second or more.

Changes and intervals are those of the joints against each other: a shift or turn that all six base
joints share is where the tracker stands, one of the platform's where the target sits. A row that
contradicts all others (one in ten at most) is left out and told. Where --validate is contradicted,
by a tracker or target that was moved in between, no file is written.

--plan writes the poses that would tell most, D-optimal and inside all limits: the first ones if
there is no table, else the next ones.

examples:
  stewart calibrate --plan 40 --poses poses.csv --platform vigo
  stewart calibrate measured.csv --platform vigo -o my_vigo.yaml --plot before_after.svg
  stewart calibrate measured.csv --validate others.csv --tracker-noise 30e-6 20e-6 -o my_vigo.yaml
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    noise, prior = Noise(), Prior()
    add = parser.add_argument
    add('table', nargs='?', metavar='CSV', help='measured poses, a table or a bag')
    add('--platform', default='vigo', help='name or YAML file (default: %(default)s)')
    add('-o', '--output', type=output_file, metavar='YAML', help='platform file to be written')
    add('--validate', metavar='CSV', help='poses that are not used, to judge the result by')
    add_topic_argument(parser)
    add(
        '--tracker-noise',
        nargs=2,
        type=positive,
        default=(noise.position, noise.attitude),
        metavar=('M', 'RAD'),
        help='standard deviation of a measured pose, per axis [m, rad] (default: 30e-6 20e-6)',
    )
    for name, value, unit, of in (
        ('stroke-noise', noise.stroke, 'M', 'standard deviation of an encoder [m]'),
        ('force-noise', noise.specific_force, 'MPS2', 'of a specific force at rest [m/s2]'),
        ('turn-noise', noise.angular_velocity, 'RADPS', 'of an angular velocity [rad/s]'),
        ('rate-noise', noise.rate, 'MPS', 'of the rate of a leg in motion [m/s]'),
        ('joint-tolerance', prior.joint, 'M', 'of a joint coordinate, as built [m]'),
        ('length-tolerance', prior.length, 'M', 'of a length at stroke zero, as built [m]'),
    ):
        help_text = f'{of} (default: {value:g})'
        add(f'--{name}', type=positive, default=value, metavar=unit, help=help_text)
    add(
        '--plan',
        type=whole_from(0, MOST_POSES),
        default=0,
        metavar='N',
        help='propose so many (further) poses',
    )
    add('--poses', type=output_file, metavar='CSV', help='where they are written')
    add('--seed', type=whole_from(0), default=0, help='of the candidates for --plan (default: 0)')
    add('--json', action='store_true', help='print everything as JSON')
    add_picture_argument(parser)


def main(arguments: argparse.Namespace) -> int:
    """Calibrate, or plan; return 1 where noise, tolerances or other poses are contradicted."""
    platform = Platform.from_yaml(arguments.platform)
    noise, prior = _assumed(arguments)
    _refuse_idle_options(arguments)
    if arguments.table is None:
        if not arguments.plan:
            tell('stewart calibrate: a table of poses is needed, or --plan N')
            return 2
        _propose(arguments, platform, noise, prior, None)
        return 0
    observations, copies = without_copies(_read(arguments, arguments.table))
    # Before a long fit, not after it.
    others = _read_others(arguments, platform, observations) if arguments.validate else None
    if copies:
        tell(f'{copies} row(s) copied from others count once')
    unused = int(np.sum(~observations.felt & np.isfinite(observations.specific_force).all(axis=1)))
    if unused:
        tell(f'{unused} row(s) in motion: their specific force is not used, gravity alone counts')
    line = LiveLine(sys.stderr)
    found = calibrate(
        platform,
        observations,
        noise,
        prior,
        lambda step, cost: line.show(f'step {step}: sum of squares {cost:.6g}'),
    )
    line.end()
    gone, doubts = list[int](), list[str]()
    # Rows would be blamed for an IMU that is read in another way.
    if not beyond_imu(found):
        found, gone = without_outliers(platform, observations, noise, prior, found)
        if found.misfit < MISFIT:
            _, many = without_outliers(platform, observations, noise, prior, found, NAMED)
            doubts = [_about_many(observations[many], len(observations))] if many else []
    if gone:
        kept = np.setdiff1d(np.arange(len(observations)), gone)
        observations, outliers = observations[kept], observations[gone]
        tell(_about_outliers(outliers, found))
    chance = None if others is None else prediction_misfit(found, others)
    refused = [] if others is None or chance is None else about_others(found, others, chance)
    _tell(arguments, found, chance, [*doubts, *refused])
    if observations.tracked.any():
        checked = observations if others is None else others
        before, after = (accuracy(each, checked) for each in (found.described, found.machine))
        what = f'at {arguments.validate}' if arguments.validate else 'at the poses that were used'
        tell(f'before, {what}: {before.line()}')
        tell(f'after, {what}: {after.line()}')
        if arguments.plot:
            save_picture(draw_accuracy(before, after, f'{platform.name}, {what}'), arguments.plot)
    beyond = bool(refused or beyond_prior(found))
    if beyond and arguments.output:
        tell(f'{arguments.output} is not written')
    elif arguments.output:
        content = calibrated_document(found, arguments.platform, Path(arguments.table).name)
        write_platform(content, HEAD, arguments.output)
        tell(f'written: {arguments.output}')
    if arguments.plan:
        _propose(arguments, platform, noise, prior, found)
    return 1 if beyond or found.misfit < MISFIT else 0


def _assumed(arguments: argparse.Namespace) -> tuple[Noise, Prior]:
    """Return what is assumed of the measurements, and of the machine as built."""
    position, attitude = arguments.tracker_noise
    noise = Noise(
        position,
        attitude,
        stroke=arguments.stroke_noise,
        specific_force=arguments.force_noise,
        angular_velocity=arguments.turn_noise,
        rate=arguments.rate_noise,
    )
    return noise, Prior(joint=arguments.joint_tolerance, length=arguments.length_tolerance)


def _refuse_idle_options(arguments: argparse.Namespace) -> None:
    """Raise `ConfigurationError` for options that would have no effect, or the same place."""
    if arguments.table is None and arguments.plan:
        for option in ('output', 'validate', 'plot', 'json'):
            if value := getattr(arguments, option):
                raise ConfigurationError(f'--{option}', value, 'a table of measured poses with it')
    if arguments.table is not None and arguments.plan and not arguments.poses:
        raise ConfigurationError('--poses', None, 'a file: the changes go to standard output')


def _read(arguments: argparse.Namespace, path: str) -> Observations:
    """Read a table, or the rests of a bag."""
    if is_bag(Path(path)):
        noise = arguments.stroke_noise
        found, lost = read_rests(path, dict(arguments.topic), stroke_noise=noise)
        if lost:
            tell(f'{path}: {lost} pose(s) not finite or without a quaternion of norm 1 left out')
        return found
    return read_observations(path)


def _read_others(
    arguments: argparse.Namespace, platform: Platform, used: Observations
) -> Observations:
    """Read the poses to judge by; raises `ConfigurationError` where they cannot."""
    found = _read(arguments, arguments.validate)
    if not used.tracked.any():
        expected = 'poses of a tracker in the other table, too'
        raise ConfigurationError('--validate', arguments.validate, expected)
    if not found.tracked.any():
        expected = 'a table with poses of a tracker (x_m, y_m, z_m and a quaternion)'
        raise ConfigurationError('--validate', arguments.validate, expected)
    check_strokes(platform, found)
    return found


def _about_outliers(outliers: Observations, found: Calibration) -> str:
    rows = ', '.join(outliers.source)
    text = f'warning: {rows} contradicts the others and is left out; look at it again'
    if outliers.tracked.any():
        text += f': {accuracy(found.machine, outliers).line()} from where they have it'
    return text


def _about_many(outliers: Observations, count: int) -> str:
    return (
        f'{len(outliers)} of {count} rows contradict the others, and without them these fit: '
        f'{", ".join(outliers.source)}; more than {100.0 * MOST:.0f} % are not left out, look at '
        'what they have in common'
    )


def _tell(
    arguments: argparse.Namespace, found: Calibration, chance: float | None, others: list[str]
) -> None:
    """Print what was found, and say what is doubtful in it and, in `others`, beside it."""
    items, felt = coordinates(found), imu_unknowns(found)
    said = [*remarks(found), *others]
    if arguments.json:
        told = {
            'coordinates': [{**vars(item), 'shown': item.shown} for item in items],
            'imu': [{**vars(item), 'shown': item.shown} for item in felt],
            'misfit_probability': found.misfit,
            **({} if chance is None else {'validation_probability': chance}),
            'remarks': said,
        }
        print(json.dumps(told, indent=2, ensure_ascii=False))
    else:
        for item in (*items, *felt):
            shown = '' if item.shown else '  hardly shown'
            unit = '‰' if item.unit == '1' else f'm{item.unit}'
            print(
                f'{item.name:<20} {1e3 * item.change:+9.4f} {unit}  '
                f'± {1e3 * LEVEL * item.deviation:.4f} {unit}{shown}'
            )
    for remark in said:
        tell(remark)


def _propose(
    arguments: argparse.Namespace,
    platform: Platform,
    noise: Noise,
    prior: Prior,
    found: Calibration | None,
) -> None:
    position, rotation = best_poses(
        platform,
        arguments.plan,
        np.random.default_rng(arguments.seed),
        noise=noise,
        prior=prior,
        covariance=None if found is None else found.covariance,
        machine=Machine.described(platform) if found is None else found.machine,
    )
    table = np.hstack([position, Rotation.from_matrix(rotation).as_quat()])
    write_table(arguments.poses or '-', POSE, table)
