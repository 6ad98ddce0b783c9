# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Play a recording in the browser: a slider of its time, play and pause, and a speed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import time
from typing import Any

from stewart_viewer.recording import Recording
from stewart_viewer.snapshot import Part
import viser

PICTURE = 0.05
"""Time from one picture to the next [s]."""

STEP = 0.01
SPEEDS = ('0.1', '0.25', '0.5', '1', '2', '5')


class Replay:
    """Time slider and transport of a recording; its parts show each instant."""

    def __init__(
        self,
        server: viser.ViserServer,
        parts: Sequence[Part],
        recording: Recording,
        speed: str = '1',
    ) -> None:
        self._parts, self._recording = parts, recording
        gui = server.gui
        end = max(recording.duration, STEP)
        self._slider: Any = gui.add_slider('time [s]', 0.0, end, STEP, 0.0)
        self._playing = gui.add_checkbox('play', initial_value=True)
        self._speed = gui.add_dropdown('speed', SPEEDS, initial_value=speed)

    def run(self, ended: Callable[[], bool]) -> None:
        """Play until asked to end; at the end of the recording it begins anew."""
        shown, then = -1.0, time.monotonic()
        while not ended():
            now = time.monotonic()
            if self._playing.value:
                passed = (now - then) * float(self._speed.value)
                at = self._slider.value + passed
                self._slider.value = at if at <= self._recording.duration else 0.0
            then = now
            if self._slider.value != shown:
                shown = self._slider.value
                snapshot = self._recording.at(shown)
                for part in self._parts:
                    part.show(snapshot)
            time.sleep(max(PICTURE - (time.monotonic() - now), 0.001))
