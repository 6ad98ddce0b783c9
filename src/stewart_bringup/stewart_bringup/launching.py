# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the launch files share: arguments, and processes from a rig's YAML file.

Only launch files import this; launch and launch_ros are needed nowhere else. Which nodes a rig has
says `rigs.nodes_of`, and which package a node is from its entry point, so that a launch file, the
composition and the demo cannot differ.

Recorder, virtual rig and driver come up in this order, all others when the driver is active. The
driver is given time to bring the platform to rest when everything ends, and everything ends with
the driver; `ros2 launch` then returns 1 if the driver failed. In simulated time one process has
all nodes of the rig in lock-step, and everything ends with that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_prefix, PackageNotFoundError
from launch import LaunchContext
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
    Shutdown,
    TimerAction,
)
from launch.event_handlers import OnProcessExit, OnProcessIO
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.ros_adapters import get_ros_node
from launch_ros.substitutions import ExecutableInPackage
from stewart_bringup.errors import BringupError
from stewart_bringup.rigs import (
    available,
    config_file,
    nodes_of,
    RECORDER,
    require_known_nodes,
    setting,
    VIRTUAL_RIG,
    wires,
)
from stewart_bringup.verbs.graph import speed_of
from stewart_description.paths import platform_path, rviz_path
from stewart_description.urdf import render_urdf
from stewart_node_support.executable import node_entry
from stewart_node_support.running import on_this_machine
from stewart_simulation.rig.directory import READY
from stewart_viewer.nodes.platform_question import ASKED, LOOK, PlatformQuestion

DRIVER, STATE = 'driver', 'driver/state'
STARTED = 'DISABLED: started'
QUIET = {'warn', 'error', 'fatal'}
# A stop from full speed takes a second or two; SIGTERM comes this long after SIGINT [s].
TIME_TO_REST = '15'
# robot_state_publisher drops a joint state that follows the last one sooner than this allows [Hz].
# forward_kinematics limits their rate; at that very rate jitter would cost every other one.
TF_LIMIT = 1000.0
REAL, SIMULATED = 'real', 'simulated'
AS_IT_PASSES = '1'
# Of the wave: a default that can be told from what a person leaves empty.
AUTO = 'auto'
YES = {'true', '1', 'yes', 'on'}
NO = {'false', '0', 'no', 'off', ''}

ARGUMENTS = {
    'rig': f'machine to run: {", ".join(available("rig"))}, or the path of a rig file of your own',
    'wave': f'what ocean and excitation play: {", ".join(available("wave"))}, or the path of a '
    'file; empty for the defaults of the nodes; of demo.launch.py also auto, which is jonswap '
    'unless the rig file says what its wave_operator starts',
    'platform': 'platform whose URDF is shown: a name, or the path of its YAML file; empty for '
    "the rig's own",
    'namespace': 'namespace of every node, and of the topics tf and tf_static',
    'time': 'what the rig follows: real, or simulated, which goes on when its nodes are done, all '
    'in one process, and which all others take from /clock',
    'speed': 'simulated seconds per second, or max; for time:=simulated',
    'use_sim_time': 'take time from /clock, which somebody else publishes; a driver refuses that, '
    'drives follow real time',
    'rviz': 'show the platform in RViz',
    'model': 'start robot_state_publisher, which sends tf and the URDF; RViz needs both',
    'record': 'record every topic',
    'bag': 'new folder to record into',
    'log_level': 'what is logged: debug, info, warn, error or fatal',
    'duration': 'time of the wave [s]',
    'config': 'configuration of RViz; empty for that of stewart_description',
    'web': 'show the platform in a browser, too',
    'port': 'of the page at 127.0.0.1; 0: any free',
    'output': 'folder of report.html and parameters.yaml',
    'estimator': 'how to fit, see the node',
    'friction': 'friction identified along: none, common or per leg',
    'play': 'publish the recording and /clock',
    'rate': 'how much faster than recorded',
}


def arguments(*names: str, **defaults: str) -> list[Any]:
    """Return declarations of launch arguments: keys of `ARGUMENTS`, empty or with a default."""
    every = {**dict.fromkeys(names, ''), **defaults}
    return [
        DeclareLaunchArgument(name, default_value=value, description=ARGUMENTS[name])
        for name, value in every.items()
    ]


def this_machine() -> list[Any]:
    """Return what keeps the graph on this machine, for processes that are not ours, too."""
    return [SetEnvironmentVariable(name, value) for name, value in on_this_machine().items()]


def rig_arguments(rig: str, *, wave: str = '', rviz: str = 'false') -> list[Any]:
    """Return what `rig_processes` asks for, with its defaults."""
    return [
        *this_machine(),
        *arguments(rig=rig, wave=wave, platform='', namespace=''),
        *arguments(time=REAL, speed=AS_IT_PASSES, use_sim_time='false'),
        *arguments(rviz=rviz, model='true', record='false', bag='recording', log_level='info'),
    ]


