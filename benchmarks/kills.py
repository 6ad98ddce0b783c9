# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Kill processes of a rig with SIGKILL at random instants, and hold what is left to its promise.

``python benchmarks/kills.py [--kills N] [--of NAME ...]``, N of each, 200 by default:

recorder   what was flushed is rescued, in order and from the first message on; at most the last
           half second is lost, and what one flush takes
cycle      the cyclic process of a card, which has no watchdog: its owner switches the amplifiers
           off; how soon the driver node looks for it, at its publish rate, is not in the figure
driver     the driver node: its cyclic process notices, stops the legs, switches the amplifiers off
rig        the virtual rig: its folder is gone once its owner has ended it
viewer     the web viewer: its port is free, no process is left

After each kill the process starts again and does its work, which is what the next kill interrupts;
"as promised" counts both. The time that a promise took is the worst of all kills.

To switch the amplifiers off, the owner and the card's side have to run, the owner to clear away,
and the recorder's threads in its last 0.6 s. Under the ordinary scheduler a busy machine keeps
them waiting, and no program can promise how long: that time, which the kernel counts for every
thread as ready to run and not running, is taken off and told beside; where several may have waited
at once, that of the process that waited longest. With real-time priority it is part of the
promise.

Results are written every ten kills, and several runs may go on beside each other.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
import fcntl
import json
import os
from pathlib import Path
import re
import shutil
import signal
import socket
import subprocess
import sys
from tempfile import TemporaryDirectory
import time
from typing import Any

import numpy as np
from stewart_bags.reading import Bag
from stewart_bags.recording import Recording
from stewart_bags.salvage import salvage
from stewart_bags.writing import BagWriter, Storage
from stewart_bringup.rigs import config_file
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle_client import CycleClient
from stewart_driver.control.state_machine import Request
from stewart_driver.daq.backend import DaqBackend
from stewart_driver.daq.options import DaqOptions
from stewart_driver.path.interpolation import InterpolationSettings
from stewart_driver.path.motion import LegMotion
from stewart_simulation.rig.directory import wiring
from stewart_simulation.rig.launcher import RigProcess
from stewart_simulation.rig.settings import RigSettings

KILLS, LATEST, LIMIT = 200, 2.0, 0.6
PATIENT = InterpolationSettings(playout_delay=0.1, extrapolation_time=0.2)
CARD = RigSettings(platform='ex800', moved_by='card', ethercat=False, imu=False, force_limit=200.0)


@dataclass
class Kills:
    """What came of the kills of one process."""

    name: str
    limit: float
    unit: str
    kills: int = 0
    held: int = 0
    worst: float = 0.0
    waited: float = 0.0
    """The longest that the scheduler kept what had to run waiting, not counted in `worst` [s]."""
    load: str = ''
    scheduler: str = ''

    def note(self, value: float, *, sound: bool = True, waited: float = 0.0) -> None:
        """Take note of one kill; `waited` is not in the value [s]."""
        self.kills += 1
        self.waited = max(self.waited, waited)
        self.worst = max(self.worst, value)
        self.held += sound and value <= self.limit


def wait(condition: Callable[[], Any], patience: float = 60.0) -> float:
    """Wait until a condition holds; return how long that took [s]."""
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > patience:
            raise TimeoutError(f'not within {patience} s')
        time.sleep(1e-3)
    return time.monotonic() - begin


