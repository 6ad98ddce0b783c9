# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Play a recording in the browser: a slider of its time, play and pause, and a speed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import time
from typing import Any

from stewart_viewer.recording import Recording
from stewart_viewer.snapshot import Part
from stewart_viewer.status import TOLD_EVERY
import viser

SETTLED = 1.5 * TOLD_EVERY
"""An instant that stays for so long is shown once more: what is told more rarely follows [s]."""

PICTURE = 1.0 / 30.0
"""Time from one picture to the next [s]."""

STEP = 0.01
NOWHERE = 'an event …'
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
        told = [(since - recording.start, report) for since, report in recording.reports]
        events = {
            f'{max(since, 0.0):.2f} s: {report.state}, {report.reason}': min(max(since, 0.0), end)
            for since, report in told
        }
        marks = tuple(sorted(set(events.values()))) or None
        self._slider: Any = gui.add_slider('time [s]', 0.0, end, STEP, 0.0, marks=marks)
        self._slider.on_update(self._on_scrub)
        self._playing: Any = gui.add_checkbox('play', initial_value=True)
        self._speed = gui.add_dropdown('speed', SPEEDS, initial_value=speed)
        if events:
            chosen = gui.add_dropdown('go to', (NOWHERE, *events), initial_value=NOWHERE)
            chosen.on_update(
                lambda event: self._go_to(event.target, events.get(event.target.value))
            )

    def _on_scrub(self, event: Any) -> None:
        """Pause when a person takes the slider; playing moves it, too."""
        if event.client_id is not None:
            self._playing.value = False

    def _go_to(self, chosen: Any, time: float | None) -> None:
        if time is not None:
            self._playing.value = False
            # An event is seen a moment after it.
            self._slider.value = min(round(time + STEP, 2), self._slider.max)
            # Only what is new is told: so the same event can be gone to again.
            chosen.value = NOWHERE

    def run(self, ended: Callable[[], bool]) -> None:
        """Play until asked to end; at the end of the recording it begins anew."""
        shown, then = -1.0, time.monotonic()
        since: float | None = then
        while not ended():
            now = time.monotonic()
            if self._playing.value:
                passed = (now - then) * float(self._speed.value)
                at = self._slider.value + passed
                self._slider.value = at if at <= self._recording.duration else 0.0
            then = now
            settled = since is not None and now - since >= SETTLED
            if self._slider.value != shown or settled:
                since = None if settled else now
                shown = self._slider.value
                snapshot = self._recording.at(shown)
                for part in self._parts:
                    part.show(snapshot)
            time.sleep(max(PICTURE - (time.monotonic() - now), 0.001))
