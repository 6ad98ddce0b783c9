# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
What a rig is made of: the nodes in the order in which they start, and their YAML files.

A configuration is a ROS parameter file in ``config/``. ``rig_<name>.yaml`` describes a whole rig;
``wave_<name>.yaml`` says what a trajectory node plays and is laid over it. Nodes are addressed as
``/**/<node>``, so that the same file serves every namespace.

"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
import sys

from stewart_bringup.errors import UnknownRig

RECORDER = 'recorder'
RIG = (
    'driver',
    'inverse_kinematics',
    'feed_forward',
    'forward_kinematics',
    'cycloidal_trajectory',
    'ocean_trajectory',
    'excitation_trajectory',
)


def config_folder() -> Path:
    """
    Return the folder with the configurations, in the sources or where they are installed.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileNotFoundError
        If the package was installed without its data files.

    """
    spec = find_spec('stewart_bringup')
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).resolve().parent
    shares = [
        parent / 'share' / 'stewart_bringup' for parent in (*package.parents, Path(sys.prefix))
    ]
    for folder in (package.parent, *shares):
        if (folder / 'config').is_dir():
            return folder / 'config'
    raise FileNotFoundError(f'no config folder beside {package}')


def config_file(kind: str, name: str) -> Path:
    """
    Find a configuration.

    Parameters
    ----------
    kind : str
        ``rig`` or ``wave``.
    name : str
        Its name, or the path of a YAML file.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UnknownRig
        If there is none.

    """
    if name.endswith(('.yaml', '.yml')):
        path = Path(name)
        if not path.is_file():
            raise FileNotFoundError(2, 'No such file', name)
        return path
    known = available(kind)
    if name not in known:
        raise UnknownRig(f'{kind} {name}', known)
    return known[name]


def available(kind: str) -> dict[str, Path]:
    """Return the configurations of a kind by name."""
    prefix = f'{kind}_'
    return {
        path.stem.removeprefix(prefix): path
        for path in sorted(config_folder().glob(f'{prefix}*.yaml'))
    }
