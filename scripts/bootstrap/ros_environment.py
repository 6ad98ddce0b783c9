# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The variables that make the virtual environment a ROS 2, for our processes and for env.sh."""

from __future__ import annotations

import os
import re
import shlex

import places

# Where Python may write no bytecode, every process would compile all that it imports.
FOREIGN = ('PYTHONPATH', 'PYTHONHOME', 'PYTHONDONTWRITEBYTECODE')
# Settings of pip and uv say where packages come from; what to install, and where, is said here.
INSTALLERS = (
    r'(PIP|UV)_(?!.*(INDEX|FIND_LINKS|OFFLINE|PROXY|CERT|TLS|HOST|KEYRING|CONFIG|TIMEOUT|RETRIES))'
)
# The graph stays on this machine unless one of these says otherwise, as with `on_this_machine` of
# stewart_node_support.
DISCOVERY = ('ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_STATIC_PEERS', 'ROS_LOCALHOST_ONLY')


def outside_environment() -> dict[str, str]:
    """Return the caller's environment without what another ROS or Python left in it."""
    names = rf'({"|".join(FOREIGN)}|RMW_IMPLEMENTATION)$'
    foreign = re.compile(rf'(ROS|AMENT|COLCON|CMAKE)_|{INSTALLERS}|{names}')
    kept = {name: value for name, value in os.environ.items() if not foreign.match(name)}
    return kept | own_folders() | {'TMPDIR': str(places.TEMPORARY)}


def own_folders() -> dict[str, str]:
    """Return the variables that keep caches and logs of our tools inside the clone."""
    return {
        'COLCON_HOME': str(places.CACHE / 'colcon'),
        'MPLCONFIGDIR': str(places.CACHE / 'matplotlib'),
        'NUMBA_CACHE_DIR': str(places.CACHE / 'numba'),
        'PIP_CACHE_DIR': str(places.CACHE / 'pip'),
        'PRE_COMMIT_HOME': str(places.CACHE / 'pre-commit'),
        'ROS_LOG_DIR': str(places.ROOT / 'log' / 'ros'),
        'UV_CACHE_DIR': str(places.CACHE / 'uv'),
    }


def ros_variables() -> dict[str, str]:
    """Return what makes the virtual environment a ROS 2 installation."""
    return {
        'AMENT_PREFIX_PATH': str(places.VENV),
        'CMAKE_PREFIX_PATH': str(places.VENV),
        'ROS_DISTRO': 'jazzy',
        'ROS_PYTHON_VERSION': '3',
        'ROS_VERSION': '2',
        'RMW_IMPLEMENTATION': 'rmw_fastrtps_cpp',
        'VIRTUAL_ENV': str(places.VENV),
        # Else a .pth file of the wheels starts the interpreter twice, pip's included.
        '_ROS_WHEELS_BOOTSTRAP_COMPLETE': '1',
    }


def search_paths() -> dict[str, str]:
    """Return what goes to the front of the caller's search paths."""
    libraries = [places.VENV / 'lib', *sorted(places.site_packages().glob('ros_*.libs'))]
    return {
        'LD_LIBRARY_PATH': ':'.join(map(str, libraries)),
        'PATH': str(places.VENV / 'bin'),
    }


def underlay() -> dict[str, str]:
    """Return the environment in which pip and colcon run."""
    environment = outside_environment() | ros_variables()
    for name, value in search_paths().items():
        environment[name] = ':'.join(filter(None, (value, environment.get(name))))
    return environment


def write_environment() -> None:
    """Write the same environment as shell, for env.sh to read."""
    # env.sh looks for the place as it is, not as a shell would have it quoted.
    lines = [f'# {places.ROOT}', f'unset {" ".join(FOREIGN)} COLCON_PREFIX_PATH']
    for name, value in (own_folders() | ros_variables()).items():
        lines.append(f'export {name}={shlex.quote(value)}')
    for name, value in search_paths().items():
        lines.append(f'export {name}={shlex.quote(value)}${{{name}:+:${name}}}')
    chosen = ''.join(f'${{{name}-}}' for name in DISCOVERY)
    lines.append(f'[ -n "{chosen}" ] || export {DISCOVERY[0]}=LOCALHOST')
    file, text = places.VENV / 'environment.sh', os.fsencode('\n'.join(lines) + '\n')
    if not file.exists() or file.read_bytes() != text:
        file.write_bytes(text)
