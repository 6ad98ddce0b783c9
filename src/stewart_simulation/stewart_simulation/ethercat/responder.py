# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The loop that lets a segment answer on a network interface."""

from __future__ import annotations

from collections.abc import Callable
import gc
from pathlib import Path
import select
import time

from stewart_simulation.ethercat.control import ControlServer
from stewart_simulation.ethercat.faults import Faults
from stewart_simulation.ethercat.line import Line
from stewart_simulation.ethercat.port import Port
from stewart_simulation.ethercat.script import Script
from stewart_simulation.ethercat.segment import Segment

IDLE = 5e-3


class Responder:
    """
    Answers EtherCAT frames, and nothing else, that arrive at an interface.

    Parameters
    ----------
    segment : Segment
        Who answers. Its clock must be `time.monotonic_ns`.
    interface : str
        Name of the interface.
    control : Path or None
        Where faults can be asked for.
    script : Path or None
        Faults with their times; see `Script`.
    seed : int
        Decides which frames get lost at random.

    Attributes
    ----------
    faults : Faults
        For calls from the same process.

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
        self._poll = select.poll()
        self._poll.register(self._port, select.POLLIN)
        self._control = ControlServer(control, self.faults) if control else None
        if self._control:
            self._poll.register(self._control.listener, select.POLLIN)

    def run(self, ended: Callable[[], bool]) -> None:
        """Answer until told to end; between frames the drives go on every 5 ms."""
        gc.collect()
        gc.freeze()
        while not ended():
            waiting = self._poll.poll(1e3 * self._patience())
            for descriptor, _ in waiting:
                self._attend(descriptor)
            self._port.send_late()
            if self._script:
                self._script.play(time.monotonic())
            if not waiting:
                self._segment.tick()

    def _patience(self) -> float:
        return min(max(self._port.due - time.monotonic(), 0.0), IDLE)

    def _attend(self, descriptor: int) -> None:
        if descriptor == self._port.fileno():
            self._port.answer()
        elif self._control and descriptor == self._control.listener.fileno():
            self._poll.register(self._control.accept(), select.POLLIN)
        elif self._control and not self._control.serve(descriptor):
            self._poll.unregister(descriptor)

    def close(self) -> None:
        """Let go of the interface and of the control socket."""
        self._port.close()
        if self._control:
            self._control.close()
