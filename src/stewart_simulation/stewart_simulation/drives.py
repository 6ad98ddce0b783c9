# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Power of six simulated drives, and drives that follow their targets with a lag."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from stewart_driver.legs import LegLimits, LEGS

if TYPE_CHECKING:
    from stewart_simulation.simulated_backend import SimulatedOptions

Array = NDArray[np.float64]

LONGEST_STEP = 1e-3
# The mechanical ends lie this far outside the stroke that may be used [m].
END_MARGIN = 2e-3
BITS = {bytes(bits >> leg & 1 for leg in range(LEGS)): bits for bits in range(1 << LEGS)}
"""One bit per leg, of the bytes of six flags."""


class SwitchedDrives:
    """What of six drives is switched.

    Attributes:
        powered (6,): Which drives are to follow their targets.
        sto (6,): Which have lost their torque to the safety circuit, whoever powers them.
        braked (6,): Which brakes hold.
    """

    def __init__(self, *, brakes: bool = False) -> None:
        self._switched: NDArray[np.bool_] = np.zeros((3, LEGS), dtype=np.bool_)
        self.powered, self.sto, self.braked = self._switched
        self.braked[:] = brakes

    @property
    def on(self) -> bool:
        """Whether all drives follow their targets; setting it switches all of them."""
        # Of six flags numpy's own `all` takes five times as long.
        return 0 not in self.powered.tobytes()

    @on.setter
    def on(self, value: bool) -> None:
        self.powered[:] = value

    @property
    def live(self) -> NDArray[np.bool_]:
        """Which motors are under voltage, shape (6,)."""
        return self.powered & ~self.sto

    def bits(self) -> tuple[int, int, int]:
        """Return `powered`, `sto` and `braked` with one bit per leg, bit 0 for leg 1."""
        flags = self._switched.tobytes()
        return BITS[flags[:LEGS]], BITS[flags[LEGS : 2 * LEGS]], BITS[flags[2 * LEGS :]]


class LaggingDrives(SwitchedDrives):
    r"""Position loops of second order, driven by target and target rate.

    .. math:: \ddot q = \omega^2 (q_t - q) + 2 \zeta \omega (\dot q_t - \dot q)

    with rate and acceleration saturated. Between two targets a drive extrapolates the last one,
    as a drive in cyclic synchronous position mode does. There is no plant: neither gravity nor
    the coupling of the legs acts on the drives. A leg without power sinks at a fixed rate.

    Args:
        strokes (6,): Where the legs stand at first [m].
        limits: Of the legs; the mechanical ends lie a little outside of the strokes.

    Attributes:
        strokes, rates (6,): True motion of the legs [m], [m/s].
    """

    def __init__(self, strokes: ArrayLike, options: SimulatedOptions, limits: LegLimits) -> None:
        super().__init__()
        self._omega, self._damping = 2.0 * np.pi * options.bandwidth, options.damping
        self._fastest = options.reserve * limits.rate
        by_force = options.force_limit / options.moved_mass
        self._strongest = min(options.reserve * limits.acceleration, by_force)
        # One that hears nothing for so long stops following the rate of its last target [s].
        self._hold_after = 2.0 * options.cycle_time
        self._ends = limits.stroke_lower - END_MARGIN, limits.stroke_upper + END_MARGIN
        self._sag_rate, self._supported = options.sag_rate, options.supported
        self.strokes: Array = np.array(strokes, dtype=np.float64)
        self.rates: Array = np.zeros_like(self.strokes)
        self._target, self._target_rate = self.strokes, self.rates
        self._age = 0.0

    def command(
        self, strokes: Array, rates: Array, forces: Array, accelerations: Array | None = None
    ) -> None:
        """Take new targets [m], [m/s]; a force has nothing to act on, so steps do no harm."""
        self._target, self._target_rate = strokes, rates
        self._age = 0.0

    def advance(self, duration: float) -> None:
        """Let some time pass [s]."""
        if duration <= 0.0:
            return
        self._supported = self._supported and not self.on
        count = max(int(np.ceil(duration / LONGEST_STEP - 1e-6)), 1)
        for _ in range(count):
            self._step(duration / count)

    def _step(self, step: float) -> None:
        """Integrate with constant acceleration over the step."""
        acceleration = np.where(self.live, self._following(), self._sinking(step))
        self._age += step
        rates = self.rates + step * _within(acceleration, -self._strongest, self._strongest)
        rates = _within(rates, -self._fastest, self._fastest)
        free = self.strokes + 0.5 * step * (self.rates + rates)
        self.strokes = _within(free, *self._ends)
        self.rates = np.where(free == self.strokes, rates, 0.0)

    def _sinking(self, step: float) -> Array:
        rate = 0.0 if self._supported else -self._sag_rate
        return np.asarray((rate - self.rates) / step)

    def _following(self) -> Array:
        omega, heard = self._omega, self._age <= self._hold_after
        target = self._target + self._target_rate * min(self._age, self._hold_after)
        target_rate = self._target_rate if heard else 0.0 * self._target_rate
        acceleration: Array = omega * (
            omega * (target - self.strokes) + 2.0 * self._damping * (target_rate - self.rates)
        )
        return acceleration


def _within(values: Array, lower: Array | float, upper: Array | float) -> Array:
    """Clip; numpy's own spends most of its time on its arguments, and this runs in every cycle."""
    clipped: Array = np.minimum(np.maximum(values, lower), upper)
    return clipped
