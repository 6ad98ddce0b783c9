# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig in one process: parameters from the files, everything recorded, everything taken down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

rclpy = pytest.importorskip('rclpy')

from stewart_bags.reading import Bag
from stewart_bringup.composition import compose, Ledger, make_node, next_steps
from stewart_bringup.rigs import config_file, nodes_of, RIG, wires
from stewart_kinematics.errors import ConfigurationError
from stewart_node_support.lifecycle import state_of, take_down
from stewart_node_support.running import spin
from stewart_node_support.stop_signals import StopSignals
from stewart_tables.errors import ParameterError

pytestmark = pytest.mark.ros

COMMAND = [sys.executable, '-c', 'from stewart_bringup.main import main; raise SystemExit(main())']
VIGO = config_file('rig', 'vigo')
# Ends a wait that would last for ever [s].
LIMIT = 90.0


@pytest.mark.usefixtures('context')
def test_files_reach_the_node_in_any_namespace_and_later_ones_win(tmp_path: Path) -> None:
    later = tmp_path / 'later.yaml'
    later.write_text('/**/inverse_kinematics: {ros__parameters: {limit_scale: 0.25}}\n')

    node: Any = make_node(
        'inverse_kinematics',
        [config_file('rig', 'ex800'), later],
        namespace='deep/down',
        overrides={'silence': 0.7},
    )

    found = {
        name: node.get_parameter(name).value for name in ('platform', 'limit_scale', 'silence')
    }
    assert found == {'platform': 'ex800', 'limit_scale': 0.25, 'silence': 0.7}
    assert node.get_fully_qualified_name() == '/deep/down/inverse_kinematics'
    node.destroy_node()


@pytest.mark.usefixtures('context')
def test_parameter_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / 'wrong.yaml'
    wrong.write_text('/**/inverse_kinematics: {ros__parameters: {limit_scale: 7.0}}\n')

    with pytest.raises(ParameterError, match=r'limit_scale.* 7'):
        compose([VIGO, wrong])


@pytest.mark.usefixtures('context')
def test_rig_comes_up_in_order_is_recorded_whole_and_goes_down(tmp_path: Path) -> None:
    nodes: list[Any] = compose([VIGO], record=tmp_path / 'bag', lean=True)
    ledger = Ledger(nodes)
    seen: list[str] = []

    async def look() -> bool:
        seen.extend(node.get_name() for node in nodes if hasattr(node, 'trigger_activate'))
        seen.extend({state_of(node) for node in nodes if hasattr(node, 'trigger_activate')})
        for node in reversed(nodes):
            if hasattr(node, 'trigger_activate'):
                node.trigger_deactivate()
                node.trigger_cleanup()
        end = time.monotonic() + LIMIT
        while missing := Counter(ledger.counts()) - Counter(nodes[0].counts):
            assert time.monotonic() < end, missing
            await pause(nodes[1])
        return True

    assert spin(nodes, task=look) is True

    trajectories = ['cycloidal_trajectory', 'ocean_trajectory', 'excitation_trajectory', 'teleop']
    assert seen == ['driver', *trajectories, 'active']
    with Bag(tmp_path / 'bag') as bag:
        recorded = {name: topic.count for name, topic in bag.topics.items()}
    sent = {topic: count for topic, count in ledger.counts().items() if count}
    assert {topic: count for topic, count in recorded.items() if count} == sent
    assert recorded['/driver/state'] >= 2


async def pause(node: Any) -> None:
    future = rclpy.task.Future()
    timer = node.create_timer(0.02, lambda: future.set_result(None))
    await future
    node.destroy_timer(timer)


@pytest.mark.usefixtures('context')
def test_lean_rig_keeps_the_services_of_the_machine() -> None:
    nodes = compose([VIGO], names=('driver', 'ocean_trajectory'), lean=True)

    services = {service.srv_name for node in nodes for service in node.services}
    for node in reversed(nodes):
        take_down(node)

    machine = {'enable', 'disable', 'home', 'reset_fault', 'quick_stop'}
    machine |= {'override', 'speed_scaling'}
    assert services == {f'driver/{name}' for name in machine} | {'ocean/start', 'ocean/stop'}


def test_rig_has_an_executable_for_every_node() -> None:
    from importlib.metadata import entry_points

    assert set(RIG) <= {entry.name for entry in entry_points(group='stewart.nodes')}


