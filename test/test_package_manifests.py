# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What package.xml and setup.py say is what the sources do.

rosdep installs what package.xml names, colcon builds in its order, and a file that setup.py does
not list is not installed; none of the three notices a mistake on the machine of the person who
made it.
"""

from __future__ import annotations

import ast
import fnmatch
from graphlib import TopologicalSorter
from importlib import import_module, metadata
import json
from pathlib import Path
import re
import sys
from typing import Any, TYPE_CHECKING

import pytest
from stewart_bringup.main import GROUP
from stewart_bringup.rigs import RECORDER, RIG
from stewart_node_support.errors import FROM_PIP, WITHOUT_ROSDEP_KEY

if TYPE_CHECKING:
    from conftest import Import, SourcePackage

    Packages = dict[str, SourcePackage]
    Imports = dict[str, list[Import]]

ROOT = Path(__file__).parents[1]
# Import name -> rosdep key, each looked up in rosdistro 8468e88 (2026-08-22): the first block in
# rosdep/python.yaml, the second in jazzy/distribution.yaml.
CHECKED = '2026-08-22'
ROSDEP_KEYS = {
    'filterpy': 'python3-filterpy-pip',
    'hypothesis': 'python3-hypothesis',
    'matplotlib': 'python3-matplotlib',
    'mpl_toolkits': 'python3-matplotlib',
    'numba': 'python3-numba',
    'numpy': 'python3-numpy',
    'pyswarms': 'python3-pyswarms-pip',
    'pytest': 'python3-pytest',
    'rich': 'python3-rich',
    'rosbags': 'python3-rosbags-pip',
    'scipy': 'python3-scipy',
    'serial': 'python3-serial',
    'transforms3d': 'python3-transforms3d',
    'yaml': 'python3-yaml',
    'yourdfpy': 'python3-yourdfpy-pip',
}
ROS_PACKAGES = {
    'action_msgs',
    'ament_index_python',
    'builtin_interfaces',
    'control_msgs',
    'controller_manager',
    'diagnostic_msgs',
    'geometry_msgs',
    'joint_state_broadcaster',
    'joint_state_topic_hardware_interface',
    'joint_trajectory_controller',
    'launch',
    'launch_ros',
    'launch_testing',
    'lifecycle_msgs',
    'nav_msgs',
    'rcl_interfaces',
    'rclpy',
    'robot_state_publisher',
    'ros2launch',
    'rosidl_default_generators',
    'rosidl_default_runtime',
    'rosgraph_msgs',
    'rviz2',
    'sensor_msgs',
    'std_msgs',
    'std_srvs',
    'tf2_msgs',
    'trajectory_msgs',
    'visualization_msgs',
    'xacro',
}
OTHER_KEYS = {'liburdfdom-tools', 'python3-pytest-timeout'}
# Tests find these beside the packages.
PAPERS = {path.stem for path in (ROOT / 'papers').glob('*.py')}
# rosdep knows no key: pip extras, named in the package's README and imported only where used; and
# backports.zstd (from Python 3.14 on: compression.zstd) and lz4, which python3-rosbags-pip brings.
NO_KEY = {
    'backports',
    'compression',
    'daqp',
    'distributed',
    'lz4',
    'mujoco',
    'pyroute2',
    'pysoem',
    'selenium',
    'viser',
}
BUILT_BY_CMAKE = {'stewart_interfaces'}
# Helpers of tests of other packages, too.
HELPERS = {
    'node_harness': 'stewart_node_support',
    'stepped_clock': 'stewart_node_support',
    'kinematic_rig': 'stewart_kinematics',
    'typed_words': 'stewart_tables',
    # Of the benchmarks.
    'estimation_cases': 'stewart_estimation',
}
# What a wheel asks the package index for, where its name is not that of its module.
DISTRIBUTIONS = {'mpl_toolkits': 'matplotlib', 'yaml': 'PyYAML'}
OLDEST_PYTHON = '>=3.10'
INSTALLED_FILES = ('config', 'drives', 'launch', 'platforms', 'rviz', 'urdf')


def key_of(root: str, names: set[str]) -> str | None:
    """Return the key for a top-level module; None where no package has to be named."""
    if root in sys.stdlib_module_names or root in NO_KEY | PAPERS | {'__future__'}:
        return None
    if root in HELPERS:
        return HELPERS[root]
    if root in names or root in ROS_PACKAGES:
        return root
    assert root in ROSDEP_KEYS, f'no rosdep key is known for {root!r} (checked {CHECKED})'
    return ROSDEP_KEYS[root]


def keys_of(imports: list[Import], package: str, names: set[str]) -> set[str]:
    """Return the keys of everything imported, without the package itself."""
    return {key for item in imports if (key := key_of(item.root, names))} - {package}


def launched(package: SourcePackage) -> set[str]:
    """Return the packages whose executables or files the launch files name."""
    found: set[str] = set()
    model = ROOT / 'src' / 'stewart_description' / 'urdf' / 'stewart.urdf.xacro'
    for path in sorted(package.folder.glob('launch/*.launch.py')):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.keyword) and node.arg == 'package':
                found |= {str(item) for item in constants(node.value)}
            # What loads the model then loads its hardware.
            if isinstance(node, ast.keyword) and node.arg == 'ros2_control':
                found |= set(re.findall(r'<plugin>(\w+)/', model.read_text(encoding='utf-8')))
            if isinstance(node, ast.Call) and callee(node) == 'FindPackageShare':
                found |= {str(item) for arg in node.args for item in constants(arg)}
    for path in sorted((package.folder / package.name).glob('launching.py')):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.Constant) and node.value in ROS_PACKAGES:
                found.add(str(node.value))
    return found


def composed(packages: Packages) -> set[str]:
    """Return the packages of the nodes of a rig, which are found by their names."""
    offers = {
        entry.name: other.name
        for other in python_packages(packages)
        for entry in entry_points(other)
        if entry.group == 'stewart.nodes'
    }
    return {offers[name] for name in (*RIG, RECORDER)}


def configured(package: SourcePackage, packages: Packages) -> set[str]:
    """Return the packages whose back ends or controllers the configuration of a package names."""
    offers = {
        entry.name: other.name
        for other in python_packages(packages)
        for entry in entry_points(other)
        if entry.group == 'stewart.driver_backends'
    }
    text = '\n'.join(path.read_text() for path in package.folder.glob('config/*.yaml'))
    backends = re.findall(r'^\s*backend: (\w+)$', text, re.MULTILINE)
    controllers = re.findall(r'^\s*type: (\w+)/\w+$', text, re.MULTILINE)
    return {offers[name] for name in backends} | set(controllers)


def constants(node: ast.expr) -> list[Any]:
    return [node.value] if isinstance(node, ast.Constant) else []


def callee(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ''


def python_packages(packages: Packages) -> list[SourcePackage]:
    return [package for name, package in packages.items() if name not in BUILT_BY_CMAKE]


def setup_keywords(package: SourcePackage) -> dict[str, ast.expr]:
    """Return the keyword arguments of setup() in setup.py, unevaluated."""
    tree = ast.parse((package.folder / 'setup.py').read_text(encoding='utf-8'))
    (call,) = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and callee(node) == 'setup'
    ]
    return {str(keyword.arg): keyword.value for keyword in call.keywords}


def entry_points(package: SourcePackage) -> list[metadata.EntryPoint]:
    node = setup_keywords(package).get('entry_points')
    groups: dict[str, list[str]] = evaluate(node, package) if node is not None else {}
    return [
        metadata.EntryPoint(*(part.strip() for part in line.split('=', 1)), group)
        for group, lines in groups.items()
        for line in lines
    ]


def evaluate(node: ast.expr, package: SourcePackage) -> Any:
    """Evaluate an expression of setup.py by running what stands before setup()."""
    source = (package.folder / 'setup.py').read_text(encoding='utf-8')
    tree = ast.parse(source)
    tree.body = [
        item
        for item in tree.body
        if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Call))
    ]
    scope: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(package.folder)
        exec(compile(tree, str(package.folder / 'setup.py'), 'exec'), scope)
        return eval(compile(ast.Expression(node), 'setup.py', 'eval'), scope)


def test_dependencies_have_no_cycle(packages: Packages) -> None:
    graph = {
        name: package.depends('depend', 'build_depend', 'exec_depend', 'test_depend')
        & set(packages)
        for name, package in packages.items()
    }

    assert set(TopologicalSorter(graph).static_order()) == set(packages)


def test_run_dependencies_are_the_real_imports(
    packages: Packages, imports: Imports, launch_imports: Imports
) -> None:
    differences = []
    for package in python_packages(packages):
        found = imports[package.name] + launch_imports[package.name]
        wanted = keys_of(found, package.name, set(packages))
        wanted |= launched(package) | configured(package, packages)
        if package.name == 'stewart_bringup':
            wanted |= composed(packages)
        wanted.discard(package.name)
        told = package.depends('depend', 'exec_depend')
        differences += [f'{package.name}: {key} is missing' for key in sorted(wanted - told)]
        differences += [f'{package.name}: {key} is not used' for key in sorted(told - wanted)]

    assert not differences, '\n'.join(differences)


def test_wheels_require_what_they_import(packages: Packages, imports: Imports) -> None:
    """Nodes aside, which need ROS: no index has it."""
    (names,) = re.findall(r'^for name in (.*); do$', (ROOT / 'scripts/wheels').read_text(), re.M)
    wheels = [packages[f'stewart_{name}'] for name in names.split()]
    known = {*ROSDEP_KEYS, *(package.name for package in wheels)}
    missing = []
    for package in wheels:
        listed = evaluate(setup_keywords(package)['install_requires'], package)
        told = {package.name, *(re.split('[<>=]', item)[0] for item in listed)}
        wanted = {
            DISTRIBUTIONS.get(item.root, item.root)
            for item in imports[package.name]
            if item.root in known and package.room_of(item.path) != 'nodes'
        }
        missing += [f'{package.name}: {name} is missing' for name in sorted(wanted - told)]

    assert not missing, '\n'.join(missing)


def test_no_older_python_installs_a_package(packages: Packages) -> None:
    for package in python_packages(packages):
        node = setup_keywords(package).get('python_requires')
        assert node is not None, package.name
        assert evaluate(node, package) == OLDEST_PYTHON, package.name


def test_test_dependencies_cover_what_tests_import(
    packages: Packages, test_imports: Imports
) -> None:
    missing = [
        f'{package.name}: {key} is missing'
        for package in python_packages(packages)
        for key in sorted(
            keys_of(test_imports[package.name], package.name, set(packages))
            - package.depends('depend', 'exec_depend', 'test_depend')
        )
    ]

    assert not missing, '\n'.join(missing)


def test_interfaces_depend_on_the_messages_they_contain(packages: Packages) -> None:
    package = packages['stewart_interfaces']
    text = '\n'.join(path.read_text() for path in package.folder.glob('*/*.[ma][sc][gt]*'))
    wanted = set(re.findall(r'^(\w+)/\w+ ', text, re.MULTILINE))

    assert wanted
    assert wanted <= package.depends('depend')


def test_every_key_is_known_to_rosdep(packages: Packages) -> None:
    known = {*ROSDEP_KEYS.values(), *ROS_PACKAGES, *OTHER_KEYS, *packages}
    tags = ('depend', 'build_depend', 'exec_depend', 'test_depend')
    unknown = {
        name: unknown
        for name, package in packages.items()
        if (unknown := sorted(package.depends(*tags) - known))
    }

    assert unknown == {}, f'look them up in rosdistro, then add them here (checked {CHECKED})'


@pytest.mark.parametrize('page', ['README.md', 'docker/Dockerfile'])
def test_pip_installs_beside_apt_what_apt_has_not(page: str) -> None:
    """Rosdep's own pip runs as root with ``-U`` and without constraints; so it gets none to do.

    A constraint holds for what is installed, too: one with another version than apt's makes pip
    replace apt's package, which it cannot as root. So what is installed is the constraint.
    """
    with_key = {key for key in ROSDEP_KEYS.values() if key.endswith('-pip')}
    text = (ROOT / page).read_text().replace('\\\n', ' ')
    rosdep = re.search(r'rosdep install .*? --skip-keys "([^"]*)"', text)
    freeze = re.search(r'pip list --format=freeze > (\S+)', text)
    pip = re.search(r'pip install --constraint (\S+) ([\w ]+?)\s*(?:&&|$)', text, re.MULTILINE)

    assert rosdep
    assert freeze
    assert pip
    assert rosdep.start() < freeze.start() < pip.start()
    assert set(rosdep[1].split()) - {'rviz2'} == with_key
    assert pip[1] == freeze[1]
    assert set(pip[2].split()) == set(FROM_PIP)


def test_what_comes_from_pip_is_known() -> None:
    with_key = {name for name, key in ROSDEP_KEYS.items() if key.endswith('-pip')}

    assert set(WITHOUT_ROSDEP_KEY) <= NO_KEY
    assert set(FROM_PIP) == with_key | set(WITHOUT_ROSDEP_KEY)


def test_versions_agree(packages: Packages) -> None:
    manifests = {str(package.manifest.findtext('version')) for package in packages.values()}
    setups = {
        evaluate(setup_keywords(package)['version'], package)
        for package in python_packages(packages)
    }

    assert len(manifests) == 1
    assert setups == manifests


def test_every_entry_point_names_something(packages: Packages) -> None:
    """What needs ROS is imported only where ROS is; that the module exists is checked always."""
    broken = []
    for package in python_packages(packages):
        for entry in entry_points(package):
            path = packages[entry.module.split('.')[0]].folder / entry.module.replace('.', '/')
            if not path.with_suffix('.py').is_file():
                broken.append(f'{package.name}: {entry.name} = {entry.value} is no module')
                continue
            if entry.attr and entry.attr not in top_level_names(path.with_suffix('.py')):
                broken.append(f'{package.name}: {entry.name} = {entry.value} is not there')

    assert broken == []


def top_level_names(path: Path) -> set[str]:
    names = set()
    for node in ast.parse(path.read_text(encoding='utf-8')).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {item.id for item in node.targets if isinstance(item, ast.Name)}
    return names


def test_every_verb_is_a_verb(packages: Packages) -> None:
    verbs = [
        entry
        for package in python_packages(packages)
        for entry in entry_points(package)
        if entry.group == GROUP
    ]

    assert len({entry.name for entry in verbs}) == len(verbs)
    for entry in verbs:
        module = import_module(entry.value)
        assert '\n' not in module.HELP, entry
        assert callable(module.add_arguments), entry
        assert callable(module.main), entry


@pytest.mark.ros
def test_every_entry_point_loads(packages: Packages) -> None:
    pytest.importorskip('rclpy')
    for package in python_packages(packages):
        for entry in entry_points(package):
            entry.load()


def test_every_data_file_is_installed(packages: Packages) -> None:
    forgotten = []
    for package in python_packages(packages):
        node = setup_keywords(package)['data_files']
        installed = {str(Path(name)) for _, files in evaluate(node, package) for name in files}
        present = [
            path.relative_to(package.folder)
            for folder in INSTALLED_FILES
            for path in sorted(package.folder.glob(f'{folder}/**/*'))
            if path.is_file() and '__pycache__' not in path.parts
        ]
        forgotten += [f'{package.name}/{path}' for path in present if str(path) not in installed]
        carried = setup_keywords(package).get('package_data')
        patterns = evaluate(carried, package) if carried is not None else {}
        inside = [
            path
            for path in (package.folder / package.name).rglob('*')
            if path.is_file() and path.suffix not in {'.py', '.pyc', '.nbi', '.nbc'}
        ]
        forgotten += [
            f'{package.name}/{path.relative_to(package.folder)}'
            for path in inside
            if not carried_by(patterns, path, package)
        ]

    assert forgotten == []


def carried_by(patterns: dict[str, list[str]], path: Path, package: SourcePackage) -> bool:
    return any(
        fnmatch.fnmatch(str(path), str(package.folder.joinpath(*name.split('.')) / pattern))
        for name, globs in patterns.items()
        for pattern in globs
    )


def test_setup_files_of_colcon_find_the_command() -> None:
    """An installed ROS 2 has no env.sh; the scripts are in lib/, which is not on PATH."""
    folder = ROOT / 'src' / 'stewart_bringup'
    scripts = re.search(r'install_scripts=\$base/(.*)', (folder / 'setup.cfg').read_text())
    assert scripts
    hooks = json.loads((folder / 'colcon.pkg').read_text())['hooks']
    assert {Path(hook).suffix for hook in hooks} == {'.dsv', '.sh'}
    for hook in hooks:
        place = Path(hook)
        assert place.parts[:3] == ('share', 'stewart_bringup', 'hook')
        assert scripts[1] in (folder / 'hook' / place.name).read_text()
    assert "glob('hook/*')" in (folder / 'setup.py').read_text()
