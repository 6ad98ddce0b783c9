# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the machine must have before anything is written."""

from __future__ import annotations

from pathlib import Path
import re
import shutil
import socket
import subprocess
import sys
import sysconfig

import places
from steps import SetupError

DISK_SPACE_GB = 3.0
CMAKE = (3, 20)


def check_clone_path(root: Path) -> None:
    """Refuse what the scripts of colcon, ament, rosidl and CMake do not quote."""
    found = re.search(r'[^A-Za-z0-9_@%+=,./-]', str(root))
    if found:
        what = 'spaces' if found[0].isspace() else f'"{found[0]}"'
        raise SetupError(f'Move the clone to a path without {what}: "{root}" has one.')


def check_platform(system: str, machine: str) -> None:
    """Refuse what the ROS 2 wheels are not built for."""
    if (system, machine) != ('Linux', 'x86_64'):
        raise SetupError(f'The ROS 2 wheels need Linux on x86_64; this is {system} on {machine}.')


def check_python_parts() -> None:
    """Refuse a Python without venv, or without the headers that our messages compile against."""
    package = f'python{sys.version_info.major}.{sys.version_info.minor}'
    try:
        import ensurepip  # noqa: F401  Debian ships it apart from Python
        import venv  # noqa: F401
    except ImportError:
        raise SetupError(
            f'{places.INTERPRETER} has no venv module: install {package}-venv.'
        ) from None
    if not (Path(sysconfig.get_path('include')) / 'Python.h').exists():
        raise SetupError(f'{places.INTERPRETER} has no Python.h: install {package}-dev.')


def check_tools(path: str | None = None) -> None:
    """Refuse to start without the compilers and the build tools, or with an old CMake."""
    wanted = {'cmake': 'cmake', 'make': 'make', 'cc': 'gcc', 'c++': 'g++'}
    missing = [package for tool, package in wanted.items() if not shutil.which(tool, path=path)]
    if missing:
        raise SetupError(f'Install what is missing first: {", ".join(missing)}.')
    cmake = str(shutil.which('cmake', path=path))
    answer = subprocess.run([cmake, '--version'], capture_output=True, text=True, check=False)
    version = re.search(r'version ((\d+)\.(\d+)\S*)', answer.stdout)
    if version and (int(version[2]), int(version[3])) < CMAKE:
        raise SetupError(
            f'CMake {CMAKE[0]}.{CMAKE[1]} or newer is needed, and {cmake} is {version[1]}: '
            'install a newer one, with `pip install cmake` for example.'
        )


def check_disk(free_bytes: int) -> None:
    """Refuse a disk that the environment does not fit on."""
    free_gb = free_bytes / 1e9
    if free_gb < DISK_SPACE_GB:
        raise SetupError(f'{DISK_SPACE_GB} GB of disk are needed and {free_gb:.1f} GB are free.')


def check_loopback() -> None:
    """Refuse a machine whose nodes would start and never hear each other."""
    try:
        with (
            socket.create_server(('127.0.0.1', 0)) as server,
            socket.create_connection(server.getsockname(), timeout=2),
        ):
            pass
    except OSError:
        raise SetupError(
            'The loopback interface is down; bring it up with `ip link set lo up`.'
        ) from None