def rig_processes(backend: str = '', operators: Any = lambda _: ()) -> Any:
    """Return the action that starts a rig, in real time a process per node, and who shows it.

    Args:
        backend: What the rig file must have chosen for its driver; empty for anything.
        operators: Given the context, returns who asks something of the rig. They are started when
            its own driver has: where another rig has the namespace they would move that one.
    """
    return OpaqueFunction(function=_start_rig, kwargs={'backend': backend, 'operators': operators})


def process(executable: str, *, parameters: Sequence[Any] = (), log_level: Any = None) -> Any:
    """Return the process of a node of the suite that is given time to come to rest."""
    level = log_level or LaunchConfiguration('log_level')
    arguments = ['--ros-args', '--log-level', level]
    return node(executable, parameters, arguments=arguments, sigterm_timeout=TIME_TO_REST)


def node(executable: str, parameters: Sequence[Any], **more: Any) -> Any:
    """Return the process of a node of the suite, in the namespace asked for."""
    return Node(
        package=package_of(executable),
        executable=executable,
        namespace=LaunchConfiguration('namespace'),
        parameters=list(parameters),
        output='screen',
        **more,
    )


def end_with(action: Any, reason: str) -> Any:
    """Return what ends everything when a process has ended; if it failed, launch returns 1.

    It has to be started before the process. The reason is for the log.
    """

    def ended(event: Any, context: LaunchContext) -> Any:
        if event.returncode and not context.is_shutdown:
            # An exception is launch's only way to an exit code: it ends everything and returns 1.
            raise BringupError(f'{event.process_name} has failed with code {event.returncode}')
        # A second shutdown would stop the ROS node of launch once more, which is an error there.
        return None if context.is_shutdown else Shutdown(reason=reason)

    return RegisterEventHandler(OnProcessExit(target_action=action, on_exit=ended))


def package_of(name: str) -> str:
    """Return the package of a node of the suite."""
    return node_entry(name).module.partition('.')[0]


def text(value: str) -> Any:
    """Return a parameter that is a text even where it looks like a number."""
    return ParameterValue(value, value_type=str)


def clock(context: LaunchContext, *, simulated: bool = False) -> dict[str, bool]:
    """Return the parameter ``use_sim_time`` of what follows a rig, or of what was asked for."""
    return {'use_sim_time': simulated or asked(context, 'use_sim_time')}


def in_simulated_time(context: LaunchContext) -> bool:
    """Tell whether the rig shall be; `time` and `speed` are checked on the way."""
    time, speed = value_of(context, 'time'), value_of(context, 'speed')
    if time not in {REAL, SIMULATED}:
        raise BringupError(f'time: expected {REAL} or {SIMULATED}, got {time!r}')
    try:
        hurried = speed_of(speed) != speed_of(AS_IT_PASSES)
    except BringupError as error:
        raise BringupError(f'speed: {error}') from error
    if hurried and time == REAL:
        raise BringupError(f'speed: {speed} is for time:={SIMULATED}, real time has its own')
    return time == SIMULATED


def asked(context: LaunchContext, name: str) -> bool:
    """Return an argument that is true or false."""
    value = value_of(context, name).lower()
    if value not in YES | NO:
        raise BringupError(f'{name}: expected true or false, got {value!r}')
    return value in YES


def value_of(context: LaunchContext, name: str) -> str:
    """Return an argument."""
    return str(LaunchConfiguration(name).perform(context))


def once_known(show: Callable[[LaunchContext, str], list[Any]]) -> Any:
    """Return the action that starts what shows a platform: the one named, or that of a rig.

    Joints are named alike in all of them: the wrong one would be drawn without a word.

    Args:
        show: Given the context and the platform, returns what starts then.
    """

    def look(context: LaunchContext) -> list[Any]:
        if told:
            return show(context, told[0])
        return [TimerAction(period=LOOK, actions=[OpaqueFunction(function=look)])]

    def ask(context: LaunchContext) -> list[Any]:
        if platform := value_of(context, 'platform'):
            told.append(platform)
        else:
            where = value_of(context, 'namespace').strip('/')
            asked = '/'.join(['', *where.split(), ASKED])
            PlatformQuestion(get_ros_node(context), told.append, asked)
        return look(context)

    told: list[str] = []
    return OpaqueFunction(function=ask)


def model(context: LaunchContext, platform: str, *, simulated: bool = False) -> Any:
    """Return robot_state_publisher with the URDF of a platform."""
    values = {'robot_description': text(render_urdf(platform)), 'publish_frequency': TF_LIMIT}
    parameters = [values, clock(context, simulated=simulated)]
    return _outsider('robot_state_publisher', parameters=parameters)


def rviz(
    context: LaunchContext, platform: str, config: str = '', *, simulated: bool = False
) -> list[Any]:
    """Return RViz, by default with the configuration of stewart_description, and its arrows."""
    time = clock(context, simulated=simulated)
    window = _outsider('rviz2', parameters=[time], arguments=['-d', config or str(rviz_path())])
    return [window, node('force_arrows', [{'platform': text(platform)}, time])]


