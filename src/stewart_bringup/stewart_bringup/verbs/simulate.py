# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart simulate``: a rig in simulated time without ROS, as fast as this machine can."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
import json
from math import isfinite
from pathlib import Path
import time
from typing import TYPE_CHECKING

from stewart_bringup.errors import BringupError
from stewart_bringup.rigs import available, config_file
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.verbs.arguments import SIX, typed_pose
from stewart_tables.numbers import positive_up_to, whole_from
from stewart_tables.progress import show_part, tell

if TYPE_CHECKING:
    from stewart_bringup.simulation.pipeline import Outcome, Pipeline
    from stewart_kinematics.motion import Pose

LONGEST = 86400.0
"""Duration that can be asked for: a day, two gigabytes of bag [s]."""

HELP = 'play a motion on a simulated rig without ROS, in simulated time, and write its bag'

DETAILS = """
The same cores with the same YAML files as `stewart run`: trajectory, guard, inverse kinematics,
feed-forward, control loop, simulated drives, forward kinematics, and the state estimator where
the rig has an IMU. Time is simulated: the run takes as long as it computes, and the same seed
gives the same messages on every run. The bag has the topics that the nodes would publish.

MOTION is a wave's configuration, a multi-sine by name, a CSV or YAML file (waypoints, too), or
`cycloidal` with --to. But for waypoints and moves it grows from rest and shrinks to rest, over 3 s
each unless its YAML file has fade_in and fade_out for its node. Ctrl-C leaves no bag.

examples:
  stewart simulate jonswap -o build/sea
  stewart simulate eq18 --rig ex800 --duration 60 -o build/eq18 --json
  stewart simulate wave.csv --rig vigo -o build/wave
  stewart simulate cycloidal --to 0.05 0 0.02 0 0 5 -o build/move
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add('motion', metavar='MOTION', help='what is played, see below')
    add('-o', '--output', type=Path, metavar='BAG', help='bag to write; it must not exist')
    add(
        '--rig',
        default='vigo',
        metavar='NAME',
        help=f'name of a rig ({", ".join(available("rig"))}) or its YAML file (default: vigo)',
    )
    add(
        '--duration',
        type=positive_up_to(LONGEST),
        metavar='S',
        help='how long the motion is played before it fades out, or how long a move takes [s] '
        '(default: 15 for a motion without an end)',
    )
    add(
        '--to',
        type=float,
        nargs=6,
        metavar=SIX,
        help='target of a move, relative to the neutral pose [m, deg]',
    )
    add('--seed', type=whole_from(0), metavar='N', help='seed of the sea and of all noise')
    add(
        '--estimate',
        action=argparse.BooleanOptionalAction,
        default=None,
        help='simulate an IMU and estimate the state (default: where the rig has an estimator)',
    )
    add(
        '--storage',
        choices=['mcap', 'sqlite3'],
        help='how messages lie on disk (default: as the rig has it)',
    )
    add('--json', action='store_true', help='print the summary as one JSON object')


def main(arguments: argparse.Namespace) -> int:
    """Simulate."""
    from stewart_bags.errors import BagExists
    from stewart_bags.whole_bags import whole_bag
    from stewart_bags.writing import Storage
    from stewart_bringup.simulation.bags import SeriesWriter
    from stewart_bringup.simulation.series import Series

    path: Path | None = arguments.output
    if path is not None and path.exists():
        raise BagExists(path)
    pipeline, storage = _pipeline(arguments)
    if pipeline.remark:
        tell(pipeline.remark)
    begin = time.perf_counter()
    with (
        show_part(f'simulating {arguments.motion}') as progress,
        whole_bag(path, Storage(storage)) if path else nullcontext() as writer,
    ):
        take = SeriesWriter(writer).write if writer else Series.clear

        def on_second() -> None:
            progress(pipeline.part)
            take(pipeline.series)

        outcome = pipeline.run(on_second)
    _tell(outcome, time.perf_counter() - begin, arguments)
    if outcome.reason:
        raise BringupError(f'the motion was not played to its end: {outcome.reason}')
    return 0


def _pipeline(arguments: argparse.Namespace) -> tuple[Pipeline, str]:
    """Return the rig with its motion, and the storage that its recorder uses."""
    from stewart_bringup.simulation.motions import CYCLOIDAL, files_of, MOVE, source_of
    from stewart_bringup.simulation.pipeline import Pipeline
    from stewart_bringup.simulation.rig_parameters import RigParameters
    from stewart_kinematics.model.shared_platform import load_platform
    from stewart_kinematics.spatial import compose_poses

    files, overrides = files_of(arguments.motion)
    source = source_of(files, overrides)
    # Of the motions of that node only a file of waypoints knows where to go.
    waypoints = source == CYCLOIDAL and not files and arguments.motion != MOVE
    if (source == CYCLOIDAL and not waypoints) != (arguments.to is not None):
        raise ConfigurationError('--to', arguments.to, 'a target for cycloidal, and for it alone')
    if waypoints and arguments.duration is not None:
        expected = 'no duration for a file of waypoints: it says how fast and how long'
        raise ConfigurationError('--duration', arguments.duration, expected)
    files = [config_file('rig', arguments.rig), *files]
    parameters = RigParameters(files, overrides)
    if arguments.seed is not None:
        parameters.seed(arguments.seed)
    target: Pose | Path | None = Path(arguments.motion) if waypoints else None
    if arguments.to is not None:
        platform = load_platform(parameters.value('inverse_kinematics', 'platform', 'vigo'))
        target = compose_poses(platform.geometry.neutral_pose, typed_pose('--to', arguments.to))
    pipeline = Pipeline(
        parameters, source, duration=arguments.duration, target=target, estimate=arguments.estimate
    )
    return pipeline, arguments.storage or parameters.value('recorder', 'storage', 'mcap')


def _known(value: float) -> float | None:
    return value if isfinite(value) else None


def _tell(outcome: Outcome, took: float, arguments: argparse.Namespace) -> None:
    """Print the summary."""
    ratio = outcome.duration / took
    if arguments.json:
        summary = {
            'duration_s': outcome.duration,
            'took_s': round(took, 3),
            'real_time_factor': round(ratio, 2),
            'path_position_m': _known(outcome.path_position),
            'path_rotation_rad': _known(outcome.path_rotation),
            'messages': outcome.messages,
            'bag': None if arguments.output is None else str(arguments.output),
            'ended': outcome.reason or 'played to its end',
            'last_refusal': outcome.last_refusal or None,
        }
        print(json.dumps(summary, allow_nan=False))
        return
    total = sum(outcome.messages.values())
    tell(
        f'{outcome.duration:.2f} s simulated in {took:.2f} s, {ratio:.1f} times real time; '
        f'{total} messages; largest tracking error {1e3 * outcome.path_position:.4f} mm, '
        f'{1e3 * outcome.path_rotation:.4f} mrad'
    )
    if arguments.output is not None:
        print(arguments.output)
