# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the filter says: the platform's motion, the IMU's biases, and how far to trust it.

All 15 x 15 covariances are of the errors, true minus estimated, in this order:

====== =================== ============================================================
0:3    position            of ``platform_link``'s origin, base axes [m]
3:6    velocity            of the same point, base axes [m/s]
6:9    attitude            rotation vector on the right: R_true = R Exp(.), platform axes [rad]
9:12   accelerometer bias  sensor axes [m/s²]
12:15  gyroscope bias      sensor axes [rad/s]
====== =================== ============================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from stewart_estimation.kernels.records import (
    EXTERNAL,
    FilterState,
    R_ACCELERATION,
    R_DELAY,
    R_DELAY_SIGMA,
    R_FORCE_BIAS,
    R_MOUNTING,
    R_POSITION,
    R_RATE,
    R_RATE_BIAS,
    R_SPIN,
    R_TURN,
    R_VELOCITY,
    Rows,
    Steps,
)
from stewart_kinematics.motion import Array


def _zero() -> Array:
    return np.zeros(3)


@dataclass(frozen=True, eq=False)
class Estimate:
    """State of the platform at one instant, where a filter may begin; at rest unless it is told.

    Attributes:
        stamp: [s].
        position, quaternion_xyzw (3,), (4,): Pose of ``platform_link`` in ``base_link`` [m].
        linear_velocity, angular_velocity (3,): Of ``platform_link``'s origin, in base axes [m/s],
            [rad/s].
        covariance (15, 15): Of position, velocity, attitude and the biases. With the IMU beside
            the origin the velocity is the sensor's less ω x r, so the noise of one gyroscope
            sample is in it.
        accelerometer_bias, gyroscope_bias (3,): In sensor axes [m/s²], [rad/s].
        delay: Age of IMU samples at their stamp [s]; 0 where it is not estimated.
        misalignment (3,): Rotation vector from the real sensor axes to the stated ones [rad].
    """

    stamp: float
    position: Array
    quaternion_xyzw: Array
    covariance: Array
    linear_velocity: Array = field(default_factory=_zero)
    angular_velocity: Array = field(default_factory=_zero)
    accelerometer_bias: Array = field(default_factory=_zero)
    gyroscope_bias: Array = field(default_factory=_zero)
    delay: float = 0.0
    misalignment: Array = field(default_factory=_zero)


class MetPose(NamedTuple):
    """What became of an external pose.

    Attributes:
        used: Whether it passed the gate.
        innovation, sigmas (6,): Measured minus predicted position, base axes, and attitude,
            platform axes, and their predicted standard deviations [m], [rad].
        nis: Normalised innovation squared.
    """

    used: bool
    innovation: Array
    sigmas: Array
    nis: float


class ExternalFit(NamedTuple):
    """How external poses fitted.

    Attributes:
        stamps, used (n,): Stamp of each pose that was met [s], and whether it passed the gate.
        innovations, sigmas (n, 6), nis (n,): As `MetPose` has them.
        delay, delay_sigma: How late they are, and its standard deviation [s].
    """

    stamps: Array
    used: NDArray[np.bool_]
    innovations: Array
    sigmas: Array
    nis: Array
    delay: float
    delay_sigma: float

    @classmethod
    def of(
        cls, setup: np.record, filtered: FilterState, fused: Mapping[float, MetPose]
    ) -> ExternalFit | None:
        """Take it from a filter and what became of each stamp; None without any."""
        if not fused:
            return None
        at, stamps = setup.external_at, sorted(fused)
        met = zip(*(fused[stamp] for stamp in stamps), strict=True)
        used, innovations, sigmas, nis = map(np.array, met)
        sigma = float(np.sqrt(filtered.covariance[at, at]))
        delay = float(filtered.state[EXTERNAL])
        return cls(np.array(stamps), used, innovations, sigmas, nis, delay, sigma)


