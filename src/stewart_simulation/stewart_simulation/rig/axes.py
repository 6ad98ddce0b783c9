# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The plant as the drives of an EtherCAT segment know it: counts, and thousandths of a torque."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from stewart_driver.legs import Array, LEGS
from stewart_simulation.ethercat.drive_model import AxisCommand
from stewart_simulation.rate_ramp import RateRamp
from stewart_simulation.rig.mechanics import Mechanics
from stewart_simulation.rigid_drives import RigidDrives

# The next target may come a little late before the axis stops at this one.
TOLERANCE = 1.25


class Axes:
    """Mechanics behind six drives; fulfils ``drive_model.DriveModel``.

    Args:
        mechanics: What they move.
        counts_per_metre: Of the encoders, per stroke; negative where counts fall [1/m].
        zeros (6,): Readings at stroke zero [count].
        rated_force: What the rated torque pushes with, signed like the counts [N].
        hold_after: How long a stopping drive goes on without being asked again [s].
        noise: Standard deviation of a reading [m].
        rng: Source of the noise.
        connected: Whether the drives move the plant; if not, they only measure.
        advance: Brings the plant to an instant [s]; that of the mechanics by default.
    """

    def __init__(
        self,
        mechanics: Mechanics[RigidDrives],
        *,
        counts_per_metre: float,
        zeros: Sequence[int],
        rated_force: float,
        hold_after: float,
        noise: float,
        rng: np.random.Generator,
        connected: bool = True,
        advance: Callable[[float], None] | None = None,
    ) -> None:
        self._mechanics, self._bring = mechanics, advance or mechanics.advance
        self._counts, self._zeros = counts_per_metre, np.array(zeros, dtype=np.float64)
        self._per_mille = 1e-3 * rated_force
        self._hold_after = hold_after
        self._noise, self._rng, self._connected = noise, rng, connected
        self._time = mechanics.time
        self._last: list[AxisCommand] = []
        self.torque_off = mechanics.drives.sto
        self._ramp = RateRamp()
        self._measure()

    def command(self, commands: Sequence[AxisCommand]) -> None:
        """Take what the drives want from now on; what they only repeat grows older."""
        given = list(commands)
        if not self._connected or given == self._last:
            return
        self._last = given
        drives = self._mechanics.drives
        wanted = np.array(given, dtype=np.float64)
        falling = int(self._counts < 0.0)
        drives.allowed_forces[1 - falling] = wanted[:, 5] * abs(self._per_mille)
        drives.allowed_forces[falling] = wanted[:, 6] * abs(self._per_mille)
        drives.powered[:] = wanted[:, 0] != 0.0
        rates, ahead = wanted[:, 2] / self._counts, wanted[:, 4]
        # The rate is the mean over the way to the target, so it holds in the middle of it. No lead
        # (it would be half a cycle): after a lost frame it would push up to a third harder.
        change = self._ramp.accelerations(rates, ahead)
        drives.command(
            (wanted[:, 1] - self._zeros) / self._counts - rates * ahead,
            rates - 0.5 * change * ahead,
            wanted[:, 3] * self._per_mille,
            np.where(ahead > 0.0, TOLERANCE * ahead, self._hold_after),
            change,
        )

    def advance(self, duration: float) -> None:
        """Let some time pass [s]."""
        self._time += duration
        self._bring(self._time)
        self._measure()

    def _measure(self) -> None:
        drives = self._mechanics.drives
        noise: Array = self._rng.normal(0.0, self._noise, LEGS)
        seen = (drives.encoder_strokes + noise) * self._counts + self._zeros
        moving = np.isnan(drives.stuck_encoders)
        self.positions: list[float] = seen.tolist()
        self.velocities: list[float] = (drives.rates * moving * self._counts).tolist()
        self.torques: list[float] = (drives.delivered / self._per_mille).tolist()
