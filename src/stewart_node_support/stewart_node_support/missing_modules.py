# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Say how to install a Python module that is missing.

No import of ROS here: a missing rclpy is one of the cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import sys
import sysconfig

# Named like their modules. rosdep has no key for the first three, so README.md and docker/ name
# them, too; it installs the others with pip.
WITHOUT_ROSDEP_KEY = ('pyroute2', 'pysoem', 'viser')
FROM_PIP = (*WITHOUT_ROSDEP_KEY, 'filterpy', 'pyswarms', 'rosbags', 'yourdfpy')
OUR_PREFIX = 'stewart_'


def how_to_install(error: BaseException) -> str | None:
    """Return the sentence that names a missing module and the command that installs it.

    None unless a module of somebody else is missing: everything else is a bug.
    """
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    name = error.name.partition('.')[0]
    if name.startswith(OUR_PREFIX):
        return None
    if name in FROM_PIP:
        return f'the Python package {name} is not installed: run `{pip_command(name)}`'
    return (
        f'the Python module {name} was not found: source env.sh, or the setup files of ROS 2 and '
        'of this workspace; if it is still missing, run `rosdep install --from-paths src -yi`'
    )


@contextmanager
def told_if_missing(program: str) -> Iterator[None]:
    """End the process, with code 1 and the sentence of `how_to_install`, if an import fails so."""
    try:
        yield
    except ModuleNotFoundError as error:
        sentence = how_to_install(error)
        if sentence is None:
            raise
        sys.exit(f'{program}: {sentence}')


def pip_command(package: str) -> str:
    """Return the command that installs a package for this interpreter (PEP 668)."""
    marker = Path(sysconfig.get_path('stdlib'), 'EXTERNALLY-MANAGED')
    managed = sys.prefix == sys.base_prefix and marker.exists()
    if managed and not os.environ.get('PIP_BREAK_SYSTEM_PACKAGES'):
        return f'PIP_BREAK_SYSTEM_PACKAGES=1 pip install {package}'
    return f'pip install {package}'
