# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How much of a core the state estimator takes live, and how soon it answers, at 100 to 400 Hz.

``python benchmarks/estimation_live.py [seconds]``: the node in its own process, under a name of
its own, hears an IMU and six legs of the EX800 at 100, 200 and 400 Hz. The latency is from handing
over the IMU sample that lets an estimate out to hearing its odometry, both in Python here: two
ways through the middleware are in it. Beside it the node in the process of those who publish, as
in a composed rig, with publishers and executor of one and a turn of the executor per message: what
it adds to the processor time of publishing alone, taking and publishing messages included; its
peer is the same node with rclpy's executor and messages converted field by field. It fails if
estimates are missing, if the 99th percentile is over two periods, or if an IMU sample costs a
composed rig more than 0.4 of what its peer costs, the median of some rounds.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
import signal
import statistics
import subprocess
import sys
import time

from ament_index_python.packages import get_package_prefix
from builtin_interfaces.msg import Time
from graph_fields import FieldEstimator
from nav_msgs.msg import Odometry
import numpy as np
import rclpy
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Imu, JointState
from srs_simulated import SensorErrors, simulate, SimulatedRun
from stewart_estimation.nodes.state_estimator import StateEstimator
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.trajectories import Faded, MultiSine
from stewart_node_support.codec import stamp_of
from stewart_node_support.executor import make_executor
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import SENSOR_QOS

SECONDS, WARM = 20.0, 3.0
RATES = (100.0, 200.0, 400.0)
NAMESPACE = '/estimation_live'
ERRORS = SensorErrors(
    np.full(3, 0.02), np.full(3, 1e-3), np.full(6, 2e-5), np.full(3, 0.05), np.full(3, 0.01)
)
MILLISECONDS = 1e3
ROUNDS, MORE_TURNS = 5, 4
LIMIT = 0.4
"""Most that an IMU sample may cost a composed rig, over what it costs the peer [-]."""


@dataclass(frozen=True)
class Live:
    """One rate; latencies in ms, the processor time as a share of one core."""

    rate_hz: float
    sent: int
    answered: int
    latency_p50_ms: float
    latency_p99_ms: float
    latency_max_ms: float
    core: float
    core_per_estimate_us: float

    @property
    def held(self) -> bool:
        """Whether every sample was answered, and soon enough."""
        whole = self.answered == self.sent
        return whole and self.latency_p99_ms <= 2.0 * MILLISECONDS / self.rate_hz


class Sensors(Node):
    """Publish what IMU and legs say, hear the odometry."""

    def __init__(self) -> None:
        super().__init__('sensors', namespace=NAMESPACE)
        self.imu = CountedPublisher(self, Imu, 'imu/data', SENSOR_QOS)
        self.legs = CountedPublisher(self, JointState, 'actuator_states', SENSOR_QOS)
        self.heard: dict[int, float] = {}
        self.create_subscription(
            Odometry, 'platform/odometry', self._on_odometry, SENSOR_QOS, raw=True
        )

    def _on_odometry(self, data: bytes) -> None:
        self.heard[stamp_of(data)] = time.monotonic()


def measured(rate: float, duration: float) -> SimulatedRun:
    """Move the EX800 by 20 mm and 4 degrees at 1 Hz and measure it."""
    platform = Platform.from_yaml('ex800')
    amplitude = np.array([[0.02], [0.02], [0.015], [0.07], [0.05], [0.0]])
    centre = platform.geometry.neutral_pose
    wave = MultiSine(centre, 'XYZ', amplitude, np.array([6.0]), np.arange(6.0)[:, None])
    period = 1.0 / rate
    return simulate(
        Faded(wave, centre, 1.0), 7, platform=platform, errors=ERRORS, duration=duration,
        imu_period=period, leg_period=period,
    )  # fmt: skip


def messages(run: SimulatedRun) -> list[tuple[JointState, Imu]]:
    """Return the samples as messages without stamps."""
    names = [f'leg_{leg}' for leg in range(1, 7)]
    strokes = run.legs.lengths - run.platform.geometry.retracted_length
    pairs = []
    for row in range(len(run.legs)):
        imu = Imu()
        force, turning = imu.linear_acceleration, imu.angular_velocity
        force.x, force.y, force.z = run.imu.specific_forces[row].tolist()
        turning.x, turning.y, turning.z = run.imu.angular_velocities[row].tolist()
        pairs.append((JointState(name=names, position=strokes[row].tolist()), imu))
    return pairs


