# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Run a rig for hours with a seeded fault every 30 s, and look for lost messages and leaks.

``python benchmarks/soak.py --hours H --minutes M --time simulated|real``: the EX800 behind card
and inertial sensor plays a sea in one process, with state estimator and recorder. Every half
minute a fault of the card or the sensor is injected, mended, and the driver reset and enabled
where it tripped.
After a minute of simulated time and every ten minutes from then on the recorder closes its bag and
another one begins; in real time one bag holds all.

The run fails if the recorder lacks a message that it was to be told, or has one more (latched
topics tell a later one their last messages again); if two leg states are more than one and a half
periods apart outside of the faults, in real time more than `LATE`; if there are fewer than 99 % of
200 a second, or more than 1 % of the driver's cycles are missed; if the stamps of five seconds of
leg states are, in the middle, more than `OFF` from the clock of the machine that recorded them; if
a fault does not end as it should; if memory grows by more than 1 % after the warm-up, a fifth of
the run; if there are more threads or file descriptors at its end than after the warm-up; or if it
ends before its hours are over, as it does, in order, after `--minutes` on the wall. Results are
written at every look, so a run that is cut short says how far it came; the plot comes at the end.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict
import json
import multiprocessing
from operator import le
import os
from pathlib import Path
import shutil
import sys
from tempfile import TemporaryDirectory
import time
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from rclpy.executors import Executor
from rclpy.node import Node
from recorder_tally import Contents, published, RecorderTally, Retained
from soak_account import Account, LATE, PIECE, WARM_UP
from soak_faults import drawn, Fault
from stewart_bags.reading import Bag
from stewart_bags.series import read_joints
from stewart_bringup.composition import compose, make_node
from stewart_bringup.demo.machine import real_time
from stewart_bringup.demo.session import CHAIN
from stewart_bringup.errors import RequestRefused
from stewart_bringup.nodes.wave_operator import WaveOperator
from stewart_bringup.rigs import config_file
from stewart_interfaces.msg import DriverState
from stewart_interfaces.srv import InjectFault
from stewart_node_support.lifecycle import take_down
from stewart_node_support.lock_step import LockStep
from stewart_node_support.running import middleware, spin
from stewart_node_support.stop_signals import StopSignals

Result = TypeVar('Result')

RIG, WAVE, TRAJECTORY = 'ex800_daq', 'jonswap', 'ocean_trajectory'
FILES = [config_file('rig', RIG), config_file('wave', WAVE)]
FAULT_PERIOD, SEGMENT, SETTLE = 30.0, 600.0, 1.0
# What changing a bag needs once is there before the warm-up ends.
FIRST_SEGMENT = 60.0
PERIOD = 0.005
ROTATION_LIMIT = 60.0
# What the results are called, by how time passes.
NAMES = {'simulated': 'soak', 'real': 'soak_in_real_time'}


class SoakPace:
    """Simulated time in lock-step, as fast as possible; nodes may come and go."""

    lock_step: LockStep

    def begin(self, nodes: Sequence[Node]) -> None:
        """Take over the clocks."""
        self.lock_step = LockStep(nodes)

    def turn(self, executor: Executor) -> None:
        """Go on to the next instant at which something is due."""
        self.lock_step.step(executor)


