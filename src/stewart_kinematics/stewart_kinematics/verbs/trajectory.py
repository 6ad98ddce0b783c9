# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The verb ``stewart trajectory``: make a motion, check it and write its samples."""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from stewart_kinematics.errors import MotionRefused, TrajectoryError
from stewart_kinematics.limits.fitting import sample_times
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.planning import check, checked_instants
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.trajectories import Trajectory
from stewart_kinematics.trajectories.stopping import REST_VELOCITY
from stewart_kinematics.verbs.arguments import add_examples, write_watched
from stewart_kinematics.verbs.motion_kinds import add_kinds
from stewart_tables.columns import ACCELERATION, POSE, TIME, TWIST
from stewart_tables.outputs import save_picture
from stewart_tables.progress import tell

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add one sub-command per kind of motion."""
    add_examples(parser, EXAMPLES)
    kinds = parser.add_subparsers(dest='kind', required=True, metavar='KIND')
    add_kinds(kinds)


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
