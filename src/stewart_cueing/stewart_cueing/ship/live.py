# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A base whose IMU is heard live, and a platform that is kept level on it."""

from __future__ import annotations

import numpy as np
from stewart_cueing.errors import BaseInputError
from stewart_cueing.governor import Follower
from stewart_cueing.ship.doubts import Doubts
from stewart_cueing.ship.gated_observer import GatedObserver
from stewart_cueing.ship.heaving import Heaving
from stewart_cueing.ship.stabilisation import BaseStabiliser, product, upwards
from stewart_cueing.ship.wave_observer import ACCELEROMETER_BIAS
from stewart_cueing.vehicle.inputs import DENSE
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Array, Pose

SETTLING = 5.0
"""The observer has settled after so many peak periods of the sea [-]."""

MEMORY = 2.0
"""Peak periods of the sea over which the mean specific force is learnt that tells doubts [-]."""

LOST = 1.0
"""After a longer pause between samples the observer begins anew [s]."""

LEAST, APART = 3e-3, 1.5
"""What moves less is calm [rad], [m]; a period that differs by this factor is another one [-]."""

LONG, SHORT = 1.65, 2.2
"""With a peak period that is so many times too long, or too short, heave is not made up for: more,
and the platform heaves more than its base [-]."""

FADE = 4.0
"""Time in which the compensation comes in, and goes out when nothing is heard [s]."""

FINE = 4
"""Decimals of the time ahead: predictions over the same time share a matrix."""

AT_ORIGIN = Pose.identity()
"""Of an IMU in the axes of the base."""


class LiveBase:
    """The motion of a base as its IMU tells it, sample by sample.

    Of samples that come faster than `DENSE` in a period, the mean is taken: vibration is no slow
    motion. Of others, the first in a period is.

    Args:
        peak_period: Of the sea, roughly [s].
        period: Between what the observer takes [s].
        silence: Without a sample for so long, nothing is heard [s].
        imu: Where the IMU is in ``base_link``.
        accelerometer_bias: See `WaveObserver`.

    Attributes:
        observer: What finds and predicts the motion; it says which samples were glitches.
    """

    def __init__(
        self,
        peak_period: float,
        period: float,
        silence: float,
        imu: Pose = AT_ORIGIN,
        accelerometer_bias: float = ACCELEROMETER_BIAS,
    ) -> None:
        self._peak_period, self._period, self._silence = peak_period, period, silence
        self._turn, self._arm = imu.rotation, imu.position
        self._begin, self._heard = np.inf, -np.inf
        # Periods since the beginning: the last one that was taken, and the one that is waiting.
        self._taken = self._filling = 0
        self._waiting: list[Array] = []
        self.observer = GatedObserver(peak_period, period, accelerometer_bias)
        self._doubts = Doubts(MEMORY * peak_period)
        self._squares = np.zeros((2, 3))
        self._heaving = Heaving(peak_period, period, SETTLING * peak_period)

    def put(self, stamp: float, sample: Array) -> None:
        """Take specific force and rates (6,) of an instant [s], in the IMU's axes.

        Raises:
            BaseInputError: If they are not six finite numbers, larger than any sea makes them, or
                those of an IMU that is frozen or turned (`Doubts`); it is as if they had not come.
        """
        values = np.array(sample, dtype=float)
        if values.shape != (6,) or not np.isfinite(values).all():
            expected = 'expected six finite numbers [m/s², rad/s]'
            raise BaseInputError(f'{expected}, got {values.tolist()}')
        values = (values.reshape(2, 3) @ self._turn.T).ravel()
        self._doubts.require_sound(stamp, values, LOST)
        since, self._heard = stamp - self._heard, stamp
        if not abs(since) < LOST:
            self.observer.restart()
            self._waiting.clear()
            self._begin, self._taken = stamp, -1
        current = self._count(stamp)
        if self._waiting and current > self._filling:
            self._take()
        if current <= self._taken:
            return
        self._filling = current
        self._waiting.append(values)
        if since * DENSE > self._period or self._count(stamp + since) > current:
            self._take()

    def _count(self, instant: float) -> int:
        """Return the period that an instant [s] is nearest to."""
        return round((instant - self._begin) / self._period)

    def _take(self) -> None:
        """Let the observer have the mean of what waits."""
        missed = self._filling - self._taken - 1
        self._coast(missed)
        sample = np.mean(self._waiting, axis=0)
        self.observer.update(sample)
        self._taken = self._filling
        self._waiting.clear()
        # Whatever tilts the observer finds. An IMU may be slower than setpoints.
        self._heaving.update(float(np.linalg.norm(sample[:3])), 1 + missed)
        moved = self.observer.predict(0.0) - self.observer.mean
        part = self._period / (SETTLING * self._peak_period)
        self._squares += (np.square(moved[:2]) - self._squares) * part
        self._doubts.compare(sample[:3], moved[0, :2], part)

    def _coast(self, count: int) -> None:
        """Let the observer go on by samples that did not come."""
        for _ in range(count):
            self.observer.coast()
        self._taken += count

    def predict(self, now: float, ahead: float) -> Array:
        """Return roll, pitch, heave with two derivatives (3, 3), see `WaveObserver`.

        Args:
            now: At least the one before [s].
            ahead: From now to the instant that is meant [s].
        """
        if not self.heard(now):
            self._waiting.clear()
            self._coast(int((now - self._time) / self._period))
        ahead += now - self._time
        found = self.observer.predict(max(round(ahead, FINE), 0.0))
        if self._arm.any():
            # The heave is that of the IMU, and has no mean.
            up = upwards(found)
            up[0] -= upwards(self.observer.mean)[0]
            found[:, 2] -= up @ self._arm
        return found

    def periods(self) -> Array:
        """Return those of late of roll, pitch and heave (3,) [s]; 0 where it is calm.

        From what is measured and its integral, so that a filter for another period does no harm.
        """
        value, rate = np.sqrt(self._squares)
        found = 2.0 * np.pi * value / np.maximum(rate, 1e-12)
        found[2] = self._heaving.moved_in
        return np.where(value > LEAST, found, 0.0)

    def foretold(self) -> bool:
        """Tell whether heave is predicted well enough to be made up for."""
        heave = float(self.periods()[2])
        return not heave or heave / SHORT <= self._peak_period <= heave * LONG

    def misfit(self) -> str:
        """Return what is wrong with the peak period, or an empty text."""
        if not self.foretold():
            return (
                f'the base heaves with a period of {self.periods()[2]:.2g} s, and peak_period is '
                f'{self._peak_period:g} s: heave cannot be predicted and is not made up for; set '
                'peak_period to the period of the sea'
            )
        felt = [period for period in self.periods().tolist() if period]
        if not felt or min(felt) / APART <= self._peak_period <= max(felt) * APART:
            return ''
        return (
            f'the base moves with periods of {min(felt):.2g} to {max(felt):.2g} s, and '
            f'peak_period is {self._peak_period:g} s: heave is predicted badly'
        )

    @property
    def _time(self) -> float:
        return self._begin + self._taken * self._period

    def heard(self, now: float) -> bool:
        """Tell whether there are samples."""
        return now - self._heard <= self._silence

    def known(self, now: float) -> bool:
        """Tell whether the motion can be predicted: by samples for long enough, in their units."""
        settled = now - self._begin >= SETTLING * self._peak_period
        return self.heard(now) and settled and not self.contradiction()

    def contradiction(self) -> str:
        """Return how the samples contradict each other, or an empty text."""
        return self._doubts.contradiction()


