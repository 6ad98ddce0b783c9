# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the graph of a rig costs and how late it is, at 100 to 1000 Hz, in one or more processes.

``python benchmarks/graph.py [--seconds S] [--rates R ...] [--kinds K ...] [--rounds N]``: Vigo on
simulated drives plays its random wave while the recorder writes every topic, the kinds in turns.
Three kinds of graph:

composed   the nodes as they are, in one process
processes  the nodes as they are, each in its own process
fields     the same nodes in one process with rclpy's executor and messages converted field by
           field: the peer; driver and recorder are as they are

Latencies come from the bag and from the times of reception in it, in ms. *command*: a setpoint's
stamp to its joint command. *pose*: an actuator state's stamp to the pose made of it. *executed*: a
setpoint's stamp to the first actuator state that has executed it, less the playout delay, which is
deliberate; the lag of the drives and the wait for the next sample are in it. The share of a core
is that of the nodes while the wave is played, the cyclic process apart. It fails if a composed
graph loses a message, or takes more than 0.75 of the processor time of its peer, the median of the
rounds.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
import json
from operator import truediv
import os
from pathlib import Path
import signal
import statistics
from struct import unpack
import subprocess
import sys
import tempfile
import time
from typing import Any

from ament_index_python.packages import get_package_prefix
from graph_fields import PEERS
import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from stewart_bags.reading import Bag
from stewart_bags.series import JointSeries, PoseSeries, read_joints, read_series
from stewart_bringup import composition
from stewart_bringup.demo.machine import real_time
from stewart_bringup.demo.tracking import latencies
from stewart_bringup.nodes.wave_operator import WaveOperator
from stewart_bringup.rigs import config_file
from stewart_node_support.lifecycle import autostart, take_down
from stewart_node_support.running import spin
from stewart_node_support.stop_signals import StopSignals

RATES = (100.0, 200.0, 500.0, 1000.0)
KINDS = ('composed', 'processes', 'fields')
SECONDS, PLAYOUT = 6.0, 0.05
LIMIT = 0.75
"""Most of the peer's share of a core that a composed graph may take [-]."""
CHAIN = (
    ('driver', 'stewart_driver'),
    ('inverse_kinematics', 'stewart_kinematics'),
    ('feed_forward', 'stewart_dynamics'),
    ('forward_kinematics', 'stewart_kinematics'),
    ('ocean_trajectory', 'stewart_kinematics'),
)
FILES = [config_file('rig', 'vigo'), config_file('wave', 'random')]
# What is said once for each setpoint, and for each actuator state.
FORWARD = ('setpoint', 'joint_commands', 'joint_efforts', 'platform/commanded')
BACKWARD = ('actuator_states', 'platform/pose')


@dataclass(frozen=True)
class Run:
    """One rate of one kind of graph; latencies in ms: 50th, 99th percentile and largest."""

    kind: str
    rate_hz: float
    setpoints_hz: float
    lost: int
    command_ms: tuple[float, float, float]
    pose_ms: tuple[float, float, float]
    executed_ms: tuple[float, float, float]
    core: float
    rss_mb: float


def parameters(rate: float) -> dict[str, dict[str, Any]]:
    """Return what every node is told about the rate."""
    driver = {
        'publish_rate': rate,
        'playout_delay': PLAYOUT,
        # A machine that others use lets processes wait; the latency is measured, not judged here.
        'extrapolation_time': 0.2,
        'command_timeout': 1.0,
        'simulated.cycle_time': min(0.0025, 1.0 / rate),
    }
    return {
        'driver': driver,
        'ocean_trajectory': {'rate': rate},
    }


class Meter:
    """Processor time and memory of some processes while the wave is played."""

    def __init__(self, pids: Sequence[int]) -> None:
        self._pids = pids
        self._first: tuple[float, float] | None = None
        self._last = (0.0, 0.0)
        self.rss_mb = 0.0

    def look(self, phase: str) -> None:
        """Take a reading if the wave is being played."""
        if phase != 'playing':
            return
        self._last = (time.monotonic(), sum(map(harness.processor_time, self._pids)))
        self._first = self._first or self._last
        self.rss_mb = sum(map(harness.resident, self._pids)) / 2**20

    @property
    def core(self) -> float:
        """Share of a core."""
        assert self._first is not None
        span, used = np.subtract(self._last, self._first)
        return float(used / span)


