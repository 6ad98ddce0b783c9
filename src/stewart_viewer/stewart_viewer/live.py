# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The browser's side of a running rig: a server, its pictures, and the thread that draws."""

from __future__ import annotations

import threading
import time

from stewart_kinematics.model.shared_platform import load_platform
from stewart_viewer.controls import Controls, Operator
from stewart_viewer.leg_plots import LegPlots
from stewart_viewer.mailbox import Mailbox
from stewart_viewer.recognition import LiveComparison
from stewart_viewer.scene import PlatformScene
from stewart_viewer.server import open_server
from stewart_viewer.snapshot import Part
from stewart_viewer.status import Status

PATIENCE = 0.5


class LiveView:
    """Draw what a mailbox gets, and hand on what a person asks for.

    Args:
        source: Platform that is shown: its name, or the path of its YAML file.
        mailbox: Where snapshots come from.
        operator: Who carries out; None gives a view without controls.
        host: Address to listen at.
        port: Port to listen at.
        rate: Pictures per second at most [Hz].

    Attributes:
        url: Where the page is.
        comparison: Tells whether a rig is of the platform that is shown.

    Raises:
        AddressTaken: If something else listens there.
    """

    def __init__(
        self,
        source: str,
        mailbox: Mailbox,
        operator: Operator | None,
        *,
        host: str,
        port: int,
        rate: float,
    ) -> None:
        """Open the server and begin to draw."""
        platform = load_platform(source)
        self.comparison = LiveComparison(platform.geometry, platform.name)
        self._server = open_server(host, port)
        self.url = f'http://{host}:{self._server.get_port()}'
        self._mailbox, self._period = mailbox, 1.0 / rate
        status = Status(self._server, platform, 'live')
        self._controls = None if operator is None else Controls(self._server, platform, operator)
        plots = LegPlots(self._server, platform)
        scene = PlatformScene(self._server, platform, source)
        self._parts: tuple[Part, ...] = (scene, status, plots)
        self._thread = threading.Thread(target=self._draw, name='pictures')
        self._thread.start()

    def tell(self, sentence: str) -> None:
        """Show what has come of a request."""
        if self._controls is not None:
            self._controls.tell(sentence)

    def close(self) -> None:
        """Stop drawing and close the server."""
        self._mailbox.end()
        self._thread.join()
        self._server.stop()

    def _draw(self) -> None:
        while not self._mailbox.ended:
            snapshot = self._mailbox.take(PATIENCE)
            begun = time.monotonic()
            if snapshot is not None and not self._mailbox.ended:
                for part in self._parts:
                    part.show(snapshot)
                time.sleep(max(self._period - (time.monotonic() - begun), 0.0))
