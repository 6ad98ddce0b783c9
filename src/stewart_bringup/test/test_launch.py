# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The YAML files reach real nodes; the launch files really launch, where launch is installed."""

from __future__ import annotations

from collections.abc import Iterator
import os
from pathlib import Path
from typing import Any

import pytest

rclpy = pytest.importorskip('rclpy')

from rclpy.signals import SignalHandlerOptions
from stewart_bags.reading import Bag
from stewart_bringup.composition import make_node
from stewart_bringup.rigs import available, RECORDER, RIG
from stewart_node_support.lifecycle import take_down
import yaml

pytestmark = pytest.mark.ros

LAUNCH = Path(__file__).parents[1] / 'launch'
# The slowest to start is the driver, whose simulation compiles its kernels once.
LIMIT = 90.0


def flattened(values: dict[str, Any], prefix: str = '') -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from flattened(value, f'{prefix}{key}.')
        else:
            yield f'{prefix}{key}', value


@pytest.mark.parametrize('rig', sorted(available('rig')))
def test_every_value_in_yaml_arrives_at_its_node(rig: str, tmp_path: Path) -> None:
    files = [available('rig')[rig], *available('wave').values()]
    wanted = {}
    for path in files:
        for key, section in yaml.safe_load(path.read_text()).items():
            wanted[key.removeprefix('/**').removeprefix('/')] = section['ros__parameters']
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        for name in (*RIG, RECORDER):
            overrides = {'output': str(tmp_path / 'bag')} if name == RECORDER else {}
            node: Any = make_node(name, files, namespace='deep', overrides=overrides)
            for key, value in flattened(wanted.get(name, {})):
                found = node.get_parameter(key).value
                assert (list(found) if isinstance(value, list) else found) == value, (name, key)
            if node.has_parameter('platform'):
                assert node.get_parameter('platform').value == rig
            take_down(node)
    finally:
        rclpy.try_shutdown()


def launched(name: str, **arguments: str) -> dict[str, int]:
    """Launch a file until it shuts down by itself; return exit codes by process name."""
    # Not `launch` itself: the folder launch/ beside our package would be found as such.
    pytest.importorskip('launch_ros', reason='launch_ros is not installed: nothing is launched')
    from ament_index_python.packages import get_package_prefix, PackageNotFoundError
    from launch import LaunchDescription, LaunchService
    from launch.actions import (
        EmitEvent,
        IncludeLaunchDescription,
        RegisterEventHandler,
        TimerAction,
    )
    from launch.event_handlers import OnProcessExit
    from launch.events import Shutdown
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    try:
        get_package_prefix('robot_state_publisher')
    except PackageNotFoundError:
        pytest.skip('robot_state_publisher is not installed: nothing is launched')
    codes: dict[str, int] = {}

    def note(event: Any, _: Any) -> None:
        codes[event.process_name.rpartition('-')[0]] = event.returncode

    late = EmitEvent(event=Shutdown(reason=f'{LIMIT} s are over'))
    description = LaunchDescription(
        [
            RegisterEventHandler(OnProcessExit(on_exit=note)),
            TimerAction(period=LIMIT, actions=[late]),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(LAUNCH / name)),
                launch_arguments=list(arguments.items()),
            ),
        ]
    )
    service = LaunchService(argv=[])
    service.include_launch_description(description)
    assert service.run() == 0
    return codes


@pytest.mark.filterwarnings('default')
def test_demo_launches_plays_its_wave_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('ROS_LOG_DIR', str(tmp_path / 'log'))
    monkeypatch.setenv('PATH', os.environ['PATH'])

    codes = launched(
        'demo.launch.py',
        namespace='hexapod',
        wave='random',
        duration='3',
        rviz='false',
        record='true',
        bag=str(tmp_path / 'bag'),
    )

    assert set(codes) == {*RIG, RECORDER, 'wave_operator', 'robot_state_publisher'}
    # robot_state_publisher is not ours; some versions end with the signal's number.
    assert {
        name: code for name, code in codes.items() if name in {*RIG, RECORDER}
    } == dict.fromkeys((*RIG, RECORDER), 0)
    assert codes['wave_operator'] == 0
    with Bag(tmp_path / 'bag') as bag:
        assert bag.topics['/hexapod/setpoint'].count > 600
        assert bag.topics['/hexapod/actuator_states'].count > 600
