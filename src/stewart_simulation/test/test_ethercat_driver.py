# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver node with ``backend: ethercat``, through its services and topics only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import time
from typing import Any

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')
pytest.importorskip('pysoem')
pytest.importorskip('pyroute2')

from diagnostic_msgs.msg import DiagnosticArray
from ethercat_rig import SegmentRig
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from stewart_driver.control import cycle_client
from stewart_driver.legs import LEG_NAMES
from stewart_driver.nodes.driver import Driver
from stewart_interfaces.msg import DriverState
from stewart_node_support.lifecycle import bring_up, take_down
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.stamps import from_nanoseconds

pytestmark = [pytest.mark.ros, pytest.mark.installed]

PERIOD_NS = 5_000_000
# Of a machine that is busy with other things.
PATIENCE = {
    'publish_rate': 100.0,
    'start_timeout': 60.0,
    'playout_delay': 0.4,
    'extrapolation_time': 1.0,
    'command_timeout': 4.0,
    'stall_timeout': 60.0,
    'overrun_share': 1.0,
    'ethercat.cycle_time': 0.01,
    'ethercat.receive_timeout': 0.2,
    'ethercat.patience': 4.0,
    'ethercat.drive_watchdog': 5.0,
    'ethercat.start_timeout': 30.0,
}


class Scene:
    """The driver, and a user of its services and topics."""

    def __init__(self, rig: Any, drive: str) -> None:
        self.rig = rig
        options = {**PATIENCE, 'backend': 'ethercat'}
        options |= {
            'ethercat.drive': drive,
            'ethercat.namespace': rig.namespace,
            'ethercat.rig_file': str(rig.file),
        }
        self.driver = Driver(
            parameter_overrides=[Parameter(name, value=value) for name, value in options.items()]
        )
        bring_up(self.driver)
        self.user = rclpy.create_node('user')
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.driver)
        self.executor.add_node(self.user)
        self.states: list[DriverState] = []
        self.legs: list[JointState] = []
        self.reports: dict[str, Any] = {}
        for kind, topic, callback, qos in (
            (DriverState, 'driver/state', self.states.append, STATE_QOS),
            (JointState, 'actuator_states', self.legs.append, SENSOR_QOS),
            (DiagnosticArray, '/diagnostics', self._take_reports, 10),
        ):
            self.user.create_subscription(kind, topic, callback, qos)
        self._commands = self.user.create_publisher(JointState, 'joint_commands', COMMAND_QOS)

    def _take_reports(self, message: DiagnosticArray) -> None:
        self.reports |= {status.name: status for status in message.status}

    def until(self, condition: Callable[[], Any], timeout: float = 60.0) -> None:
        limit = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < limit, self.states[-1:]
            self.executor.spin_once(timeout_sec=0.01)

    def call(self, service: str) -> str:
        client = self.user.create_client(Trigger, f'driver/{service}')
        self.until(client.service_is_ready)
        future = client.call_async(Trigger.Request())
        self.until(future.done)
        assert future.result().success, future.result().message
        message: str = future.result().message
        return message

    def reach(self, state: int) -> None:
        self.until(lambda: self.states and self.states[-1].state == state)

    def swing(self, seconds: float) -> None:
        """Swing all legs by 20 mm and back in two seconds."""
        start = np.array(self.legs[-1].position)
        begin = time.time_ns()
        for stamp in range(begin, begin + round(1e9 * seconds), PERIOD_NS):
            while time.time_ns() < stamp:
                self.executor.spin_once(timeout_sec=0.002)
            phase = np.pi * 1e-9 * (stamp - begin)
            message = JointState(
                name=list(LEG_NAMES),
                position=(start + 0.01 * (1.0 - np.cos(phase))).tolist(),
                velocity=[float(0.01 * np.pi * np.sin(phase))] * 6,
            )
            message.header.stamp = from_nanoseconds(stamp)
            self._commands.publish(message)


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch, braked_drive: str) -> Iterator[Scene]:
    monkeypatch.setenv('ROS_PYTHON_CHECK_FIELDS', '1')
    # How soon a process answers on a busy machine is nobody's promise.
    monkeypatch.setattr(cycle_client, 'REPLY_TIMEOUT', 60.0)
    rig = SegmentRig()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        scene = Scene(rig, braked_drive)
        yield scene
        take_down(scene.driver)
    finally:
        rclpy.try_shutdown()
        rig.close()


def test_services_bring_six_drives_on_and_a_fault_is_told_and_reset(scene: Scene) -> None:
    assert 'mm from home' in scene.call('home')
    scene.call('enable')
    scene.reach(DriverState.ENABLED)
    assert (scene.states[-1].backend, scene.states[-1].simulated) == ('ethercat', True)
    assert scene.states[-1].homed
    scene.until(lambda: scene.legs)
    first = np.array(scene.legs[-1].position)

    # A machine that stands still meanwhile ends the path, and another one begins from rest.
    limit = time.monotonic() + 60.0
    while np.min(np.subtract(scene.legs[-1].position, first)) < 0.01:
        assert time.monotonic() < limit
        scene.swing(1.0)
        scene.until(lambda: np.abs(scene.legs[-1].velocity).max() < 1e-3)

    np.testing.assert_allclose(first, 0.3, atol=1e-6)
    assert len(scene.legs[-1].effort) == 6
    scene.rig.faults.call('drive_fault', slave=3, code=0x7305)
    scene.reach(DriverState.FAULT)
    assert 'drive of leg 3 reports fault 0x7305: incremental sensor 1' in scene.states[-1].reason
    # The others hold their legs, for leg 3 has a brake; the reset brings the sixth back to them.
    assert scene.rig.seen['drive_states'].count('OPERATION_ENABLED') == 5
    assert scene.states[-1].holding
    assert list(scene.states[-1].live) == [True, True, False, True, True, True]
    scene.call('reset_fault')
    scene.reach(DriverState.ENABLED)
    assert scene.rig.seen['drive_states'] == ['OPERATION_ENABLED'] * 6
    scene.call('quick_stop')
    scene.reach(DriverState.DISABLED)
    scene.until(lambda: 'driver: cycle' in scene.reports)
    values = {item.key: item.value for item in scene.reports['driver: cycle'].values}
    assert float(values['round trip p99 [us]']) > 0.0
    assert {'bad working counters', 'lost frames', 'bus restarts'} <= set(values)
