# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How far Vigo's legs are from their commands on the paper's random wave, over EtherCAT frames.

``python benchmarks/ethercat_wave.py [seconds]``: the shipped rig ``vigo_ethercat`` on its virtual
machine, from ``driver/enable`` over ``ocean/start`` and ``ocean/stop`` to ``driver/disable``. The
worst leg of every cycle is what the driver says on /diagnostics; the rest is made of what anybody
hears, ``joint_commands`` and ``actuator_states``. Then the wave once more, beside a process that
keeps a core busy, and ``driver/quick_stop`` in the middle of it.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

from dataclasses import asdict, dataclass
import json
from pathlib import Path
import subprocess
import sys
from tempfile import TemporaryDirectory
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from scipy.interpolate import CubicHermiteSpline
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from stewart_bringup.composition import compose
from stewart_bringup.demo.machine import real_time
from stewart_bringup.demo.session import CHAIN
from stewart_bringup.nodes.wave_operator import WaveOperator
from stewart_bringup.rigs import config_file
from stewart_interfaces.msg import DriverState
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS
from stewart_node_support.running import spin
from stewart_node_support.stamps import to_seconds
from stewart_node_support.stop_signals import StopSignals

SECONDS = 60.0
RIG, WAVE, NODE = 'vigo_ethercat', 'random', 'ocean_trajectory'
CYCLE = 'driver: cycle'
WORST, OVERRUNS = 'following error max since start [mm]', 'overruns'
MILLIMETRES = MILLISECONDS = 1e3
# The wave has grown by then [s]; it is stopped at this share of its largest leg rate [-]; so far
# apart are two places, ten times the encoders' noise [m].
GROWN, FAST, MOVED = 8.0, 0.7, 1e-5


@dataclass(frozen=True)
class Result:
    """One run, from rest to rest.

    Attributes:
        seconds: How long the wave was played at its full height [s].
        worst_following_error_mm: Command of a cycle less what the next one measures, worst leg and
            cycle [mm].
        fastest_leg_mmps: Largest commanded rate [mm/s].
        off_path_p50_mm, off_path_p99_mm, off_path_max_mm: Worst leg of ``actuator_states`` against
            ``joint_commands`` before the playout delay [mm].
        lost_frames, bad_working_counters, overruns: Of the driver.
        quick_stop_answer_ms, quick_stop_rest_ms: Under load, from the call of
            ``driver/quick_stop`` to its answer, and to the first ``actuator_states`` from which on
            no leg moves by more than 10 µm [ms].
        scheduling: What the scheduler did.
        ended: What the driver said last.
    """

    seconds: float
    worst_following_error_mm: float
    fastest_leg_mmps: float
    off_path_p50_mm: float
    off_path_p99_mm: float
    off_path_max_mm: float
    lost_frames: int
    bad_working_counters: int
    overruns: int
    quick_stop_answer_ms: float
    quick_stop_rest_ms: float
    scheduling: str
    ended: str


class Track:
    """What a topic says of the legs, n times.

    As arrays, which the garbage collector passes by: a minute of messages would hold up every node
    of this process for longer than the driver waits for a command.
    """

    def __init__(self) -> None:
        """Begin with nothing heard."""
        self._rows: list[np.ndarray] = []

    def take(self, message: JointState) -> None:
        """Keep stamp, strokes and rates."""
        stamp = to_seconds(message.header.stamp)
        self._rows.append(np.array([stamp, *message.position, *message.velocity]))

    @property
    def stamps(self) -> np.ndarray:
        """Return the stamps, shape (n,) [s]."""
        return np.array(self._rows)[:, 0]

    @property
    def strokes(self) -> np.ndarray:
        """Return the strokes, shape (n, 6) [m]."""
        return np.array(self._rows)[:, 1:7]

    @property
    def rates(self) -> np.ndarray:
        """Return the rates, shape (n, 6) [m/s]."""
        return np.array(self._rows)[:, 7:]

    @property
    def speed(self) -> float:
        """Return the fastest rate of a leg just now [m/s]."""
        return float(np.abs(self._rows[-1][7:]).max())


