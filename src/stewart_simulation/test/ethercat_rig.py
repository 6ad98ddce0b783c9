# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A segment in a private network, and a rig file for it."""

from __future__ import annotations

from collections.abc import Callable
import datetime
import os
from pathlib import Path
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any

import pytest
from stewart_driver.rig_file import DriveCalibration, DriveIdentity, EthercatSection, Rig, save_rig
from stewart_simulation.control import ControlClient

ENVIRONMENT = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
COUNTS_PER_METRE = 2**23 / 0.01
IDENTITY = DriveIdentity(0x83, 0xB0, 0x00010004, 0)


class SegmentRig:
    """Six drives at count 0, which the rig file calls a stroke of 0.3 m, reachable by `namespace`.

    Attributes:
        namespace: Where their wire is.
        file: A rig file.
        faults: To break things, and to look at the plant.
    """

    interface = 'ecat0'

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix='ecat'))
        control = self._folder / 'control'
        command = [sys.executable, '-m', 'stewart_simulation.ethercat', '--control', str(control)]
        # This machine is not punctual enough for drives that are strict about SYNC0.
        command += ['--sync-error-limit', '0', '--emergencies']
        # In the end this process is the sleep, in the network namespace of the segment.
        self._process = subprocess.Popen(
            [*command, '--', 'sleep', '600'], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
        )
        until(lambda: control.exists() or self._process.poll() is not None)
        if self._process.poll() is not None:
            assert self._process.stderr is not None
            reason = self._process.stderr.read().strip()
            self.close()
            assert 'What permits it' in reason, reason
            pytest.skip(reason)
        self.faults = ControlClient(control)
        self.namespace = f'/proc/{self._process.pid}/ns/net'
        self.file = self._folder / 'rig.yaml'
        self.calibrate()

    def calibrate(self, identity: DriveIdentity = IDENTITY) -> None:
        """Write the rig file that is right, or one of other drives."""
        calibration = DriveCalibration(
            (-round(0.3 * COUNTS_PER_METRE),) * 6,
            datetime.date(2026, 11, 21),
            'all strokes 0.3 m',
            (0.3,) * 6,
            (identity,) * 6,
        )
        save_rig(
            self.file, Rig('vigo', drives=calibration, ethercat=EthercatSection(self.interface))
        )

    @property
    def seen(self) -> dict[str, Any]:
        """What one sees when standing beside the machine."""
        result: dict[str, Any] = self.faults.call('observe')
        return result

    @property
    def strokes(self) -> list[float]:
        """Where the plant's legs are [m]."""
        return [0.3 + count / COUNTS_PER_METRE for count in self.seen['positions']]

    def close(self) -> None:
        """End everything."""
        if hasattr(self, 'faults'):
            self.faults.close()
        self._process.kill()
        self._process.communicate()
        shutil.rmtree(self._folder)


def until(reached: Callable[[], Any], timeout: float = 60.0, nap: float = 0.005) -> None:
    """Wait for something; the assertion shows what."""
    limit = time.monotonic() + timeout
    while not reached():
        assert time.monotonic() < limit, 'waited in vain'
        time.sleep(nap)
