# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart record``: topics into a bag, until Ctrl-C."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path
import sys
import time

from stewart_bags.errors import BagExists
from stewart_bags.verbs.graph import graph_name, ros_session
from stewart_bags.writing import Compression, Storage
from stewart_tables.errors import counted
from stewart_tables.numbers import positive
from stewart_tables.progress import LiveLine, tell

CLOCK_PATIENCE = 2.0
"""So long nothing is said of a simulated time that nobody tells [s]."""

HELP = 'record topics into a bag, until Ctrl-C'

DETAILS = """
Ctrl-C and SIGTERM close the bag. After a kill or a full disk 'stewart bag BAG --rescue NEW' saves
all but the last half second.

examples:
  stewart record -o run_1
  stewart record -o run_1 --use-sim-time
  stewart record /setpoint /actuator_states --duration 60 --storage sqlite3
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add = parser.add_argument
    add('topics', nargs='*', type=graph_name, help='topics to record (default: all that are seen)')
    output = 'directory of the bag (default: bag_<date>_<time>); must not exist'
    add('-o', '--output', help=output)
    for name, kind, text in (
        ('storage', Storage, 'how messages lie on disk (default: %(default)s)'),
        (
            'compression',
            Compression,
            'what is compressed with zstd: chunks of mcap, messages of sqlite3, or the file '
            'when it is closed (default: %(default)s)',
        ),
    ):
        choices = [item.value for item in kind]
        add(f'--{name}', choices=choices, default=choices[0], help=text)
    in_simulation = 'bag time is that of /clock, as for a rig in simulated time'
    add('--use-sim-time', action='store_true', help=in_simulation)
    add('--duration', type=positive, metavar='SECONDS', help='end after this time [s]')


def main(arguments: argparse.Namespace) -> int:
    """Record."""
    output = arguments.output or f'bag_{datetime.now():%Y_%m_%d_%H_%M_%S}'
    if Path(output).exists():
        raise BagExists(Path(output))
    values = {
        'output': output,
        'topics': arguments.topics,
        'storage': arguments.storage,
        'compression': arguments.compression,
    }
    progress = LiveLine(sys.stderr)
    with ros_session() as stop:
        from rclpy.clock import Clock, ClockType
        from rclpy.parameter import Parameter
        from stewart_bags.nodes.recorder import Recorder
        from stewart_node_support.running import spin

        overrides = [
            # rclpy cannot tell the type of an empty list.
            *(Parameter(name, value=item) for name, item in values.items() if item),
            Parameter('use_sim_time', value=arguments.use_sim_time),
        ]
        recorder = Recorder(parameter_overrides=overrides)
        recording = recorder.recording
        wanted = {recorder.resolve_topic_name(name) for name in arguments.topics}
        begin = time.monotonic()

        def show() -> None:
            elapsed = time.monotonic() - begin
            progress.show(
                f'{elapsed:7.1f} s  {sum(recording.counts.values())} messages on '
                f'{len(recorder.topics)} topics  {recording.size / 1e6:.1f} MB  '
                f'{recorder.lost} lost'
            )
            if arguments.duration is not None and elapsed >= arguments.duration:
                stop.request()

        def doubt() -> None:
            doubting.cancel()
            if not recorder.count_publishers('/clock'):
                tell('stewart record: nobody publishes /clock: until then nothing is recorded')

        # Simulated time may stand still, or end before the duration does.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        recorder.create_timer(0.2, show, clock=steady)
        if arguments.use_sim_time:
            doubting = recorder.create_timer(CLOCK_PATIENCE, doubt, clock=steady)
        try:
            spin([recorder], stop=stop)
        finally:
            progress.end()
    _summarise(output, recording.counts, recording.size, recorder.lost)
    empty = ', '.join(sorted(topic for topic in wanted if not recording.counts.get(topic)))
    if empty:
        tell(f'stewart record: nothing came on {empty}')
    return 0


def _summarise(output: str, counts: dict[str, int], size: int, lost: int) -> None:
    taken = counted(sum(counts.values()), 'message')
    tell(f'{output}: {taken}, {size / 1e6:.1f} MB, {lost} lost')
    for topic, count in sorted(counts.items()):
        tell(f'  {count:8d}  {topic}')