class LiveLevelling(Follower):
    """Keep a platform level on a base, from a rest at the neutral pose.

    While the base's motion is not known, the platform goes to its neutral pose and waits there.

    Args:
        period: Between setpoints [s].
        peak_period: Of the sea, roughly [s].
        delay: From the stamp of a setpoint until the platform is there [s].

    Attributes:
        begin: Instant of its time 0 on the clock of the base [s].
    """

    def __init__(
        self, guard: MotionGuard, base: LiveBase, period: float, peak_period: float, delay: float
    ) -> None:
        self._levelling = BaseStabiliser(guard, period, peak_period)
        super().__init__(self._levelling.governor, period)
        self.begin = 0.0
        self._base, self._delay = base, delay
        # Of the angles, and of the heave.
        self._faded = np.zeros(2)

    @property
    def shares(self) -> Array:
        """Parts of the angles and of the heave (2,) that are made up for [-]."""
        return _risen(self._faded)[0] * self._levelling.shares[0]

    @property
    def list_left(self) -> float:
        """The larger of mean roll and pitch, as far as the legs cannot make up for it [rad]."""
        mean = np.abs(self._base.observer.mean[0, :2]).max()
        return float((1.0 - self._levelling.shares[0, 0]) * mean)

    def step(self, moment: float) -> None:
        """Make up for what the base will do."""
        self._levelling.advance(moment, self._wanted(self.begin + moment))

    def _wanted(self, instant: float) -> Array:
        """Return what is made up for by the setpoint after an instant [s]."""
        known = self._base.known(instant)
        step = self._period / FADE
        steps = np.where([known, known and self._base.foretold()], step, -step)
        before, self._faded = self._faded, np.clip(self._faded + steps, 0.0, 1.0)
        if not self._faded.any():
            return np.zeros((3, 3))
        # Of roll, pitch and heave.
        share = np.stack(_risen(self._faded))[:, [0, 0, 1]]
        share[1] *= (self._faded - before)[[0, 0, 1]] / self._period
        share[2] /= FADE**2
        return product(share, self._base.predict(instant, self._period + self._delay))


def _risen(x: Array) -> tuple[Array, Array, Array]:
    """Return steps that rise smoothly from 0 to 1, with two derivatives."""
    y = x * (1.0 - x)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x**2), 30.0 * y**2, 60.0 * y * (1.0 - 2.0 * x)
