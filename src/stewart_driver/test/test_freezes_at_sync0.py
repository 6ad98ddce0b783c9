# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Freezes of the cyclic process, seen by drives that take their targets at SYNC0.

The process's own loop, control loop and bus run on a clock that the test owns. A drive takes what
the last frame before SYNC0 has brought; where none came it keeps what it has. In the cycle in
which targets cease it stops by itself; every other change of rate is the driver's.
"""

from __future__ import annotations

import os
import struct
from typing import Any

import numpy as np
from played_setpoints import Wave
import pytest
from sagging_bench import LINE
from sagging_wire import COUNTS, CYCLE, SaggingDrive, SaggingWire
from stewart_driver.backend import Measurement
from stewart_driver.control import cyclic_process
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle import ControlLoop
from stewart_driver.control.shared_block import SharedBlock
from stewart_driver.control.state_machine import Request, State
from stewart_driver.ethercat.active_bus import ActiveBus
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.bus_monitor import BusMonitor
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.path.motion import LegMotion

# 250 mm/s in the fastest leg.
WAVE = Wave(amplitude=0.0796, frequency=0.5)
PERIOD = 0.005
BEGIN = 100.0
ACCELERATION = 5.0
SHORT = (0.0009, 0.0011, 0.0019, 0.0031, 0.005, 0.0099, 0.0201, 0.1)
LONG = (0.006, 0.0113, 0.02, 0.05, 0.1234, 0.2, 0.3, 0.45, 0.501)


class Clock:
    """What the process asks for the time and to sleep; it hands out setpoints as time passes."""

    def __init__(self, node: SharedBlock, jitter: np.random.Generator) -> None:
        self.now, self._node, self._jitter = BEGIN, node, jitter
        self.wave_since = np.inf
        self._sent = 0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        if seconds > 0.0:
            # A wake-up is late by as much as an eighth of the cycle.
            self.pass_by(seconds + self._jitter.uniform(0.0, 0.125 * CYCLE))

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        while (time := self._sent * PERIOD) <= self.now - self.wave_since:
            setpoint = WAVE.setpoint(time, self.wave_since + time)
            self._node.setpoints.push(**setpoint._asdict())
            self._sent += 1


class SynchronousWire(SaggingWire):
    """Drives that take the last frame at SYNC0, half a cycle after the grid.

    Attributes:
        taken: Targets [m] at each SYNC0.
        fresh: Whether a frame had come since the one before.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__([SaggingDrive(0.3, sag=0.0, load=0.0) for _ in range(6)])
        self.timer, self.next_sync = clock, BEGIN + 0.5 * CYCLE
        self.frame: list[tuple[int, int, int]] | None = None
        self.taken: list[list[float]] = []
        self.fresh: list[bool] = []
        self.came = False
        self.hang = 0.0
        self.clock = 0

    def now(self) -> float:
        return self.timer.now

    def sleep(self, duration: float) -> None:
        self.timer.sleep(duration)

    def exchange(self, outputs: Any) -> int:
        self.synchronise()
        self.frame = [struct.unpack('<Hih', data) for data in outputs]
        self.came = True
        self.clock = round(1e9 * (self.timer.now - BEGIN))
        self.timer.pass_by(self.hang)
        self.hang = 0.0
        return self.counter

    def synchronise(self) -> None:
        """Let every SYNC0 until now happen."""
        while self.next_sync <= self.timer.now:
            self.next_sync += CYCLE
            if self.frame is None:
                continue
            for drive, (word, target, _) in zip(self.drives, self.frame, strict=True):
                drive.receive(word, target / COUNTS)
            self.taken.append([target / COUNTS for _, target, _ in self.frame])
            self.fresh.append(self.came)
            self.came = False


class Drives(EthercatBackend):
    """The back end on such a wire, started already; the process freezes where it is told to."""

    def __init__(self, clock: Clock) -> None:
        options = EthercatOptions(interface='synchronous', cycle_time=CYCLE)
        super().__init__(options)
        self.bench, self.clock, self.compute = SynchronousWire(clock), clock, 0.0
        monitor = BusMonitor(self.bench, 'synchronous', options, self.wire)
        self._not_homed = ''
        self._active = ActiveBus(self.bench, LINE, self._kind, options, monitor, self._phase)

    def exchange(self, targets: LegMotion, now: float) -> Measurement:
        self.clock.pass_by(self.compute)
        self.compute = 0.0
        return super().exchange(targets, now)


