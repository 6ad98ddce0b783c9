# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six legs between targets and encoders: measured rates, ramps to rest, the largest step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from stewart_driver.control.supervision import StuckDetector
from stewart_driver.errors import LegFault
from stewart_driver.ethercat.drive_group import FRAMES_TO_ACT
from stewart_driver.ethercat.gear import Gear, PER_MILLE
from stewart_driver.ethercat.process_data import Inputs
from stewart_driver.ethercat.reported_rates import ReportedRates
from stewart_driver.legs import Array, LegLimits, LEGS, smoothed
from stewart_driver.path.common_stop import StartOffset

# The interpolator catches up a late cycle with 10 % more speed, and skips three at most.
MARGIN = 1.2
LONGEST_GAP = 4
# Where a drive holds its leg a little beside its target, or has not got a command, the difference
# fades with this share of the acceleration limit.
FADE_STRENGTH = 0.002
MOST_BESIDE = 1e-3
# A leg under power that stands this still while its target goes this far, for so many frames more
# than a drive may take to act on it, has a stuck encoder, or a brake. Its drive pushes as hard as
# it can: at 60 mm/s 20 mm in 50 ms.
STUCK_BAND, STUCK_TRAVEL, STUCK_FRAMES = 5e-6, 3e-4, 4 + FRAMES_TO_ACT


class MeasuredLegs:
    """What six drives report, as strokes, rates and forces.

    Args:
        zeros: Position of each drive at stroke zero [count]; None: where the legs stand.
        bandwidth: Corner of the low pass behind differences of strokes, from which the rates are
            where not every drive reports a velocity that has proven to be right [Hz].

    Attributes:
        inputs: What the drives have reported last, legs 1 to 6.
        strokes, rates (6,): [m], [m/s].
    """

    def __init__(
        self,
        gear: Gear,
        zeros: Sequence[int] | None,
        bandwidth: float,
        inputs: Sequence[Inputs],
        now: float,
    ) -> None:
        self._gear, self._bandwidth = gear, bandwidth
        self.inputs, self.stamp = inputs, now
        self._zeros = np.array(self.counts if zeros is None else zeros, dtype=np.float64)
        self.strokes, self.rates = self._measured(), np.zeros(LEGS)
        self._slopes, self._reported = np.zeros(LEGS), ReportedRates()

    @property
    def counts(self) -> tuple[int, ...]:
        """What the encoders have said [count]."""
        return tuple(item.position for item in self.inputs)

    @property
    def forces(self) -> Array | None:
        """Of the motors [N], shape (6,); None where a drive reports no torque."""
        torques = [item.torque for item in self.inputs]
        if None in torques:
            return None
        return np.array(torques, dtype=np.float64) * (PER_MILLE * self._gear.rated_force)

    @property
    def note(self) -> str:
        """Say whose reported velocities are wrong; empty where none is."""
        return self._reported.note

    def targets(self, strokes: Array) -> list[int]:
        """Return the positions of the drives for some strokes [count]."""
        return self._gear.counts(strokes, self._zeros)

    def take(self, inputs: Sequence[Inputs], now: float) -> None:
        """Take what the drives report at an instant [s]."""
        self.inputs = inputs
        before, elapsed = self.strokes, now - self.stamp
        self.strokes, self.stamp = self._measured(), now
        if elapsed <= 0.0:
            return
        self._slopes = smoothed(self._slopes, before, self.strokes, elapsed, self._bandwidth)
        self.rates = self._slopes
        velocities = [item.velocity for item in inputs]
        if None not in velocities:
            rates = np.array(velocities, dtype=np.float64) / self._gear.counts_per_metre
            self._reported.look(self.strokes - before, rates, elapsed)
            if self._reported.believed:
                self.rates = rates

    def _measured(self) -> Array:
        return self._gear.strokes(np.array(self.counts, dtype=np.float64), self._zeros)


