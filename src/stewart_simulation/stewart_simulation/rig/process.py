# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The rig process: claim the folder, make the wires, serve, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable
import datetime
import gc
import os
from pathlib import Path
import signal
import time

from stewart_driver.rig_file import save_rig
from stewart_simulation.ethercat import launcher, namespace
from stewart_simulation.loop import Loop
from stewart_simulation.rig import directory as places
from stewart_simulation.rig.lingering import Lingering
from stewart_simulation.rig.settings import RigSettings
from stewart_simulation.rig.wires import IDLE, Wires


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
            ends['interface'], port, own = launcher.prepare()
            removed = port if own else ''
            ends['namespace'] = '' if own else str(directory / places.NETNS)
            if not own:
                (directory / places.NETNS).symlink_to(f'/proc/{os.getpid()}/ns/net')
        wires = Wires(settings, directory, port)
        try:
            ends |= _describe(wires, settings, directory)
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


def _describe(wires: Wires, settings: RigSettings, directory: Path) -> dict[str, str]:
    """Write the machine's sheet; return where everything is."""
    ends = {
        'control': str(directory / places.CONTROL),
        'truth': str(directory / places.TRUTH),
        'rig_file': str(directory / places.RIG_FILE),
    }
    if settings.card:
        ends['card'] = str(directory / places.CARD)
    if wires.sensor is not None:
        ends['imu'] = wires.sensor.path
    today = datetime.date.today()
    save_rig(ends['rig_file'], wires.machine.sheet(settings, today))
    return ends
