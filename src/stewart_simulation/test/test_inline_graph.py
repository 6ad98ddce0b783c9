# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A virtual rig in the process of driver and sensors, all in simulated time, in lock-step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
import json
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

pytest.importorskip('rclpy')

from card_bench import teaching_rig
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from node_harness import Harness
from sensor_msgs.msg import Imu as ImuMessage
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from stewart_driver.legs import LEG_NAMES
from stewart_driver.nodes.driver import Driver
from stewart_driver.nodes.imu import Imu
from stewart_driver.nodes.position_sensors import PositionSensors
from stewart_interfaces.msg import DriverState
from stewart_interfaces.srv import InjectFault
from stewart_node_support.errors import StartUpError
from stewart_node_support.lifecycle import bring_up, state_of
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.stamps import from_nanoseconds, to_nanoseconds, to_seconds
from stewart_simulation.errors import RigError
from stewart_simulation.nodes.virtual_rig import VirtualRig

pytestmark = [pytest.mark.ros, pytest.mark.installed]

PERIOD_NS = 5_000_000
SPEED = 0.02
LAG = 1.0 / 30.0
SETTINGS = replace(teaching_rig(card_late_share=0.0), imu=True)
PLAIN = {name: value for name, value in SETTINGS.plain().items() if value != ''}


class Bench(Harness):
    """A rig in lock-step, with the test in the place of kinematics."""

    def __init__(self) -> None:
        super().__init__()
        self.rig: Any = self.add(partial(VirtualRig, inline=True), **PLAIN)
        wiring = self.rig.wiring()
        loop = {'daq.lead': LAG, 'daq.cycle_time': PERIOD_NS * 1e-9}
        self.driver: Any = self.add(
            Driver, backend='daq', publish_rate=200.0, **wiring['driver'], **loop
        )
        self.imu: Any = self.add(Imu, **wiring['imu'])
        self.reader: Any = self.add(PositionSensors, **wiring['position_sensors'])
        self.truth = self.listen(Odometry, 'simulation/truth', SENSOR_QOS)
        self.legs = self.listen(JointState, 'actuator_states', SENSOR_QOS)
        self.read = self.listen(JointState, 'position_sensors', SENSOR_QOS)
        self.felt = self.listen(ImuMessage, 'imu/data', SENSOR_QOS)
        self.states = self.listen(DriverState, 'driver/state', STATE_QOS)
        self.diagnostics = self.listen(DiagnosticArray, '/diagnostics')
        self.commands = self.talk(JointState, 'joint_commands', COMMAND_QOS)
        for node in (self.driver, self.imu, self.reader):
            bring_up(node)
        self.until(lambda: self.legs and self.read)

    def enable(self) -> None:
        assert self.call(Trigger, 'driver/enable').success
        self.until(lambda: self.states and self.states[-1].state == DriverState.ENABLED)

    def drive(self, count: int) -> None:
        """Command all legs to extend, ever faster for half a second."""
        start = np.array(self.legs[-1].position)
        begin = self.probe.get_clock().now().nanoseconds
        for index in range(count):
            since = index * PERIOD_NS * 1e-9
            rise = min(since, 0.5)
            message = JointState(
                name=list(LEG_NAMES),
                position=(start + SPEED * (rise**2 + max(since - 0.5, 0.0))).tolist(),
                velocity=[2.0 * SPEED * rise] * 6,
            )
            message.header.stamp = from_nanoseconds(begin + index * PERIOD_NS)
            self.commands.publish(message)
            self.spin(PERIOD_NS * 1e-9)

    def observe(self) -> dict[str, Any]:
        answer = self.call(Trigger, 'simulation/observe')
        assert answer.success
        seen: dict[str, Any] = json.loads(answer.message)
        return seen

    def inject(self, fault: str, **arguments: Any) -> InjectFault.Response:
        request = InjectFault.Request(fault=fault, arguments_json=json.dumps(arguments))
        return self.call(InjectFault, 'simulation/inject_fault', request)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv('ROS_PYTHON_CHECK_FIELDS', '1')
    with Bench() as made:
        yield made


