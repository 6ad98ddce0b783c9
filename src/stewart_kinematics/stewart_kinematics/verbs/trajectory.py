# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
The verb ``stewart trajectory``: make a motion, check it and write its samples.

The samples have pose, twist and acceleration (columns in ``docs/conventions.md``). A motion that
leaves what the platform may do is refused; the sentence says when, what and by how much.

"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
import sys

import numpy as np
from stewart_kinematics.csv_tables import ACCELERATION, POSE, TIME, TWIST, write_table
from stewart_kinematics.errors import MotionRefused, TrajectoryError
from stewart_kinematics.inverse import inverse
from stewart_kinematics.motion import Array, Motion, Pose
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
from stewart_kinematics.trajectories.scaling import fit_froude, fit_plain, sample_times
from stewart_kinematics.trajectories.spectrum import significant_height
from stewart_kinematics.trajectories.stopping import REST_VELOCITY
from stewart_kinematics.verbs.pictures import add_picture_argument, save_picture
from stewart_kinematics.verbs.progress import show_part

HELP = 'make a motion (cycloidal, ocean, circle, ...), check it and write it as CSV'

EXAMPLES = """
Motions begin and end at rest at the neutral pose unless they say otherwise. One that leaves what
the platform may do is refused, with the time, the quantity and its bounds.

examples:
  stewart trajectory cycloidal --to 0 0 0.1 0 0 10 --relative-to neutral -o move.csv
  stewart trajectory ocean --hs 1.5 --tp 7 --seed 3 --plot sea.png -o sea.csv
  stewart trajectory ocean --component 0.3 3 14 0 --component 0.1 2 6 45 | stewart ik -o legs.csv
  stewart trajectory multisine --motion ex800_wave --platform ex800 -o wave.csv
'stewart trajectory KIND --help' tells more about one of them.
"""

Make = Callable[[argparse.Namespace, Platform, MotionGuard], Trajectory]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add one sub-command per kind of motion."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    kinds = parser.add_subparsers(dest='kind', required=True, metavar='KIND')
    for add in (_add_cycloidal, _add_ocean, _add_circle, _add_multisine, _add_sampled):
        add(kinds)


def main(arguments: argparse.Namespace) -> int:
    """Make, check, write and draw; return the exit code."""
    platform = Platform.from_yaml(arguments.platform)
    guard = MotionGuard(platform)
    trajectory: Trajectory = arguments.make(arguments, platform, guard)
    time = _times(trajectory, arguments.rate)
    motion = trajectory.sample(time)
    try:
        guard.check(motion)
    except MotionRefused as refusal:
        sentence = f'after {time[refusal.violation.index or 0]:.3f} s {refusal}'
        if not arguments.force:
            raise TrajectoryError(sentence) from refusal
        print(f'leaves what {platform.name} may do: {sentence}', file=sys.stderr)
    samples = np.column_stack(
        [time, motion.position, motion.quaternion_xyzw, motion.twist, motion.acceleration]
    )
    write_table(arguments.output, (TIME, *POSE, *TWIST, *ACCELERATION), samples)
    if arguments.plot is not None:
        _plot(arguments.plot, platform, time, motion)
    print(f'{time.size} samples, {trajectory.duration:.4g} s', file=sys.stderr)
    return 0


def _times(trajectory: Trajectory, rate: float) -> Array:
    """Return the times of the samples; one more than fits if the motion then rests."""
    time = sample_times(trajectory.duration, rate)
    end = trajectory.sample(trajectory.duration)
    if time[-1] < trajectory.duration - 1e-9 and np.abs(end.twist).max() < REST_VELOCITY:
        return np.append(time, time.size / rate)
    return time


def _cycloidal(
    arguments: argparse.Namespace, platform: Platform, guard: MotionGuard
) -> Trajectory:
    reference = {
        'base': Pose.identity(),
        'zero': platform.geometry.zero_pose,
        'neutral': platform.geometry.neutral_pose,
    }[arguments.relative_to]
    start = platform.geometry.neutral_pose
    if arguments.start is not None:
        start = _pose(arguments.start, reference)
    return plan_move(
        start,
        _pose(arguments.target, reference),
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
        fitted = fit(
            wave,
            guard,
            arguments.fraction,
            duration=arguments.duration,
            progress=show_part('fitting the sea'),
        )
        wave = fitted.wave
        print(
            f'{arguments.scaling} factor {fitted.factor:.4g}: significant height '
            f'{significant_height(wave.components):.4g} m',
            file=sys.stderr,
        )
    return _faded(wave, arguments)


def _circle(arguments: argparse.Namespace, platform: Platform, guard: MotionGuard) -> Trajectory:
    if arguments.period == 0.0:
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
    fade, duration = arguments.fade, arguments.duration or np.inf
    return Faded(samples, samples.sample(0.0).pose, fade, fade, duration)


def _faded(
    trajectory: Circle | MultiSine | OrbitalWave, arguments: argparse.Namespace
) -> Trajectory:
    """Begin and end at rest at the trajectory's centre, unless no fading is asked for."""
    fade = arguments.fade
    return Faded(trajectory, trajectory.centre, fade, fade, arguments.duration)


def _pose(numbers: list[float], reference: Pose) -> Pose:
    """Return a pose from x, y, z [m], roll, pitch, yaw [deg], seen from a reference pose."""
    away = Pose.from_rpy(numbers[:3], np.radians(numbers[3:]).tolist())
    return compose_poses(reference, away)


def _plot(path: str, platform: Platform, time: Array, motion: Motion) -> None:
    """Draw motion and strokes into a file."""
    from matplotlib.figure import Figure
    from stewart_kinematics.trajectories.plotting import plot_motion

    figure = Figure(figsize=(11, 12), layout='constrained')
    plot_motion(figure, time, motion, inverse(platform.geometry, motion).stroke)
    save_picture(figure, path)


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
            metavar=('X', 'Y', 'Z', 'ROLL', 'PITCH', 'YAW'),
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
    add('-o', '--output', default='-', metavar='FILE', help='CSV file; - is standard output')
    return parser


def _add_fade(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--fade',
        type=float,
        default=2.0,
        help='rise from rest at the neutral pose and fall back to it [s], 0 for none (default: 2)',
    )
