# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C for the nodes virtual_rig and driver at once: rest, no power, no complaint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
import signal
import subprocess
from typing import Any

import pytest

pytest.importorskip('rclpy')

from ament_index_python.packages import get_package_prefix, PackageNotFoundError
from node_harness import Harness
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from stewart_driver.legs import LEG_NAMES
from stewart_interfaces.msg import DriverState
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.stamps import from_nanoseconds
from stewart_simulation.rig import directory as places
from stewart_simulation.rig.truth import TruthReader

pytestmark = pytest.mark.ros

LIMIT = 60.0
PERIOD_NS, RATE = 10_000_000, 0.02
# A shared machine may forget each of these processes for a while.
PATIENCE = {
    'autostart': True,
    'start_timeout': 60.0,
    'publish_rate': 100.0,
    'playout_delay': 0.4,
    'extrapolation_time': 0.6,
    'command_timeout': 4.0,
    'stall_timeout': 60.0,
    'overrun_share': 1.0,
}


class Terminal:
    """The executables that one Ctrl-C reaches, and what they say."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, package: str, name: str, **parameters: Any) -> None:
        try:
            prefix = get_package_prefix(package)
        except PackageNotFoundError:
            pytest.skip(f'{package} is not installed here, only its sources are')
        words = [word for item in parameters.items() for word in ('-p', '{}:={}'.format(*item))]
        with (self._folder / name).open('wb') as said:
            self._processes[name] = subprocess.Popen(
                [str(Path(prefix, 'lib', package, name)), '--ros-args', *words],
                stdout=said,
                stderr=said,
            )

    def text(self, name: str) -> str:
        return (self._folder / name).read_text()

    def says(self, name: str, words: str) -> bool:
        text = self.text(name)
        if self._processes[name].poll() is not None and 'What permits it' in text:
            pytest.skip(text)
        assert self._processes[name].poll() is None, text
        return words in text

    def press_ctrl_c(self) -> None:
        for process in self._processes.values():
            process.send_signal(signal.SIGINT)

    def codes(self) -> dict[str, int]:
        return {name: process.wait(LIMIT) for name, process in self._processes.items()}

    def kill(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path)
    yield opened
    opened.kill()


def lift(harness: Harness, legs: list[Any], moved: Callable[[], bool]) -> None:
    """Lengthen all legs, softly at first, until something has come about."""
    commands = harness.talk(JointState, 'joint_commands', COMMAND_QOS)
    harness.until(lambda: legs and commands.get_subscription_count() == 1, LIMIT)
    now = harness.probe.get_clock().now
    start, begin = list(legs[-1].position), int(now().nanoseconds)
    for number in range(400):
        stamp = begin + number * PERIOD_NS
        harness.until(lambda due=stamp: now().nanoseconds >= due)
        if moved():
            return
        ahead = 1e-9 * number * PERIOD_NS
        gone = RATE * (min(ahead, 0.2) ** 2 / 0.4 + max(ahead - 0.2, 0.0))
        message = JointState(
            name=list(LEG_NAMES),
            position=[stroke + gone for stroke in start],
            velocity=[RATE * min(ahead / 0.2, 1.0)] * 6,
        )
        message.header.stamp = from_nanoseconds(stamp)
        commands.publish(message)
    raise AssertionError('nothing has moved')


# Without nodes it is proved by test_rig_lingering.py.
@pytest.mark.slow
@pytest.mark.parametrize('backend', ['daq', 'ethercat'])
def test_ctrl_c_for_all_leaves_a_machine_at_rest_and_without_power(
    terminal: Terminal, tmp_path: Path, backend: str
) -> None:
    wires = tmp_path / 'wires'
    card = backend == 'daq'
    platform, moved_by = ('ex800', 'card') if card else ('vigo', 'ethercat')
    chosen = {
        'daq': {
            'daq.card': 'simulated',
            'daq.device': wires / places.CARD,
            'daq.rig_file': wires / places.RIG_FILE,
            'daq.enable_channel': 0,
            'daq.longest_call': 5.0,
        },
        'ethercat': {
            'ethercat.interface': 'ecat0',
            'ethercat.namespace': wires / places.NETNS,
            'ethercat.rig_file': wires / places.RIG_FILE,
            'ethercat.cycle_time': 0.01,
            'ethercat.receive_timeout': 0.2,
            'ethercat.patience': 4.0,
            'ethercat.drive_watchdog': 5.0,
            'ethercat.start_timeout': 30.0,
        },
    }[backend]
    terminal.start(
        'stewart_simulation',
        'virtual_rig',
        directory=wires,
        platform=platform,
        moved_by=moved_by,
        card=card,
        ethercat=not card,
        imu=False,
        # Whoever goes leaves the legs to their brakes; drives wait for late frames.
        brake=True,
        brake_apply_s=0.0,
        sync_error_limit=0,
    )
    with Harness(real=True) as harness:
        harness.until(lambda: terminal.says('virtual_rig', places.READY), LIMIT)
        terminal.start('stewart_driver', 'driver', backend=backend, **chosen, **PATIENCE)
        states: list[Any] = harness.listen(DriverState, 'driver/state', STATE_QOS)
        legs: list[Any] = harness.listen(JointState, 'actuator_states', SENSOR_QOS)
        truth = TruthReader(wires / places.TRUTH)
        harness.until(lambda: terminal.says('driver', '') and states and states[-1].homed, LIMIT)
        assert harness.call(Trigger, 'driver/enable').success
        harness.until(lambda: states[-1].state == DriverState.ENABLED, LIMIT)
        lift(harness, legs, lambda: truth.read().rates.min() > 0.8 * RATE)

        terminal.press_ctrl_c()
        codes = terminal.codes()

    last = truth.read()
    assert codes == {'virtual_rig': 0, 'driver': 0}
    assert not last.powered.any()
    assert abs(last.rates).max() < 1e-3
    said = terminal.text('driver')
    assert 'DISABLED: ' in said
    assert 'FAULT' not in said
    assert 'safe' not in said
    assert not wires.exists()