class StoppingRamp:
    """Targets for legs that sag until their drives hold them: each to rest from its own rate.

    Args:
        strokes, rates (6,): Measured at the beginning [m], [m/s].

    Attributes:
        duration: Until the last leg is at rest [s].
    """

    def __init__(self, strokes: Array, rates: Array, acceleration: float) -> None:
        self._strokes, self._rates = strokes, rates
        self._times = np.abs(rates) / acceleration
        self.duration = float(self._times.max())

    def at(self, time: float) -> Array:
        """Return the targets [m], shape (6,), at a time since the beginning [s]."""
        spent = np.minimum(time, self._times)
        # Of a leg at rest both are zero.
        share = 1.0 - 0.5 * spent / np.maximum(self._times, np.finfo(np.float64).tiny)
        return np.asarray(self._strokes + self._rates * spent * share)


class Targets:
    """The cycle's targets on their way to the drives, no step larger than a leg can follow.

    Attributes:
        strokes (6,): What goes out next [m].
    """

    def __init__(self, strokes: Array, limits: LegLimits, cycle_time: float) -> None:
        self.strokes = strokes
        self._limits, self._cycle = limits, cycle_time
        self.restart()

    def restart(self) -> None:
        """Let the cycle's targets begin anew, a little beside what the drives hold."""
        self._beside: StartOffset | None = None
        self._taken, self._faded = False, 0.0

    def take(self, wanted: Array, elapsed: float, *, late: bool) -> LegFault | None:
        """Take targets (6,) [m], the last being `elapsed` [s] old, unless their frame is late."""
        beside = self.strokes - wanted
        largest = float(np.abs(beside).max())
        # Only when it begins: a larger distance is not compliance but a jump.
        if 0.0 < largest < (np.inf if late else 0.0 if self._taken else MOST_BESIDE):
            strength = FADE_STRENGTH * self._limits.acceleration
            self._beside, self._faded = StartOffset(beside, 0.0, strength), 0.0
        self._taken = True
        if late:
            return None
        if self._beside is not None:
            # By frames, too: drives that hear nothing stand.
            self._faded += self._cycle
            if self._beside.over(self._faded):
                self._beside = None
            else:
                wanted = wanted + self._beside.at(self._faded)[0]
        self.strokes, fault = limit_step(
            self.strokes, wanted, elapsed, self._limits.rate, self._cycle
        )
        return fault


class StuckLegs(StuckDetector):
    """Legs whose encoders stand while their targets move."""

    def __init__(self) -> None:
        super().__init__(STUCK_BAND, STUCK_TRAVEL, STUCK_FRAMES)

    def faults(
        self, measured: Array, targets: Array, follows: NDArray[np.bool_]
    ) -> list[LegFault]:
        """Return a fault for each that follows; strokes and targets (6,) [m]."""
        return [
            LegFault(
                int(axis) + 1,
                f'its encoder stands still while its target moves by {1e3 * STUCK_TRAVEL:g} mm: '
                'stuck, or the brake is; its drive is switched off',
            )
            for axis in np.flatnonzero(self.look(measured, targets) & follows)
        ]


def limit_step(
    previous: Array, wanted: Array, elapsed: float, rate: float, cycle_time: float
) -> tuple[Array, LegFault | None]:
    """Hold targets to the rate of the legs, in the last look at them before they go out.

    What comes from the interpolator keeps to it; this is for a bug or a broken memory, which must
    not make a drive jump.

    Args:
        previous, wanted (6,): Strokes of the last targets and of the new ones [m].
        elapsed: Time between them [s].
        rate: Largest rate of a leg [m/s].

    Returns:
        The targets; shortened for all legs by the same share, so that the platform stays on its
        path, and the reason, if a step is too large. Where a target is no number all stay.
    """
    if not np.isfinite(wanted).all():
        leg = int(np.flatnonzero(~np.isfinite(wanted))[0])
        return previous, LegFault(leg + 1, f'its target is {wanted[leg]}')
    most = MARGIN * rate * cycle_time * min(max(elapsed / cycle_time, 1.0), LONGEST_GAP)
    steps = wanted - previous
    leg = int(np.abs(steps).argmax())
    step = float(steps[leg])
    if abs(step) <= most:
        return wanted, None
    fault = LegFault(
        leg + 1,
        f'its target jumps by {1e3 * step:.3f} mm in {1e3 * elapsed:.2f} ms, '
        f'possible are {1e3 * most:.3f} mm',
    )
    return previous + steps * (most / abs(step)), fault
