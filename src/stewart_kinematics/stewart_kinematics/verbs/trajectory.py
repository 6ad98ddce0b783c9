# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The verb ``stewart trajectory``: make a motion, check it and write its samples."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from stewart_kinematics.errors import MotionRefused, TrajectoryError
from stewart_kinematics.limits.fitting import sample_times
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import check, checked_instants, plan_move
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.motion_csv import read_motion
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.spatial import compose_poses
from stewart_kinematics.trajectories import (
    Circle,
    Faded,
    multi_sine,
    MultiSine,
    OrbitalWave,
    Trajectory,
)
from stewart_kinematics.trajectories.spectrum import significant_height
from stewart_kinematics.trajectories.stopping import REST_VELOCITY
from stewart_kinematics.verbs.arguments import (
    add_examples,
    add_output,
    add_platform,
    add_reference,
    SIX,
    typed_pose,
    write_watched,
)
from stewart_tables.columns import ACCELERATION, POSE, TIME, TWIST
from stewart_tables.numbers import not_negative, not_zero, positive, positive_up_to
from stewart_tables.outputs import add_picture_argument, save_picture
from stewart_tables.progress import show_part, tell
from stewart_tables.settings import rules

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

SEA = {
    '--spectrum': 'spectrum',
    '--hs': 'significant_height',
    '--tp': 'peak_period',
    '--gamma': 'peak_enhancement',
    '--waves': 'components',
    '--seed': 'seed',
    '--attack-deg': 'attack_angle_deg',
    '--scaling': 'scaling',
    '--fraction': 'fraction',
}
"""Options of a sea: parameters of the ocean node, with its defaults and limits."""

FADE: dict[str, Any] = {
    'type': not_negative,
    'default': 2.0,
    'help': 'rise from rest at the neutral pose and fall back to it [s], 0 for none '
    '(default: %(default)g)',
}

