# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver node on simulated drives, in process and as the installed executable."""

from __future__ import annotations

from contextlib import suppress
import os
from pathlib import Path
import signal
import subprocess
import time

import numpy as np
import pytest

pytest.importorskip('rclpy')

from ament_index_python.packages import get_package_prefix, PackageNotFoundError
from node_harness import Harness
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from stewart_driver.nodes.driver import Driver
from stewart_driver.nodes.driver_parameters import DriverParameters
from stewart_interfaces.msg import DriverState
from stewart_node_support.legs import LegWriter
from stewart_node_support.lifecycle import bring_up
from stewart_node_support.qos import SENSOR_QOS, STATE_QOS
from stewart_node_support.stamps import to_seconds

pytestmark = [pytest.mark.ros, pytest.mark.installed]

PERIOD_NS = 5_000_000


def swing(time: float) -> tuple[np.ndarray, np.ndarray]:
    """Swing all legs by 20 mm and back in two seconds, at rest at both ends."""
    omega = np.pi
    return (
        np.full(6, 0.01 * (1.0 - np.cos(omega * time))),
        np.full(6, 0.01 * omega * np.sin(omega * time)),
    )


def test_simulated_legs_follow_a_motion_and_say_what_they_are() -> None:
    with Harness() as harness:
        states = harness.listen(DriverState, 'driver/state', STATE_QOS)
        legs = harness.listen(JointState, 'actuator_states', SENSOR_QOS)
        driver = harness.add(Driver, **{'simulated.seed': 7})
        bring_up(driver)
        commands = harness.talk(JointState, 'joint_commands')
        assert harness.call(Trigger, 'driver/enable').success
        harness.until(lambda: states and states[-1].state == DriverState.ENABLED)
        assert (states[-1].backend, states[-1].simulated) == ('simulated', True)
        start = np.array(legs[-1].position)
        writer = LegWriter()
        begin = harness.probe.get_clock().now().nanoseconds
        for index in range(401):
            strokes, rates = swing(index * PERIOD_NS * 1e-9)
            commands.publish(writer.write(begin + index * PERIOD_NS, start + strokes, rates))
            harness.spin(PERIOD_NS * 1e-9)
        harness.spin(0.5)
        report = driver._report('backend')

    stamps = np.array([to_seconds(message.header.stamp) for message in legs]) - begin * 1e-9
    measured = np.array([list(message.position) for message in legs]) - start
    during = (stamps > 0.2) & (stamps < 1.9)
    delay = DriverParameters().playout_delay
    expected = np.array([swing(stamp - delay)[0] for stamp in stamps])
    # How exactly the drives follow is tested elsewhere.
    assert np.abs(measured - expected)[during].max() < 1e-3
    assert measured[:, 0].max() == pytest.approx(0.02, abs=1e-4)
    assert measured[-1] == pytest.approx(np.zeros(6), abs=1e-4)
    assert states[-1].state == DriverState.ENABLED
    assert 'SIMULATED' in report.message


def cyclic_processes_of(parent: int) -> list[int]:
    found = []
    for entry in Path('/proc').iterdir():
        with suppress(OSError):
            words = (entry / 'cmdline').read_bytes().split(b'\0')
            if b'stewart_driver.control.cyclic_process' in words and str(parent).encode() in words:
                found.append(int(entry.name))
    return found


def handled(process: int, number: signal.Signals) -> bool:
    """Tell whether a process has a handler for a signal."""
    status = Path(f'/proc/{process}/status').read_text()
    (mask,) = [line for line in status.splitlines() if line.startswith('SigCgt')]
    return bool(int(mask.split()[1], 16) >> (number - 1) & 1)


@pytest.mark.parametrize(
    ('number', 'after'),
    [
        (signal.SIGTERM, 0.5),
        *(
            pytest.param(number, after, marks=pytest.mark.slow)
            for number in (signal.SIGINT, signal.SIGTERM)
            for after in (0.0, 0.2, 1.0, 2.0)
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
        # Until the node has its own handlers, Python's end it; SIGINT has one from the beginning.
        limit = time.monotonic() + 90.0
        while not handled(process.pid, signal.SIGTERM):
            assert process.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.01)
        time.sleep(after)
        process.send_signal(number)
        # The first start of all compiles the plant's kernels, and hears of the signal after that.
        output, _ = process.communicate(timeout=90.0)

    assert process.returncode == 0, output
    assert 'Traceback' not in output
    assert cyclic_processes_of(process.pid) == []
