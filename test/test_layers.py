# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Who may import whom.

The table is the one of docs/architecture.md. A package's core is everything outside ``nodes/``
and ``verbs/``. A verb is core, too, except that its functions may import what nodes may, because
ROS is wanted only when the verb is called. Tests may import anything.
"""

from __future__ import annotations

import ast
from pathlib import Path
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Import, SourcePackage

    Packages = dict[str, SourcePackage]
    Imports = dict[str, list[Import]]

KINEMATICS = {'stewart_kinematics'}
TABLES = {'stewart_tables'}

CORE_MAY_IMPORT: dict[str, set[str]] = {
    'stewart_bags': {*TABLES, 'stewart_description'},
    'stewart_cueing': {*KINEMATICS, *TABLES},
    'stewart_description': set(),
    'stewart_driver': {*TABLES, 'stewart_description'},
    'stewart_dynamics': {*KINEMATICS, *TABLES},
    'stewart_estimation': {*KINEMATICS, *TABLES},
    'stewart_identification': {
        *KINEMATICS,
        *TABLES,
        'stewart_bags',
        'stewart_description',
        'stewart_dynamics',
    },
    'stewart_interfaces': set(),
    'stewart_kinematics': {*TABLES, 'stewart_description'},
    'stewart_node_support': {*TABLES, 'stewart_description', 'stewart_interfaces'},
    'stewart_simulation': {*KINEMATICS, *TABLES, 'stewart_driver', 'stewart_dynamics'},
    'stewart_tables': {'stewart_description'},
    'stewart_viewer': {*KINEMATICS, 'stewart_description'},
}
VERB_MAY_IMPORT: dict[str, set[str]] = {
    'stewart_cueing': {'stewart_bags'},
    'stewart_driver': KINEMATICS,
    'stewart_estimation': {'stewart_bags'},
    'stewart_viewer': {*TABLES, 'stewart_bags'},
}
# How kernels are compiled is no kinematics, but has its place there.
EVERY_CORE_MAY_IMPORT = 'stewart_kinematics.kernels.compiled.'
NODE_MAY_IMPORT = {*TABLES, 'stewart_interfaces', 'stewart_node_support'}
TRAJECTORY_NODES_OF = {'stewart_cueing': KINEMATICS}
IMPORTS_EVERYTHING = 'stewart_bringup'
SPEAKS_ROS = {'stewart_bringup', 'stewart_node_support'}

ROS_ROOTS = {
    'ament_index_python',
    'launch',
    'launch_ros',
    'rclpy',
    'rosidl_runtime_py',
    'std_srvs',
    'stewart_interfaces',
    'tf2_ros',
}
# Two derivations of the same forces check each other only while they have nothing in common but
# the input: errors and the masses of a platform.
INDEPENDENT = ('stewart_dynamics.multibody', 'stewart_dynamics.newton_euler')
COMMON_INPUT = {'stewart_dynamics.errors', 'stewart_dynamics.inertia'}


def is_ros(root: str) -> bool:
    """Tell whether a top-level module comes with ROS."""
    return root in ROS_ROOTS or root.endswith(('_msgs', '_interfaces'))


def test_every_package_has_its_row_in_the_table(packages: Packages) -> None:
    assert {*CORE_MAY_IMPORT, IMPORTS_EVERYTHING} == set(packages)


def test_packages_import_only_what_the_table_allows(packages: Packages, imports: Imports) -> None:
    offenders = [
        str(item)
        for name, package in packages.items()
        if name != IMPORTS_EVERYTHING
        for item in imports[name]
        if item.root in packages
        and item.root not in allowed(package, item)
        and not item.name.startswith(EVERY_CORE_MAY_IMPORT)
    ]

    assert offenders == []


def allowed(package: SourcePackage, item: Import) -> set[str]:
    """Return the packages of ours that a module may import at this place."""
    room = package.room_of(item.path)
    if room == 'nodes':
        return {package.name, *NODE_MAY_IMPORT, *TRAJECTORY_NODES_OF.get(package.name, set())}
    own = {package.name} | CORE_MAY_IMPORT[package.name]
    if room == 'verbs':
        own |= VERB_MAY_IMPORT.get(package.name, set())
        return own | NODE_MAY_IMPORT if item.late else own
    return own


def test_only_nodes_and_ros_facing_packages_import_ros(
    packages: Packages, imports: Imports
) -> None:
    offenders = [
        str(item)
        for name, package in packages.items()
        if name not in SPEAKS_ROS
        for item in imports[name]
        if is_ros(item.root)
        and package.room_of(item.path) != 'nodes'
        and not (package.room_of(item.path) == 'verbs' and item.late)
    ]

    assert offenders == []


def test_core_does_not_import_its_own_nodes(packages: Packages, imports: Imports) -> None:
    offenders = [
        str(item)
        for name, package in packages.items()
        for item in imports[name]
        if item.name.startswith(f'{name}.nodes')
        and package.room_of(item.path) != 'nodes'
        and not (package.room_of(item.path) == 'verbs' and item.late)
        and name != IMPORTS_EVERYTHING
    ]

    assert offenders == []


def test_bringup_imports_ros_late_outside_its_graph(packages: Packages, imports: Imports) -> None:
    """``stewart --help`` and the analysis of a bag need no ROS."""
    graph = {'composition.py', 'session.py', 'launching.py'}
    bringup = packages['stewart_bringup']
    offenders = [
        str(item)
        for item in imports['stewart_bringup']
        if is_ros(item.root)
        and not item.late
        and item.path.name not in graph
        and bringup.room_of(item.path) != 'nodes'
    ]

    assert offenders == []


def test_multibody_and_newton_euler_share_no_code(packages: Packages, imports: Imports) -> None:
    dynamics = packages['stewart_dynamics']
    modules = {dynamics.dotted(path): path for path in dynamics.modules}
    reached = []
    for start in INDEPENDENT:
        pending = [name for name in modules if name == start or name.startswith(f'{start}.')]
        assert pending, f'{start} is gone'
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            seen.add(name)
            for item in imports['stewart_dynamics']:
                if item.path == modules[name]:
                    target = nearest(item.name, set(modules))
                    pending += [target] if target and target not in seen else []
        reached.append(seen)

    assert reached[0] & reached[1] - {dynamics.name} <= COMMON_INPUT


def test_no_module_imports_itself_by_a_detour(packages: Packages, imports: Imports) -> None:
    """Late imports count; those for type checkers alone do not."""
    circles = []
    for name, package in packages.items():
        modules = {package.dotted(path): path for path in package.modules}
        graph: dict[str, set[str]] = {module: set() for module in modules}
        for item in imports[name]:
            target = nearest(item.name, set(modules))
            # A package whose __init__ gathers its modules is not imported by naming one of them.
            if target and not item.typing and target != package.dotted(item.path):
                graph[package.dotted(item.path)].add(target)
        circles += [' -> '.join(circle) for circle in strongly_connected(graph)]

    assert circles == []


def strongly_connected(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that reach each other."""
    reached = {start: reachable(graph, start) for start in graph}
    groups = {
        tuple(sorted(other for other in reached[start] if start in reached[other]))
        for start in graph
    }
    return [list(group) for group in sorted(groups) if group]


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    """Return what a module imports, directly or not; itself only on a circle."""
    pending, seen = list(graph[start]), set()
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending += graph[name]
    return seen


def test_private_names_stay_in_their_module(packages: Packages, imports: Imports) -> None:
    offenders = [
        str(item)
        for name in packages
        for item in imports[name]
        if item.root in packages and any(is_private(part) for part in item.name.split('.'))
    ]
    for name in packages:
        ours: dict[Path, set[str]] = {}
        for item in imports[name]:
            if item.root in packages:
                ours.setdefault(item.path, set()).add(item.name.rpartition('.')[2])
        for path, names in ours.items():
            text = path.read_text(encoding='utf-8')
            # To parse every file once more would take longest by far.
            if not re.search(rf'\b({"|".join(map(re.escape, names))})\s*\.\s*_', text):
                continue
            offenders += [
                f'{path.name} uses {node.value.id}.{node.attr}'
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in names
                and is_private(node.attr)
            ]

    assert offenders == []


def is_private(name: str) -> bool:
    """Tell whether a name begins with one underscore."""
    return name.startswith('_') and not name.startswith('__')


def nearest(name: str, modules: set[str]) -> str | None:
    """Return the module that ``from a.b import name`` reads: a.b.name, a.b, or none of ours."""
    while name and name not in modules:
        name = name.rpartition('.')[0]
    return name or None
