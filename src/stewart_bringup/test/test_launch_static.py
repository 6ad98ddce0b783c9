# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Static checks of the launch files and their YAML: nothing is launched here.

They run everywhere, also where launch is not installed. That the files really launch is the
matter of test_launch.py.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
import runpy
import sys
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from stewart_bringup.demo.scenarios import WAVES
from stewart_bringup.rigs import available, nodes_of, RIG
from stewart_bringup.verbs import run
from stewart_bringup.verbs.graph import chosen_speed
from stewart_description.urdf import render_urdf
from stewart_simulation.rig.directory import READY
from typed_words import parsed
import yaml

pytestmark = pytest.mark.installed

SRC = Path(__file__).parents[2]
LAUNCH_FILES = sorted((SRC / 'stewart_bringup' / 'launch').glob('*.launch.py'))
# Controllers of ros2_control are no nodes of ours.
CONFIGS = sorted((SRC / 'stewart_bringup' / 'config').glob('[!r]*.yaml')) + sorted(
    (SRC / 'stewart_bringup' / 'config').glob('rig_*.yaml')
)
# Started but not ours.
EXTERNAL = {
    ('robot_state_publisher', 'robot_state_publisher'),
    ('rviz2', 'rviz2'),
    ('controller_manager', 'ros2_control_node'),
    ('controller_manager', 'spawner'),
}
# Declared by rclpy, or by stewart_node_support for every lifecycle node.
EVERY_NODE = {'use_sim_time', 'autostart'}


# Drawing a model takes half a second.
drawn = cache(render_urdf)