def test_driver_and_sensors_measure_what_is_true_at_their_stamps(bench: Bench) -> None:
    bench.enable()
    bench.drive(200)
    # Without a word they stop.
    bench.spin(0.5)
    # The clock of the sensor has settled long ago.
    bench.until(lambda: len(bench.felt) > 300)

    assert bench.observe()['plant']['strokes_m'] == pytest.approx(
        list(bench.legs[-1].position), abs=2e-5
    )
    assert np.ptp([item.position[0] for item in bench.legs]) > 0.5 * SPEED
    driven = {to_nanoseconds(item.header.stamp): item.position for item in bench.legs}
    both = [
        (item.position, driven[to_nanoseconds(item.header.stamp)])
        for item in bench.read
        if to_nanoseconds(item.header.stamp) in driven
    ]
    assert len(both) > 200
    assert np.abs(np.subtract(*np.swapaxes(both, 0, 1))).max() < 5e-5
    stamps = np.array([to_nanoseconds(item.header.stamp) for item in bench.truth])
    assert set(np.diff(stamps)) == {PERIOD_NS}
    felt = np.array([to_seconds(item.header.stamp) for item in bench.felt])
    assert np.diff(felt)[-200:] == pytest.approx(0.005, abs=2e-6)


def test_what_breaks_is_noticed_and_can_be_mended(bench: Bench) -> None:
    bench.enable()
    assert bench.inject('card.saturate', leg=2).success
    bench.until(lambda: bench.states[-1].state == DriverState.FAULT)
    assert 'leg 2' in bench.states[-1].reason
    assert bench.inject('imu.unplug').success
    bench.until(lambda: 2 in bench.levels(bench.diagnostics[-8:], 'imu: sensor'))

    assert bench.inject('card.mend').success
    assert bench.call(Trigger, 'driver/reset_fault').success
    assert bench.inject('imu.plug').success
    count = len(bench.felt)
    bench.until(lambda: len(bench.felt) > count + 20, 20.0)
    refused = bench.inject('card.explode')
    assert not refused.success
    assert 'card.saturate' in refused.message
    request = InjectFault.Request(fault='card.saturate', arguments_json='{"leg": 2, "fault": 1}')
    refused = bench.call(InjectFault, 'simulation/inject_fault', request)
    assert "unexpected keyword argument 'fault'" in refused.message


def test_one_failed_look_at_the_plant_is_no_error_for_ever(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(bench.rig._reader, 'read', Mock(side_effect=RigError('no truth')))
        bench.until(lambda: 2 in bench.levels(bench.diagnostics[-8:], 'virtual_rig: rig'))
    count = len(bench.diagnostics)
    bench.until(lambda: 0 in bench.levels(bench.diagnostics[count:], 'virtual_rig: rig'))


def test_a_rig_that_goes_down_on_the_way_comes_to_rest_first(bench: Bench) -> None:
    bench.enable()
    bench.drive(200)
    assert np.abs(bench.observe()['plant']['rates_mps']).min() > 0.5 * SPEED

    # Nobody lets time pass meanwhile but the driver itself.
    bench.driver.trigger_deactivate()

    assert state_of(bench.driver) == 'inactive'
    assert [item.state for item in bench.driver._session.states()] == []
    seen = bench.observe()
    assert np.abs(seen['plant']['rates_mps']).max() < 0.02 * SPEED
    assert seen['card']['digital_outputs'] == [False] * 4


@pytest.mark.parametrize(
    ('cls', 'parameters', 'name'),
    [
        (Imu, {'port': '/dev/ttyUSB0'}, 'port'),
        (Driver, {'backend': 'daq', 'daq.device': '/dev/comedi0'}, 'device'),
        (PositionSensors, {'daq.device': '/dev/comedi0'}, 'device'),
    ],
)
def test_a_device_of_this_machine_follows_no_simulated_time(
    cls: Any, parameters: dict[str, Any], name: str, bench: Bench
) -> None:
    sheet = bench.rig.wiring()['driver']['daq.rig_file']
    daq = {'daq.card': 'simulated', 'daq.rig_file': sheet} if cls is not Imu else {}
    other = bench.add(partial(cls, namespace='other'), **daq, **parameters)

    with pytest.raises(StartUpError, match=f'{name}: expected .* follow no simulated time, got'):
        bring_up(other)