def runnable(pid: int) -> float:
    """Return how long the main thread of a process was ready and did not run [s]."""
    try:
        return 1e-9 * int(Path(f'/proc/{pid}/schedstat').read_text(encoding='ascii').split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0.0


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    text = Path(f'/proc/{pid}/task/{pid}/children').read_text(encoding='ascii')
    return [int(word) for word in text.split()]


def threads(pid: int) -> list[int]:
    """Return the threads of a process; for the kernel they are processes, too."""
    return [int(path.name) for path in Path(f'/proc/{pid}/task').iterdir()]


class KeptWaiting:
    """How long the scheduler has kept processes waiting since now; they may end meanwhile.

    They may have waited at the same time, so it is that of the one that waited longest.
    """

    def __init__(self, *pids: int) -> None:
        self._begin = {pid: runnable(pid) for pid in pids}
        self._last = self._begin.copy()

    def look(self) -> None:
        """Take note of how long it is by now."""
        self._last = {pid: max(before, runnable(pid)) for pid, before in self._last.items()}

    def seconds(self) -> float:
        """Return it [s]; none with a real-time priority, where it is part of a promise."""
        self.look()
        real_time = os.sched_getscheduler(0) != os.SCHED_OTHER
        longest = max(self._last[pid] - begin for pid, begin in self._begin.items())
        return 0.0 if real_time else longest


def kill(pid: int) -> None:
    """Kill a process that is still there."""
    os.kill(pid, signal.SIGKILL)


def recorder(kills: Kills, delays: Iterator[float], folder: Path) -> None:
    """Kill processes that record 500 messages a second."""
    for number, delay in enumerate(delays):
        bag, storage = folder / f'bag_{number}', list(Storage)[number % 2]
        child = os.fork()
        if child == 0:
            record(bag, storage)
        wait(bag.exists)
        # What waits before the last flush holds nothing up.
        time.sleep(max(delay - LIMIT, 0.0))
        kept = KeptWaiting(*threads(child))
        time.sleep(min(delay, LIMIT))
        waited = kept.seconds()
        kill(child)
        killed = time.time_ns()
        os.waitpid(child, 0)
        found, last = [], killed - round(1e9 * delay)
        # Killed between its folder and its file it has recorded nothing.
        if any(bag.iterdir()):
            report = salvage(bag, folder / 'rescued', storage=storage)
            with Bag(folder / 'rescued') as rescued:
                found = [int.from_bytes(item.data[4:], 'little') for item in rescued.raw()]
            last = report.last_ns or last
        lost = 1e-9 * (killed - last) - waited
        kills.note(lost, sound=found == list(range(len(found))), waited=waited)
        for path in (bag, folder / 'rescued'):
            shutil.rmtree(path, ignore_errors=True)


def record(bag: Path, storage: Storage) -> None:
    """Record until killed."""
    recording = Recording(BagWriter(bag, storage=storage))
    recording.add_topic('/count', 'std_msgs/msg/UInt32')
    for number in range(1_000_000):
        data = b'\0\1\0\0' + number.to_bytes(4, 'little')
        recording.put('/count', time.time_ns(), data)
        time.sleep(0.002)
    os._exit(1)


def backend_of(rig: RigProcess) -> DaqBackend:
    """Return how a card of a virtual rig is reached."""
    return DaqBackend(
        DaqOptions(
            card='simulated',
            device=rig.ends['card'],
            rig_file=rig.ends['rig_file'],
            enable_channel=0,
            longest_call=0.5,
            rate=0.045,
        )
    )


def powered(rig: RigProcess) -> bool:
    """Tell whether the amplifiers are on, as the card's terminals show it."""
    return bool(rig.call('observe')['card']['digital_outputs'][0])


def cycle(kills: Kills, delays: Iterator[float], folder: Path) -> None:
    """Kill cyclic processes while all legs move."""
    with RigProcess(CARD, folder / 'rig') as rig:
        for delay in delays:
            backend = backend_of(rig)
            client = CycleClient(backend, CycleConfiguration(backend.limits, PATIENT))
            samples: list[Any] = []
            wait(lambda: samples.extend(client.samples()) or samples)  # noqa: B023
            accepted, said = client.request(Request.ENABLE, timeout=30.0)
            assert accepted, said
            wait(lambda: powered(rig))
            start, begin = samples[-1].strokes, time.monotonic()
            while (ahead := time.monotonic() - begin) < delay:
                stroke, rate = 0.005 * (1.0 - np.cos(ahead)), 0.005 * np.sin(ahead)
                legs = np.full(6, rate)
                client.offer(LegMotion(begin + ahead, start + stroke, legs, np.zeros(6)))
                time.sleep(0.005)
            kill(client.pid)
            begin, owner = time.monotonic(), KeptWaiting(os.getpid())
            wait(lambda: not client.alive)  # noqa: B023
            card = KeptWaiting(rig.pid)
            backend.rescue()
            took = time.monotonic() - begin
            waited = max(owner.seconds(), card.seconds())
            kills.note(took - waited, sound=not powered(rig), waited=waited)


def driver(kills: Kills, delays: Iterator[float], folder: Path) -> None:
    """Kill driver nodes whose drives are on."""
    import rclpy
    from rclpy.node import Node
    from std_srvs.srv import Trigger
    from stewart_node_support.running import middleware

    quiet = ['--ros-args', '--log-level', 'fatal']
    with RigProcess(CARD, folder / 'rig') as rig, middleware(quiet):
        node = Node('killer')
        told = folder / 'driver.yaml'
        told.write_text(
            json.dumps({'/**/driver': {'ros__parameters': wiring(rig.ends)['driver']}})
        )
        files = [str(config_file('rig', 'ex800_daq')), str(told)]
        command = [sys.executable, '-m', 'stewart_driver.nodes.driver', '--ros-args']
        command += [word for file in files for word in ('--params-file', file)]
        for delay in delays:
            process = subprocess.Popen([*command, '--log-level', 'fatal'])
            client = node.create_client(Trigger, 'driver/enable')
            wait(client.service_is_ready)
            while not powered(rig):
                # Its legs may not have been measured yet.
                # A node that was killed is still counted, and never answers.
                asked = client.call_async(Trigger.Request())
                rclpy.spin_until_future_complete(node, asked, timeout_sec=5.0)
                time.sleep(0.1)
            time.sleep(delay)
            kept = KeptWaiting(*children(process.pid), rig.pid, os.getpid())
            process.kill()
            took = wait(lambda: kept.look() or not powered(rig))  # noqa: B023
            waited = kept.seconds()
            process.wait()
            node.destroy_client(client)
            kills.note(took - waited, waited=waited)
        node.destroy_node()


def rig(kills: Kills, delays: Iterator[float], folder: Path) -> None:
    """Kill virtual rigs."""
    for delay in delays:
        process = RigProcess(CARD, folder / 'rig')
        time.sleep(delay)
        kept, begin = KeptWaiting(os.getpid()), time.monotonic()
        kill(process.pid)
        wait(lambda: not process.alive)  # noqa: B023
        process.end()
        took, waited = time.monotonic() - begin, kept.seconds()
        kills.note(took - waited, sound=not (folder / 'rig').exists(), waited=waited)


def viewer(kills: Kills, delays: Iterator[float], _: Path) -> None:
    """Kill viewers; each next one takes the port of the one before."""
    with socket.create_server(('127.0.0.1', 0)) as probe:
        port = probe.getsockname()[1]
    command = ['stewart', 'view', '--platform', 'ex800', '--port', str(port)]
    for delay in delays:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        served = any(re.search(f'http://127.0.0.1:{port}', line) for line in process.stdout)
        time.sleep(delay)
        kept = KeptWaiting(*children(process.pid), os.getpid())
        begin = time.monotonic()
        process.kill()
        process.wait()
        wait(lambda: kept.look() or not any_of(process.pid))  # noqa: B023
        took, waited = time.monotonic() - begin, kept.seconds()
        kills.note(took - waited, sound=served, waited=waited)


def any_of(group: int) -> bool:
    """Tell whether there is a process of a group."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


PROCESSES = {
    'recorder': (recorder, Kills('recorder, messages lost', LIMIT, 's')),
    'cycle': (cycle, Kills('cyclic process, amplifiers off', 0.15, 's')),
    'driver': (driver, Kills('driver node, amplifiers off', 0.6, 's')),
    'rig': (rig, Kills('virtual rig, folder gone', 1.0, 's')),
    'viewer': (viewer, Kills('web viewer, port free', 1.0, 's')),
}


def noted(kills: Kills, about: dict[str, Any], delays: Sequence[float]) -> Iterator[float]:
    """Yield the delays, and write down now and then what has come of those before."""
    for number, delay in enumerate(delays):
        if number % 10 == 0:
            write(kills, about)
        yield delay
    write(kills, about)


def write(kills: Kills, about: dict[str, Any]) -> None:
    """Write what came of the kills of one process; several may run beside each other."""
    file, new = harness.OUTPUT / 'kills.json', asdict(kills)
    with (harness.OUTPUT / 'kills.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Those of other processes, or under another scheduler, are kept.
        results = json.loads(file.read_text(encoding='utf-8'))['kills'] if file.exists() else []
        same = ('name', 'scheduler')
        results = [item for item in results if any(item[key] != new[key] for key in same)]
        content = {'machine': about, 'kills': [*results, *([new] if kills.kills else [])]}
        file.write_text(json.dumps(content, indent=1) + '\n', encoding='utf-8')


def main() -> int:
    """Kill, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n\n')[0])
    parser.add_argument('--kills', type=int, default=KILLS)
    parser.add_argument('--of', nargs='+', choices=PROCESSES, default=list(PROCESSES))
    parser.add_argument('--seed', type=int, default=0)
    chosen = parser.parse_args()
    os.environ['ROS_DOMAIN_ID'] = f'{1 + os.getpid() % 100}'
    about = {**harness.machine(('rosbags',)), 'seed': chosen.seed}
    harness.OUTPUT.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(chosen.seed)
    missed = 0
    for name in chosen.of:
        run, kills = PROCESSES[name]
        kills.load = about['load at the start']
        kills.scheduler = 'real-time' if os.sched_getscheduler(0) else 'ordinary'
        delays = noted(kills, about, rng.uniform(0.0, LATEST, chosen.kills).tolist())
        with ExitStack() as stack:
            run(kills, delays, Path(stack.enter_context(TemporaryDirectory(prefix='kills-'))))
        print(asdict(kills), flush=True)
        missed += kills.kills - kills.held
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