class Script:
    """The loop, between the process and the test: enable, wave, freeze, end."""

    def __init__(self, loop: ControlLoop, drives: Drives, node: SharedBlock) -> None:
        self.loop, self.drives, self.node = loop, drives, node
        self.freezes: list[tuple[float, float, str]] = []
        self.until, self.asked = np.inf, False
        self.reasons: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loop, name)

    def step(self, now: float) -> None:
        clock = self.drives.clock
        assert now < BEGIN + 10.0, (self.loop.state, self.reasons)
        if self.loop.state is State.ENABLED and clock.wave_since == np.inf:
            clock.wave_since = now
        since = now - clock.wave_since
        where, freeze = '', 0.0
        if self.freezes and since >= self.freezes[0][0]:
            _, freeze, where = self.freezes.pop(0)
            if where == 'computing':
                self.drives.compute = freeze
            elif where == 'waiting':
                self.drives.bench.hang = freeze
        self.loop.step(now)
        if not self.asked:
            # What was not measured yet cannot be enabled.
            self.asked = True
            self.node.requests.push(code=Request.ENABLE, value=0.0)
        self.reasons += [event['reason'] for event in self.node.events.pop_all()]
        self.node.words['end'] = int(since > self.until)
        if where == 'asleep':
            # The next wake-up comes late by so much.
            clock.pass_by(CYCLE + freeze)


def played(
    monkeypatch: pytest.MonkeyPatch, freezes: list[tuple[float, float, str]], until: float
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return targets at every SYNC0, which of them were fresh, and what the driver said."""
    descriptor = SharedBlock.allocate()
    node, block = SharedBlock(descriptor), SharedBlock(descriptor)
    os.close(descriptor)
    clock = Clock(node, np.random.default_rng(1))
    monkeypatch.setattr(cyclic_process, 'time', clock)
    drives = Drives(clock)
    limits = drives.limits.narrowed(acceleration=ACCELERATION)
    configuration = CycleConfiguration(limits)
    script: Any = Script(ControlLoop(drives, configuration, block), drives, node)
    script.freezes, script.until = freezes, until
    cyclic_process._run(script, drives, block, os.getppid(), 3.0)
    wire = drives.bench
    assert clock.wave_since < np.inf
    first = round((clock.wave_since - BEGIN) / CYCLE) + round(1.0 / CYCLE)
    last = round((clock.wave_since + until - BEGIN) / CYCLE)
    return np.array(wire.taken)[first:last], np.array(wire.fresh)[first:last], script.reasons


def judged(taken: np.ndarray, fresh: np.ndarray) -> tuple[float, float]:
    """Return the largest rate [m/s] and acceleration [m/s²] but that of targets that cease."""
    rates = np.diff(taken, axis=0) / CYCLE
    accelerations = np.abs(np.diff(rates, axis=0)).max(axis=1) / CYCLE
    stands = (taken[1:] == taken[:-1]).all(axis=1)
    assert stands[~fresh[1:]].all()
    return float(np.abs(rates).max()), float(accelerations[~stands[1:]].max())


@pytest.mark.parametrize(
    'where',
    ['asleep', *(pytest.param(at, marks=pytest.mark.slow) for at in ('computing', 'waiting'))],
)
@pytest.mark.parametrize(
    'freezes', [SHORT, *(pytest.param((freeze,), marks=pytest.mark.slow) for freeze in LONG)]
)
def test_no_freeze_makes_a_target_that_breaks_a_limit(
    monkeypatch: pytest.MonkeyPatch, freezes: tuple[float, ...], where: str
) -> None:
    """In the sleep, between a command and its frame, and while the answer is on its way."""
    planned = [(1.3 + 0.3 * at, freeze, where) for at, freeze in enumerate(freezes)]
    taken, fresh, reasons = played(monkeypatch, planned, planned[-1][0] + 1.2)

    fastest, hardest = judged(taken, fresh)
    print(f'{where} {1e3 * max(freezes):.1f} ms: {1e3 * fastest:.1f} mm/s, {hardest:.2f} m/s²')
    assert fastest <= 0.28
    assert hardest <= ACCELERATION
    assert np.count_nonzero(~fresh) * CYCLE >= max(freezes) - CYCLE
    gave_up = any('the path is given up' in reason for reason in reasons)
    assert gave_up == (max(freezes) >= 0.5)
