# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults of the drives' mechanics and encoders; legs are 1 to 6."""

from __future__ import annotations

from typing import Any

import numpy as np
from stewart_driver.legs import LEGS
from stewart_simulation.ethercat.errors import FaultError
from stewart_simulation.fault_table import FaultTable
from stewart_simulation.rigid_drives import RigidDrives

FURTHEST = 10.0


class PlantFaults(FaultTable):
    """What can be done to six drives.

    Args:
        drives: What breaks.
    """

    def __init__(self, drives: RigidDrives) -> None:
        """Break nothing yet."""
        super().__init__()
        self._drives = drives

    def encoder_jump(self, leg: int, metres: float) -> None:
        """Let the encoder of a leg read this much more from now on."""
        if not abs(metres) <= FURTHEST:
            raise FaultError('encoder_jump', f'metres must be within ±{FURTHEST}, not {metres!r}')
        self._drives.encoder_errors[_index('encoder_jump', leg)] += metres

    def encoder_stuck(self, leg: int) -> None:
        """Let the encoder of a leg stay at its present reading."""
        index = _index('encoder_stuck', leg)
        self._drives.stuck_encoders[index] = self._drives.encoder_strokes[index]

    def torque_limit(self, leg: int, share: float) -> None:
        """Let the drive of a leg push with this share of its largest force."""
        if not 0.0 <= share <= 1.0:
            raise FaultError('torque_limit', f'share must be 0 to 1, not {share!r}')
        drives = self._drives
        drives.force_limits[_index('torque_limit', leg)] = share * drives.force_limit

    def sto(self, leg: int) -> None:
        """Take the torque of a leg by its safety circuit: its motor has no voltage."""
        self._drives.sto[_index('sto', leg)] = True

    def mend(self) -> None:
        """End every fault of the plant."""
        drives = self._drives
        drives.sto[:] = False
        drives.encoder_errors[:] = 0.0
        drives.stuck_encoders[:] = np.nan
        drives.force_limits[:] = drives.force_limit

    def observe(self) -> dict[str, Any]:
        """Return where the legs are, how fast, and what moves or holds them."""
        drives = self._drives
        return {
            'strokes_m': drives.strokes.tolist(),
            'rates_mps': drives.rates.tolist(),
            'forces_n': drives.delivered.tolist(),
            'powered': drives.live.tolist(),
            'braked': drives.braked.tolist(),
            'sto': drives.sto.tolist(),
        }


def _index(fault: str, leg: int) -> int:
    if not (isinstance(leg, int) and 1 <= leg <= LEGS):
        raise FaultError(fault, f'leg must be 1 to {LEGS}, not {leg!r}')
    return leg - 1
