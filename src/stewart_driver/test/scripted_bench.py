# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver's drives on a scripted wire, stepped cycle by cycle."""

from __future__ import annotations

import numpy as np
from scripted_wire import CYCLE, ENTRIES_IN, ENTRIES_OUT, KIND, OPTIONS, ScriptedWire
from stewart_driver.backend import Measurement
from stewart_driver.control.cycle_statistics import WireStatistics
from stewart_driver.ethercat.active_bus import ActiveBus
from stewart_driver.ethercat.bus_monitor import BusMonitor
from stewart_driver.ethercat.drive_setup import PdoLayout
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.phase_lock import PhaseLock
from stewart_driver.ethercat.process_data import InputImage, OutputImage
from stewart_driver.ethercat.starting import StartedBus
from stewart_driver.path.motion import LegMotion


class ScriptedBench:
    """Cycles whose legs go where the test moves them, once they are on."""

    def __init__(
        self,
        wire: ScriptedWire,
        kind: DriveType = KIND,
        options: EthercatOptions = OPTIONS,
        *,
        holds_alone: bool = False,
        silences: tuple[float, ...] = (0.0,) * 6,
        codes: tuple[int, ...] = (0,) * 6,
    ) -> None:
        self.wire, self.now = wire, 100.0
        wire.time = self.now
        self.statistics = WireStatistics()
        exchange = PdoLayout(
            OutputImage(1, ENTRIES_OUT, lambda _index, _subindex: b''),
            InputImage(1, ENTRIES_IN),
            '',
        )
        line = StartedBus(
            tuple(wire.found),
            (exchange,) * 6,
            zeros=(0,) * 6,
            drives=wire.scan(6),
            holds_alone=holds_alone,
            silences=silences,
            codes=codes,
        )
        follows = kind.tells_following
        monitor = BusMonitor(wire, 'scripted', options, self.statistics, tells_following=follows)
        self.active = ActiveBus(wire, line, kind, options, monitor, PhaseLock(CYCLE))
        self.targets = self.active.legs.strokes
        self.step(12)

    def step(self, count: int = 1, move: float = 0.0, force: float = 0.0) -> Measurement:
        for _ in range(count):
            # A reset takes its time, and the cycle goes on where that has left it.
            self.now = max(self.now, self.wire.time) + CYCLE
            self.targets = self.targets + move
            targets = LegMotion(0.0, self.targets, np.zeros(6), np.full(6, force))
            measured = self.active.exchange(targets, self.now)
        return measured

    def switch_on(self) -> None:
        self.active.enable()
        self.until_on()

    def until_on(self, move: float = 0.0) -> None:
        for _ in range(60):
            if self.step(move=move).enabled:
                break
        else:
            raise AssertionError(self.active.group.why_not_on())
        self.targets = self.active.legs.strokes
        self.step()
