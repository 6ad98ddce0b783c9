# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the driver says of itself, and where the platform is, in words and numbers."""

from __future__ import annotations

from html import escape
import time

import numpy as np
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.spatial import rpy_from_quaternion
from stewart_viewer.snapshot import DriveReport, Snapshot
import viser

POSES, PLOTS = 1e6, 2e6
"""Order in the panel; what has none comes before."""

TOLD_EVERY = 0.2
"""Numbers that change faster than this cannot be read [s]."""

BEAT = 0.5
"""Time from one sign of life on the page to the next [s]."""

COORDINATES = {'x [mm]': 1, 'y [mm]': 1, 'z [mm]': 1, 'roll [°]': 2, 'pitch [°]': 2, 'yaw [°]': 2}
"""Label and digits behind the point."""

NOT_HEARD = 'NOT HEARD'
BANNERS = {
    NOT_HEARD: '#6b7280',
    'DISABLED': '#6b7280',
    'ENABLING': '#b45309',
    'ENABLED': '#15803d',
    'STOPPING': '#b45309',
    'FAULT': '#b91c1c',
    'WRONG PLATFORM': '#b91c1c',
}
UNKNOWN = DriveReport('no driver heard', reason='driver/state has not come')


class Status:
    """Banner and poses, with a title that says where the data come from."""

    def __init__(self, server: viser.ViserServer, platform: Platform, title: str) -> None:
        gui = server.gui
        # viser's own sharing would send the page through somebody else's server.
        gui.configure_theme(show_share_button=False, control_width='large')
        gui.set_panel_label(f'{platform.name} – {title}')
        self._banner = gui.add_html(banner(UNKNOWN))
        # Below what asks for a hand.
        self._poses = gui.add_markdown('', order=POSES)
        self._pulse, self._beaten = gui.add_html('', order=POSES), -np.inf
        self._drives = UNKNOWN
        self._told = -np.inf
        self._known: tuple[bool, ...] = ()

    def show(self, snapshot: Snapshot) -> None:
        """Say what has changed."""
        drives = snapshot.drives or UNKNOWN
        if drives != self._drives:
            self._banner.content = banner(drives)
            self._drives = drives
        # A pose that is gone is not kept for a moment more.
        poses = snapshot.pose, snapshot.commanded, snapshot.estimate
        known, now = tuple(pose is not None for pose in poses), time.monotonic()
        if known != self._known or now - self._told >= TOLD_EVERY:
            self._told, self._known = now, known
            self._poses.content = pose_table(snapshot)

    def beat(self) -> None:
        """Say the time, so that the page can tell a dead connection; see `server.WATCHED`."""
        now = time.monotonic()
        if now - self._beaten >= BEAT:
            self._beaten = now
            self._pulse.content = f'<span id="beat" hidden>{now:.1f}</span>'


def banner(drives: DriveReport) -> str:
    """Return the driver's state as a coloured bar with its reason."""
    colour = BANNERS.get(drives.state, '#374151')
    metal = 'SIMULATED, no metal moves' if drives.simulated else drives.backend
    return (
        f'<div id="drives" style="background:{colour};color:white;padding:.5em .8em;margin:.4em">'
        f'<b>{escape(drives.state)}</b> &nbsp; {escape(metal)}<br>{escape(drives.reason)}</div>'
    )


def pose_table(snapshot: Snapshot) -> str:
    """Return measured, commanded and estimated pose in ``base_link`` side by side, with units."""
    poses = {'measured': snapshot.pose, 'commanded': snapshot.commanded}
    if snapshot.estimate is not None:
        poses['estimated'] = snapshot.estimate.pose
    columns = {
        name: [*(1e3 * pose.position), *np.degrees(rpy_from_quaternion(pose.quaternion_xyzw))]
        for name, pose in poses.items()
        if pose is not None
    }
    lines = [
        '| in base_link | ' + ' | '.join(columns) + ' |',
        '|---' + '|---:' * len(columns) + '|',
    ]
    for row, (label, digits) in enumerate(COORDINATES.items()):
        # Adding 0 turns -0 into 0.
        cells = [f'{round(column[row], digits) + 0.0:.{digits}f}' for column in columns.values()]
        lines.append(f'| {label} | ' + ' | '.join(cells) + ' |')
    return '\n'.join(lines)