def wave_operator(seconds: float) -> WaveOperator:
    """Return who enables the rig, plays the wave and brings it home."""
    return WaveOperator(
        StopSignals(),
        use_global_arguments=False,
        cli_args=['--ros-args', '--params-file', str(FILES[1])],
        parameter_overrides=[
            Parameter('duration', value=seconds),
            Parameter('patience', value=60.0),
        ],
    )


def composed(rate: float, seconds: float, bag: Path, *, fields: bool) -> tuple[Meter, int]:
    """Play with all nodes in this process; return what was metered, and messages lost."""
    usual = composition.node_class
    if fields:
        composition.node_class = lambda name: PEERS.get(name) or usual(name)
    names = [name for name, _ in CHAIN]
    nodes = composition.compose(
        FILES, names=names, overrides=parameters(rate), record=bag, lean=True
    )
    ledger, recorder = composition.Ledger(nodes), nodes[0]
    operator, meter = wave_operator(seconds), Meter([os.getpid()])
    operator.create_timer(0.1, lambda: meter.look(operator.phase))

    async def work() -> None:
        await operator.play()
        nodes[-1].trigger_deactivate()
        # The recorder fetches 50 times a second.
        await operator.pause(1.0)

    if fields:
        spin_usual([*nodes, operator], work)
    else:
        spin([*nodes, operator], task=work, stop=StopSignals())
    written: Any = recorder
    lost = sum(count - written.counts.get(topic, 0) for topic, count in ledger.counts().items())
    return meter, lost


def spin_usual(nodes: Sequence[Node], work: Any) -> None:
    """Spin with rclpy's executor until a task is done."""
    executor = SingleThreadedExecutor()
    for node in nodes:
        executor.add_node(node)
        autostart(node)
    task = executor.create_task(work)
    while not task.done():
        executor.spin_once(timeout_sec=0.1)
    task.result()
    for node in reversed(nodes):
        take_down(node)
    executor.shutdown()


def separate(rate: float, seconds: float, bag: Path) -> tuple[Meter, int]:
    """Play with every node in its own process; lost is counted in the bag."""
    topics = [*FORWARD, *BACKWARD, 'driver/state', 'platform/tracking_error']
    chosen = {'recorder': {'output': str(bag), 'topics': topics}, **parameters(rate)}
    running = []
    try:
        for name, package in (('recorder', 'stewart_bags'), *CHAIN):
            command = [str(Path(get_package_prefix(package)) / 'lib' / package / name)]
            command += ['--ros-args', '--log-level', 'warn']
            for path in FILES:
                command += ['--params-file', str(path)]
            for key, value in chosen.get(name, {}).items():
                text = f'[{", ".join(value)}]' if isinstance(value, list) else f'{value}'
                command += ['-p', f'{key}:={text}']
            running.append(subprocess.Popen(command))
        operator, meter = wave_operator(seconds), Meter([process.pid for process in running])
        operator.create_timer(0.1, lambda: meter.look(operator.phase))
        spin([operator], task=operator.wait_and_play, stop=StopSignals())
        time.sleep(1.0)
    finally:
        for process in reversed(running):
            process.send_signal(signal.SIGINT)
        for process in running:
            process.wait()
    with Bag(bag) as recording:
        return meter, sum(missing(recording, group) for group in (FORWARD, BACKWARD))


def missing(bag: Bag, topics: Sequence[str]) -> int:
    """Count the messages that one topic lacks and another has, with the same stamp.

    Processes do not start at once: what counts lies between the last that begins and the first
    that ends.
    """
    every = [{unpack('<iI', view[4:12]) for _, _, view in bag.raw([topic])} for topic in topics]
    begin, end = max(map(min, every)), min(map(max, every))
    inside = [{stamp for stamp in stamps if begin <= stamp <= end} for stamps in every]
    return sum(len(set.union(*inside)) - len(stamps) for stamps in inside)