def composed(count: int, kind: type[StateEstimator], spinner: Callable[[], Executor]) -> float:
    """Return what a node adds to the cost of an IMU sample and a leg sample, composed [µs].

    Samples that warm it up come before the count: the first loads what is compiled.
    """
    sensors = Sensors()
    overrides = [Parameter('platform', value='ex800'), Parameter('imu_period', value=0.005)]
    first = round(WARM * 200.0)
    pairs = messages(measured(200.0, 0.005 * (first + count)))
    stamped(pairs, 200.0)
    data = [(serialize_message(legs), serialize_message(imu)) for legs, imu in pairs]
    costs = {}
    for name in ('alone', 'with the node'):
        executor = spinner()
        executor.add_node(sensors)
        node, begin = None, 0.0
        if name != 'alone':
            node = kind(namespace=NAMESPACE, parameter_overrides=overrides)
            executor.add_node(node)
            while sensors.imu.subscribers == 0:
                executor.spin_once(timeout_sec=0.05)
        for row, (legs, imu) in enumerate(data):
            if row == first:
                begin = time.thread_time()
            sensors.legs.publish(legs)
            executor.spin_once(timeout_sec=0.0)
            before = len(sensors.heard)
            sensors.imu.publish(imu)
            executor.spin_once(timeout_sec=0.0)
            # rclpy's executor calls one thing back in a turn.
            turns = 0 if node is None else MORE_TURNS
            while turns and len(sensors.heard) == before:
                executor.spin_once(timeout_sec=0.0)
                turns -= 1
        costs[name] = time.thread_time() - begin
        executor.shutdown()
        if node is not None:
            node.destroy_node()
    answered = len(sensors.heard)
    sensors.destroy_node()
    if answered < 0.99 * len(data):
        raise SystemExit(f'the composed node answered {answered} of {len(data)} samples')
    return 1e6 * (costs['with the node'] - costs['alone']) / count


def stamped(pairs: list[tuple[JointState, Imu]], rate: float) -> None:
    """Stamp samples at a rate [Hz], from now on."""
    epoch = time.time_ns()
    for row, pair in enumerate(pairs):
        stamp = epoch + round(row * 1e9 / rate)
        for message, frame in zip(pair, ('base_link', 'imu_link'), strict=True):
            message.header.stamp = Time(sec=stamp // 10**9, nanosec=stamp % 10**9)
            message.header.frame_id = frame


def play(rate: float, seconds: float, pid: int) -> Live:
    """Send samples at a rate and measure once they have run for a while."""
    pairs = messages(measured(rate, WARM + seconds))
    sensors, executor = Sensors(), SingleThreadedExecutor()
    executor.add_node(sensors)
    begin = time.monotonic()
    while sensors.imu.subscribers == 0 and time.monotonic() < begin + 60.0:
        executor.spin_once(timeout_sec=0.05)
    first, sent = round(WARM * rate), {}
    stamped(pairs, rate)
    begin, used = time.monotonic(), 0.0
    for row, (legs, imu) in enumerate(pairs):
        due = begin + row / rate
        while (left := due - time.monotonic()) > 0.0:
            executor.spin_once(timeout_sec=left)
        if row == first:
            used = harness.processor_time(pid)
        sensors.legs.publish(legs)
        if row >= first:
            stamp = imu.header.stamp
            sent[stamp.sec * 10**9 + stamp.nanosec] = time.monotonic()
        sensors.imu.publish(imu)
    used = harness.processor_time(pid) - used
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        executor.spin_once(timeout_sec=0.05)
    late = [sensors.heard[stamp] - at for stamp, at in sent.items() if stamp in sensors.heard]
    p50, p99, most = MILLISECONDS * np.percentile(late or [np.inf], [50, 99, 100])
    executor.shutdown()
    sensors.destroy_node()
    return Live(
        rate, len(sent), len(late), float(p50), float(p99), float(most), used / seconds,
        1e6 * used / max(len(late), 1),
    )  # fmt: skip


def estimated(rate: float, seconds: float) -> Live:
    """Start the node, measure it, stop it."""
    executable = Path(get_package_prefix('stewart_estimation')) / 'lib' / 'stewart_estimation'
    options = ['--ros-args', '-r', f'__ns:={NAMESPACE}', '-p', 'platform:=ex800']
    options += ['-p', f'imu_period:={1.0 / rate}']
    with subprocess.Popen([str(executable / 'state_estimator'), *options]) as node:
        try:
            return play(rate, seconds, node.pid)
        finally:
            node.send_signal(signal.SIGINT)


def main() -> int:
    """Measure every rate, print and write."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    about = {**harness.machine(('numpy', 'numba')), 'seconds': f'{seconds:g}'}
    rclpy.init()
    found = []
    for rate in RATES:
        found.append(estimated(rate, seconds))
        print(', '.join(f'{key} {value:.4g}' for key, value in asdict(found[-1]).items()))
    count = round(200.0 * seconds / ROUNDS)
    rounds = [
        (
            composed(count, StateEstimator, make_executor),
            composed(count, FieldEstimator, SingleThreadedExecutor),
        )
        for _ in range(ROUNDS)
    ]
    added, peer = (statistics.median(costs) for costs in zip(*rounds, strict=True))
    share = statistics.median(cost / beside for cost, beside in rounds)
    print(
        f'composed: {added:.0f} µs per IMU sample, {share:.2f} of the {peer:.0f} µs of its peer, '
        f'at most {LIMIT:g}'
    )
    rclpy.try_shutdown()
    content = {
        'machine': about,
        'live': [{**asdict(row), 'held': row.held} for row in found],
        'composed_us': added,
        'peer_us': peer,
        'to_peer': share,
        'most_to_peer': LIMIT,
    }
    harness.save('estimation_live', content)
    return 0 if all(row.held for row in found) and share <= LIMIT else 1


if __name__ == '__main__':
    sys.exit(main())