class Listener(Node):
    """Whoever listens to the driver from outside."""

    def __init__(self) -> None:
        """Hear commands, legs and diagnostics."""
        super().__init__('listener', start_parameter_services=False)
        self.commands, self.legs = Track(), Track()
        self.cycle: dict[str, str] = {}
        deep = QoSProfile(depth=1000)
        self.create_subscription(JointState, 'joint_commands', self.commands.take, COMMAND_QOS)
        self.create_subscription(JointState, 'actuator_states', self.legs.take, SENSOR_QOS)
        self.create_subscription(DiagnosticArray, '/diagnostics', self._take, deep)

    def _take(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == CYCLE:
                self.cycle = {item.key: item.value for item in status.values}

    def off_path(self, delay: float) -> np.ndarray:
        """Return the worst leg's distance from the commands `delay` [s] ago, shape (n,) [m]."""
        stamps, rows = np.unique(self.commands.stamps, return_index=True)
        path = CubicHermiteSpline(stamps, self.commands.strokes[rows], self.commands.rates[rows])
        times = self.legs.stamps - delay
        inside = (times >= stamps[0]) & (times <= stamps[-1])
        return np.abs(path(times[inside]) - self.legs.strokes[inside]).max(axis=1)


async def stop_quickly(operator: Any, listener: Listener, fastest: float) -> tuple[float, float]:
    """Play again, stop under load; return the times to the answer and to rest [ms]."""
    client = operator.create_client(Trigger, 'driver/quick_stop')
    # It must not inherit a real-time priority: then it would be no load but a fault.
    never_waits = ['chrt', '--other', '0', sys.executable, '-c', 'while True: pass']
    with subprocess.Popen(never_waits) as hog:
        try:
            await operator.request('driver/enable')
            await operator.reach(DriverState.ENABLED, 'driver/enable')
            await operator.until(client.service_is_ready, 'driver/quick_stop')
            await operator.request('ocean/start')
            await operator.pause(GROWN)
            await operator.until(lambda: listener.commands.speed > FAST * fastest, 'a fast moment')
            begin = time.time()
            answer = await client.call_async(Trigger.Request())
            answered = time.time() - begin
            assert answer.success, answer.message
            await operator.reach(DriverState.DISABLED, 'driver/quick_stop')
        finally:
            hog.kill()
    after = listener.legs.stamps > begin
    stamps, strokes = listener.legs.stamps[after], listener.legs.strokes[after]
    moved = np.abs(strokes - strokes[-1]).max(axis=1) > MOVED
    rest = stamps[int(np.flatnonzero(moved)[-1]) + 1] - begin if moved.any() else 0.0
    return MILLISECONDS * answered, MILLISECONDS * rest


def play(seconds: float) -> Result:
    """Play the wave and listen."""
    files = [config_file('rig', RIG), config_file('wave', WAVE)]
    with real_time() as scheduling, TemporaryDirectory(prefix='wave-') as folder:
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        try:
            overrides: dict[str, dict[str, Any]] = {
                'virtual_rig': {'directory': str(Path(folder, 'rig'))},
            }
            nodes = compose(files, names=(*CHAIN, NODE), overrides=overrides, lean=True)
            operator: Any = WaveOperator(
                StopSignals(),
                cli_args=['--ros-args', '--params-file', str(files[1])],
                parameter_overrides=[Parameter('duration', value=seconds)],
            )
            listener = Listener()
            driver = next(node for node in nodes if node.get_name() == 'driver')
            delay = float(driver.get_parameter('playout_delay').value)

            async def work() -> tuple[dict[str, str], np.ndarray, tuple[float, float]]:
                await operator.play()
                listener.cycle.clear()
                await operator.until(lambda: listener.cycle, '/diagnostics')
                apart = MILLIMETRES * listener.off_path(delay)
                fastest = float(np.abs(listener.commands.rates).max())
                return listener.cycle, apart, await stop_quickly(operator, listener, fastest)

            stop = StopSignals().install()
            values, apart, times = spin([*nodes, operator, listener], task=work, stop=stop)
        finally:
            rclpy.try_shutdown()
    return Result(
        seconds=seconds,
        worst_following_error_mm=float(values[WORST]),
        fastest_leg_mmps=MILLIMETRES * float(np.abs(listener.commands.rates).max()),
        off_path_p50_mm=float(np.median(apart)),
        off_path_p99_mm=float(np.percentile(apart, 99)),
        off_path_max_mm=float(apart.max()),
        lost_frames=int(values['lost frames']),
        bad_working_counters=int(values['bad working counters']),
        overruns=int(values[OVERRUNS]),
        quick_stop_answer_ms=times[0],
        quick_stop_rest_ms=times[1],
        scheduling=scheduling,
        ended=operator.driver_state.reason,
    )


def main() -> int:
    """Play, print and write the JSON file."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    about = harness.machine(['numpy', 'pysoem', 'rclpy'])
    result = play(seconds)
    print(f'worst following error: {result.worst_following_error_mm:.3f} mm')
    print(json.dumps(asdict(result), indent=1))
    harness.save('ethercat_wave', {'machine': about, 'wave': asdict(result)})
    return 0


if __name__ == '__main__':
    sys.exit(main())
