# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the verbs share that talk to a rig which runs elsewhere."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Coroutine
import pkgutil
import sys
from typing import Any

from stewart_bags.verbs.graph import ros_session
from stewart_bringup.errors import BringupError
from stewart_tables.progress import LiveLine

PATIENCE = 10.0
"""How long a verb waits for a rig, which may just be starting, to answer [s]."""

REAL_SPEED = 1.0
# What a person writes, and what the node simulation_clock takes for it.
FASTEST, AS_FAST_AS_POSSIBLE = 'max', 0.0
LARGEST = 1000.0


def add_time_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--time`` and ``--speed``."""
    parser.add_argument(
        '--time',
        choices=['real', 'simulated'],
        default='real',
        help='what the rig follows; simulated time goes on when all nodes are done',
    )
    parser.add_argument(
        '--speed',
        type=speed_option,
        default=REAL_SPEED,
        metavar='FACTOR',
        help='simulated seconds per second, or max (default: 1)',
    )


def chosen_speed(arguments: argparse.Namespace) -> float | None:
    """Return simulated seconds per second, 0 for as fast as possible, None for real time.

    Raises:
        BringupError: If real time shall have another speed than its own.
    """
    if arguments.time == 'simulated':
        return float(arguments.speed)
    if arguments.speed != REAL_SPEED:
        raise BringupError('--speed is for --time simulated, real time has its own')
    return None


def speed_of(text: str) -> float:
    """Return simulated seconds per second: of a number, or of ``max``, which is 0.

    Raises:
        BringupError: If it is neither.
    """
    if text == FASTEST:
        return AS_FAST_AS_POSSIBLE
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0.0 < speed <= LARGEST:
        raise BringupError(f'{text} is neither {FASTEST} nor a number in (0, {LARGEST:g}]')
    return speed


def speed_option(text: str) -> float:
    """Return `speed_of` an option, as argparse wants it."""
    try:
        return speed_of(text)
    except BringupError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def on_the_graph(
    operator: str, work: Callable[[Any], Coroutine[Any, Any, Any]], namespace: str
) -> Any:
    """Let an operator work on the ROS graph, and return what comes of it.

    Args:
        operator: Its class in `stewart_bringup.nodes`, as ``module:Class``; imported when signals
            are heard already.
        work: Takes the operator, returns a coroutine.

    Raises:
        RequestRefused: If the rig says no, or nothing.
        StopRequested: If SIGINT or SIGTERM came and `work` did not heed it.
    """
    with ros_session() as stop:
        from rclpy.parameter import Parameter
        from stewart_node_support.running import spin
        from stewart_node_support.stop_signals import StopSignals

        node = pkgutil.resolve_name(f'stewart_bringup.nodes.{operator}')(
            stop, namespace=namespace, parameter_overrides=[Parameter('patience', value=PATIENCE)]
        )
        node.show = LiveLine(sys.stderr).show

        async def task() -> Any:
            return await work(node)

        # It is the operator that heeds a signal: what it has begun may have to be ended.
        return spin([node], task=task, stop=StopSignals())
