# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the wires of a rig have in common: one plant at one instant."""

from __future__ import annotations

from pathlib import Path
import time

import pytest
from stewart_driver.ethercat.drive_type import DriveType
from stewart_simulation.rig.process import IDLE, Wires
from stewart_simulation.rig.settings import RigSettings


def test_drives_do_not_lag_behind_the_plant_on_a_slow_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = DriveType.from_yaml

    def slowly(name: str) -> DriveType:
        time.sleep(0.05)
        return load(name)

    monkeypatch.setattr(DriveType, 'from_yaml', slowly)
    wires = Wires(RigSettings(platform='vigo', card=False, imu=False), tmp_path)
    try:
        time.sleep(IDLE)
        now = time.monotonic()
        wires.turn(now)
        # The drives go to an instant after that, but for the rounding to nanoseconds.
        assert now - 1e-6 <= wires.mechanics.time <= time.monotonic()
    finally:
        wires.close()
