# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Frames that one drive misses while it stays in OP: the working counter is short, no more."""

from __future__ import annotations

from collections.abc import Sequence
import os
import struct

import numpy as np
from played_setpoints import Wave
from sagging_bench import LINE
from sagging_wire import COUNTS, CYCLE, OUT, SaggingDrive, SaggingWire
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle import ControlLoop
from stewart_driver.control.shared_block import SharedBlock
from stewart_driver.control.state_machine import Request, State
from stewart_driver.ethercat.active_bus import ActiveBus
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.bus_monitor import BusMonitor
from stewart_driver.ethercat.options import EthercatOptions

BEGIN = 100.0
# 250 mm/s in the fastest leg.
WAVE = Wave(amplitude=0.0796, frequency=0.5)
ACCELERATION = 5.0
# What one leg misses at a stretch; a little more lasts longer than the patience.
FLICKERS = (1, 2, 9, 29)


class DeafWire(SaggingWire):
    """One that loses the place of a drive in some frames, which hears and tells nothing then.

    Attributes:
        taken: What each drive was told last, frame by frame [m].
        deaf: Drive 0 to 5 that misses frames; None for none.
    """

    def __init__(self) -> None:
        super().__init__([SaggingDrive(0.3, sag=0.05, load=0.002) for _ in range(6)])
        self.time, self.frozen = BEGIN, super().inputs()
        self.deaf: int | None = None
        self.taken: list[list[float]] = []
        self.heard = [struct.pack(OUT, 0, round(0.3 * COUNTS), 0)] * 6

    def exchange(self, outputs: Sequence[bytes]) -> int:
        self.heard = [
            old if axis == self.deaf else new
            for axis, (old, new) in enumerate(zip(self.heard, outputs, strict=True))
        ]
        super().exchange(self.heard)
        self.taken.append([target / COUNTS for _, target, _ in self.sent[-1]])
        fresh = super().inputs()
        self.frozen = [
            old if axis == self.deaf else new
            for axis, (old, new) in enumerate(zip(self.frozen, fresh, strict=True))
        ]
        return self.expected - 3 * (self.deaf is not None)

    def inputs(self) -> list[bytes]:
        return self.frozen


class Bench:
    """The control loop on such a wire, and a wave that it plays."""

    def __init__(self) -> None:
        self.wire = DeafWire()
        options = EthercatOptions(interface='deaf', cycle_time=CYCLE)
        backend = EthercatBackend(options)
        monitor = BusMonitor(self.wire, 'deaf', options, backend.wire)
        backend._not_homed, backend._bus = '', self.wire
        backend._active = ActiveBus(
            self.wire, LINE, backend._kind, options, monitor, backend._phase
        )
        descriptor = SharedBlock.allocate()
        self.node, block = SharedBlock(descriptor), SharedBlock(descriptor)
        os.close(descriptor)
        limits = backend.limits.narrowed(acceleration=ACCELERATION)
        self.loop = ControlLoop(backend, CycleConfiguration(limits), block)
        self.frames, self.wave_since, self.live = 0, np.inf, 0
        self.reason = ''
        self.step()
        self.node.requests.push(code=Request.ENABLE)
        while self.loop.state is not State.ENABLED:
            self.step()
        self.live, self.wave_since = 0b111111, self.wire.time

    def step(self, count: int = 1) -> None:
        for _ in range(count):
            self.frames += 1
            self.wire.time = BEGIN + self.frames * CYCLE
            since = self.wire.time - self.wave_since
            if since >= 0.0 and self.frames % 2 == 0:
                self.node.setpoints.push(**WAVE.setpoint(since, self.wire.time)._asdict())
            self.loop.step(self.wire.time)
            for event in self.node.events.pop_all():
                self.live &= event['live']
                self.reason = event['reason']


def test_a_leg_that_misses_frames_makes_no_step_and_no_fault_before_the_patience_is_over() -> None:
    bench = Bench()
    bench.step(round(0.9 / CYCLE))
    wire = bench.wire
    for frames in FLICKERS:
        before = len(wire.taken)
        wire.deaf = int(np.abs(np.subtract(wire.taken[-1], wire.taken[-2])).argmax())
        bench.step(frames)
        wire.deaf = None
        bench.step(110)

        rates = np.diff(wire.taken[before - 1 :], axis=0) / CYCLE
        assert min(np.abs(rates[0]).max(), np.abs(rates[-1]).max()) > 0.15
        # That leg hears one target late; from then on all six speed up from rest.
        assert np.abs(rates).max() <= 0.28, frames
        accelerations = np.diff(rates[frames + 1 :], axis=0) / CYCLE
        assert np.abs(accelerations).max() <= ACCELERATION, frames
    assert bench.loop.state is State.ENABLED

    wire.deaf = 0
    bench.step(150)

    assert bench.loop.state is State.FAULT
    assert 'working counter 15 instead of 18' in bench.reason
    assert bench.live == 0b111111
    assert np.ptp(wire.taken[-50:], axis=0).max() == 0.0
