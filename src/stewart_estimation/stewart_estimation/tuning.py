# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How noisy the sensors are, where nobody says it: assumptions, and a look at them at rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from stewart_estimation.series import ImuSeries, LegSeries
from stewart_estimation.settings import FilterSettings, ImuNoise
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array

SPECIFIC_FORCE = 0.02
"""Assumption for a small MEMS sensor: 2 mg, standard deviation of one sample [m/s²]."""

ANGULAR_VELOCITY = 1e-3
"""Assumption for a small MEMS sensor: 0.06 deg/s, standard deviation of one sample [rad/s]."""

LENGTH = 2e-5
"""Assumption for an encoder with its gear: standard deviation of one length [m]."""

LEAST_SAMPLES = 20
"""Fewer samples at rest than this give no standard deviation worth using."""

FINEST = 1e-9
"""Where a sensor does not change at all at rest its last digit hides the noise [SI units]."""


def settings_for(
    platform: Platform,
    *,
    specific_force: ArrayLike | None = None,
    angular_velocity: ArrayLike | None = None,
    length: ArrayLike | None = None,
    period: float = 0.01,
    accelerometer_walk: float = 0.0,
    gyroscope_walk: float = 0.0,
    **options: Any,
) -> FilterSettings:
    """Make settings of what is known, and assumptions for the rest.

    Args:
        platform: Gives the place of its IMU and its gravity.
        specific_force, angular_velocity (3,): Standard deviations of one IMU sample [m/s²],
            [rad/s].
        length (6,): Standard deviations of one length [m].
        period: Time between IMU samples for which the deviations hold [s].
        accelerometer_walk, gyroscope_walk: Random walk of the biases after one second [m/s²],
            [rad/s].
        **options: Refinements, as `FilterSettings` has them.

    Returns:
        The settings.

    Raises:
        ConfigurationError: If the platform has no IMU or a value cannot be used.
    """
    if platform.imu is None:
        raise ConfigurationError(
            'imu', None, f'where the IMU sits on the platform {platform.name}'
        )
    noise = ImuNoise(
        _known(specific_force, SPECIFIC_FORCE),
        _known(angular_velocity, ANGULAR_VELOCITY),
        period,
        _known(accelerometer_walk, 0.0),
        _known(gyroscope_walk, 0.0),
    )
    return FilterSettings(noise, _known(length, LENGTH), platform.imu, platform.gravity, **options)


def noise_at_rest(imu: ImuSeries, legs: LegSeries, seconds: float) -> tuple[Array, Array, Array]:
    """Measure the noise of the sensors while the platform rests.

    Args:
        imu, legs: Samples whose beginning was recorded at rest.
        seconds: Length of that beginning [s].

    Returns:
        specific_force, angular_velocity (3,): Standard deviations [m/s²], [rad/s].
        length (6,): Standard deviations [m].

    Raises:
        ConfigurationError: If the beginning has fewer than `LEAST_SAMPLES` samples of a sensor.
    """
    end = max(imu.stamps[0], legs.stamps[0]) + seconds
    chosen = []
    for name, stamps, values in (
        ('IMU', imu.stamps, np.hstack([imu.specific_forces, imu.angular_velocities])),
        ('legs', legs.stamps, legs.lengths),
    ):
        still = values[stamps <= end]
        if len(still) < LEAST_SAMPLES:
            expected = f'a rest with {LEAST_SAMPLES} samples or more'
            raise ConfigurationError(f'samples of the {name} at rest', len(still), expected)
        chosen.append(np.maximum(np.nanstd(still, axis=0, ddof=1), FINEST))
    return chosen[0][:3], chosen[0][3:], chosen[1]


def _known(value: ArrayLike | None, assumed: float) -> Array:
    """Return what is known, else what is assumed."""
    return np.asarray(assumed if value is None else value, dtype=np.float64)
