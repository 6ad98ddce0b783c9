# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The loop that lets a segment answer on a network interface."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import contextlib
import gc
from pathlib import Path
import select
import socket
import time

from stewart_simulation.ethercat import frames
from stewart_simulation.ethercat.control import ControlServer
from stewart_simulation.ethercat.errors import FrameError
from stewart_simulation.ethercat.faults import Faults
from stewart_simulation.ethercat.line import Line
from stewart_simulation.ethercat.script import Script
from stewart_simulation.ethercat.segment import Segment

IDLE = 5e-3
LONGEST_FRAME = 1600


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
        self._line = Line(segment, seed)
        self.faults = Faults(segment, self._line)
        self._script = Script.load(script, self.faults) if script else None
        protocol = socket.htons(frames.ETHERTYPE)
        self._port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, protocol)
        self._port.bind((interface, frames.ETHERTYPE))
        self._port.setblocking(False)
        self._late: deque[tuple[int, bytearray]] = deque()
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
            self._send_late()
            if self._script:
                self._script.play(time.monotonic())
            if not waiting:
                self._segment.tick()

    def _patience(self) -> float:
        if not self._late:
            return IDLE
        return min(max(1e-9 * (self._late[0][0] - time.monotonic_ns()), 0.0), IDLE)

    def _attend(self, descriptor: int) -> None:
        if descriptor == self._port.fileno():
            self._answer_all()
        elif self._control and descriptor == self._control.listener.fileno():
            self._poll.register(self._control.accept(), select.POLLIN)
        elif self._control and not self._control.serve(descriptor):
            self._poll.unregister(descriptor)

    def _answer_all(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                frame = bytearray(self._port.recv(LONGEST_FRAME))
                with contextlib.suppress(FrameError):
                    answer = self._line.send(frame)
                    if answer and self._line.delay:
                        due = time.monotonic_ns() + self._line.delay
                        self._late.append((due, answer))
                    elif answer:
                        self._port.send(answer)

    def _send_late(self) -> None:
        now = time.monotonic_ns()
        while self._late and self._late[0][0] <= now:
            self._port.send(self._late.popleft()[1])

    def close(self) -> None:
        """Let go of the interface and of the control socket."""
        self._port.close()
        if self._control:
            self._control.close()
