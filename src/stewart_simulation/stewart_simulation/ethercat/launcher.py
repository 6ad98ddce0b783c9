# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A segment in a process of its own, and a master beside it in the same private network."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
import gc
import os
from pathlib import Path
import signal
import sys
import time
import traceback

from stewart_simulation.control import ControlServer, Script
from stewart_simulation.errors import SegmentError
from stewart_simulation.ethercat import namespace
from stewart_simulation.ethercat.faults import Faults
from stewart_simulation.ethercat.omron_1s import DriveType
from stewart_simulation.ethercat.port import Port
from stewart_simulation.ethercat.segment import Line, Segment
from stewart_simulation.loop import Loop
from stewart_tables.progress import tell

INTERFACE, CONTROL = 'STEWART_ETHERCAT_INTERFACE', 'STEWART_ETHERCAT_CONTROL'
READY = b'+'
# Longest wait of the loop [s].
IDLE = 5e-3


@dataclass(frozen=True)
class Setup:
    """What is simulated.

    Attributes:
        types: The drives in the order of the cable.
        control, script: Socket for faults, and timed faults.
        seed: Decides which frames get lost at random.
    """

    types: Sequence[DriveType]
    control: Path | None = None
    script: Path | None = None
    seed: int = 0


def start(setup: Setup) -> str:
    """Start a segment in a child process that ends with this one, and return the master's port.

    This process must have one thread; afterwards it is in the private network.

    Raises:
        SegmentError: If the segment did not start, or (`NamespaceError`) may not here.
    """
    master, port, own = namespace.prepare()
    parent = os.getpid()
    ready, signal_ready = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    if os.fork() == 0:
        os.close(ready)
        # Nothing of the caller may run in here: neither its finally clauses nor its exit hooks.
        code = 1
        try:
            serve(setup, port, parent, lambda: os.write(signal_ready, READY), port if own else '')
            code = 0
        except (SegmentError, OSError) as error:
            tell(error)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(signal_ready)
    with os.fdopen(ready, 'rb') as stream:
        if stream.read(1) != READY:
            raise SegmentError('the segment did not start')
    return master


def serve(
    setup: Setup,
    interface: str,
    parent: int,
    ready: Callable[[], object] = lambda: None,
    remove: str = '',
    signals: Collection[signal.Signals] = (signal.SIGTERM,),
) -> None:
    """Answer on an interface until a signal comes or the parent is gone.

    Args:
        interface: Of the segment.
        parent: Process whose end is ours.
        ready: Called when frames are answered.
        remove: Port to remove at the end.
        signals: Those of SIGINT and SIGTERM that end it; the other one is ignored.
    """
    ended: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(
            number,
            (lambda got, _frame: ended.append(got)) if number in signals else signal.SIG_IGN,
        )
    namespace.die_with_parent(signal.SIGTERM)
    with ExitStack() as stack:
        if remove:
            stack.callback(namespace.disconnect, remove)
        segment = Segment(setup.types, time.monotonic_ns)
        line = Line(segment, setup.seed)
        faults = Faults(segment, line)
        script = Script(setup.script, faults) if setup.script else None
        port, loop = Port(interface, line), Loop()
        stack.callback(port.close)
        stack.callback(loop.close)
        loop.watch(port.fileno(), port.answer)
        if setup.control:
            control = ControlServer(setup.control, faults)
            stack.callback(control.close)
            loop.serve(control)
        ready()
        gc.collect()
        gc.freeze()

        def turn(now: float) -> float:
            if script:
                script.play(now)
            return port.turn(now)

        loop.run(turn, lambda: bool(ended) or os.getppid() != parent, IDLE)