def _outsider(name: str, **more: Any) -> Any:
    # launch would find out when other processes run already, and leave them running.
    try:
        get_package_prefix(name)
    except PackageNotFoundError as error:
        without = {'robot_state_publisher': 'model:=false', 'rviz2': 'rviz:=false'}[name]
        raise BringupError(
            f'{name} is not installed: run `apt install ros-jazzy-{name.replace("_", "-")}`, or '
            f'launch with {without}'
        ) from error
    # They name tf with a slash: remapped, two rigs in two namespaces keep apart.
    return Node(
        package=name,
        executable=name,
        namespace=LaunchConfiguration('namespace'),
        remappings=[('/tf', 'tf'), ('/tf_static', 'tf_static')],
        **more,
    )


def _start_rig(context: LaunchContext, *, backend: str, operators: Any) -> list[Any]:
    files = [config_file('rig', value_of(context, 'rig'))]
    found = setting(files, DRIVER, 'backend')
    if backend and found != backend:
        raise BringupError(f'{files[0]} has the back end {found!r}, and not {backend!r}')
    simulated = in_simulated_time(context)
    if simulated and found not in {None, SIMULATED} and VIRTUAL_RIG not in nodes_of(files):
        raise BringupError(f'time: what moves metal follows real time, as the rig of {files[0]}')
    if found == SIMULATED and not simulated:
        files.append(config_file('launch', SIMULATED))
    if wave := value_of(context, 'wave'):
        files.append(config_file('wave', wave))
    require_known_nodes(files)
    platform = value_of(context, 'platform') or setting(files, '', 'platform') or 'vigo'
    platform_path(platform)  # raises before anything runs
    eyes: list[Any] = []
    if asked(context, 'model'):
        eyes.append(model(context, platform, simulated=simulated))
    if asked(context, 'rviz'):
        eyes += rviz(context, platform, simulated=simulated)
    then = operators(context)
    if simulated:
        return _in_lock_step(context, eyes, then)
    return _processes(context, files, eyes, then)


def _in_lock_step(context: LaunchContext, eyes: Sequence[Any], then: Sequence[Any]) -> list[Any]:
    """Return the one process that has all nodes of a rig, and /clock; and who is around it."""
    options = {'--namespace': 'namespace', '--wave': 'wave'}
    if asked(context, 'record'):
        options['--record'] = 'bag'
    given = {option: value_of(context, name) for option, name in options.items()}
    rig = ExecuteProcess(
        cmd=[
            ExecutableInPackage('stewart', 'stewart_bringup'),
            'run',
            LaunchConfiguration('rig'),
            *('--time', SIMULATED, '--speed', LaunchConfiguration('speed')),
            *('--log-level', _heard(context) if then else value_of(context, 'log_level')),
            *(word for option in given.items() if option[1] for word in option),
        ],
        output='screen',
        sigterm_timeout=TIME_TO_REST,
    )
    return [_when_it_says(rig, STARTED, then), end_with(rig, 'the rig has ended'), rig, *eyes]


def _processes(
    context: LaunchContext, files: Sequence[Path], eyes: Sequence[Any], then: Sequence[Any]
) -> list[Any]:
    """Return a process per node, in the order in which they come up; and who is around them."""
    parameters = [
        *(ParameterFile(str(path.absolute()), allow_substs=False) for path in files),
        clock(context),
    ]
    names = nodes_of(files)
    told = wires(files) if VIRTUAL_RIG in names else {}

    def start(name: str, log_level: Any = None) -> Any:
        own = [told[name]] if told.get(name) else []
        return process(name, parameters=[*parameters, *own], log_level=log_level)

    level = _heard(context)
    driver = start(DRIVER, log_level=level)
    after = [*(start(name) for name in names if name not in {VIRTUAL_RIG, DRIVER}), *then]
    others = [
        _when_it_says(driver, STARTED, after),
        end_with(driver, f'{DRIVER} has ended'),
        driver,
        *eyes,
    ]
    actions: list[Any] = []
    if asked(context, 'record'):
        # First, so that it is there when the others begin, and until they have come to rest.
        own = {'output': text(value_of(context, 'bag')), 'outlive': STATE}
        actions.append(process(RECORDER, parameters=[*parameters, own]))
    if VIRTUAL_RIG not in names:
        return [*actions, *others]
    rig = start(VIRTUAL_RIG, log_level=level)
    return [
        *actions,
        _when_it_says(rig, READY, others),
        end_with(rig, f'{VIRTUAL_RIG} has ended'),
        rig,
    ]


def _heard(context: LaunchContext) -> str:
    """Return the log level of who has to say that it is ready, whatever the others may say."""
    level = value_of(context, 'log_level')
    return 'info' if level in QUIET else level


def _when_it_says(process: Any, words: str, actions: Sequence[Any]) -> Any:
    """Start the rest when a process says that it is ready.

    What it prints cannot be missed; the event of its transition can, by whoever comes to hear it
    later than it happens.
    """
    waiting = list(actions)

    def hear(event: Any) -> list[Any] | None:
        if words.encode() not in event.text:
            return None
        ready = waiting.copy()
        waiting.clear()
        return ready

    return RegisterEventHandler(OnProcessIO(target_action=process, on_stdout=hear, on_stderr=hear))
