# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The folder in which the ends of a rig's wires are found."""

from __future__ import annotations

import os
from pathlib import Path
import socket
import stat
import tempfile

from stewart_simulation.errors import RigError
from stewart_simulation.loop import unix_connection

NETNS, IMU, CARD, CONTROL = 'netns', 'imu', 'card.sock', 'control.sock'
TRUTH, RIG_FILE = 'truth', 'rig.yaml'
# What the node virtual_rig says when all of them are there; launch files wait for it.
READY = 'the virtual rig is ready'
NAMES = (NETNS, IMU, CARD, CONTROL, TRUTH, RIG_FILE)


def default_directory(platform: str) -> Path:
    """Return where a rig is found unless another place is named: per user and platform."""
    name = Path(platform).stem
    base = os.environ.get('XDG_RUNTIME_DIR')
    if base:
        return Path(base, 'stewart', name)
    return Path(tempfile.gettempdir(), f'stewart-{os.getuid()}', name)


def claim(directory: Path) -> None:
    """Make the folder, and remove what a killed rig may have left there.

    Raises:
        RigError: If a rig runs there.
        OSError: If the folder cannot be made.
    """
    if is_alive(directory):
        raise RigError(f'a virtual rig runs in {directory} already')
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = directory.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise RigError(f'{directory} belongs to somebody else')
    remove_ends(directory)


def is_alive(directory: Path) -> bool:
    """Tell whether a rig answers there."""
    try:
        unix_connection(directory / CONTROL, socket.SOCK_STREAM).close()
    except OSError:
        return False
    return True


def remove_ends(directory: Path) -> None:
    """Remove what belongs to a rig."""
    for name in NAMES:
        (directory / name).unlink(missing_ok=True)


def sweep(directory: Path) -> None:
    """Remove what belongs to a rig, and the folder if nothing else is in it."""
    remove_ends(directory)
    try:
        directory.rmdir()
    except OSError:
        return  # somebody keeps other things there