class Soak(WaveOperator):
    """Plays the sea, breaks the rig and mends it."""

    def __init__(
        self, nodes: list[Any], pace: SoakPace | None, folder: Path, chosen: argparse.Namespace
    ) -> None:
        super().__init__(
            StopSignals(),
            use_global_arguments=False,
            start_parameter_services=False,
            cli_args=['--ros-args', '--params-file', str(FILES[1])],
        )
        self.account = Account(chosen.hours)
        self.follow_status('driver: cycle')
        self._recorder, *self._others = nodes
        self._tally = RecorderTally()
        self._recorded = sorted({item.topic for item in published(nodes)})
        self._pace, self._folder = pace, folder
        self._rng = np.random.default_rng(chosen.seed)
        self._windows: list[tuple[float, float]] = []
        self._segment = 0

    async def soak(self, hours: float, latest: float, tell: Any) -> None:
        """Run for a time [h], to an instant of the wall [s] at most; tell at every look."""
        begin = self.now()
        end, rotation = begin + 3600.0 * hours, begin + FIRST_SEGMENT
        await self._enable()
        while self.now() < end and time.monotonic() < latest:
            await self.pause(FAULT_PERIOD * self._rng.uniform(0.5, 1.0))
            since = self._stamp()
            await self._break(drawn(self._rng))
            self._windows.append((since, self._stamp()))
            if self._pace is not None and self.now() > rotation:
                rotation += SEGMENT
                self._rotate(self._pace.lock_step)
            self.account.hours = (self.now() - begin) / 3600.0
            self._look()
            tell(self.account)
        await self.pause(SETTLE)
        await self.request('driver/disable')
        await self.pause(SETTLE)

    def _stamp(self) -> float:
        """Return the time that stamps are of [s]; `now` is another clock in real time."""
        return 1e-9 * float(self.get_clock().now().nanoseconds)

    async def _enable(self) -> None:
        if self.driver_state.state != DriverState.ENABLED:
            await self.request('driver/enable')
            await self.reach(DriverState.ENABLED, 'driver/enable')
        await self.pause(SETTLE)
        await self._start('ocean/start')

    async def _break(self, fault: Fault) -> None:
        name, account = fault.name, self.account
        account.faults[name] = account.faults.get(name, 0) + 1
        await self._inject(name, fault.arguments)
        await self.pause(fault.seconds)
        state = self.driver_state.state
        if (state == DriverState.FAULT) != fault.trips:
            account.wrong_ends.append(
                f'{name} {fault.arguments} after {account.hours:.3f} h: state {state}, '
                f'{self.driver_state.reason}'
            )
        if fault.mend is not None:
            await self._inject(*fault.mend)
        await self.pause(SETTLE)
        if self.driver_state.state == DriverState.FAULT:
            await self.request('driver/reset_fault')
            # Amplifiers that were on stay on.
            rests = {DriverState.DISABLED, DriverState.ENABLED}
            await self.until(lambda: self.driver_state.state in rests, 'driver/reset_fault')
            await self._enable()

    async def _inject(self, name: str, arguments: dict[str, Any]) -> None:
        text = json.dumps(arguments)
        await self.request('simulation/inject_fault', InjectFault, fault=name, arguments_json=text)

    def _rotate(self, lock_step: LockStep) -> None:
        """Let another recorder go on where this one ends: time stands still meanwhile."""
        before, executor = self._recorder, self.executor
        lock_step.remove(before)
        executor.remove_node(before)
        take_down(before)
        self.judge()
        # The executor lets go of the old subscriptions when this has returned.
        publishers = published(self._others)
        matched = [item.subscribers for item in publishers]
        self._segment += 1
        chosen = {'output': str(self.bag), 'topics': self._recorded, 'poll_period': 1.0}
        self._recorder = make_node('recorder', FILES, overrides=chosen, lean=True)
        lock_step.add(self._recorder)
        executor.add_node(self._recorder)
        latest = time.monotonic() + ROTATION_LIMIT
        while any(map(le, [item.subscribers for item in publishers], matched)):
            # No signal ends this.
            if time.monotonic() > latest:
                raise RequestRefused('recorder', f'not heard within {ROTATION_LIMIT:g} s')
            self._recorder.discover()
            time.sleep(0.01)

    def close(self) -> None:
        """End the last bag, in which the end of all other nodes is."""
        take_down(self._recorder)
        self.judge()

    @property
    def bag(self) -> Path:
        """Where the present segment is recorded."""
        return self._folder / f'bag_{self._segment}'

    def judge(self) -> None:
        """Hold the bag of the segment, closed, against what was published; then remove it."""
        account = self.account
        nodes = [self._recorder, *self._others]
        contents, stamps_ns, off = elsewhere(read, self.bag, self._tally.told(nodes))
        lacking = self._tally.judge(nodes, contents)
        account.messages += self._tally.sent.total()
        for topic, count in lacking.items():
            account.lost += max(count, 0)
            account.surplus += max(-count, 0)
            print(f'{self.bag.name}: {count} messages of {topic} are missing', flush=True)
        account.off = max(account.off, off)
        self._judge_legs(1e-9 * stamps_ns)
        shutil.rmtree(self.bag)

    def _judge_legs(self, stamps: NDArray[np.float64]) -> None:
        """Note gaps, and how many leg states there are outside of the faults; stamps (n,) [s]."""
        account, steps = self.account, np.diff(stamps)
        inside = np.zeros(len(steps), dtype=bool)
        for begin, end in self._windows:
            inside |= (stamps[:-1] >= begin - PERIOD) & (stamps[1:] <= end)
        account.legs += int(np.count_nonzero(~inside))
        account.legs_due += float(steps[~inside].sum()) / PERIOD
        late = steps > (1.5 * PERIOD if self._pace is not None else LATE)
        account.gaps += np.column_stack([stamps[:-1], steps])[late & ~inside].tolist()

    def _look(self) -> None:
        if self.status is not None:
            said = {item.key: item.value for item in self.status.values}
            self.account.cycles, self.account.missed = int(said['cycles']), int(said['overruns'])
        self.account.looks.append(
            (
                self.account.hours,
                harness.resident() / 1e6,
                len(os.listdir('/proc/self/task')),
                len(os.listdir('/proc/self/fd')),
            )
        )


