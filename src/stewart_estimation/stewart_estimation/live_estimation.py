# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A live filter that says how it is: what it lacks, what it refused, where it begins anew.

While the legs are silent it goes on along the IMU for a while, and each instant is reported once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import merge
import math
from operator import itemgetter
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from stewart_estimation.errors import EstimationError, SampleError
from stewart_estimation.estimate import Estimate, ExternalFit
from stewart_estimation.failure import (
    ADVICE,
    beyond_any_sensor,
    off_from_outside,
    RESTART_EVERY,
    RESTARTS,
)
from stewart_estimation.kernels.records import R_DELAY, R_FORCE_BIAS, V_NIS, VERDICTS
from stewart_estimation.live_filter import LiveFilter
from stewart_estimation.live_rows import LiveRows, NOTHING, refused_legs, used_legs
from stewart_estimation.samples import imu_sample, leg_sample
from stewart_estimation.settings import FilterSettings
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array

Level = Literal['ok', 'warn', 'error']

COAST_AFTER = 0.05
"""Legs silent for so long are gone; the IMU leads on [s]."""

STRANGE = 1.0
"""Stamps that lie so far back, or so far apart, are not late but from another clock [s]."""

LEAP = 10.0
"""A stamp so far after the latest of either sensor is from another clock, or ends a pause [s]."""

PATIENCE = 10
"""So many stamps in a row that are late or from another clock are believed: it was set anew."""

MEMORY = 200
"""So many of the last rows say how the filter is."""

TOO_MANY = 0.5
"""Share of refused samples at which it is the estimate, not the samples, that is wrong."""

FEW = 2
"""Of so many legs without a length that fits, the others and the IMU still tell the pose."""

AHEAD = 0.2
"""IMU stamps that are so far ahead of legs that come are from another clock [s]."""

TOO_LARGE = 9.0
"""Mean NIS that is worth a warning; the mean of 200 of a sound filter stays below 7."""


class Health(NamedTuple):
    """How the estimate is and why; at level error there is none, or none to be believed."""

    level: Level
    sentence: str


