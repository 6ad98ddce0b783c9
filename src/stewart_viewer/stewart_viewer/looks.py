# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How a person looks: from where, at the trail and the workspace, and with a photograph."""

from __future__ import annotations

from collections import deque
import struct
from typing import Any
import zlib

import numpy as np
from numpy.typing import NDArray
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.limits.workspace import section
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_viewer.force_scale import size_of
from stewart_viewer.snapshot import Snapshot
import viser

CAMERAS = {
    'Corner': (1.6, -1.6, 1.6),
    'Front': (2.4, 0.0, 0.7),
    'Side': (0.0, -2.4, 0.7),
    'Top': (0.02, 0.0, 3.2),
}
"""From where one looks, in lengths of a leg."""

TRAIL, TRAIL_EVERY = 10.0, 0.04
"""How far back the trail reaches, and how far apart its points are [s]."""

SECTION_EVERY = 1.0
"""The section of the workspace is drawn anew so often at most [s]."""

LIFT = 0.04
"""The plate stands on the platform's origin, and would hide what is drawn there: so far above it
lines are, in lengths of a leg."""

WIDTH, HEIGHT = 1600, 1000
PHOTOGRAPH_LIMIT = 10.0
"""A tab that draws nothing keeps one of the threads busy that serve the quick stop, too [s]."""

BLUE, TEAL = (60, 100, 200), (20, 140, 140)


class Looks:
    """Camera presets, a trail of the platform's origin, a workspace section, and a photograph."""

    def __init__(self, server: viser.ViserServer, platform: Platform) -> None:
        self._guard, self._server = MotionGuard(platform), server
        self._size = size_of(platform)
        self._points: deque[tuple[float, Array]] = deque()
        self._sectioned = -np.inf
        self._lines: dict[str, Any] = {}
        with server.gui.add_folder('View', expand_by_default=False):
            cameras = server.gui.add_button_group('camera', tuple(CAMERAS))
            cameras.on_click(lambda event: self._look(event.client, str(event.target.value)))
            self._trail = server.gui.add_checkbox('trail of the last 10 s', initial_value=False)
            hint = 'where the platform may go from here, at this height and attitude'
            self._section = server.gui.add_checkbox(
                'section of the workspace', initial_value=False, hint=hint
            )
            server.gui.add_button('Photograph', color='gray').on_click(
                lambda event: self._photograph(event.client)
            )

    def show(self, snapshot: Snapshot) -> None:
        """Draw trail and section, where they are asked for."""
        if snapshot.pose is None:
            return
        self._follow(snapshot.time, snapshot.pose.position)
        trail = [point for _, point in self._points] if self._trail.value else []
        self._draw('trail', np.array(trail) if len(trail) > 1 else None, BLUE)
        if not self._section.value:
            self._sectioned = -np.inf
            self._draw('section', None, TEAL)
        elif not self._sectioned <= snapshot.time < self._sectioned + SECTION_EVERY:
            self._sectioned = snapshot.time
            self._draw('section', section(self._guard, snapshot.pose), TEAL)

    def _follow(self, time: float, position: Array) -> None:
        if self._points and time < self._points[-1][0]:
            self._points.clear()
        if not self._points or time >= self._points[-1][0] + TRAIL_EVERY:
            self._points.append((time, np.array(position)))
        while self._points[0][0] < time - TRAIL:
            self._points.popleft()

    def _draw(self, name: str, points: Array | None, colour: tuple[int, int, int]) -> None:
        """Draw a line through points (n, 3), or hide it where there is none."""
        line = self._lines.get(name)
        if points is None:
            if line is not None and line.visible:
                line.visible = False
            return
        points = points + np.array([0.0, 0.0, LIFT * self._size])
        segments = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
        if line is None:
            self._lines[name] = self._server.scene.add_line_segments(
                f'/{name}', segments, colour, thickness=0.012 * self._size
            )
            return
        line.visible = True
        line.points = segments

    def _look(self, client: Any, name: str) -> None:
        if client is None:
            return
        with client.atomic():
            client.camera.position = self._size * np.array(CAMERAS[name])
            client.camera.look_at = self._size * np.array([0.0, 0.0, 0.7])

    def _photograph(self, client: Any) -> None:
        """Send a picture of the scene, as this person sees it, to the browser's downloads."""
        if client is None:
            return
        try:
            pixels = client.get_render(
                HEIGHT, WIDTH, transport_format='png', timeout=PHOTOGRAPH_LIMIT
            )
        except (TimeoutError, RuntimeError) as error:
            client.add_notification('No photograph', f'{error}', color='red')
        else:
            client.send_file_download('platform.png', png(on_white(pixels)), save_immediately=True)


def on_white(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Lay a picture (rows, columns, 4), which may be transparent, over white; without alpha."""
    opacity = pixels[..., 3:] / 255.0
    return np.rint(255.0 + opacity * (pixels[..., :3] - 255.0)).astype(np.uint8)


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Return a picture (rows, columns, 3) as a PNG file."""
    rows, columns, _ = pixels.shape
    lines = np.zeros((rows, 1 + 3 * columns), dtype=np.uint8)  # each begins with its filter: none
    lines[:, 1:] = pixels.reshape(rows, -1)
    header = struct.pack('>2I5B', columns, rows, 8, 2, 0, 0, 0)
    chunks = (b'IHDR', header), (b'IDAT', zlib.compress(lines.tobytes())), (b'IEND', b'')
    return b'\x89PNG\r\n\x1a\n' + b''.join(
        struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))
        for name, data in chunks
    )