def read(path: Path, told: Retained) -> tuple[Contents, NDArray[np.int64], float]:
    """Return what a bag holds beside what was told again, and of its legs the stamps [ns].

    The last is how far they are from the recorder's clock, the worst median of `PIECE` [s].
    """
    with Bag(path) as bag:
        legs = read_joints(bag, 'actuator_states')
    late = 1e-9 * (legs.bag_time_ns - legs.stamp_ns)
    pieces = np.array_split(late, max(len(late) // PIECE, 1))
    return Contents.of(path, told), legs.stamp_ns, max(abs(np.median(item)) for item in pieces)


def elsewhere(work: Callable[..., Result], *arguments: Any) -> Result:
    """Do it in a process of its own, whose memory is not that of the rig."""
    with ProcessPoolExecutor(1, multiprocessing.get_context('spawn')) as pool:
        return pool.submit(work, *arguments).result()


def run(chosen: argparse.Namespace, folder: Path, tell: Any) -> Account:
    """Compose the rig, run it, take it down."""
    simulated, latest = chosen.time == 'simulated', time.monotonic() + 60.0 * chosen.minutes
    pace = SoakPace() if simulated else None
    with middleware(['--ros-args', '--log-level', 'fatal']):
        nodes = compose(
            FILES,
            names=(*CHAIN, TRAJECTORY),
            overrides={'virtual_rig': {'directory': str(folder / 'rig')}},
            record=folder / 'bag_0',
            lean=True,
            simulated=simulated,
        )
        soak = Soak(nodes, pace, folder, chosen)

        async def work() -> None:
            try:
                await soak.soak(chosen.hours, latest, tell)
            except RequestRefused as error:
                soak.account.wrong_ends.append(f'{soak.account.hours:.3f} h: {error}')

        with nullcontext() if simulated else real_time():
            spin([*nodes, soak], task=work, pace=pace)
        soak.close()
    return soak.account


def write(account: Account, about: dict[str, Any], begun: tuple[float, float]) -> None:
    """Write the result."""
    threads, handles = account.more()
    result = {
        'machine': about,
        'soak': {
            **asdict(account),
            'memory_growth': account.growth(),
            'more_threads': threads,
            'more_handles': handles,
            'failures': account.failures(),
            'wall_s': time.perf_counter() - begun[0],
            'processor_s': time.process_time() - begun[1],
        },
    }
    harness.save(NAMES[about['time']], result)


def plot(account: Account, name: str) -> None:
    """Draw memory, threads and file descriptors."""
    import matplotlib as mpl

    mpl.use('Agg')
    from matplotlib import pyplot as plt

    looks = np.array(account.looks)
    figure, axes = plt.subplots(2, sharex=True, figsize=(7, 4), layout='constrained')
    axes[0].plot(looks[:, 0], looks[:, 1])
    axes[0].set_ylabel('resident memory [MB]')
    axes[1].plot(looks[:, 0], looks[:, 2], label='threads')
    axes[1].plot(looks[:, 0], looks[:, 3], label='file descriptors')
    axes[1].set_xlabel('time of the rig [h]')
    axes[1].legend()
    for item in axes:
        item.axvline(WARM_UP * looks[-1, 0], color='0.7', linewidth=1)
        item.set_ylim(0.0, None)
    figure.savefig(harness.OUTPUT / f'{name}.png', dpi=110)


def main() -> int:
    """Run, tell and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n\n')[0])
    parser.add_argument('--hours', type=float, default=0.1)
    parser.add_argument('--minutes', type=float, default=float('inf'), help='on the wall, at most')
    parser.add_argument('--time', choices=NAMES, default='simulated')
    parser.add_argument('--seed', type=int, default=0)
    chosen = parser.parse_args()
    about = {
        **harness.machine(('numpy', 'rclpy', 'rosbags')),
        'time': chosen.time,
        'seed': chosen.seed,
        'hours_asked_for': f'{chosen.hours:g}',
    }
    # Graphs of others on this machine are not to be heard, whatever the shell has chosen.
    os.environ['ROS_DOMAIN_ID'] = f'{1 + os.getpid() % 100}'
    begun = time.perf_counter(), time.process_time()

    def tell(account: Account) -> None:
        write(account, about, begun)
        hours, memory, threads, handles = account.looks[-1]
        print(f'{hours:.3f} h, {memory:.1f} MB, {threads} threads, {handles} handles', flush=True)

    with TemporaryDirectory(prefix='soak-') as folder:
        account = run(chosen, Path(folder), tell)
    if not account.looks:
        print(*account.wrong_ends)
        return 1
    write(account, about, begun)
    plot(account, NAMES[chosen.time])
    print(f'{account.hours:.3f} h, {account.messages} messages, faults {account.faults}')
    for text in account.failures():
        print(f'not as it should be: {text}')
    return 1 if account.failures() else 0


if __name__ == '__main__':
    sys.exit(main())
