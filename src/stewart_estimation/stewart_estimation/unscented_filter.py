# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The filter, sample by sample, in the order of the stamps.

For clocks of their own, samples out of order and an IMU that lags, see
:mod:`stewart_estimation.live_filter`; for recordings :mod:`stewart_estimation.replay`. All three
run the same kernels.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from stewart_estimation import layout, replay_kernels, report_kernels
from stewart_estimation.arrangement import Arrangement
from stewart_estimation.errors import CovarianceError, SampleError, StampError
from stewart_estimation.estimate import Estimate, estimate_of, Update
from stewart_estimation.reinitialisation import estimate_from_legs, from_estimate
from stewart_estimation.samples import imu_sample, leg_sample
from stewart_estimation.settings import FilterSettings
from stewart_estimation.tangent_kernels import LAST_JITTER
from stewart_kinematics.model.geometry import Geometry


class UnscentedFilter:
    """Estimate of the platform's motion from an IMU and six lengths.

    Args:
        geometry: Joints of the platform.
        settings: Noises, mounting, refinements. `reinitialisation` is left to the live filter and
            the replay.
        start: Where to begin, see `from_legs`.

    Note:
        A covariance that is not positive definite gets 1e-15 of its diagonal added, then ten times
        as much, up to 1e-6 (`repairs` counts); beyond that CovarianceError is raised, and the
        filter has to be started again.
    """

    def __init__(self, geometry: Geometry, settings: FilterSettings, start: Estimate) -> None:
        self._arrangement = Arrangement.of(geometry, settings)
        self._filtered = from_estimate(self._arrangement, start)
        size = self._arrangement.size
        self._factor, self._unused = np.empty((size, size)), np.empty((size, size))
        # The two latest samples of the IMU, and the part of them that is known so far.
        self._pair_stamps, self._pair_values = np.zeros(2), np.zeros((2, 6))
        self._stamps, self._values = self._pair_stamps[2:], self._pair_values[2:]
        self._latest = -math.inf
        self._lead = 0.0

    @classmethod
    def from_legs(
        cls, geometry: Geometry, settings: FilterSettings, stamp: float, lengths: ArrayLike
    ) -> UnscentedFilter:
        """Begin at the pose that has the lengths.

        Args:
            geometry: Joints of the platform.
            settings: What the filter is told.
            stamp: Of the lengths [s].
            lengths (6,): Joint-to-joint lengths [m].

        Returns:
            At that pose.

        Raises:
            SampleError: If a length is missing or no pose has these lengths.
        """
        row = leg_sample(stamp, lengths)
        start = estimate_from_legs(Arrangement.of(geometry, settings), stamp, row)
        return cls(geometry, settings, start)

    @property
    def stamp(self) -> float:
        """Where the state is, on the clock of the IMU [s]."""
        return self._filtered.stamp

    @property
    def repairs(self) -> int:
        """How often the covariance had to be made positive definite again."""
        return self._filtered.repairs

    @property
    def misfits(self) -> int:
        """How many leg samples in a row did not fit (`Reinitialisation.probability`)."""
        return int(self._filtered.memory[layout.MISFITS])

    def predict(
        self, stamp: float, specific_force: ArrayLike, angular_velocity: ArrayLike
    ) -> None:
        """Move on to the stamp of an IMU sample.

        The first sample is held over its step. A sample with the stamp of the state moves
        nothing and counts from there on.

        Args:
            stamp: [s].
            specific_force, angular_velocity (3,): In sensor axes [m/s²], [rad/s].

        Raises:
            ShapeError: If there are not three numbers in each.
            SampleError: If a number is not finite.
            StampError: If the stamp lies before the state's.
            CovarianceError: If the covariance cannot be repaired.
        """
        values = imu_sample(stamp, specific_force, angular_velocity)
        if stamp < self.stamp - replay_kernels.SAME:
            raise StampError(
                f'an IMU sample must not lie before the state: got {stamp:.6f} s, the state is at '
                f'{self.stamp:.6f} s'
            )
        if stamp > self._latest:
            self._pair_stamps[0], self._pair_values[0] = self._latest, self._pair_values[1]
            if len(self._stamps) < 2:
                first = 1 - len(self._stamps)
                self._stamps, self._values = self._pair_stamps[first:], self._pair_values[first:]
        self._pair_stamps[1], self._pair_values[1] = stamp, values
        self._latest = stamp
        filtered = self._filtered
        status = replay_kernels.travel(
            self._stamps,
            self._values,
            stamp,
            filtered.state,
            filtered.covariance,
            self._factor,
            self._arrangement.constants,
            filtered.memory,
            False,
            self._unused,
        )
        if status != layout.DONE:
            self._refuse()
        self._lead = 0.0

    def update(self, stamp: float, lengths: ArrayLike) -> Update:
        """Correct by the lengths of the legs.

        Lengths after the state are met by holding the last IMU sample; lengths before it, by no
        more than `settings.imu_timeout`, by moving the prediction back with constant
        acceleration and angular velocity.

        Args:
            stamp: [s].
            lengths (6,): Joint-to-joint lengths [m]; NaN is a missing leg.

        Returns:
            How they fitted.

        Raises:
            ShapeError: If there are not six lengths.
            SampleError: If a length is infinite or not positive, or no IMU sample has come yet.
            StampError: If the lengths are too old.
            CovarianceError: If the covariance cannot be repaired.
        """
        row = leg_sample(stamp, lengths)
        if not len(self._stamps):
            raise SampleError('lengths came before the first IMU sample')
        filtered, arrangement = self._filtered, self._arrangement
        if stamp + filtered.state[layout.DELAY] < self.stamp - arrangement.settings.imu_timeout:
            raise StampError(
                f'lengths at {stamp:.6f} s are more than {arrangement.settings.imu_timeout:g} s '
                f'before the state, which is at {self.stamp:.6f} s'
            )
        verdict = np.empty(19)
        status = replay_kernels.meet(
            arrangement.base_joints,
            arrangement.platform_joints,
            arrangement.constants,
            self._stamps,
            self._values,
            stamp,
            row,
            filtered.state,
            filtered.covariance,
            self._factor,
            filtered.memory,
            verdict,
        )
        if status != layout.DONE:
            self._refuse()
        self._lead = stamp + filtered.state[layout.DELAY] - self.stamp
        return Update(stamp, verdict[:6], verdict[6:12], float(verdict[12]), verdict[13:] > 0.0)

    @property
    def estimate(self) -> Estimate:
        """Motion at the stamp of the latest sample, biases and covariances."""
        state, memory = self._filtered.state, self._filtered.memory
        measured, slope, noise = np.zeros(6), np.zeros(6), np.empty(3)
        row, errors = np.empty(report_kernels.REPORT), np.empty((15, 15))
        rate_errors = np.empty((3, 3))
        if not self._stamps.size:
            # At rest, as far as is known: what such an IMU would say.
            measured[3:] = state[layout.RATE_BIAS : layout.RATE_BIAS + 3]
            stamps, values = memory[layout.TIME : layout.TIME + 1], measured[None]
        else:
            stamps, values = self._stamps, self._values
        replay_kernels.look(
            stamps, values, self._arrangement.constants, memory, measured, slope, noise
        )
        report_kernels.report(
            state,
            self._filtered.covariance,
            measured,
            slope[3:],
            noise,
            self._lead,
            self._arrangement.constants,
            row,
            errors,
            rate_errors,
        )
        stamp = float(memory[layout.TIME]) + self._lead - float(state[layout.DELAY])
        return estimate_of(stamp, row, errors, rate_errors)

    def _refuse(self) -> None:
        diagonal = np.diagonal(self._filtered.covariance)
        raise CovarianceError(
            f'the covariance at {self.stamp:.6f} s is not positive definite, even with '
            f'{LAST_JITTER:g} of its diagonal added, which spans {diagonal.min():.3g} to '
            f'{diagonal.max():.3g}'
        )
