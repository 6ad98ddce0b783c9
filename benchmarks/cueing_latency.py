# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How much later than its datagrams a vehicle's ride is in the setpoints of a running rig.

    python benchmarks/cueing_latency.py [SECONDS]

`stewart run` has the rig srs in a process of its own, on the real clock, whose `motion_cueing`
hears FlightGear's datagrams. A drive is sent to it at 50, 100 and 200 Hz. Setpoints are compared
by their stamps with what `stewart cue` makes of the drive: the latency is the time by which these
have to be moved for the best fit, to 0.1 ms, of the whole drive and of each second. It fails if
that of the whole drive is over 20 ms. On a busy machine `chrt -r 1` in front gives it the
processor; the driver waits half a second for setpoints, so that a pause of the machine is in the
figures and ends no ride.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import signal
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np
import rclpy
from rclpy.node import Node

sys.path.insert(0, str(Path(__file__).parents[1] / 'src' / 'stewart_cueing' / 'test'))
from rides import drive
from stewart_cueing.vehicle.inputs import VehicleRide
from stewart_cueing.vehicle.ride import cued, settings_for
from stewart_cueing.vehicle.washout import LEVEL
from stewart_interfaces.msg import PlatformSetpoint
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array
from stewart_node_support.hot_messages import setpoint_reader
from stewart_node_support.qos import COMMAND_QOS

ROOT = Path(__file__).parents[1]
RIG = ROOT / 'src' / 'stewart_bringup' / 'config' / 'rig_srs.yaml'
CHANGES = {
    'input_silence: 0.2': 'input: flightgear\n    port: {port}',
    'extrapolation_time: 0.05': 'extrapolation_time: 0.5',
}
NAMESPACE = 'cueing_latency'
RATES = (50.0, 100.0, 200.0)
MOST = 0.02
"""Latency at most [s]."""
STEP = 1e-4
"""Of the latencies that are tried [s]."""
PATIENCE = 120.0
MOVES = 0.002
"""Seconds in which the platform moves less tell no latency [m]."""


@contextmanager
def running(port: int) -> Iterator[None]:
    """Run the rig, enabled and following the vehicle."""
    with tempfile.TemporaryDirectory(prefix='cueing-latency-') as folder:
        rig = Path(folder, 'rig.yaml')
        text = RIG.read_text('utf-8')
        for old, new in CHANGES.items():
            assert old in text
            text = text.replace(old, new.format(port=port))
        rig.write_text(text, 'utf-8')
        place = ['--namespace', NAMESPACE]
        with subprocess.Popen(['stewart', 'run', str(rig), *place]) as process:
            try:
                for words in (['drive', 'enable'], ['wave', 'start', '--of', 'cueing']):
                    begin = time.monotonic()
                    while subprocess.run(['stewart', *words, *place], check=False).returncode:
                        if time.monotonic() - begin > PATIENCE:
                            raise SystemExit(f'cueing_latency: no {words} in {PATIENCE:g} s')
                yield
            finally:
                process.send_signal(signal.SIGINT)


def lines(ride: VehicleRide) -> list[bytes]:
    """Return a ride as FlightGear sends it, x forward, y right, z down."""
    rows = ride.samples * [1.0, -1.0, -1.0, 1.0, -1.0, -1.0]
    return [('\t'.join(f'{value:.7f}' for value in row) + '\tjsb\n').encode() for row in rows]


def play(
    ride: VehicleRide, say: Callable[[bytes], object], spin: Callable[[float], None]
) -> float:
    """Send a ride in its own time; return when it began, as sent [s since the epoch]."""
    began, begins = time.time(), []
    for at, line in zip(ride.time, lines(ride), strict=True):
        while (left := began + at - time.time()) > 0.0:
            spin(left)
        begins.append(time.time() - at)
        say(line)
    return float(np.median(begins))


def latencies(ride: VehicleRide, began: float, stamps: Array, position: Array) -> Array:
    """Return the latency of the whole ride, and of every second in which it moves (n + 1,) [s]."""
    recorded = cued(ride, load_platform('srs'), settings_for('srs'))
    way, tried = recorded.motion.position, np.arange(0.0, 0.1, STEP)
    there = (stamps > began + 0.5) & (stamps < began + ride.time[-1] - 0.5)
    found = []
    seconds = [there & (np.floor(stamps - began) == n) for n in range(int(ride.time[-1]))]
    for part in (there, *seconds):
        if part.sum() < 100 or np.ptp(position[part], axis=0).max() < MOVES:
            continue
        late = [
            sum(
                np.sum((np.interp(stamps[part] - began - by, recorded.time, a) - b) ** 2)
                for a, b in zip(way.T, position[part].T, strict=True)
            )
            for by in tried
        ]
        found.append(tried[int(np.argmin(late))])
    return np.array(found)


def measured(rate: float, seconds: float) -> dict[str, float]:
    """Play the drive at a rate [Hz]; return what came of it."""
    ride, reader, heard = drive(seconds, 1.0 / rate), setpoint_reader(), list[bytes]()
    level = VehicleRide(np.arange(100) * 0.02, np.tile(LEVEL, (100, 1)))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    node = Node('listener', namespace=NAMESPACE)
    node.create_subscription(PlatformSetpoint, 'setpoint', heard.append, COMMAND_QOS, raw=True)
    executor = rclpy.executors.SingleThreadedExecutor()
    executor.add_node(node)
    with running(port), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(('127.0.0.1', port))
        began = [play(part, sender.send, executor.spin_once) for part in (level, ride)][-1]
        end = time.time() + 0.2
        while time.time() < end:
            executor.spin_once(0.01)
    executor.shutdown()
    node.destroy_node()
    read = [reader.read(data) for data in heard]
    stamps = np.array([item.stamp for item in read]) * 1e-9
    position = np.array([item.motion.position for item in read])
    if stamps[-1] < began + ride.time[-1]:
        raise SystemExit('cueing_latency: the ride was cut off, as a busy machine may do it')
    whole, *each = 1e3 * latencies(ride, began, stamps, position)
    return {
        'rate_hz': rate,
        'setpoints': len(read),
        'latency_ms': whole,
        'least_second_ms': min(each),
        'worst_second_ms': max(each),
    }


def main() -> int:
    """Measure at every rate; 1 if the latency is too long."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    about = harness.machine(['numpy', 'scipy']) | {'load': f'{os.getloadavg()[0]:.1f}'}
    rclpy.init()
    rows = [measured(rate, seconds) for rate in RATES]
    rclpy.try_shutdown()
    for row in rows:
        print(', '.join(f'{key} {value:.4g}' for key, value in row.items()))
    harness.save('cueing_latency', {'machine': about, 'rides': rows})
    return int(any(row['latency_ms'] > 1e3 * (MOST + 0.5 * STEP) for row in rows))


if __name__ == '__main__':
    sys.exit(main())
