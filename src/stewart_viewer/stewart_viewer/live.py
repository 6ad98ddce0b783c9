# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The browser's side of a running rig: a server, and the thread that draws."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import threading
import time
from typing import Any

from stewart_kinematics.model.shared_platform import load_platform
from stewart_viewer.bag_recorder import BagRecorder
from stewart_viewer.controls import Controls
from stewart_viewer.leg_plots import LegPlots
from stewart_viewer.looks import Looks
from stewart_viewer.mailbox import Mailbox
from stewart_viewer.recognition import LiveComparison
from stewart_viewer.scene import PlatformScene
from stewart_viewer.server import open_page
from stewart_viewer.snapshot import Part, Snapshot
from stewart_viewer.status import Status

PATIENCE = 0.5


class LiveView:
    """Draw what a mailbox gets, and hand on what a person asks for; the page is at `url`.

    Args:
        source: Platform that is shown: its name, or the path of its YAML file.
        operator: Who carries out; None gives a view without controls.
        host, port: Address to listen at.
        rate: Pictures per second at most [Hz].
        token: What a browser has to know; needed for other hosts.
        taught_to: File that waypoints are appended to.
        recorder: Records at the press of a button; closed with the view.
        complain: Told what could not be drawn.

    Attributes:
        failure: What of the last picture could not be drawn, and why; empty if all was.

    Raises:
        AddressTaken: If something else listens there.
    """

    def __init__(
        self,
        source: str,
        mailbox: Mailbox,
        operator: Any,
        *,
        host: str,
        port: int,
        rate: float,
        token: str = '',
        taught_to: Path = Path('taught.yaml'),
        recorder: BagRecorder | None = None,
        complain: Callable[[str], object] = print,
    ) -> None:
        self.failure, self._complain = '', complain
        platform = load_platform(source)
        self.comparison = LiveComparison(platform.geometry, platform.name)
        self._page = open_page(host, port, token)
        server, self.url = self._page.server, self._page.url
        self._mailbox, self._period, self._recorder = mailbox, 1.0 / rate, recorder
        self._status = Status(server, platform, 'live')
        self._parts: list[Part] = [
            self._status,
            PlatformScene(server, platform, source),
        ]
        self._controls: Controls | None = None
        if operator is not None:
            self._controls = Controls(server, platform, operator, taught_to, recorder)
            self._parts.append(self._controls)
        self._parts += [LegPlots(server, platform), Looks(server, platform)]
        self._thread = threading.Thread(target=self._draw, name='pictures')
        self._thread.start()

    @property
    def drawing(self) -> bool:
        """Whether pictures are still made."""
        return self._thread.is_alive()

    def tell(self, sentence: str) -> None:
        """Show what has come of a request."""
        if self._controls is not None:
            self._controls.tell(sentence)

    def close(self) -> None:
        """Stop recording and drawing, and close the server."""
        if self._recorder is not None:
            self._recorder.close()
        self._mailbox.end()
        self._thread.join()
        self._page.close()

    def _draw(self) -> None:
        while not self._mailbox.ended:
            snapshot = self._mailbox.take(PATIENCE)
            begun = time.monotonic()
            self._status.beat()
            if self._controls is not None:
                self._controls.look()
            if snapshot is not None and not self._mailbox.ended:
                self._show(snapshot)
                time.sleep(max(self._period - (time.monotonic() - begun), 0.0))

    def _show(self, snapshot: Snapshot) -> None:
        """Draw a picture; what cannot be drawn keeps nothing else from it, nor the next one."""
        failure = ''
        for part in self._parts:
            try:
                part.show(snapshot)
            except Exception as error:
                failure = f'{type(part).__name__} cannot be drawn: {error!r}'
        # Thirty pictures a second may fail alike.
        if failure and failure != self.failure:
            self._complain(failure)
        self.failure = failure
