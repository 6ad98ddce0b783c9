# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Driver and position_sensors on one simulated card: enable, move, disable, kill."""

from __future__ import annotations

from collections.abc import Iterator
import os
import signal
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy')

from card_bench import teaching_rig
from node_harness import Harness
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from stewart_driver.control import cycle_client
from stewart_driver.legs import LEG_NAMES
from stewart_driver.nodes.driver import Driver
from stewart_driver.nodes.position_sensors import PositionSensors
from stewart_interfaces.msg import DriverState
from stewart_node_support.diagnostics import Level
from stewart_node_support.lifecycle import bring_up
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.stamps import from_nanoseconds, to_nanoseconds
from stewart_simulation.rig.launcher import RigProcess

pytestmark = [pytest.mark.ros, pytest.mark.installed]

PERIOD_NS = 10_000_000
HEIGHT, OMEGA = 0.02, np.pi
LAG = 1.0 / 30.0
# What a busy machine does to paths, cycles and calls is no fault.
PATIENCE = {
    'start_timeout': 90.0,
    'extrapolation_time': 1.0,
    'command_timeout': 4.0,
    'overrun_share': 1.0,
}


class DaqRig(Harness):
    """A rig process behind a driver and a reader, with the test in the place of kinematics."""

    def __init__(self, rig: RigProcess) -> None:
        super().__init__(real=True)
        self.legs: list[Any] = self.listen(JointState, 'actuator_states', SENSOR_QOS)
        self.sensors: list[Any] = self.listen(JointState, 'position_sensors', SENSOR_QOS)
        self.states: list[Any] = self.listen(DriverState, 'driver/state', STATE_QOS)
        card = {
            'daq.card': 'simulated',
            'daq.device': rig.ends['card'],
            'daq.rig_file': rig.ends['rig_file'],
            'daq.longest_call': 5.0,
        }
        chosen = {
            'publish_rate': 125.0,
            'playout_delay': 0.1,
            'daq.enable_channel': 0,
            'daq.lead': LAG,
        }
        self.driver: Any = self.add(Driver, backend='daq', **chosen | card | PATIENCE)
        self.reader: Any = self.add(PositionSensors, rate=100.0, **card)
        bring_up(self.driver)
        bring_up(self.reader)
        self._commands = self.talk(JointState, 'joint_commands', COMMAND_QOS)
        self.until(lambda: self._commands.get_subscription_count() == 1)

    def enable(self) -> None:
        assert self.call(Trigger, 'driver/enable').success
        self.until(lambda: self.states and self.states[-1].state == DriverState.ENABLED)

    def swing(self, count: int) -> int:
        """Command a raised cosine of all legs; return when it began [ns]."""
        start = np.array(self.legs[-1].position)
        begin = self.probe.get_clock().now().nanoseconds
        for index in range(count):
            phase = OMEGA * index * PERIOD_NS * 1e-9
            stamp = begin + index * PERIOD_NS
            self.until(lambda due=stamp: self.probe.get_clock().now().nanoseconds >= due)
            message = JointState(
                name=list(LEG_NAMES),
                position=(start + 0.5 * HEIGHT * (1.0 - np.cos(phase))).tolist(),
                velocity=[float(0.5 * HEIGHT * OMEGA * np.sin(phase))] * 6,
            )
            message.header.stamp = from_nanoseconds(stamp)
            self._commands.publish(message)
        return int(begin)


@pytest.fixture(scope='module')
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RigProcess]:
    with RigProcess(teaching_rig(), tmp_path_factory.mktemp('rig') / 'd') as rig:
        yield rig


@pytest.fixture
def rig(process: RigProcess, monkeypatch: pytest.MonkeyPatch) -> Iterator[DaqRig]:
    monkeypatch.setenv('ROS_PYTHON_CHECK_FIELDS', '1')
    # How soon a process answers on a busy machine is nobody's promise.
    monkeypatch.setattr(cycle_client, 'REPLY_TIMEOUT', 60.0)
    with DaqRig(process) as made:
        yield made


