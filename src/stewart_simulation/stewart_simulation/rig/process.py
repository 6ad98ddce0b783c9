# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The rig process: claim the folder, make the wires, serve, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable
import datetime
import gc
from math import inf
import os
from pathlib import Path
import signal
import time

from stewart_driver.rig_file import save_rig
from stewart_simulation.ethercat import namespace
from stewart_simulation.loop import Loop
from stewart_simulation.rig import directory as places
from stewart_simulation.rig.launcher import LONGEST
from stewart_simulation.rig.settings import RigSettings
from stewart_simulation.rig.wires import IDLE, Wires

# A wire without a frame for this long is free [s]: a busy machine can delay a driver by 0.2 s.
QUIET = 0.5


class Lingering:
    """The end of a rig, once it is asked for.

    A Ctrl-C reaches rig and driver at the same instant. Metal is still there while the driver
    brings the legs to rest and makes its outputs safe, and so is this rig.
    """

    def __init__(self) -> None:
        self._asked, self._used = inf, -inf

    def over(self, now: float, *, asked: bool, in_use: bool) -> bool:
        """Tell whether it is time to end.

        Args:
            now: Steady clock [s].
            asked: Whether the end was asked for.
            in_use: Whether anybody drives or reads over a wire.

        Returns:
            True when nobody has used the wires for `QUIET`, or `LONGEST` after it was asked for.
        """
        if in_use:
            self._used = now
        if not asked:
            return False
        self._asked = min(self._asked, now)
        return now - self._used >= QUIET or now - self._asked >= LONGEST


def serve(
    settings: RigSettings, directory: Path, announce: Callable[[dict[str, str]], None]
) -> None:
    """Run a rig until SIGINT or SIGTERM comes, or the parent is gone, and its driver has let go.

    Args:
        settings: What there is.
        directory: Where the ends of the wires shall be.
        announce: Told where they are as soon as everything answers.

    Raises:
        RigError: If a rig runs there already.
        NamespaceError: If this machine does not allow the network that the segment needs.
    """
    parent, ended, lingering = os.getppid(), [], Lingering()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: ended.append(number))
    namespace.die_with_parent(signal.SIGTERM)
    directory = directory.absolute()
    places.claim(directory)
    removed = ''
    try:
        ends = {'directory': str(directory)}
        port = ''
        if settings.ethercat:
            ends['interface'], port, own = namespace.prepare()
            removed = port if own else ''
            ends['namespace'] = '' if own else str(directory / places.NETNS)
            if not own:
                (directory / places.NETNS).symlink_to(f'/proc/{os.getpid()}/ns/net')
        wires = Wires(settings, directory, port)
        try:
            ends |= wires.ends()
            save_rig(ends['rig_file'], wires.sheet(datetime.date.today()))
            loop = Loop()
            wires.register(loop)
            announce(ends)
            gc.collect()
            gc.freeze()

            def over() -> bool:
                asked = bool(ended) or os.getppid() != parent
                now = time.monotonic()
                return lingering.over(now, asked=asked, in_use=wires.in_use(now))

            loop.run(wires.turn, over, IDLE)
        finally:
            wires.close()
    finally:
        places.sweep(directory)
        if removed:
            namespace.disconnect(removed)