class LiveEstimation:
    """Estimates of live samples.

    What takes samples returns the estimates later than any before, by stamp; a sample with a
    number that none can have raises SampleError.

    Args:
        coast: How long the IMU alone leads on while the legs are silent [s].

    Attributes:
        accepted, rejected (6,): Samples of each leg that were used, and that were refused by the
            gate.
        restarts: How often the filter began anew.
    """

    def __init__(
        self, geometry: Geometry, settings: FilterSettings, *, coast: float = 1.0
    ) -> None:
        self._geometry, self._settings, self._coast = geometry, settings, coast
        self.accepted = np.zeros(6, dtype=np.int64)
        self.rejected = np.zeros(6, dtype=np.int64)
        self.restarts = 0
        self._started = False
        self._begin('')

    def _begin(self, reason: str, start: Estimate | None = None) -> None:
        """Forget every sample."""
        self._start = start
        self._filter = LiveFilter(self._geometry, self._settings, start=start)
        self._imu_stamp = self._leg_stamp = self._reported = -np.inf
        self._strange = {'imu': 0, 'legs': 0}
        # How long the IMU has come without legs, by its stamps.
        self._alone, self._legs_came = 0.0, False
        self._began: deque[float] = deque(maxlen=MEMORY)
        self._biases = np.zeros(6)
        self._present: NDArray[np.bool_] = np.ones(6, dtype=bool)
        self._reason = reason
        self._lately: deque[Array] = deque(maxlen=MEMORY)

    def tell(self, settings: FilterSettings) -> None:
        """Begin anew with other settings, at a given pose where none has been estimated since."""
        self._settings = settings
        self._begin('', None if math.isfinite(self._reported) else self._start)

    def reset(self, start: Estimate | None = None) -> None:
        """Begin anew: from the next six lengths, or at the next sample with a given pose."""
        self._begin('', start)

    def pose(self, stamp: float, pose: Array, covariance: Array) -> LiveRows:
        """Take an external pose (7,) of ``platform_link`` with its stamp [m], [s].

        Args:
            stamp: [s]; late by the delay that is estimated.
            pose: Position and quaternion x, y, z, w in ``base_link``.
            covariance (6, 6): Of position and rotation about base axes; zeros where unknown.

        Raises:
            SampleError: If the stamp is from another clock, too.
        """
        if self._settings.external is None or not math.isfinite(self._reported):
            return NOTHING
        if abs(stamp - self._reported) > STRANGE:
            apart = stamp - self._reported
            raise SampleError(
                f'an external pose must be within {STRANGE} s of the legs, got {apart:.3f} s'
            )
        return self._fresh(self._tried(lambda: self._filter.add_pose(stamp, pose, covariance)))

    @property
    def latest(self) -> float | None:
        """Stamp of the latest sample since the begin [s]; None before the first."""
        latest = max(self._imu_stamp, self._leg_stamp)
        return latest if math.isfinite(latest) else None

    @property
    def imu_period(self) -> float:
        """Time between IMU samples for which their noise is taken to hold [s]."""
        return self._settings.imu_noise.period

    @property
    def dropped(self) -> int:
        """Samples that came too late to be used, since the begin."""
        return self._filter.dropped

    @property
    def external(self) -> ExternalFit | None:
        """How external poses fitted of late; None before the first."""
        return self._filter.external

    def imu(self, stamp: float, specific_force: Array, angular_velocity: Array) -> LiveRows:
        """Take a sample of the IMU (3,), (3,) in sensor axes [m/s²], [rad/s] and its stamp [s]."""
        return self._take_imu(stamp, imu_sample(stamp, specific_force, angular_velocity))

    def _take_imu(self, stamp: float, values: Array) -> LiveRows:
        if not self._believed('imu', stamp, self._imu_stamp):
            return NOTHING
        step = max(stamp - self._imu_stamp, 0.0) if math.isfinite(self._imu_stamp) else 0.0
        self._alone = 0.0 if self._legs_came else self._alone + step
        self._legs_came = False
        self._imu_stamp = max(self._imu_stamp, stamp)
        blocks = [self._tried(lambda: self._filter.add_imu(stamp, values))]
        if COAST_AFTER < self._silence <= self._coast and math.isfinite(self._reported):
            blocks.append(self._tried(lambda: self._filter.add_legs(stamp, np.full(6, np.nan))))
        return self._fresh(LiveRows.joined(blocks))

    @property
    def _silence(self) -> float:
        """How long the legs are silent [s]: legs that come are not, whatever their clock says."""
        return min(self._alone, self._imu_stamp - self._leg_stamp)

    def legs(self, stamp: float, lengths: Array) -> LiveRows:
        """Take lengths (6,) with their stamp [m], [s]; NaN is a missing leg."""
        return self._take_legs(stamp, leg_sample(stamp, lengths))

    def _take_legs(self, stamp: float, row: Array) -> LiveRows:
        if not self._believed('legs', stamp, self._leg_stamp):
            return NOTHING
        self._note_legs(stamp, row)
        return self._fresh(self._tried(lambda: self._filter.add_legs(stamp, row)))

    def _note_legs(self, stamp: float, row: Array) -> None:
        self._present = np.isfinite(row)
        if np.count_nonzero(self._present):
            self._leg_stamp = max(self._leg_stamp, stamp)
            self._legs_came = True

    def runs(
        self, imu_stamps: Array, values: Array, leg_stamps: Array, lengths: Array
    ) -> LiveRows:
        """Take successive samples of both sensors, those of the legs first at equal stamps.

        Estimates are those that come of the samples one by one, bit for bit; only where the filter
        starts from the very first sample of the IMU, more of them tell how that changes there.

        Args:
            imu_stamps, leg_stamps (n,), (m,): [s].
            values (n, 6): Specific forces and angular velocities in sensor axes [m/s²], [rad/s].
            lengths (m, 6): [m]; NaN is a missing leg.
        """
        sound = np.isfinite(values).all() and np.isfinite(lengths).all() and (lengths > 0.0).all()
        if sound and self._in_order(imu_stamps, leg_stamps):
            self._note_legs(float(leg_stamps[-1]), lengths[-1])
            self._imu_stamp = float(imu_stamps[-1])
            alone = imu_stamps[imu_stamps >= leg_stamps[-1]]
            self._alone = float(np.ptp(alone)) if len(alone) else 0.0
            self._legs_came = not len(alone)
            self._strange = {'imu': 0, 'legs': 0}
            return self._fresh(
                self._tried(lambda: self._filter.add_runs(imu_stamps, values, leg_stamps, lengths))
            )
        legs = [
            (stamp, self._take_legs, leg_sample(stamp, row))
            for stamp, row in zip(leg_stamps.tolist(), lengths, strict=True)
        ]
        imu = [
            (stamp, self._take_imu, imu_sample(stamp, row[:3], row[3:]))
            for stamp, row in zip(imu_stamps.tolist(), values, strict=True)
        ]
        # No sensor is silent because samples of the other one are looked at first.
        blocks = [take(stamp, row) for stamp, take, row in merge(legs, imu, key=itemgetter(0))]
        return LiveRows.joined([block for block in blocks if len(block)])

    def _in_order(self, imu_stamps: Array, leg_stamps: Array) -> bool:
        """Tell whether nothing is late, comes twice or is missed."""
        if not (len(imu_stamps) and len(leg_stamps)):
            return False
        later = imu_stamps[0] > self._imu_stamp and leg_stamps[0] > self._leg_stamp
        steps = np.concatenate([np.diff(imu_stamps), np.diff(leg_stamps)])
        latest = max(self._imu_stamp, self._leg_stamp)
        leaps = max(imu_stamps[0], leg_stamps[0]) > latest + LEAP
        rising = np.all((steps > 0.0) & (steps < LEAP)) and not (leaps and math.isfinite(latest))
        return bool(later and rising and imu_stamps[-1] - leg_stamps[-1] <= COAST_AFTER)

    def health(self) -> Health:
        """Say how the estimate is, as of the latest stamps."""
        for name, stamp in (('imu/data', self._imu_stamp), ('actuator_states', self._leg_stamp)):
            if not np.isfinite(stamp):
                return Health('error', f'no estimate: no sample has come on {name}')
        apart = self._imu_stamp - self._leg_stamp
        if not np.isfinite(self._reported):
            if abs(apart) > STRANGE:
                return Health('error', f'no estimate: IMU stamps are {apart:.3f} s after the legs')
            return Health('error', f'no estimate: {self._reason or "waiting for both sensors"}')
        silence = self._silence
        if silence > max(self._coast, COAST_AFTER):
            return Health('error', f'no estimate: legs silent for {silence:.3f} s')
        if silence > COAST_AFTER:
            return Health('warn', f'legs silent for {silence:.3f} s, the IMU leads on')
        if apart > AHEAD:
            ahead = f'IMU stamps are {apart:.3f} s ahead of the legs: set one clock by the other'
            return Health('error' if apart > STRANGE else 'warn', ahead)
        if -apart > self._settings.imu_timeout:
            return Health('warn', f'IMU silent for {-apart:.3f} s, motion is assumed steady')
        if self._leg_stamp - self._reported > STRANGE:
            return Health('error', 'no estimate: after a silence the filter waits for six legs')
        if wrong := self._not_to_be_believed():
            return Health('error', wrong)
        if not self._present.all():
            missing = ', '.join(str(leg + 1) for leg in np.flatnonzero(~self._present))
            return Health('warn', f'leg {missing} is missing')
        if len(legs := self._contradicting()):
            numbers = ', '.join(str(leg + 1) for leg in legs)
            return Health(
                'warn', f'leg {numbers} is refused by the gate: it contradicts the others'
            )
        external = self.external
        if external is not None and np.mean(external.used) < 1.0 - TOO_MANY:
            count = np.count_nonzero(~external.used)
            return Health(
                'warn', f'{count} of the last {len(external.used)} external poses do not fit'
            )
        if external is not None and (off := off_from_outside(external)):
            return Health('warn', off)
        if self._reason:
            return Health('warn', self._reason)
        if self.mean_nis > TOO_LARGE:
            mean = f'mean NIS {self.mean_nis:.1f} instead of 6'
            return Health('warn', f'{mean}: noise set too small, IMU late or faulty samples')
        return Health('ok', f'mean NIS {self.mean_nis:.2f}, {self.restarts} restarts')

    def _not_to_be_believed(self) -> str:
        """Say what contradicts the estimate; empty if nothing does."""
        if self.refused_share > TOO_MANY or len(self._contradicting()) > FEW:
            share = f'the gate refused {100.0 * self.refused_share:.0f} % of the last leg samples'
            return f'{share}: IMU late or turned, or noise set too small'
        if len(self._lately) == MEMORY and (wrong := beyond_any_sensor(self._biases)):
            return wrong
        # The first time is its start.
        since = self._reported - RESTART_EVERY
        anew = sum(stamp >= since for stamp in list(self._began)[1:])
        if anew > RESTARTS:
            return f'the filter began anew {anew} times within {RESTART_EVERY:g} s: {ADVICE}'
        return ''

    def _contradicting(self) -> NDArray[np.intp]:
        """Return the legs, from 0, of whose last `MEMORY` lengths the gate refused too many."""
        if len(self._lately) < MEMORY:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(refused_legs(np.array(self._lately)).mean(axis=0) > TOO_MANY)

    @property
    def refused_share(self) -> float:
        """Share of the lengths of the last `MEMORY` rows that the gate refused; 0 at first."""
        if len(self._lately) < MEMORY:
            return 0.0
        return float(refused_legs(np.array(self._lately)).mean())

    @property
    def mean_nis(self) -> float:
        """Mean NIS of the last `MEMORY` rows, counted for six legs; NaN while none has any."""
        verdicts = np.array(self._lately).reshape(-1, VERDICTS)
        counts = used_legs(verdicts).sum(axis=1)
        if not counts.any():
            return math.nan
        heard = counts > 0
        return float(np.mean(6.0 * verdicts[heard, V_NIS] / counts[heard]))

    def _believed(self, sensor: str, stamp: float, newest: float) -> bool:
        """Say whether a stamp belongs to the clock of those before; begin anew where it has to."""
        latest = max(self._imu_stamp, self._leg_stamp)
        leaps = math.isfinite(latest) and stamp > latest + LEAP
        if stamp >= newest and not leaps:
            self._strange[sensor] = 0
            return True
        self._strange[sensor] += 1
        if self._strange[sensor] < PATIENCE:
            return stamp >= newest - STRANGE and not leaps
        way = f'ahead by {stamp - latest:.3f}' if leaps else f'back by {newest - stamp:.3f}'
        self._begin(f'stamps went {way} s')
        return True

    def _tried(self, work: Callable[[], LiveRows]) -> LiveRows:
        """Return what the filter has, nothing where it cannot go on; keep the reason."""
        try:
            return work()
        except EstimationError as error:
            self._reason = str(error)
            return NOTHING

    def _fresh(self, rows: LiveRows) -> LiveRows:
        """Return and count the rows that are later than any before."""
        if not len(rows):
            return rows
        if rows.stamps[0] <= self._reported:
            rows = rows[rows.stamps > self._reported]
            if not len(rows):
                return rows
        # This is done at every sample; what is asked once a second is reckoned then.
        self._reported = float(rows.stamps[-1])
        for verdict in rows.verdicts:
            self.accepted += used_legs(verdict)
            self.rejected += refused_legs(verdict)
        self._lately.extend(rows.verdicts)
        self._biases = rows.report[-1, R_FORCE_BIAS:R_DELAY]
        if rows.restarted.any():
            self._began.extend(rows.stamps[rows.restarted].tolist())
            self.restarts += int(np.count_nonzero(rows.restarted)) - (not self._started)
            self._started, self._reason = True, ''
        return rows
