# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a rig is made of: the nodes in the order in which they start, and their YAML files.

A configuration is a ROS parameter file in ``config/``. ``rig_<name>.yaml`` describes a whole rig;
``wave_<name>.yaml`` says what a trajectory node plays and is laid over it. Nodes are addressed as
``/**/<node>``, so that the same file serves every namespace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
import sys
from typing import Any

from stewart_bringup.errors import BringupError
from stewart_description.suggestion import expected_name, meant, similar
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.schema import read_yaml
from stewart_simulation.rig.directory import default_directory, ends_in, wiring
from stewart_simulation.rig.settings import RigSettings
from stewart_tables.installed import installed

RECORDER, VIRTUAL_RIG = 'recorder', 'virtual_rig'
# Nodes of the verbs, which no executable has.
OPERATORS = ('operator', 'move_operator', 'wave_operator')
# What only some rigs have: those whose file has a section for it.
OPTIONAL = (
    VIRTUAL_RIG,
    'imu',
    'position_sensors',
    'state_estimator',
    'motion_cueing',
    'stabilisation',
)
RIG = (
    VIRTUAL_RIG,
    'driver',
    'imu',
    'position_sensors',
    'inverse_kinematics',
    'feed_forward',
    'forward_kinematics',
    'state_estimator',
    'cycloidal_trajectory',
    'ocean_trajectory',
    'excitation_trajectory',
    'teleop',
    'motion_cueing',
    'stabilisation',
)

# What all nodes are told alike, below ``/**``.
SHARED = ('platform', 'autostart', 'use_sim_time')
TYPING_ERROR = 0.8


def nodes_of(files: Sequence[Path], names: Sequence[str] = RIG) -> tuple[str, ...]:
    """Return of `names` the nodes of a rig: those of `OPTIONAL` only if a file names them."""
    having = {name for path in files for name, _ in sections(path)}
    return tuple(name for name in names if name not in OPTIONAL or name in having)


def sections(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield node and parameters of every section of a file; ``''`` stands for every node."""
    content = read_yaml(path)
    for key in content.names():
        name = '' if key.endswith('*') else key.rpartition('/')[2]
        try:
            section = content.section(key)
            parameters = section.section('ros__parameters')
            section.finish()
        except ConfigurationError as error:
            # A file that describes a platform is taken for one of a rig easily.
            expected = f"{error.expected}, as a rig's file has"
            raise ConfigurationError(error.key, error.value, expected, str(path)) from error
        yield name, {item: parameters.value(item, 'a value') for item in parameters.names()}


def ros_arguments(files: Sequence[Path]) -> list[str]:
    """Return the command line that gives a node its parameter files; a later one wins."""
    return ['--ros-args', *(word for path in files for word in ('--params-file', str(path)))]


def require_known_nodes(files: Sequence[Path]) -> None:
    """Refuse what ROS ignores: sections for nodes that do not exist, and typing errors below /**.

    Raises:
        ConfigurationError: If there is one; the message says what may be meant.
    """
    known = {*RIG, RECORDER, *OPERATORS, *installed('stewart.nodes').names}
    for path in files:
        for name, values in sections(path):
            if name and name not in known:
                expected = expected_name(name, known, 'node')
                raise ConfigurationError('section', name, expected, str(path))
            for key in () if name else {*values}.difference(SHARED):
                if similar(key, SHARED, TYPING_ERROR):
                    expected = expected_name(key, SHARED, 'parameter')
                    raise ConfigurationError('/**', key, expected, str(path))


def setting(files: Sequence[Path], node: str, key: str) -> Any:
    """Return what the last of some files says about a parameter; None if no file has it.

    The node ``''`` stands for what is meant for every node.
    """
    found = None
    for path in files:
        for name, values in sections(path):
            if name == node:
                found = values.get(key, found)
    return found


def wires(files: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Return what a virtual rig in a process of its own and the nodes on its wires are told."""
    chosen = partial(setting, files, VIRTUAL_RIG)
    platform = chosen('platform') or setting(files, '', 'platform') or 'vigo'
    folder = Path(chosen('directory') or default_directory(platform))
    there = {wire: chosen(wire) is not False for wire in ('ethercat', 'card')}
    given = {name: chosen(name) for name in ('card_mode', 'enable_channel')}
    known = {name: value for name, value in given.items() if value is not None}
    told = wiring(ends_in(folder, **there), replace(RigSettings(), **known).amplifiers)
    return {VIRTUAL_RIG: {'directory': str(folder)}, **told}


def config_folder() -> Path:
    """Return the folder with the configurations, in the sources or where they are installed.

    Raises:
        FileNotFoundError: If the package was installed without its data files.
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
    """Find a configuration.

    Args:
        kind: ``rig``, ``wave`` or ``launch``.
        name: Its name, or the path of a YAML file.

    Raises:
        BringupError: If there is none.
    """
    if name.endswith(('.yaml', '.yml')):
        path = Path(name)
        if not path.is_file():
            raise FileNotFoundError(2, 'No such file', name)
        return path
    known = available(kind)
    if name not in known:
        names = ', '.join(sorted(known)) + meant(name, known)
        form = '; a file must end in .yaml or .yml' if Path(name).exists() or '/' in name else ''
        raise BringupError(f'no configuration {f"{kind} {name}"!r}, there are {names}{form}')
    return known[name]


def available(kind: str) -> dict[str, Path]:
    """Return the configurations of a kind by name."""
    prefix = f'{kind}_'
    return {
        path.stem.removeprefix(prefix): path
        for path in sorted(config_folder().glob(f'{prefix}*.yaml'))
    }
