# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver's side of a wire with legs that sag, stepped cycle by cycle."""

from __future__ import annotations

import numpy as np
from sagging_wire import COUNTS, CYCLE, OPERATION, SaggingDrive, SaggingWire
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
from stewart_driver.rig_file import DriveIdentity

KIND = DriveType.from_yaml('omron_1s')
OPTIONS = EthercatOptions(interface='sagging', cycle_time=CYCLE)
EXCHANGE = PdoLayout(
    OutputImage(1, (0x60400010, 0x607A0020, 0x60B20010), lambda _index, _subindex: b''),
    InputImage(1, (0x60410010, 0x60640020, 0x603F0010, 0x60770010)),
    '',
)
LINE = StartedBus((DriveIdentity(0x83, 0xB0, 0x10004, 1),) * 6, (EXCHANGE,) * 6, zeros=(0,) * 6)


class Bench:
    """The driver's side of a wire, and a cycle that holds the legs once it may."""

    def __init__(self, *drives: SaggingDrive, kind: DriveType = KIND) -> None:
        self.wire = SaggingWire(drives or [SaggingDrive(0.2 + 0.01 * leg) for leg in range(6)])
        monitor = BusMonitor(self.wire, 'sagging', OPTIONS, WireStatistics())
        self.active = ActiveBus(self.wire, LINE, kind, OPTIONS, monitor, PhaseLock(CYCLE))
        self.hold: np.ndarray | None = None
        self.last: Measurement | None = None
        self.step(20)

    @property
    def positions(self) -> np.ndarray:
        return np.array([drive.position for drive in self.wire.drives])

    def step(self, count: int = 1, move: float = 0.0) -> Measurement:
        for _ in range(count):
            self.wire.time += CYCLE
            if self.hold is None and self.last is not None and self.last.enabled:
                self.hold = self.last.strokes
            if self.hold is not None:
                self.hold = self.hold + move
            strokes = self.positions if self.hold is None else self.hold
            targets = LegMotion(0.0, strokes, np.zeros(6), np.zeros(6))
            self.last = self.active.exchange(targets, self.wire.time)
        assert self.last is not None
        return self.last

    def enable(self) -> int:
        """Switch on; return the number of the first frame after all are on."""
        self.active.enable()
        while not all(drive.word == OPERATION for drive in self.wire.drives):
            self.step()
            assert len(self.wire.sent) < 1000
        first = len(self.wire.sent)
        while not self.step().enabled:
            assert len(self.wire.sent) < 1000
        return first

    def targets(self) -> np.ndarray:
        return np.array([[target / COUNTS for _, target, _ in frame] for frame in self.wire.sent])

    def told(self) -> np.ndarray:
        return np.array(self.wire.told)
