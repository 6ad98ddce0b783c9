# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The loop that lets a segment answer on a network interface."""

from __future__ import annotations

from collections.abc import Callable
import gc
from pathlib import Path

from stewart_simulation.ethercat.control import ControlServer
from stewart_simulation.ethercat.faults import Faults
from stewart_simulation.ethercat.line import Line
from stewart_simulation.ethercat.port import Port
from stewart_simulation.ethercat.script import Script
from stewart_simulation.ethercat.segment import Segment
from stewart_simulation.loop import Loop

IDLE = 5e-3


class Responder:
    """Answers EtherCAT frames, and nothing else, that arrive at an interface.

    Args:
        segment: Who answers. Its clock must be `time.monotonic_ns`.
        interface: Name of the interface.
        control: Where faults can be asked for.
        script: Faults with their times; see `Script`.
        seed: Decides which frames get lost at random.

    Attributes:
        faults: For calls from the same process.
    """

    def __init__(
        self,
        segment: Segment,
        interface: str,
        *,
        control: Path | None = None,
        script: Path | None = None,
        seed: int = 0,
    ) -> None:
        """Take hold of the interface."""
        self._segment = segment
        line = Line(segment, seed)
        self.faults = Faults(segment, line)
        self._script = Script.load(script, self.faults) if script else None
        self._port = Port(interface, line)
        self._control = ControlServer(control, self.faults) if control else None
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
        self._port.send_late()
        if self._script:
            self._script.play(now)
        if now >= self._segment.due:
            # What has come until now, comes first.
            self._port.answer()
            self._segment.tick(round(1e9 * now))
        return min(self._port.due, self._segment.due)

    def close(self) -> None:
        """Let go of the interface and of the control socket."""
        self._loop.close()
        self._port.close()
        if self._control:
            self._control.close()
