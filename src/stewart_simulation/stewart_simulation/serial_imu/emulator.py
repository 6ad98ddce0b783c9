# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Run the sensor in real time in a thread of its own."""

from __future__ import annotations

import os
import select
import threading
from typing import Any

from stewart_simulation.serial_imu.inertial import InertialMotion, resting
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor

# Changes from other threads (a faster rate, plugging in) are noticed at least so often [s].
NAP = 0.05


class SerialImu(PluggedSensor):
    """A sensor on a pseudo terminal, in a thread; its motion takes the time since start [s]."""

    def __init__(self, motion: InertialMotion = resting, **options: Any) -> None:
        super().__init__(motion, **options)
        self._port_lock = threading.Lock()
        self._stop_read, self._stop_write = os.pipe()
        self._thread = threading.Thread(target=self._run, name='serial_imu', daemon=True)

    def __enter__(self) -> SerialImu:
        self.begin()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.write(self._stop_write, b'.')
        self._thread.join()
        self.port.unplug()
        os.close(self._stop_read)
        os.close(self._stop_write)

    def unplug(self) -> None:
        """Take the port away, and with it the sensor's power."""
        with self._port_lock:
            super().unplug()

    def plug(self) -> None:
        """Plug in again: the sensor has what was saved."""
        with self._port_lock:
            super().plug()

    def _run(self) -> None:
        while True:
            ends = [self._stop_read]
            if self.port.plugged:
                ends.append(self.port.fileno())
            patience = min(max(self.due - self._now(), 0.0), NAP)
            try:
                ready, _, _ = select.select(ends, [], [], patience)
            except (OSError, ValueError):
                continue  # unplugged while waiting
            if self._stop_read in ready:
                return
            with self._port_lock:
                self.turn(self._now())