Make = Callable[[argparse.Namespace, Platform, MotionGuard], Trajectory]
Kinds: TypeAlias = 'argparse._SubParsersAction[argparse.ArgumentParser]'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add one sub-command per kind of motion; each leaves its `Make` in the attribute ``make``."""
    from stewart_kinematics.nodes.parameters import OceanTrajectoryParameters

    add_examples(parser, EXAMPLES)
    kinds = parser.add_subparsers(dest='kind', required=True, metavar='KIND')
    text = 'a point-to-point move from rest to rest'
    parser = _kind(kinds, 'cycloidal', text, _cycloidal, duration='the shortest possible')
    add = parser.add_argument
    pose: dict[str, Any] = {'type': float, 'nargs': 6, 'metavar': SIX}
    add('--to', dest='target', required=True, help='target [m, deg]', **pose)
    add('--from', dest='start', help='start [m, deg] (default: the neutral pose)', **pose)
    add_reference(parser, 'pose from which --from and --to count')
    text = 'fraction of the limits to use, in (0, 1] (default: 1)'
    add('--scale', type=positive_up_to(1.0), default=1.0, help=text)

    add = _kind(kinds, 'ocean', 'a sea from a spectrum, or from given waves', _ocean).add_argument
    add('--fade', **FADE | {'default': OceanTrajectoryParameters.fade_in})
    known = {rule.name: rule for rule in rules(OceanTrajectoryParameters)}
    for option, name in SEA.items():
        rule = known[name]
        text = f'{rule.metadata["description"]} (default: %(default)s)'
        choices = rule.metadata['choices']
        what: dict[str, Any] = {'choices': choices} if choices else {'type': rule.typed}
        add(option, dest=name, default=rule.default, help=text, **what)
    wave: dict[str, Any] = {'type': float, 'nargs': 4, 'metavar': ('A', 'T', 'L', 'PHASE')}
    text = 'a wave instead of the spectrum [m, s, m, deg]; may be repeated'
    add('--component', action='append', help=text, **wave)

    text = 'a horizontal circle about the neutral pose'
    add = _kind(kinds, 'circle', text, _circle).add_argument
    add('--fade', **FADE)
    add('--radius', type=positive, default=0.05, help='[m] (default: %(default)s)')
    add('--period', type=not_zero, default=5.0, help='[s], negative: from y to x (default: 5)')

    add = _kind(kinds, 'multisine', 'sums of sines in six axes', _multisine).add_argument
    add('--fade', **FADE)
    names = ', '.join(multi_sine.shipped())
    add('--motion', required=True, help=f'YAML file, or one of: {names}')

    parser = _kind(kinds, 'sampled', 'recorded poses, resampled', _sampled, duration='all of them')
    add = parser.add_argument
    text = "CSV file with absolute poses; of a bag: 'stewart bag BAG --csv platform/pose'"
    add('--motion', required=True, metavar='FILE', help=text)
    text = 'rise from rest at the first pose and fall back to it [s] (default: 0, none)'
    add('--fade', type=not_negative, default=0.0, help=text)


def _kind(
    kinds: Kinds, name: str, text: str, make: Make, *, duration: float | str = 15.0
) -> argparse.ArgumentParser:
    """Add a sub-command with what all of them take."""
    parser = kinds.add_parser(name, help=text, description=text)
    parser.set_defaults(make=make)
    add = parser.add_argument
    add_platform(parser)
    add('--rate', type=positive, default=100.0, help='samples per second [Hz] (default: 100)')
    number = None if isinstance(duration, str) else duration
    add('--duration', type=positive, default=number, help=f'[s] (default: {duration})')
    add('--force', action='store_true', help='write it even if the platform may not do it')
    add_picture_argument(parser)
    add_output(parser, 'CSV file')
    return parser


def main(arguments: argparse.Namespace) -> int:
    """Make, check, write and draw; return the exit code."""
    platform = Platform.from_yaml(arguments.platform)
    if arguments.duration is not None:
        # What has too many samples is refused before it is made, which may take long.
        sample_times(arguments.duration, arguments.rate)
    guard = MotionGuard(platform)
    trajectory: Trajectory = arguments.make(arguments, platform, guard)
    time = _times(trajectory, arguments.rate)
    motion = trajectory.sample(time)
    if sentence := _broken(trajectory, time, motion, guard):
        if not arguments.force:
            raise TrajectoryError(sentence)
        tell(f'leaves what {platform.name} may do: {sentence}')
    _write(arguments.output, time, motion)
    if arguments.plot is not None:
        _plot(arguments.plot, platform, time, motion)
    tell(f'{time.size} samples, {trajectory.duration:.4g} s')
    return 0


def _broken(trajectory: Trajectory, time: Array, motion: Motion, guard: MotionGuard) -> str:
    """Say when and how a motion breaks a limit, at its samples (n,) or between; empty: nowhere."""
    try:
        guard.check(motion)
        guard.check_jerk(motion, time)
    except MotionRefused as refusal:
        return f'after {time[refusal.violation.index or 0]:.3f} s {refusal}'
    try:
        check(trajectory, guard)
    except MotionRefused as refusal:
        found = refusal.violation
        when = checked_instants(trajectory)[found.index or 0]
        return f'after {when:.3f} s {MotionRefused(replace(found, index=None))}'
    return ''


def write_motion(target: str, trajectory: Trajectory, rate: float) -> None:
    """Write the samples of a motion, at a rate [Hz], to a CSV file or standard output."""
    time = _times(trajectory, rate)
    _write(target, time, trajectory.sample(time))


def _write(target: str, time: Array, motion: Motion) -> None:
    columns = TIME, *POSE, *TWIST, *ACCELERATION
    write_watched(target, columns, np.column_stack([time, *motion.parts()]))


def _times(trajectory: Trajectory, rate: float) -> Array:
    """Return the times of the samples; one more than fits if the motion then rests."""
    time = sample_times(trajectory.duration, rate)
    end = trajectory.sample(trajectory.duration)
    if time[-1] < trajectory.duration - 1e-9 and np.abs(end.twist).max() < REST_VELOCITY:
        return np.append(time, time.size / rate)
    return time


def _plot(path: str, platform: Platform, time: Array, motion: Motion) -> None:
    from matplotlib.figure import Figure
    from stewart_kinematics.plotting import plot_motion

    figure = Figure(figsize=(11, 12), layout='constrained')
    plot_motion(figure, time, motion, inverse(platform.geometry, motion).stroke, platform.kind)
    save_picture(figure, path)


def _cycloidal(
    arguments: argparse.Namespace, platform: Platform, guard: MotionGuard
) -> Trajectory:
    reference = platform.geometry.named_pose(arguments.relative_to)
    start = platform.geometry.neutral_pose
    if arguments.start is not None:
        start = compose_poses(reference, typed_pose('--from', arguments.start))
    target = compose_poses(reference, typed_pose('--to', arguments.target))
    return plan_move(start, target, guard, duration=arguments.duration, scale=arguments.scale)


def _ocean(arguments: argparse.Namespace, platform: Platform, guard: MotionGuard) -> Trajectory:
    from stewart_kinematics.nodes.parameters import OceanTrajectoryParameters

    chosen = {name: getattr(arguments, name) for name in SEA.values()}
    if arguments.component:
        columns = zip(*arguments.component, strict=True)
        chosen |= zip(('amplitudes', 'periods', 'lengths', 'phases_deg'), columns, strict=True)
    sea = OceanTrajectoryParameters(duration=arguments.duration, **chosen)
    with show_part('fitting the sea') as progress:
        wave, _, factor = sea.motion(guard, progress)
    if sea.scaling != 'none':
        height = f'significant height {significant_height(wave.components):.4g} m'
        tell(f'{sea.scaling} factor {factor:.4g}: {height}')
    return _faded(wave, arguments)


def _circle(arguments: argparse.Namespace, platform: Platform, guard: MotionGuard) -> Trajectory:
    frequency = 2.0 * np.pi / arguments.period
    return _faded(Circle(platform.geometry.neutral_pose, arguments.radius, frequency), arguments)


def _multisine(
    arguments: argparse.Namespace, platform: Platform, guard: MotionGuard
) -> Trajectory:
    neutral = platform.geometry.neutral_pose
    return _faded(multi_sine.from_yaml(arguments.motion, neutral), arguments)


def _sampled(arguments: argparse.Namespace, platform: Platform, guard: MotionGuard) -> Trajectory:
    samples, fade = read_motion(Path(arguments.motion)), arguments.fade
    duration = np.inf if arguments.duration is None else arguments.duration
    return Faded(samples, samples.sample(0.0).pose, fade, fade, duration)


def _faded(
    trajectory: Circle | MultiSine | OrbitalWave, arguments: argparse.Namespace
) -> Trajectory:
    """Begin and end at rest at the trajectory's centre, unless no fading is asked for."""
    fade = arguments.fade
    return Faded(trajectory, trajectory.centre, fade, fade, arguments.duration)
