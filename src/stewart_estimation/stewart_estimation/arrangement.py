# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Geometry and settings as the numbers that the kernels take."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from scipy.special import chdtri
from stewart_estimation.kernels.records import SETUP, TANGENT
from stewart_estimation.settings import FilterSettings, Gate, Reinitialisation
from stewart_kinematics.model.geometry import Geometry

ALPHA, BETA = 0.1, 2.0
"""
Scaled unscented transform of the paper's section 4.4, kappa 0. With beta >= alpha² the predicted
covariance is a sum of squares and cannot lose definiteness.
"""

UNMEASURED = np.repeat([1.0, 0.2, 2.0], 3)
"""
What the platform may do while the IMU is silent: standard deviations [m/s²], [rad/s], [rad/s²].
"""


@dataclass(frozen=True, eq=False)
class Arrangement:
    """What the filter is given that never changes.

    Attributes:
        setup: All of it as the kernels take it.
        size: Size of the tangent, 15 to 20.
    """

    geometry: Geometry
    settings: FilterSettings
    setup: np.record
    size: int

    @classmethod
    def of(cls, geometry: Geometry, settings: FilterSettings) -> Arrangement:
        """Arrange geometry and settings."""
        setup = np.zeros(1, SETUP)[0]
        mounting, place = settings.imu.rotation, settings.imu.position
        joints = (geometry.platform_joints - place) @ mounting
        setup.base_joints, setup.platform_joints = geometry.base_joints, joints
        setup.gravity = settings.gravity
        setup.delay_arm = np.sqrt(np.mean(np.sum(joints**2, axis=1)))
        setup.origin, setup.to_platform = -mounting.T @ place, mounting
        setup.to_platform_turn = settings.imu.quaternion_xyzw * [-1.0, -1.0, -1.0, 1.0]
        size = _states(setup, settings)
        _noises(setup, settings)
        _refinements(setup, settings)
        return cls(geometry, settings, setup, size)


def _states(setup: np.record, settings: FilterSettings) -> int:
    """Say which states there are and where the sigma points lie; return the tangent's size."""
    size, delay = TANGENT, settings.delay
    setup.delay_at = setup.mounting_at = setup.external_at = -1
    setup.delay_lower, setup.delay_upper = -math.inf, math.inf
    if delay is not None:
        setup.delay_at = size
        size += 1
        setup.delay_walk, setup.delay_moving = delay.walk**2, delay.moving
        setup.delay_lower, setup.delay_upper = delay.lower, delay.upper
    if settings.misalignment is not None:
        setup.mounting_at = size
        size += 3
    if settings.external is not None:
        setup.external_at = size
        size += 1
        setup.external_lower = settings.external.lower
        setup.external_upper = settings.external.upper
    setup.spread, setup.centre = ALPHA * math.sqrt(size), BETA - ALPHA**2
    return size


def _noises(setup: np.record, settings: FilterSettings) -> None:
    imu = settings.imu_noise
    setup.imu_variance = np.hstack([imu.specific_force, imu.angular_velocity]) ** 2
    setup.walk_variance = np.hstack([imu.accelerometer_walk, imu.gyroscope_walk]) ** 2
    setup.leg_variance, setup.silent_variance = settings.leg_noise**2, UNMEASURED[:6] ** 2
    setup.imu_period, setup.imu_timeout = imu.period, settings.imu_timeout


def _refinements(setup: np.record, settings: FilterSettings) -> None:
    """Write gate, adaptation and restart; those that are off get what never acts."""
    legs = np.arange(1, 7)
    gate = settings.gate or Gate()
    restart = settings.reinitialisation or Reinitialisation()
    setup.gate[1:] = setup.gate_leg = setup.frozen = setup.drift = math.inf
    if settings.gate is not None:
        setup.gate[1:] = chdtri(legs, gate.probability)
        setup.gate_leg = chdtri(1, gate.probability / legs.size)
        setup.frozen, setup.drift, setup.most_doubt = gate.frozen**2, gate.drift, gate.doubt
    setup.fewest_legs = gate.fewest_legs
    setup.restart[1:] = chdtri(legs, restart.probability)
    if settings.reinitialisation is not None:
        setup.restart_after = restart.after
    if settings.adaptive_legs is not None:
        adaptation = settings.adaptive_legs
        setup.leg_window, setup.leg_band = adaptation.window, adaptation.dead_band
    if settings.adaptive_imu is not None:
        adaptation = settings.adaptive_imu
        setup.imu_window, setup.imu_band = adaptation.window, adaptation.dead_band