def calls(path: Path, name: str) -> Iterator[dict[str, ast.expr]]:
    """Yield the keyword arguments of every call of a function in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            found = {str(item.arg): item.value for item in node.keywords}
            if node.args:
                found['0'] = node.args[0]
            yield found


@cache
def executables() -> dict[str, str]:
    """Return the package of every executable that a setup.py installs."""
    found = {}
    for path in SRC.glob('*/setup.py'):
        tree = ast.parse(path.read_text(encoding='utf-8'))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                name, _, target = node.value.partition(' = ')
                if ':' in target:
                    found[name] = path.parent.name
            # A table of nodes from which the lines are made.
            if isinstance(node, ast.Dict):
                keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
                found |= {str(key): path.parent.name for key in keys}
    return found


@cache
def parameters_of(package: str) -> set[str]:
    """Return every field made by ``param`` or ``positive`` in a package."""
    found = set()
    for path in (SRC / package / package).rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and isinstance(node.value, ast.Call)
                and isinstance(node.value.func, ast.Name)
                and node.value.func.id in {'param', 'positive'}
            ):
                found.add(node.target.id)
    return found


def sections(path: Path) -> dict[str, dict[str, Any]]:
    """Return the parameters of a YAML file by node; ``''`` stands for every node."""
    content = yaml.safe_load(path.read_text(encoding='utf-8'))
    found = {}
    for key, value in content.items():
        assert set(value) == {'ros__parameters'}, f'{path.name}: {key}'
        assert key == '/**' or key.startswith('/**/'), f'{path.name}: {key} fits no namespace'
        found[key.removeprefix('/**').removeprefix('/')] = value['ros__parameters']
    return found


class Entity:
    """Whatever a launch file makes, with what it was made of."""

    def __init__(self, kind: str, *args: Any, **keywords: Any) -> None:
        self.kind, self.args, self.keywords = kind, args, keywords

    def perform(self, context: dict[str, str]) -> str:
        assert self.kind == 'LaunchConfiguration'
        return context[self.args[0]]


STUBS = {
    'launch': ('LaunchContext', 'LaunchDescription'),
    'launch.actions': (
        'DeclareLaunchArgument',
        'ExecuteProcess',
        'OpaqueFunction',
        'RegisterEventHandler',
        'SetEnvironmentVariable',
        'SetLaunchConfiguration',
        'Shutdown',
        'TimerAction',
    ),
    'launch.event_handlers': ('OnProcessExit', 'OnProcessIO'),
    'launch.substitutions': ('LaunchConfiguration',),
    'launch_ros': (),
    'launch_ros.actions': ('Node',),
    'launch_ros.parameter_descriptions': ('ParameterFile', 'ParameterValue'),
    'launch_ros.ros_adapters': ('get_ros_node',),
    'launch_ros.substitutions': ('ExecutableInPackage',),
}


class Launch:
    """A launch file as it is described, and what it starts; nothing is launched."""

    SAID = SimpleNamespace(text=f'{READY}; DISABLED: started'.encode())

    def __init__(self, path: Path) -> None:
        (self.description,) = runpy.run_path(str(path))['generate_launch_description']().args
        self.arguments = {
            item.args[0]: item.keywords for item in self._of(self.description, 'Declare')
        }

    @staticmethod
    def _of(entities: list[Entity], kind: str) -> list[Entity]:
        return [item for item in entities if item.kind.startswith(kind)]

    def start(self, **chosen: str) -> list[Entity]:
        """Return the processes in their order: virtual rig, driver, those that wait for them."""
        given = {name: item.get('default_value') for name, item in self.arguments.items()}
        assert set(chosen) <= set(given)
        self.context = given | chosen
        found = []
        for item in self._of(self.description, 'OpaqueFunction'):
            function, more = item.keywords['function'], item.keywords.get('kwargs', {})
            found += (made := function(self.context, **more))
            # Whatever follows sees it.
            self.context |= dict(chose.args for chose in self._of(made, 'SetLaunchConfiguration'))
        self.timers = self._of(found, 'TimerAction')
        self.at_once = [item.keywords['executable'] for item in self._of(found, 'Node')]
        # The virtual rig, then the driver that waits for it.
        while late := [
            later
            for item in self._handlers(found, 'OnProcessIO')
            for later in item.keywords['on_stderr'](self.SAID)
        ]:
            found += late
        ends = [item.keywords for item in self._handlers(found, 'OnProcessExit')]
        self.on_exit = {
            item['target_action'].keywords.get('executable', 'stewart'): item['on_exit']
            for item in ends
        }
        self.commands = [
            [word if isinstance(word, str) else self._text(word) for word in item.keywords['cmd']]
            for item in self._of(found, 'ExecuteProcess')
        ]
        return self._of(found, 'Node')

    def _text(self, word: Entity) -> str:
        if word.kind == 'ExecutableInPackage':
            return ' of '.join(word.args)
        return word.perform(self.context)

    def _handlers(self, found: list[Entity], kind: str) -> list[Entity]:
        handlers = [item.args[0] for item in self._of(found, 'RegisterEventHandler')]
        return self._of(handlers, kind)


@pytest.fixture
def launch(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Launch]:
    """Return what reads a launch file with modules that only take notes."""
    for name, entities in STUBS.items():
        module = ModuleType(name)
        for entity in entities:
            setattr(module, entity, partial(Entity, entity))
        monkeypatch.setitem(sys.modules, name, module)
    # robot_state_publisher and rviz2 are as good as there.
    monkeypatch.setattr('ament_index_python.packages.get_package_prefix', str)
    monkeypatch.delitem(sys.modules, 'stewart_bringup.launching', raising=False)
    monkeypatch.setattr('stewart_description.urdf.render_urdf', drawn)

    def read(name: str) -> Launch:
        return Launch(SRC / 'stewart_bringup' / 'launch' / f'{name}.launch.py')

    return read


def values_of(node: Entity) -> dict[str, Any]:
    """Return the parameters that a launch file itself sets."""
    found: dict[str, Any] = {}
    for item in node.keywords['parameters']:
        if isinstance(item, dict):
            found |= item
    return found


CASES = [
    *(('simulation', {'rig': rig, 'rviz': 'true'}) for rig in sorted(available('rig'))),
    ('demo', {'wave': 'eq18', 'record': 'true'}),
    ('demo', {'wave': ''}),
    ('rig_ethercat', {}),
    ('rig_daq', {'record': 'true', 'wave': 'eq18'}),
    ('ros2_control', {'platform': 'srs'}),
    ('view', {'platform': 'ex800', 'web': 'true'}),
    ('replay_identification', {'bag': 'run', 'rviz': 'true'}),
]


def test_static_controllers_hear_a_description_of_their_own(
    launch: Callable[[str], Launch],
) -> None:
    """The manager of Jazzy takes it from a topic alone, where a rig's model has no drives."""
    told, manager, _ = launch('ros2_control').start(platform='srs')
    topic = ('robot_description', 'ros2_control_description')
    assert topic in told.keywords['remappings']
    assert topic in manager.keywords['remappings']
    assert 'robot_description' in values_of(told)
    assert 'robot_description' not in values_of(manager)


