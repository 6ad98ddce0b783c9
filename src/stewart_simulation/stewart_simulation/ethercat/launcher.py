# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A segment in a process of its own, and a master beside it in the same private network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


class Responder:
    """Answers EtherCAT frames, and nothing else, that arrive at an interface."""

    def __init__(self, setup: Setup, interface: str) -> None:
        segment = Segment(setup.types, time.monotonic_ns)
        line = Line(segment, setup.seed)
        faults = Faults(segment, line)
        self._script = Script(setup.script, faults) if setup.script else None
        self._port = Port(interface, line)
        self._control = ControlServer(setup.control, faults) if setup.control else None
        self._loop = Loop()
        self._loop.watch(self._port.fileno(), self._port.answer)
        if self._control:
            self._loop.serve(self._control)

    def run(self, ended: Callable[[], bool]) -> None:
        """Answer until told to end; between frames the drives go on by themselves."""
        gc.collect()
        gc.freeze()
        self._loop.run(self._turn, ended, IDLE)

    def _turn(self, now: float) -> float:
        if self._script:
            self._script.play(now)
        return self._port.turn(now)

    def close(self) -> None:
        """Let go of the interface and of the control socket."""
        self._loop.close()
        self._port.close()
        if self._control:
            self._control.close()


def start(setup: Setup) -> str:
    """Start a segment in a child process that ends with this one.

    This process must have one thread; afterwards it is in the private network and may go on as
    the master, or execute it.

    Returns:
        Interface that the master opens.

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
        try:
            code = serve(setup, port, parent, signal_ready, port if own else None)
        except BaseException:
            traceback.print_exc()
            code = 1
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(signal_ready)
    with os.fdopen(ready, 'rb') as stream:
        if stream.read(1) != READY:
            raise SegmentError('the segment did not start')
    return master


def serve(
    setup: Setup, port: str, parent: int, signal_ready: int = -1, remove: str | None = None
) -> int:
    """Answer on an interface until SIGTERM comes or the parent is gone; return an exit code.

    Args:
        setup: What is simulated.
        port: Interface of the segment.
        parent: Process whose end is ours.
        signal_ready: Descriptor that gets one octet when frames are answered; none if negative.
        remove: Port to remove at the end.
    """
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: ended.append(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    namespace.die_with_parent(signal.SIGTERM)
    try:
        responder = Responder(setup, port)
    except (SegmentError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    if signal_ready >= 0:
        os.write(signal_ready, READY)
        os.close(signal_ready)
    try:
        responder.run(lambda: bool(ended) or os.getppid() != parent)
    finally:
        responder.close()
        if remove:
            namespace.disconnect(remove)
    return 0
