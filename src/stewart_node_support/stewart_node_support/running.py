# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Run nodes in one executor, and end with exit code 0 when asked to."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, ExitStack, nullcontext
from functools import partial
import os
from pathlib import Path
import sys
from typing import Any, Protocol

import rclpy
from rclpy.executors import Executor, ExternalShutdownException
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from stewart_node_support.errors import is_deliberate, sentence_of, StartUpError
from stewart_node_support.executor import make_executor
from stewart_node_support.lifecycle import autostart, take_down
from stewart_node_support.log_folder import log_arguments
from stewart_node_support.only_here import only_here
from stewart_node_support.parameters import files_of, require_known
from stewart_node_support.stop_signals import StopSignals
from stewart_tables.short_collections import short_collections

PROFILES = Path(__file__).with_name('fast_dds.xml')
# Either names the settings of Fast DDS; other middleware heeds neither.
PROFILE_VARIABLES = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')

DISCOVERY_VARIABLES = (
    'ROS_AUTOMATIC_DISCOVERY_RANGE',
    'ROS_STATIC_PEERS',
    'ROS_LOCALHOST_ONLY',
)
"""Each says whom nodes look for; the first is the one that we set."""


def on_this_machine() -> dict[str, str]:
    """Return what keeps the graph on this machine; nothing where somebody chose its range."""
    chosen = any(os.environ.get(name) for name in DISCOVERY_VARIABLES)
    return {} if chosen else {DISCOVERY_VARIABLES[0]: 'LOCALHOST'}


@contextmanager
def middleware(args: Sequence[str] | None = None) -> Iterator[None]:
    """Start ROS, and shut it down afterwards; signals are left to the caller.

    Where nobody has chosen settings of Fast DDS, ours are taken: with its own, one of three
    commands to a running rig is heard three seconds late, and who subscribes late to what is
    published in the same process misses the first message. Where nobody has chosen how far the
    graph reaches, it stays on this machine (docs/decisions/0106-the-graph-stays-here.md). Where no
    log file can be written, there is none.

    Args:
        args: Command line for rclpy; ``sys.argv`` by default.

    Raises:
        StartUpError: If ROS does not start, for example with this command line.
    """
    if not any(os.environ.get(name) for name in PROFILE_VARIABLES):
        os.environ[PROFILE_VARIABLES[0]] = str(PROFILES)
    os.environ.update(on_this_machine())
    try:
        rclpy.init(
            args=[*(sys.argv if args is None else args), *log_arguments()],
            signal_handler_options=SignalHandlerOptions.NO,
        )
    # rclpy's errors are RuntimeErrors, and some have no class of their own.
    except RuntimeError as error:
        raise StartUpError(f'ROS does not start: {error}') from error
    try:
        yield
    finally:
        rclpy.try_shutdown()


class Pace(Protocol):
    """How time passes for the nodes of a process, where it does not by itself."""

    def begin(self, nodes: Sequence[Node]) -> None:
        """Take note of the nodes, before any is brought up."""

    def turn(self, executor: Executor) -> None:
        """Call back what is ready; return soon."""


def run(
    factory: Callable[[], Node],
    *,
    args: Sequence[str] | None = None,
    stop: StopSignals | None = None,
) -> None:
    """Be the main function of a node's executable.

    SIGINT, SIGTERM and SIGHUP, at any moment and any number of times, end it with exit code 0;
    lifecycle nodes are deactivated and cleaned up before. The process must end after this call: it
    ignores further signals.

    Args:
        factory: Makes the node; usually its class. One whose attribute ``alone`` is true is the
            only one of its namespace, as `only_here` says.
        args: Command line for rclpy; ``sys.argv`` by default.
        stop: Installed before, where signals are to be heard already during the imports.

    Raises:
        SystemExit: With one sentence on stderr and code 1, if the node cannot start, or ends, for
            a reason that the user can change.
    """
    stop = (stop or StopSignals()).install()
    try:
        if not stop.requested:
            with middleware(args), ExitStack() as held:
                files = files_of(sys.argv if args is None else args)
                _spin([_started(factory, files, stop, held)], stop)
    except Exception as error:
        if not is_deliberate(error):
            raise
        sys.exit(sentence_of(error))
    finally:
        stop.ignore()


def spin(
    nodes: Sequence[Node],
    *,
    task: Callable[[], Coroutine[Any, Any, Any]] | None = None,
    stop: StopSignals | None = None,
    pace: Pace | None = None,
    ready: str = '',
) -> Any:
    """Run several nodes in this process until asked to stop, then take them down.

    Call it inside of `middleware`.

    Args:
        nodes: Taken down from the last to the first, so put the recorder and the driver in front.
        task: Coroutine function run by the executor beside the nodes; the spin ends with it.
        stop: Where a request to stop comes from; by default `StopSignals`, for the time being.
        pace: How time passes; by default as it does.
        ready: Logged once all nodes are up.

    Returns:
        What `task` returned; None without a task or if a request to stop came before its end.

    Raises:
        StartUpError: If a lifecycle node that shall start by itself does not.
    """
    with nullcontext(stop) if stop is not None else StopSignals() as signals:
        return _spin(nodes, signals, pace, task=task, start=True, ready=ready)


def _may_end(nodes: Sequence[Node], stop: StopSignals) -> bool:
    """Tell whether a request to stop is heeded; a node that outlives others has ``may_end``."""
    return stop.requested and all(getattr(node, 'may_end', True) for node in nodes)


def _started(
    factory: Callable[[], Node], files: Sequence[Path], stop: StopSignals, held: ExitStack
) -> Node:
    node = factory()
    try:
        require_known(node, files)
        if getattr(node, 'alone', False):
            held.enter_context(only_here(node.get_namespace()))
        autostart(node, lambda: stop.requested)
    except Exception:
        take_down(node)
        raise
    return node


def _spin(
    nodes: Sequence[Node],
    stop: StopSignals,
    pace: Pace | None = None,
    *,
    task: Callable[[], Coroutine[Any, Any, Any]] | None = None,
    start: bool = False,
    ready: str = '',
) -> Any:
    executor = make_executor(context=nodes[0].context)
    with ExitStack() as stack:
        stack.callback(executor.shutdown)
        for node in nodes:
            stack.callback(take_down, node)
            executor.add_node(node)
        turn = executor.spin_once if pace is None else partial(pace.turn, executor)
        if pace is not None:
            pace.begin(nodes)
        for node in nodes if start else ():
            autostart(node, lambda: stop.requested)
        if ready and not stop.requested:
            nodes[0].get_logger().info(ready)
        stack.enter_context(short_collections())
        # A task is what ends the executor's wait; its guard condition alone starts the next one.
        stop.on_request(lambda: executor.create_task(lambda: None))
        stack.callback(stop.on_request, None)
        pending = None if task is None else executor.create_task(task)
        try:
            while not (_may_end(nodes, stop) or (pending is not None and pending.done())):
                turn()
        except ExternalShutdownException:
            pass
        if pending is None:
            return None
        if pending.done():
            return pending.result()
        pending.cancel()
        return None