@dataclass(frozen=True, eq=False)
class EstimateSeries:
    """Estimates at the stamps of n leg samples; fields as in `Estimate`, and how the legs fitted.

    Attributes:
        linear_acceleration (n, 3): Of ``platform_link``'s origin, in base axes [m/s²].
        covariance (n, 15, 15): As `Estimate` has it; no rows where only variances were kept.
        rate_covariance (n, 3, 3): Of the angular velocity, base axes; likewise.
        variances, rate_variances (n, 15), (n, 3): Their diagonals, always there.
        delay_sigma (n,): Standard deviation of the delay [s]; 0 where it is not estimated.
        innovations, sigmas (n, 6): Measured minus predicted lengths and their predicted standard
            deviations [m]; NaN where a leg is missing.
        nis (n,): Normalised innovation squared of the legs used; NaN where none was.
        used (n, 6): False where a leg is missing or refused.
        leg_scale, imu_scale (n, 6): Learnt variances over the stated ones (adaptive); 1 elsewhere.
        restarts: Rows at which the filter was restarted from forward kinematics.
        gaps: Those of them that came after a silence of the sensors, and how long it was [s].
        repairs: How often a covariance had to be made positive definite again.
        steps: What a smoother needs, where asked for.
        external: How external poses fitted, where there were any.
        misalignment_sigma (3,): Of the misalignment at the end [rad], where it is estimated.
    """

    stamps: Array
    position: Array
    quaternion_xyzw: Array
    linear_velocity: Array
    angular_velocity: Array
    linear_acceleration: Array
    accelerometer_bias: Array
    gyroscope_bias: Array
    covariance: Array
    rate_covariance: Array
    variances: Array
    rate_variances: Array
    delay: Array
    delay_sigma: Array
    misalignment: Array
    innovations: Array
    sigmas: Array
    nis: Array
    used: NDArray[np.bool_]
    leg_scale: Array
    imu_scale: Array
    restarts: tuple[int, ...] = ()
    gaps: Mapping[int, float] = field(default_factory=dict)
    repairs: int = 0
    steps: Steps | None = None
    external: ExternalFit | None = None
    misalignment_sigma: Array | None = None

    def __len__(self) -> int:
        return int(self.stamps.size)

    def estimate(self, row: int) -> Estimate:
        """Return one row as an estimate; only where covariances are whole."""
        names = [item.name for item in fields(Estimate) if item.name != 'stamp']
        values = {name: getattr(self, name)[row] for name in names}
        return Estimate(float(self.stamps[row]), **values)


def columns_of(rows: Rows) -> dict[str, Any]:
    """Return the columns of an `EstimateSeries` that reports have, by their names."""
    report, whole = rows.report, rows.errors.shape[1] > 1
    errors, rate_errors = rows.errors, rows.rate_errors
    if whole:
        variances = [np.diagonal(item, axis1=1, axis2=2) for item in (errors, rate_errors)]
    else:
        variances = [errors[:, 0], rate_errors[:, 0]]
        errors, rate_errors = np.empty((0, 15, 15)), np.empty((0, 3, 3))
    return {
        'position': report[:, R_POSITION:R_TURN],
        'quaternion_xyzw': report[:, R_TURN:R_VELOCITY],
        'linear_velocity': report[:, R_VELOCITY:R_RATE],
        'angular_velocity': report[:, R_RATE:R_ACCELERATION],
        'linear_acceleration': report[:, R_ACCELERATION:R_FORCE_BIAS],
        'accelerometer_bias': report[:, R_FORCE_BIAS:R_RATE_BIAS],
        'gyroscope_bias': report[:, R_RATE_BIAS:R_DELAY],
        'delay': report[:, R_DELAY],
        'delay_sigma': report[:, R_DELAY_SIGMA],
        'misalignment': report[:, R_MOUNTING:R_SPIN],
        'covariance': errors,
        'rate_covariance': rate_errors,
        'variances': variances[0],
        'rate_variances': variances[1],
    }
