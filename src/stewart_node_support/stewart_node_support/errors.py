# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What can go wrong between a node and ROS, and how to say it.

No import of ROS here: a missing rclpy is one of the cases.

Exception
├── MessageError     a message does not carry what its type promises (also a ValueError)
└── StartUpError     a node could not be brought up
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import sys
import sysconfig

# Named like their modules, and so in README.md and docker/. rosdep has no key for the first four;
# the others it would install with pip as root, whatever apt has.
WITHOUT_ROSDEP_KEY = ('daqp', 'pyroute2', 'pysoem', 'viser')
FROM_PIP = (*WITHOUT_ROSDEP_KEY, 'filterpy', 'pyswarms', 'rosbags', 'yourdfpy')


class MessageError(ValueError):
    """A message does not carry what its type promises."""


class StartUpError(Exception):
    """A node could not be brought up."""


def is_deliberate(error: BaseException) -> bool:
    """Tell an error that says what the user can change from a bug.

    The packages of the suite define exception classes, or derive from their own, only for what
    they raise on purpose, the operating system's errors name their file or device, and a package
    that is not installed can be installed. Everything else keeps its traceback. The rule looks at
    names only, so no package is imported to apply it.
    """
    return (
        isinstance(error, OSError)
        or any(cls.__module__.startswith('stewart_') for cls in type(error).__mro__)
        or how_to_install(error) is not None
    )


def sentence_of(error: BaseException) -> str:
    """Return the message of a deliberate error on one line, never empty."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f'{error.filename}: {error.strerror}'
    return how_to_install(error) or ' '.join(str(error).split()) or type(error).__name__


def how_to_install(error: BaseException) -> str | None:
    """Return the sentence that names a missing module and the command that installs it.

    None unless a module of somebody else is missing: everything else is a bug.
    """
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    name = error.name.partition('.')[0]
    if name.startswith('stewart_'):
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
