# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver node on simulated drives, in process and as the installed executable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import entry_points
import os
from pathlib import Path
import signal
import subprocess
import time
from typing import Any

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from ament_index_python.packages import get_package_prefix, PackageNotFoundError
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from stewart_driver.backend import GROUP
from stewart_driver.legs import LEG_NAMES
from stewart_driver.nodes.driver import Driver
from stewart_interfaces.msg import DriverState
from stewart_node_support.lifecycle import bring_up, take_down
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.stamps import from_nanoseconds, to_seconds

pytestmark = [
    pytest.mark.ros,
    pytest.mark.skipif(
        'simulated' not in {point.name for point in entry_points(group=GROUP)},
        reason='stewart_simulation is not installed here, only its sources are',
    ),
]

PERIOD_NS = 5_000_000
PATIENCE = {'playout_delay': 0.1, 'extrapolation_time': 0.2, 'command_timeout': 0.5}


def swing(time: float) -> tuple[np.ndarray, np.ndarray]:
    """Swing all legs by 20 mm and back in two seconds, at rest at both ends."""
    omega = np.pi
    return (
        np.full(6, 0.01 * (1.0 - np.cos(omega * time))),
        np.full(6, 0.01 * omega * np.sin(omega * time)),
    )


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    """Bring up a driver with its default, simulated drives."""
    monkeypatch.setenv('ROS_PYTHON_CHECK_FIELDS', '1')
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = Driver(
        parameter_overrides=[
            *(Parameter(name, value=value) for name, value in PATIENCE.items()),
            Parameter('simulated.seed', value=7),
        ]
    )
    bring_up(node)
    yield node
    take_down(node)
    rclpy.try_shutdown()


@pytest.mark.alone
def test_simulated_legs_follow_a_motion_and_say_what_they_are(driver: Driver) -> None:
    executor = SingleThreadedExecutor()
    user = rclpy.create_node('user')
    states: list[DriverState] = []
    legs: list[JointState] = []
    user.create_subscription(DriverState, 'driver/state', states.append, STATE_QOS)
    user.create_subscription(JointState, 'actuator_states', legs.append, SENSOR_QOS)
    commands = user.create_publisher(JointState, 'joint_commands', COMMAND_QOS)
    enable = user.create_client(Trigger, 'driver/enable')
    executor.add_node(driver)
    executor.add_node(user)

    def spin_until(condition: Any, timeout: float = 5.0) -> None:
        limit = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < limit
            executor.spin_once(timeout_sec=0.02)

    assert enable.wait_for_service(5.0)
    spin_until(commands.get_subscription_count)
    future = enable.call_async(Trigger.Request())
    spin_until(lambda: states and states[-1].state == DriverState.ENABLED)
    assert future.result().success
    assert (states[-1].backend, states[-1].simulated) == ('simulated', True)
    start = np.array(legs[-1].position)

    begin = time.time_ns()
    for index in range(401):
        strokes, rates = swing(index * PERIOD_NS * 1e-9)
        message = JointState(
            name=list(LEG_NAMES), position=(start + strokes).tolist(), velocity=rates.tolist()
        )
        stamp = begin + index * PERIOD_NS
        message.header.stamp = from_nanoseconds(stamp)
        while time.time_ns() < stamp:
            executor.spin_once(timeout_sec=0.002)
        commands.publish(message)
    rest = time.monotonic() + 0.5
    spin_until(lambda: time.monotonic() > rest)

    stamps = np.array([to_seconds(message.header.stamp) for message in legs]) - begin * 1e-9
    measured = np.array([list(message.position) for message in legs]) - start
    during = (stamps > 0.2) & (stamps < 1.9)
    expected = np.array([swing(stamp - PATIENCE['playout_delay'])[0] for stamp in stamps])
    # How exactly the drives follow is tested elsewhere. Here, where the machine may let the cycle
    # wait for tens of milliseconds, the path may be as late as that, at up to 31 mm/s.
    assert np.median(np.abs(measured - expected)[during]) < 1e-3
    assert measured[:, 0].max() == pytest.approx(0.02, abs=5e-4)
    assert measured[-1] == pytest.approx(np.zeros(6), abs=1e-4)
    assert states[-1].state == DriverState.ENABLED
    assert 'SIMULATED' in driver._report('backend').message
    user.destroy_node()
    executor.shutdown()


def cyclic_processes_of(parent: int) -> list[int]:
    found = []
    for entry in Path('/proc').iterdir():
        with suppress(OSError):
            words = (entry / 'cmdline').read_bytes().split(b'\0')
            if b'stewart_driver.cyclic_process' in words and str(parent).encode() in words:
                found.append(int(entry.name))
    return found


@pytest.mark.parametrize(
    ('number', 'after'),
    [
        (signal.SIGTERM, 1.2),
        *(
            pytest.param(number, after, marks=pytest.mark.slow)
            for number in (signal.SIGINT, signal.SIGTERM)
            for after in (0.4, 0.8, 2.0, 3.0)
        ),
    ],
)
def test_the_executable_ends_with_code_0_and_leaves_no_process(
    number: signal.Signals, after: float
) -> None:
    try:
        executable = Path(get_package_prefix('stewart_driver')) / 'lib/stewart_driver/driver'
    except PackageNotFoundError:
        pytest.skip('stewart_driver is not installed here, only its sources are')
    environment = {**os.environ, 'ROS_PYTHON_CHECK_FIELDS': '1'}
    with subprocess.Popen(
        [str(executable), '--ros-args', '-p', 'autostart:=true'],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        time.sleep(after)
        process.send_signal(number)
        # The first start of all compiles the plant's kernels, and hears of the signal after that.
        output, _ = process.communicate(timeout=90.0)

    assert process.returncode == 0, output
    assert 'Traceback' not in output
    assert cyclic_processes_of(process.pid) == []