@pytest.mark.realtime
def test_legs_are_enabled_moved_and_disabled_and_the_card_is_named(
    rig: DaqRig, process: RigProcess
) -> None:
    rig.enable()
    report = rig.driver._report('backend')
    assert report.message.startswith('SIMULATED, no metal moves (back end daq)')
    assert (report.values['card'], rig.states[-1].backend) == ('simulated card', 'daq')

    begin = rig.swing(201)

    def strokes_so_far() -> Any:
        return np.array([list(message.position) for message in rig.legs])

    def given_up() -> bool:
        return any('the path is given up' in state.reason for state in rig.states)

    rig.until(
        lambda: (
            (np.ptp(strokes_so_far()[:, 0]) > HEIGHT - 1e-3 or given_up())
            and rig.legs[-1].velocity[0] == pytest.approx(0.0, abs=2e-3)
        )
    )
    strokes = strokes_so_far()
    # Where commands come late, all go on alike at the last rate, or rest.
    travelled = np.ptp(strokes, axis=0)
    assert travelled == pytest.approx([travelled[0]] * 6, abs=1e-3)
    fastest = 0.5 * HEIGHT * OMEGA
    assert travelled[0] < HEIGHT + fastest * PATIENCE['extrapolation_time'] + 2e-3
    stamps = [to_nanoseconds(message.header.stamp) for message in rig.sensors]
    read = np.array([list(message.position) for message in rig.sensors])
    driven = np.array([to_nanoseconds(message.header.stamp) for message in rig.legs])
    between = np.column_stack([np.interp(stamps, driven, strokes[:, leg]) for leg in range(6)])
    inside = (np.array(stamps) > begin) & (np.array(stamps) < driven[-1])
    apart = 1e3 * np.abs(read - between)[inside]
    print(f'\nreader and driver: {np.median(apart):.4f} mm apart (median), {apart.max():.3f} mm')
    assert np.median(apart) < 0.05
    assert rig.call(Trigger, 'driver/disable').success
    rig.until(lambda: rig.states[-1].state == DriverState.DISABLED)
    with process.control() as control:
        assert control.call('observe')['card']['digital_outputs'] == [False] * 4


@pytest.mark.parametrize(
    ('number', 'said'),
    [
        (signal.SIGKILL, 'was killed by signal 9; the outputs of'),
        # test_cyclic_process.py has how one that hangs is killed.
        pytest.param(
            signal.SIGSTOP,
            'allowed are 2.5 s: the cyclic process was killed; the outputs of',
            marks=pytest.mark.slow,
        ),
    ],
)
def test_after_a_kill_of_the_cyclic_process_the_node_makes_the_outputs_safe(
    rig: DaqRig, process: RigProcess, number: signal.Signals, said: str
) -> None:
    rig.enable()
    rig.swing(50)

    os.kill(rig.driver._session._client.pid, number)
    rig.until(lambda: 'the outputs of' in rig.states[-1].reason)

    assert rig.states[-1].state == DriverState.FAULT
    assert said in rig.states[-1].reason
    assert 'now stand at the present strokes' in rig.states[-1].reason
    with process.control() as control:
        assert control.call('observe')['card']['digital_outputs'] == [False] * 4


def test_driver_that_ends_after_its_card_logs_what_is_not_safe(
    rig: DaqRig, process: RigProcess, capfd: pytest.CaptureFixture[str]
) -> None:
    rig.enable()
    with process.control() as control:
        control.call('card.remove')
        rig.driver.trigger_deactivate()
        rig.driver.trigger_cleanup()
        control.call('card.mend')
    rig.until(lambda: 'ended with code 1' in rig.states[-1].reason)

    said = capfd.readouterr().err
    assert rig.states[-1].state == DriverState.FAULT
    assert rig.states[-1].reason in said
    assert 'the outputs may not be safe: setting six' in rig.states[-1].reason
    assert 'the outputs are NOT safe: analogue card' in rig.states[-1].reason
    assert 'Traceback' not in said


def test_reader_withholds_what_is_saturated_and_finds_a_card_again(
    rig: DaqRig, process: RigProcess
) -> None:
    def report() -> Any:
        return rig.reader._report()

    rig.until(lambda: report().level is Level.OK and rig.sensors)
    assert report().values['card'] == 'simulated card'
    with process.control() as control:
        control.call('card.saturate', leg=5)
        rig.until(lambda: report().level is Level.ERROR)
        assert 'position sensor of leg 5' in report().message
        count = len(rig.sensors)
        withheld = report().values['withheld']
        rig.until(lambda: report().values['withheld'] > withheld + 5)
        assert len(rig.sensors) <= count + 1
        control.call('card.mend')
        control.call('card.remove')
        rig.until(lambda: 'analogue card' in report().message)
        control.call('card.mend')
    rig.until(lambda: report().level is Level.OK and len(rig.sensors) > count + 5)