@pytest.mark.parametrize(
    'number', [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_run_ends_with_0_on_a_signal_and_leaves_a_readable_bag(
    tmp_path: Path, environment: dict[str, str], number: signal.Signals
) -> None:
    bag = tmp_path / 'bag'
    command = [*COMMAND, 'run', 'vigo', '--record', str(bag)]
    with started(command, environment) as process:
        # Half a second of legs and poses; before the driver is up there are only diagnostics.
        wait_for(lambda: sum(path.stat().st_size for path in bag.glob('*.mcap')) > 1e5, process)
        process.send_signal(number)
        said, _ = process.communicate(timeout=LIMIT)

    assert process.returncode == 0, said
    assert 'ready; next, in another terminal: stewart view, stewart drive enable' in said
    with Bag(bag) as opened:
        assert opened.topics['/actuator_states'].count > 0


@pytest.mark.parametrize(
    'after', [0.3, *(pytest.param(after, marks=pytest.mark.slow) for after in (0.0, 1.0))]
)
def test_run_ends_with_0_on_a_signal_while_it_starts(
    environment: dict[str, str], after: float
) -> None:
    with started([*COMMAND, 'run', 'vigo'], environment) as process:
        # Until the verb itself runs, Python's own handler ends it.
        wait_for(lambda: caught(process.pid, signal.SIGTERM), process)
        time.sleep(after)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=LIMIT)

    assert process.returncode == 0, said


def test_a_rig_that_is_up_names_the_wave_that_it_was_given() -> None:
    assert 'then stewart wave start or' in next_steps([VIGO], '')
    eq18 = next_steps([config_file('rig', 'ex800'), config_file('wave', 'eq18')], 'hexapod')
    assert 'then stewart wave start --of excitation or' in eq18
    assert eq18.endswith('(each with --namespace hexapod)')


@contextmanager
def started(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Start a process, and leave none behind."""
    with subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def caught(process: int, number: signal.Signals) -> bool:
    """Tell whether a process has installed a handler for a signal."""
    status = Path(f'/proc/{process}/status')
    if not status.exists():
        pytest.skip('this system has no /proc')
    (mask,) = [line for line in status.read_text().splitlines() if line.startswith('SigCgt')]
    return bool(int(mask.split()[1], 16) >> (number - 1) & 1)


def wait_for(condition: Any, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + LIMIT
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def test_stop_before_the_start_runs_nothing(tmp_path: Path) -> None:
    from stewart_bringup.composition import run_rig

    stop = StopSignals()
    stop.request()

    run_rig([VIGO], record=tmp_path / 'bag', stop=stop)

    assert not (tmp_path / 'bag').exists()


def test_a_rig_has_the_optional_nodes_that_its_files_have_a_section_for(tmp_path: Path) -> None:
    more = tmp_path / 'more.yaml'
    more.write_text('/**/imu: {ros__parameters: {port: /dev/null}}\n')

    assert 'virtual_rig' not in nodes_of([VIGO])
    assert nodes_of([VIGO, more])[:2] == ('driver', 'imu')
    assert nodes_of([config_file('rig', 'vigo_ethercat')])[:2] == ('virtual_rig', 'driver')
    assert nodes_of([config_file('rig', 'ex800_daq')], ('imu', 'driver')) == ('imu', 'driver')


@pytest.mark.parametrize(('rig', 'wire'), [('vigo_ethercat', 'netns'), ('ex800_daq', 'card.sock')])
def test_nodes_in_processes_of_their_own_find_the_wires_of_this_user(
    rig: str, wire: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No place is the same for two users; launch files have nothing but the rig's file."""
    files = [config_file('rig', rig)]
    assert '/tmp' not in files[0].read_text()
    told = {}
    for user in ('anna', 'bert'):
        monkeypatch.setenv('XDG_RUNTIME_DIR', str(tmp_path / user))
        told[user] = wires(files)
    folder = tmp_path / 'anna' / 'stewart' / rig.partition('_')[0]

    assert told['anna']['virtual_rig'] == {'directory': str(folder)}
    assert told['anna']['imu'] == {'port': str(folder / 'imu')}
    assert str(folder / wire) in told['anna']['driver'].values()
    assert not set(told['anna']['driver'].values()) & {str(tmp_path / 'bert' / wire)}
    assert told['bert']['imu'] != told['anna']['imu']


def test_nodes_in_processes_of_their_own_are_told_of_the_amplifiers(tmp_path: Path) -> None:
    """As `compose` tells them, or these never come on."""
    more = tmp_path / 'more.yaml'
    chosen = '{card_mode: velocity, enable_channel: 2}'
    more.write_text(f'/**/virtual_rig: {{ros__parameters: {chosen}}}')
    told = wires([config_file('rig', 'ex800_daq'), more])
    for node in ('driver', 'position_sensors'):
        assert (told[node]['daq.mode'], told[node]['daq.enable_channel']) == ('velocity', 2)
    assert 'daq.mode' not in wires([config_file('rig', 'vigo_ethercat')])['driver']


@pytest.mark.usefixtures('context')
def test_driver_and_sensors_are_told_where_the_wires_of_the_virtual_rig_end(
    tmp_path: Path,
) -> None:
    names = ('virtual_rig', 'driver', 'imu')
    nodes: list[Any] = compose(
        [config_file('rig', 'ex800_daq')],
        names=names,
        overrides={'virtual_rig': {'directory': str(tmp_path / 'rig')}},
    )
    told = {node.get_name(): node._parameter_overrides for node in nodes}
    for node in reversed(nodes):
        take_down(node)

    assert tuple(told) == names
    assert told['imu']['port'].value == str(tmp_path / 'rig' / 'imu')
    assert told['driver']['daq.device'].value == str(tmp_path / 'rig' / 'card.sock')
    assert told['driver']['daq.rig_file'].value == str(tmp_path / 'rig' / 'calibration.yaml')
    assert not (tmp_path / 'rig').exists()


@pytest.mark.usefixtures('context')
@pytest.mark.parametrize(
    ('text', 'meant'),
    [
        ('/**/drivr: {ros__parameters: {backend: simulated}}', 'driver'),
        ('/**/inverse_kinematics: {ros__parameters: {limit_scal: 0.1}}', 'limit_scale'),
        ('/**/driver: {ros__parameters: {simulated: {strat: rest}}}', 'simulated.start'),
        ('/**: {ros__parameters: {platfrom: vigo}}', 'platform'),
        ('/**/driver: {ros_parameters: {backend: simulated}}', 'ros_parameters'),
    ],
)
def test_misspelt_names_of_a_rig_file_are_refused(tmp_path: Path, text: str, meant: str) -> None:
    wrong = tmp_path / 'mine.yaml'
    wrong.write_text(text)
    names = ('driver', 'inverse_kinematics')
    with pytest.raises((ParameterError, ConfigurationError), match=meant) as caught:
        compose([VIGO, wrong], names=names)
    assert 'mine.yaml' in str(caught.value)