@pytest.mark.parametrize('name', ['view', 'ros2_control'])
def test_static_what_shows_a_platform_waits_until_a_rig_says_which(
    name: str, launch: Callable[[str], Launch], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Joints are named alike in all of them: another one's would be drawn without a word."""
    question = 'stewart_viewer.nodes.platform_question.PlatformQuestion'
    monkeypatch.setattr(question, ask := Mock())
    read = launch(name)
    assert read.start(namespace='deck') == []
    ((_, answered, asked),) = [call.args for call in ask.call_args_list]
    assert asked == '/deck/forward_kinematics'

    def look(timer: Entity) -> list[Entity]:
        ((function,),) = [timer.keywords['actions']]
        return function.keywords['function'](read.context)

    (again,) = look(*read.timers)
    answered('ex800')
    texts = [values_of(node).get('robot_description') for node in look(again)]
    shown = {item.args[0] for item in texts if item is not None}
    assert shown == {
        drawn('ex800', ros2_control=True) if name == 'ros2_control' else drawn('ex800')
    }
    launch(name).start(namespace='/')
    assert ask.call_args.args[2] == '/forward_kinematics'


@pytest.mark.parametrize(('name', 'chosen'), CASES, ids=str)
def test_static_every_process_is_installed_and_knows_its_parameters(
    name: str, chosen: dict[str, str], launch: Callable[[str], Launch]
) -> None:
    known = executables()
    nodes = launch(name).start(**chosen)

    assert nodes
    for node in nodes:
        package, executable = node.keywords['package'], node.keywords['executable']
        assert 'namespace' in node.keywords
        if (package, executable) not in EXTERNAL:
            assert known.get(executable) == package
            told = {key.rpartition('.')[2] for key in values_of(node)}
            assert told <= parameters_of(package) | EVERY_NODE, executable
        for item in node.keywords['parameters']:
            if isinstance(item, Entity):
                assert Path(item.args[0]).is_file()


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_static_every_launched_graph_stays_on_this_machine(
    path: Path, launch: Callable[[str], Launch], monkeypatch: pytest.MonkeyPatch
) -> None:
    # It imports rclpy, without which this module is collected, too.
    running = pytest.importorskip('stewart_node_support.running')
    for name in running.DISCOVERY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    first = launch(path.name.partition('.')[0]).description[0]

    assert (first.kind, *first.args) == (
        'SetEnvironmentVariable',
        'ROS_AUTOMATIC_DISCOVERY_RANGE',
        'LOCALHOST',
    )


@pytest.mark.parametrize('rig', sorted(available('rig')))
def test_static_a_launched_rig_has_the_nodes_of_the_composition(
    rig: str, launch: Callable[[str], Launch]
) -> None:
    simulation = launch('simulation')
    nodes = {node.keywords['executable']: node for node in simulation.start(rig=rig, wave='')}
    started = list(nodes)
    path = available('rig')[rig]
    platform = sections(path)['']['platform']

    assert [name for name in started if name != 'robot_state_publisher'] == [*nodes_of([path])]
    # Everything ends with the driver, and with the machine that is not there.
    assert set(simulation.on_exit) == {'driver', 'virtual_rig'} & set(started)
    model = nodes['robot_state_publisher'].keywords['parameters'][0]
    assert model['robot_description'].args[0] == drawn(platform)


def test_static_a_rig_of_metal_is_started_from_a_file_without_a_virtual_one(
    launch: Callable[[str], Launch], tmp_path: Path
) -> None:
    rig = tmp_path / 'my_rig.yaml'
    rig.write_text(
        '/**: {ros__parameters: {platform: srs}}\n'
        '/**/driver: {ros__parameters: {backend: ethercat, ethercat: {interface: eth1}}}\n'
        '/**/imu: {ros__parameters: {port: /dev/ttyUSB0}}\n'
    )

    started = [item.keywords['executable'] for item in launch('rig_ethercat').start(rig=str(rig))]

    assert started[0] == 'driver'
    assert 'imu' in started
    assert 'virtual_rig' not in started
    with pytest.raises(Exception, match="has the back end 'ethercat', and not 'daq'"):
        launch('rig_daq').start(rig=str(rig))
    with pytest.raises(Exception, match='no configuration'):
        launch('rig_daq').start(rig='nonesuch')


WHOLE_RIGS = [
    ('simulation', 'vigo', []),
    ('rig_daq', 'ex800_daq', []),
    ('rig_ethercat', 'vigo_ethercat', []),
    ('demo', 'vigo', ['wave_operator']),
]


@pytest.mark.parametrize(('name', 'rig', 'operators'), WHOLE_RIGS)
def test_static_in_simulated_time_a_rig_is_one_process_that_all_others_follow(
    name: str, rig: str, operators: list[str], launch: Callable[[str], Launch]
) -> None:
    read = launch(name)
    eyes = read.start(
        time='simulated', speed='max', wave='eq18', rviz='true', record='true', namespace='one'
    )

    assert {item.keywords['executable'] for item in eyes} == {
        *('robot_state_publisher', 'rviz2', 'force_arrows'),
        *operators,
    }
    assert all(values_of(item)['use_sim_time'] for item in eyes)
    assert set(read.on_exit) == {'stewart', *operators}
    ((program, verb, *words),) = read.commands
    assert (program, verb) == ('stewart of stewart_bringup', 'run')
    found = parsed(run, *words)
    assert (found.rig, found.wave, found.namespace) == (rig, ['eq18'], 'one')
    assert (chosen_speed(found), found.record, found.log_level) == (0.0, Path('recording'), 'info')


def test_static_in_simulated_time_what_is_empty_is_not_said(
    launch: Callable[[str], Launch],
) -> None:
    read = launch('simulation')
    assert read.start(time='simulated', wave='', model='false') == []
    ((_, *words),) = read.commands
    assert ' '.join(words) == 'run vigo --time simulated --speed 1 --log-level info'


@pytest.mark.parametrize('time', ['real', 'simulated'])
def test_static_who_asks_waits_for_the_driver_of_this_rig(
    time: str, launch: Callable[[str], Launch]
) -> None:
    """Where the namespace has another rig this driver refuses to start, and that one is left."""
    demo = launch('demo')
    started = demo.start(time=time, log_level='error')
    assert started[-1].keywords['executable'] == 'wave_operator'
    assert 'wave_operator' not in demo.at_once
    # What it waits for is logged, whatever the others log.
    logged = [*demo.commands, *(item.keywords.get('arguments', []) for item in started[:-1])]
    assert any('info' in words for words in logged)


@pytest.mark.parametrize(
    ('rig', 'chosen', 'wave'),
    [
        ('vigo', {}, 'jonswap'),
        ('vigo_at_sea', {}, ''),
        ('vigo_at_sea', {'wave': 'eq18'}, 'eq18'),
        ('vigo', {'wave': ''}, ''),
    ],
    ids=str,
)
def test_static_a_demo_plays_what_the_rig_is_for_unless_a_wave_is_asked_for(
    rig: str, chosen: dict[str, str], wave: str, launch: Callable[[str], Launch]
) -> None:
    files = [available('rig')[rig], *([available('wave')[wave]] if wave else [])]
    nodes = {
        node.keywords['executable']: [
            Path(item.args[0]).name
            for item in node.keywords['parameters']
            if isinstance(item, Entity)
        ]
        for node in launch('demo').start(rig=rig, rviz='false', model='false', **chosen)
    }

    assert nodes['wave_operator'] == [path.name for path in files]
    # The nodes of the rig are told the same wave as the operator.
    laid_over = [name for name in nodes['driver'] if name.startswith('wave_')]
    assert laid_over == [path.name for path in files[1:]]


@pytest.mark.parametrize(
    ('chosen', 'said'),
    [
        ({'time': 'fast'}, "time: expected real or simulated, got 'fast'"),
        ({'time': 'simulated', 'speed': 'slow'}, 'speed: slow is neither max nor a number'),
        ({'time': 'simulated', 'speed': '-1'}, 'speed: -1 is neither max nor a number'),
        ({'speed': 'max'}, 'speed: max is for time:=simulated'),
    ],
    ids=str,
)
def test_static_a_time_that_does_not_exist_is_refused(
    chosen: dict[str, str], said: str, launch: Callable[[str], Launch]
) -> None:
    for name in ('simulation', 'demo'):
        with pytest.raises(Exception, match=said):
            launch(name).start(**chosen)


def test_static_metal_follows_no_simulated_time(
    launch: Callable[[str], Launch], tmp_path: Path
) -> None:
    rig = tmp_path / 'my_rig.yaml'
    rig.write_text('/**/driver: {ros__parameters: {backend: daq}}\n')
    with pytest.raises(Exception, match=r'time: what moves metal follows real time, as the rig'):
        launch('rig_daq').start(rig=str(rig), time='simulated')


def test_static_a_rig_does_without_robot_state_publisher(
    launch: Callable[[str], Launch], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ament_index_python.packages import PackageNotFoundError

    missing = PackageNotFoundError('robot_state_publisher')
    for name in ('simulation', 'view'):
        read, shown = launch(name), {'model': 'false', 'rviz': 'false', 'platform': 'vigo'}
        monkeypatch.setattr(
            'stewart_bringup.launching.get_package_prefix', Mock(side_effect=missing)
        )
        started = [item.keywords['executable'] for item in read.start(**shown)]
        assert 'robot_state_publisher' not in started


def test_static_tf_follows_every_joint_state(launch: Callable[[str], Launch]) -> None:
    nodes = {node.keywords['executable']: node for node in launch('simulation').start()}
    allowed = values_of(nodes['robot_state_publisher'])['publish_frequency']

    # joint_states has 50 Hz with jitter. robot_state_publisher drops what follows the last one
    # sooner than its period, and refuses more than 1000 Hz.
    assert 100.0 <= allowed <= 1000.0


def test_static_a_process_that_fails_fails_the_launch(launch: Callable[[str], Launch]) -> None:
    simulation = launch('simulation')
    simulation.start()
    context = SimpleNamespace(is_shutdown=False)
    failed = SimpleNamespace(process_name='driver-2', returncode=1)
    done = SimpleNamespace(process_name='driver-2', returncode=0)

    with pytest.raises(Exception, match='driver-2 has failed with code 1'):
        simulation.on_exit['driver'](failed, context)
    assert simulation.on_exit['driver'](done, context).kind == 'Shutdown'
    # After Ctrl-C everything ends anyway.
    context.is_shutdown = True
    assert simulation.on_exit['driver'](failed, context) is None


def test_static_what_is_not_installed_is_refused_before_anything_starts(
    launch: Callable[[str], Launch], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ament_index_python.packages import PackageNotFoundError

    read = launch('simulation')
    missing = PackageNotFoundError('rviz2')
    monkeypatch.setattr('stewart_bringup.launching.get_package_prefix', Mock(side_effect=missing))
    with pytest.raises(Exception, match='robot_state_publisher is not installed'):
        read.start()


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_static_every_argument_is_described_and_every_one_used_is_declared(
    path: Path, launch: Callable[[str], Launch]
) -> None:
    assert {case for case, _ in CASES} == {item.name.partition('.')[0] for item in LAUNCH_FILES}
    read = launch(path.name.partition('.')[0])

    assert read.arguments
    for name, item in read.arguments.items():
        assert len(item['description']) > 10, name
    used = {
        item['0'].value
        for item in calls(path, 'LaunchConfiguration')
        if isinstance(item['0'], ast.Constant)
    }
    assert used <= set(read.arguments)
    assert all(name in read.arguments for name in ('namespace', 'use_sim_time', 'platform'))


@pytest.mark.parametrize('path', CONFIGS, ids=lambda path: path.name)
def test_static_every_parameter_in_yaml_exists(path: Path) -> None:
    known = executables()
    for node, values in sections(path).items():
        if not node:
            every = set().union(*(parameters_of(known[name]) for name in RIG))
            assert set(values) <= every | EVERY_NODE
            continue
        declared = parameters_of(known[node])
        # Options of a back end stand under its name and are checked with the node itself.
        plain = {name for name, value in values.items() if not isinstance(value, dict)}
        assert plain <= declared, f'{path.name}: {node}'
        assert set(values) - plain <= {values.get('backend')}


def test_static_every_wave_is_played_by_the_node_of_its_file() -> None:
    for name, path in available('wave').items():
        found = sections(path)
        assert set(found) == {WAVES[name].node, 'wave_operator'}
        assert WAVES[name].node.startswith(found['wave_operator']['services'])
