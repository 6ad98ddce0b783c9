# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The folder in which the ends of a rig's wires are found."""

from __future__ import annotations

from collections.abc import Mapping
import os
from pathlib import Path
import socket
import stat
import tempfile
from typing import Any

from stewart_simulation.errors import RigError
from stewart_simulation.ethercat.namespace import MASTER_PORT
from stewart_simulation.loop import unix_connection

NETNS, IMU, CARD, CONTROL = 'netns', 'imu', 'card.sock', 'control.sock'
TRUTH, RIG_FILE = 'truth', 'calibration.yaml'
# What the node virtual_rig says when all of them are there; launch files wait for it.
READY = 'the virtual rig is ready'
NAMES = (NETNS, IMU, CARD, CONTROL, TRUTH, RIG_FILE)
# Says that files of these names are a rig's, and by its process id which one's.
MARK = '.virtual_rig'


def default_directory(platform: str) -> Path:
    """Return where a rig is found unless another place is named: per user and platform."""
    name = Path(platform).stem
    base = os.environ.get('XDG_RUNTIME_DIR')
    if base:
        return Path(base, 'stewart', name)
    return Path(tempfile.gettempdir(), f'stewart-{os.getuid()}', name)


def ends_in(directory: Path, *, ethercat: bool = True, card: bool = True) -> dict[str, str]:
    """Return the ends of the wires of a rig process in a network of its own, by name."""
    names = {'imu': IMU, 'rig_file': RIG_FILE}
    if card:
        names['card'] = CARD
    if ethercat:
        names['namespace'] = NETNS
    found = {name: str(directory / place) for name, place in names.items()}
    return found | ({'interface': MASTER_PORT} if ethercat else {})


def wiring(
    ends: Mapping[str, str], amplifiers: Mapping[str, Any] | None = None
) -> dict[str, dict[str, Any]]:
    """Return the parameters that tell nodes where the wires end, by node.

    Args:
        ends: Places by name, as of a rig process; ``interface`` and ``card`` where there are any.
        amplifiers: What the nodes on the card are told of them, see `RigSettings.amplifiers`.
    """
    driver: dict[str, Any] = {}
    sensors: dict[str, Any] = {}
    if 'interface' in ends:
        names = ('interface', 'namespace', 'rig_file')
        driver = {f'ethercat.{name}': ends[name] for name in names}
    if 'card' in ends:
        sensors = {
            'daq.card': 'simulated',
            'daq.device': ends['card'],
            'daq.rig_file': ends['rig_file'],
            **(amplifiers or {}),
        }
    imu = {'port': ends['imu']} if 'imu' in ends else {}
    return {'driver': {**driver, **sensors}, 'position_sensors': sensors, 'imu': imu}


def claim(directory: Path) -> None:
    """Make the folder, remove what a killed rig may have left there, and mark it as this one's.

    Raises:
        RigError: If a rig runs there, if it has a file of somebody else where one of a rig's shall
            be, or if somebody else could exchange the folder.
        OSError: If the folder cannot be made.
    """
    if is_alive(directory):
        raise RigError(f'a virtual rig runs in {directory} already')
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    status, above = directory.lstat(), directory.parent.stat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise RigError(f'{directory} belongs to somebody else')
    everybody = above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX
    if everybody or above.st_uid not in {0, os.geteuid()}:
        raise RigError(f'{directory.parent} is open to others: expected a folder of your own')
    if not os.path.lexists(directory / MARK):
        for path in (directory / name for name in NAMES):
            if os.path.lexists(path):
                raise RigError(f'{path} is not of a virtual rig: expected a folder without it')
    remove_ends(directory)
    (directory / MARK).write_text(f'{os.getpid()}\n', encoding='utf-8')


def is_alive(directory: Path) -> bool:
    """Tell whether a rig answers there."""
    try:
        unix_connection(directory / CONTROL, socket.SOCK_STREAM).close()
    except OSError:
        return False
    return True


def remove_ends(directory: Path) -> None:
    """Remove what belongs to a rig, the mark last."""
    for name in (*NAMES, MARK):
        (directory / name).unlink(missing_ok=True)


def sweep(directory: Path, process: int) -> None:
    """Remove what belongs to a rig, and the folder if nothing else is in it.

    Args:
        process: Id of the rig's process; a folder that it has not claimed stays as it is.
    """
    try:
        if (directory / MARK).read_text(encoding='utf-8') != f'{process}\n':
            return
        remove_ends(directory)
        directory.rmdir()
    except OSError:
        return  # never claimed or gone already, or somebody keeps other things there
