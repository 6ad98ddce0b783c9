# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The pinned packages: what names them, and how pip and uv install them."""

from __future__ import annotations

import os
from pathlib import Path
import re
import sysconfig

import places
from ros_environment import underlay
from steps import digest, run, SetupError

REQUIREMENTS = ('build', 'core', 'ros-jazzy', 'dev')
NO_WHEEL = ('empy',)


def requirement_files() -> list[Path]:
    """Return the pinned files, in the order in which they are installed."""
    return [places.ROOT / 'requirements' / f'{name}.txt' for name in REQUIREMENTS]


def venv_key() -> str:
    """Return what the virtual environment depends on: interpreter, place and pins."""
    pins = (path.read_bytes() for path in requirement_files())
    # Not sys.version, whose build date changes with every security update of Python.
    abi = sysconfig.get_config_var('SOABI')
    return digest(places.INTERPRETER, abi, str(places.ROOT), *pins)


def install(files: list[Path]) -> None:
    """Install exactly the pinned packages; the lists are complete, so nothing is resolved."""
    build, *others = files
    pip = [str(places.VENV / 'bin/python'), '-m', 'pip', 'install', '--no-input']
    pip += ['--disable-pip-version-check', '--progress-bar=off', '--no-user']
    # uv takes a third of pip's time; Python compiles what it imports.
    uv = [str(places.VENV / 'bin/uv'), 'pip', 'install', '--system-certs']
    uv += [f'--python={places.VENV}/bin/python']
    run([*pip, *chosen([build])], underlay())
    try:
        run([*uv, *chosen(others)], underlay() | offline(), uv_progress)
    except SetupError:
        # It does not read pip's configuration, which may name a mirror.
        run([*pip, *chosen(others)], underlay(), lambda _line: 'pip, for uv could not')


def offline() -> dict[str, str]:
    """Return what tells uv to install from a folder, where pip was told so."""
    if not os.environ.get('PIP_NO_INDEX'):
        return {}
    return {
        'UV_OFFLINE': '1',
        'UV_NO_INDEX': '1',
        'UV_FIND_LINKS': os.environ.get('PIP_FIND_LINKS', ''),
    }


def chosen(files: list[Path]) -> list[str]:
    """Return what pip and uv have to be told to install these files as they are."""
    options = ['--no-deps', '--no-build-isolation', '--only-binary=:all:']
    options += [f'--no-binary={name}' for name in NO_WHEEL]
    return options + [f'--requirement={file}' for file in files]


def uv_progress(line: str) -> str | None:
    """Return what uv does next; it says what it has done."""
    return {'Resolved': 'downloading', 'Prepared': 'installing'}.get(line.partition(' ')[0])


def relocate_cmake_exports() -> None:
    """Point the wheels' CMake exports at this interpreter.

    They name the headers of Python and numpy by the paths of the machine that built them.
    """
    built_on = r'/opt/python/cp\d+-cp\d+'
    paths = {
        rf'{built_on}/include/python3\.\d+': sysconfig.get_path('include'),
        rf'{built_on}/lib/python3\.\d+/site-packages': str(places.site_packages()),
    }
    for file in places.VENV.glob('share/*/cmake/*Export*.cmake'):
        before = after = file.read_text()
        for pattern, path in paths.items():
            after = re.sub(pattern, path, after)
        if after != before:
            file.write_text(after)