def percentiles(seconds: Any) -> tuple[float, float, float]:
    """Return the 50th and 99th percentile and the largest [ms]."""
    p50, p99, most = 1e3 * np.percentile(seconds if len(seconds) else [np.nan], [50, 99, 100])
    return float(p50), float(p99), float(most)


def play(kind: str, rate: float, seconds: float) -> Run:
    """Play one wave, read the bag."""
    rclpy.init(
        args=['--ros-args', '--log-level', 'warn'], signal_handler_options=SignalHandlerOptions.NO
    )
    with real_time(), tempfile.TemporaryDirectory(prefix='graph-') as folder:
        bag = Path(folder, 'bag')
        if kind == 'processes':
            meter, lost = separate(rate, seconds, bag)
        else:
            meter, lost = composed(rate, seconds, bag, fields=kind == 'fields')
        rclpy.try_shutdown()
        with Bag(bag) as recording:
            commands = read_joints(recording, 'joint_commands')
            actuators = read_joints(recording, 'actuator_states')
            poses = read_series(recording, 'platform/pose', PoseSeries)
    return judged(kind, rate, meter, lost, commands, actuators, poses)


def judged(
    kind: str,
    rate: float,
    meter: Meter,
    lost: int,
    commands: JointSeries,
    actuators: JointSeries,
    poses: PoseSeries,
) -> Run:
    """Return the figures of a run."""
    found = latencies(commands, actuators)
    span = 1e-9 * (commands.stamp_ns[-1] - commands.stamp_ns[0])
    return Run(
        kind,
        rate,
        float((len(commands) - 1) / span),
        lost,
        percentiles(found.commanded),
        percentiles(1e-9 * (poses.bag_time_ns - poses.stamp_ns)),
        percentiles(found.executed - PLAYOUT),
        meter.core,
        meter.rss_mb,
    )


def over_peer(runs: Sequence[Run]) -> dict[float, float]:
    """Return by rate how much of the peer's share of a core the composed graph takes [-]."""
    cores: dict[float, dict[str, list[float]]] = {}
    for run in runs:
        cores.setdefault(run.rate_hz, {}).setdefault(run.kind, []).append(run.core)
    return {
        rate: statistics.median(map(truediv, kinds['composed'], kinds['fields']))
        for rate, kinds in cores.items()
        # A run that has ended with an error leaves a round without its pair.
        if 0 < len(kinds.get('composed', ())) == len(kinds.get('fields', ()))
    }


def main() -> int:
    """Play every kind at every rate, each in a process of its own; print and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n\n')[0])
    parser.add_argument('--seconds', type=float, default=SECONDS)
    parser.add_argument('--rates', type=float, nargs='+', default=RATES)
    parser.add_argument('--kinds', nargs='+', choices=KINDS, default=KINDS)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--one', action='store_true', help='play one kind at one rate here')
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(asdict(play(chosen.kinds[0], chosen.rates[0], chosen.seconds))))
        return 0
    about = {**harness.machine(('numpy', 'numba')), 'seconds': f'{chosen.seconds:g}'}
    # Graphs of other people on this machine are not to be heard.
    os.environ['ROS_DOMAIN_ID'] = f'{1 + os.getpid() % 100}'
    runs = []
    for rate in chosen.rates:
        for kind in chosen.rounds * list(chosen.kinds):
            command = [sys.executable, __file__, '--one', '--rates', str(rate), '--kinds', kind]
            command += ['--seconds', str(chosen.seconds)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            if done.returncode:
                print(f'{kind} at {rate:g} Hz ended with {done.returncode}')
                continue
            row = json.loads(done.stdout.splitlines()[-1])
            runs.append(Run(**row))
            print(', '.join(f'{key} {value}' for key, value in row.items()), flush=True)
    shares, lost = over_peer(runs), sum(run.lost for run in runs if run.kind == 'composed')
    for rate, share in shares.items():
        print(f'{rate:g} Hz: {share:.2f} of the processor time of fields, at most {LIMIT:g}')
    content = {
        'machine': about,
        'load_at_the_end': os.getloadavg()[0],
        'graph': [asdict(run) for run in runs],
    }
    harness.save('graph', content)
    return 0 if runs and not lost and all(share <= LIMIT for share in shares.values()) else 1


if __name__ == '__main__':
    sys.exit(main())
