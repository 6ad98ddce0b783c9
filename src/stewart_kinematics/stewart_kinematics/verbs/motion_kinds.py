# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of motion that ``stewart trajectory`` makes: what each takes, and how it is made."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
import sys

import numpy as np
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Pose
from stewart_kinematics.motion_csv import read_motion
from stewart_kinematics.motion_guard import MotionGuard
from stewart_kinematics.planning import plan_move
from stewart_kinematics.platform import Platform
from stewart_kinematics.spatial import compose_poses
from stewart_kinematics.trajectories import (
    AiryWave,
    Circle,
    Faded,
    Jonswap,
    multi_sine,
    MultiSine,
    OrbitalWave,
    Trajectory,
)
from stewart_kinematics.trajectories.scaling import fit_froude, fit_plain
from stewart_kinematics.trajectories.spectrum import significant_height
from stewart_kinematics.trajectories.trajectory import finite
from stewart_kinematics.verbs.poses import SIX, typed_pose
from stewart_kinematics.verbs.table_arguments import reference_pose
from stewart_tables.outputs import output_stream
from stewart_tables.pictures import add_picture_argument
from stewart_tables.progress import show_part

Make = Callable[[argparse.Namespace, Platform, MotionGuard], Trajectory]


def add_kinds(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add one sub-command per kind; each leaves its maker, a `Make`, in the attribute ``make``.

    Args:
        kinds: Where sub-commands are added.
    """
    for add in (_add_cycloidal, _add_ocean, _add_circle, _add_multisine, _add_sampled):
        add(kinds)


def _cycloidal(
    arguments: argparse.Namespace, platform: Platform, guard: MotionGuard
) -> Trajectory:
    reference = reference_pose(platform.geometry, arguments.relative_to)
    start = platform.geometry.neutral_pose
    if arguments.start is not None:
        start = _pose('--from', arguments.start, reference)
    return plan_move(
        start,
        _pose('--to', arguments.target, reference),
        guard,
        duration=arguments.duration,
        scale=arguments.scale,
    )


def _ocean(arguments: argparse.Namespace, platform: Platform, guard: MotionGuard) -> Trajectory:
    if arguments.component:
        sea = tuple(AiryWave(a, t, l, np.radians(p)) for a, t, l, p in arguments.component)
    else:
        gamma = 1.0 if arguments.spectrum == 'pierson-moskowitz' else arguments.gamma
        spectrum = Jonswap(arguments.hs, arguments.tp, gamma)
        sea = spectrum.components(arguments.waves, arguments.seed, bins=arguments.bins)
    wave = OrbitalWave(
        sea,
        platform.geometry.neutral_pose,
        attack_angle=np.radians(arguments.attack_deg),
        position=arguments.position,
    )
    if arguments.scaling != 'none':
        fit = {'plain': fit_plain, 'froude': fit_froude}[arguments.scaling]
        with show_part('fitting the sea') as progress:
            fitted = fit(
                wave,
                guard,
                arguments.fraction,
                duration=arguments.duration,
                progress=progress,
            )
        wave = fitted.wave
        print(
            f'{arguments.scaling} factor {fitted.factor:.4g}: significant height '
            f'{significant_height(wave.components):.4g} m',
            file=sys.stderr,
        )
    return _faded(wave, arguments)


def _circle(arguments: argparse.Namespace, platform: Platform, guard: MotionGuard) -> Trajectory:
    if finite('period', arguments.period, 's') == 0.0:
        raise TrajectoryError(f'period must not be 0 s, got {arguments.period}')
    frequency = 2.0 * np.pi / arguments.period
    return _faded(Circle(platform.geometry.neutral_pose, arguments.radius, frequency), arguments)


def _multisine(
    arguments: argparse.Namespace, platform: Platform, guard: MotionGuard
) -> Trajectory:
    return _faded(
        multi_sine.from_yaml(arguments.motion, platform.geometry.neutral_pose), arguments
    )


def _sampled(arguments: argparse.Namespace, platform: Platform, guard: MotionGuard) -> Trajectory:
    samples = read_motion(Path(arguments.motion))
    fade, duration = arguments.fade, arguments.duration
    return Faded(
        samples, samples.sample(0.0).pose, fade, fade, np.inf if duration is None else duration
    )


def _faded(
    trajectory: Circle | MultiSine | OrbitalWave, arguments: argparse.Namespace
) -> Trajectory:
    """Begin and end at rest at the trajectory's centre, unless no fading is asked for."""
    fade = arguments.fade
    return Faded(trajectory, trajectory.centre, fade, fade, arguments.duration)


def _pose(option: str, numbers: list[float], reference: Pose) -> Pose:
    """Return a pose from x, y, z [m], roll, pitch, yaw [deg], seen from a reference pose."""
    return compose_poses(reference, typed_pose(option, numbers))


def _add_cycloidal(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = 'a point-to-point move from rest to rest'
    parser = _kind(kinds, 'cycloidal', text, _cycloidal, duration='the shortest possible')
    for name, dest, text in (
        ('--to', 'target', 'target [m, deg]'),
        ('--from', 'start', 'start [m, deg]; default: the neutral pose'),
    ):
        parser.add_argument(
            name,
            dest=dest,
            required=dest == 'target',
            type=float,
            nargs=6,
            metavar=SIX,
            help=text,
        )
    parser.add_argument(
        '--relative-to',
        choices=('base', 'zero', 'neutral'),
        default='base',
        help='pose from which --from and --to count (default: %(default)s)',
    )
    parser.add_argument(
        '--scale',
        type=float,
        default=1.0,
        help='fraction of the limits to use, in (0, 1] (default: 1)',
    )


def _add_ocean(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _kind(kinds, 'ocean', 'a sea from a spectrum, or from given waves', _ocean)
    _add_fade(parser)
    add = parser.add_argument
    add(
        '--spectrum',
        choices=('jonswap', 'pierson-moskowitz'),
        default='jonswap',
        help='of a sea that wind has just raised, or of a fully developed one '
        '(default: %(default)s)',
    )
    add('--hs', type=float, default=1.0, help='significant height [m] (default: %(default)s)')
    add('--tp', type=float, default=6.0, help='peak period [s] (default: %(default)s)')
    add('--gamma', type=float, default=3.3, help='peak enhancement (default: %(default)s)')
    add('--waves', type=int, default=60, help='number of components (default: %(default)s)')
    add(
        '--bins',
        choices=('equal_energy', 'equal_frequency'),
        default='equal_energy',
        help='how the spectrum is cut into components (default: %(default)s)',
    )
    add('--seed', type=int, default=0, help='of phases and frequencies (default: %(default)s)')
    add(
        '--component',
        type=float,
        nargs=4,
        action='append',
        metavar=('A', 'T', 'L', 'PHASE'),
        help='a wave instead of the spectrum [m, s, m, deg]; may be repeated',
    )
    add('--attack-deg', type=float, default=0.0, help='direction of travel, from x to y [deg]')
    add('--position', type=float, default=0.0, help='place along the travel [m]')
    add(
        '--scaling',
        choices=('plain', 'froude', 'none'),
        default='plain',
        help='make it fit by its amplitudes, by lengths and times after Froude, or not at all '
        '(default: %(default)s)',
    )
    add(
        '--fraction',
        type=float,
        default=0.6,
        help='largest part of any margin at the centre that may be used (default: 0.6)',
    )


def _add_circle(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _kind(kinds, 'circle', 'a horizontal circle about the neutral pose', _circle)
    _add_fade(parser)
    parser.add_argument('--radius', type=float, default=0.05, help='[m] (default: %(default)s)')
    parser.add_argument(
        '--period', type=float, default=5.0, help='[s], negative: from y to x (default: 5)'
    )


def _add_multisine(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _kind(kinds, 'multisine', 'sums of sines in six axes', _multisine)
    _add_fade(parser)
    names = ', '.join(multi_sine.shipped())
    parser.add_argument('--motion', required=True, help=f'YAML file, or one of: {names}')


def _add_sampled(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _kind(kinds, 'sampled', 'recorded poses, resampled', _sampled, duration='all of them')
    parser.add_argument(
        '--motion',
        required=True,
        metavar='FILE',
        help="CSV file with absolute poses; of a bag: 'stewart bag BAG --csv platform/pose'",
    )
    parser.add_argument(
        '--fade',
        type=float,
        default=0.0,
        help='rise from rest at the first pose and fall back to it [s] (default: 0, none)',
    )


def _kind(
    kinds: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    text: str,
    make: Make,
    duration: float | str = 15.0,
) -> argparse.ArgumentParser:
    """Add a sub-command with what all of them take."""
    parser = kinds.add_parser(name, help=text, description=text)
    parser.set_defaults(make=make)
    add = parser.add_argument
    add('--platform', default='vigo', help='name or YAML file (default: %(default)s)')
    add('--rate', type=float, default=100.0, help='samples per second [Hz] (default: 100)')
    number = None if isinstance(duration, str) else duration
    add('--duration', type=float, default=number, help=f'[s] (default: {duration})')
    add('--force', action='store_true', help='write it even if the platform may not do it')
    add_picture_argument(parser)
    add(
        '-o',
        '--output',
        type=output_stream,
        default='-',
        metavar='FILE',
        help='CSV file; - is standard output',
    )
    return parser


def _add_fade(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--fade',
        type=float,
        default=2.0,
        help='rise from rest at the neutral pose and fall back to it [s], 0 for none (default: 2)',
    )
