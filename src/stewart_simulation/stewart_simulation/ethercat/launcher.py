# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A segment in a process of its own, and a master beside it in the same private network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import os
from pathlib import Path
import pkgutil
import signal
import sys
import time
import traceback

from stewart_simulation.ethercat import namespace
from stewart_simulation.ethercat.errors import NamespaceError, SegmentError
from stewart_simulation.ethercat.omron_1s import DriveType
from stewart_simulation.ethercat.responder import Responder
from stewart_simulation.ethercat.segment import Segment

INTERFACE, CONTROL = 'STEWART_ETHERCAT_INTERFACE', 'STEWART_ETHERCAT_CONTROL'
READY = b'+'


@dataclass(frozen=True)
class Setup:
    """What is simulated.

    Attributes:
        types: The drives in the order of the cable.
        model: ``module:function`` that makes the mechanics for a number of drives; empty for axes
            that follow with a lag.
        control, script: Socket for faults, and timed faults.
        seed: Decides which frames get lost at random.
    """

    types: Sequence[DriveType]
    model: str = ''
    control: Path | None = None
    script: Path | None = None
    seed: int = 0

    def responder(self, interface: str) -> Responder:
        """Build the segment and take hold of an interface."""
        model = pkgutil.resolve_name(self.model)(len(self.types)) if self.model else None
        segment = Segment(self.types, time.monotonic_ns, model)
        return Responder(
            segment, interface, control=self.control, script=self.script, seed=self.seed
        )


def prepare() -> tuple[str, str, bool]:
    """Make the wire between master and segment.

    In a namespace of our own where the machine allows it; else, with the capabilities NET_ADMIN
    and NET_RAW, where we are.

    Returns:
        Port of the master, port of the segment, and whether the ports are to be removed.

    Raises:
        NamespaceError: If neither is possible.
    """
    try:
        namespace.enter()
    except NamespaceError as refusal:
        if not namespace.may_use_raw_sockets():
            raise
        ports = f'em{os.getpid()}', f'es{os.getpid()}'
        try:
            namespace.connect(*ports)
        except NamespaceError:
            # Root of a user namespace has capabilities that are worth nothing outside.
            raise refusal from None
        return (*ports, True)
    namespace.connect()
    return namespace.MASTER_PORT, namespace.SEGMENT_PORT, False


def start(setup: Setup) -> str:
    """Start a segment in a child process that ends with this one.

    This process must have one thread; afterwards it is in the private network and may go on as
    the master, or execute it.

    Args:
        setup: What is simulated.

    Returns:
        Interface that the master opens.

    Raises:
        NamespaceError: If this machine does not allow it.
        SegmentError: If the segment did not start.
    """
    master, port, own = prepare()
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
    """Answer on an interface until SIGTERM comes or the parent is gone.

    Args:
        setup: What is simulated.
        port: Interface of the segment.
        parent: Process whose end is ours.
        signal_ready: Descriptor that gets one octet as soon as frames are answered; none if
            negative.
        remove: Port to remove at the end.

    Returns:
        Exit code.
    """
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: ended.append(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    namespace.die_with_parent(signal.SIGTERM)
    try:
        responder = setup.responder(port)
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
