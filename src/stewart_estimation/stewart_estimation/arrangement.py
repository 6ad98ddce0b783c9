# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Geometry and settings as the arrays that the kernels take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2
from stewart_estimation import layout
from stewart_estimation.settings import FilterSettings, Gate, Reinitialisation
from stewart_estimation.sigma_points import spread_and_centre
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array, read_only


@dataclass(frozen=True, eq=False)
class Arrangement:
    """What the kernels are given that never changes.

    Attributes:
        geometry: Joints.
        settings: What it was made from.
        base_joints, platform_joints (6, 3): Joints in base axes, and from the IMU in stated sensor
            axes [m].
        constants (layout.CONSTANTS,): Everything else.
        size: Size of the tangent, 15 to 19.
    """

    geometry: Geometry
    settings: FilterSettings
    base_joints: Array
    platform_joints: Array
    constants: Array
    size: int

    @classmethod
    def of(cls, geometry: Geometry, settings: FilterSettings) -> Arrangement:
        """Arrange geometry and settings.

        Args:
            geometry: Joints of the platform.
            settings: What the filter is told.

        Returns:
            Arrays for the kernels.
        """
        constants = np.zeros(layout.CONSTANTS)
        size = _states(constants, settings)
        _noises(constants, settings)
        _refinements(constants, settings)
        mounting = settings.imu.rotation
        constants[layout.ORIGIN : layout.ORIGIN + 3] = -mounting.T @ settings.imu.position
        constants[layout.TO_PLATFORM : layout.TO_PLATFORM + 9] = mounting.ravel()
        inverse = settings.imu.quaternion_xyzw * [-1.0, -1.0, -1.0, 1.0]
        constants[layout.TO_PLATFORM_TURN : layout.TO_PLATFORM_TURN + 4] = inverse
        joints = (geometry.platform_joints - settings.imu.position) @ mounting
        constants[layout.DELAY_ARM] = np.sqrt(np.mean(np.sum(joints**2, axis=1)))
        return cls(
            geometry, settings, geometry.base_joints, read_only(joints), read_only(constants), size
        )


def _states(constants: Array, settings: FilterSettings) -> int:
    """Say which states there are and where the sigma points lie; return the tangent's size."""
    size = layout.TANGENT
    constants[layout.DELAY_AT] = constants[layout.MOUNTING_AT] = -1.0
    constants[layout.DELAY_LOWER], constants[layout.DELAY_UPPER] = -np.inf, np.inf
    delay = settings.delay
    if delay is not None:
        constants[layout.DELAY_AT] = size
        size += 1
        constants[layout.DELAY_WALK] = delay.walk**2
        constants[layout.DELAY_MOVING] = delay.moving
        constants[layout.DELAY_LOWER] = delay.lower
        constants[layout.DELAY_UPPER] = delay.upper
    if settings.misalignment is not None:
        constants[layout.MOUNTING_AT] = size
        size += 3
    constants[layout.SPREAD], constants[layout.CENTRE] = spread_and_centre(size, settings.spread)
    return size


def _noises(constants: Array, settings: FilterSettings) -> None:
    """Write gravity and every variance."""
    imu = settings.imu_noise
    constants[layout.GRAVITY : layout.GRAVITY + 3] = settings.gravity
    constants[layout.IMU_VARIANCE : layout.IMU_VARIANCE + 3] = imu.specific_force**2
    constants[layout.IMU_VARIANCE + 3 : layout.IMU_VARIANCE + 6] = imu.angular_velocity**2
    constants[layout.IMU_PERIOD] = imu.period
    constants[layout.WALK_VARIANCE : layout.WALK_VARIANCE + 3] = imu.accelerometer_walk**2
    constants[layout.WALK_VARIANCE + 3 : layout.WALK_VARIANCE + 6] = imu.gyroscope_walk**2
    constants[layout.LEG_VARIANCE : layout.LEG_VARIANCE + 6] = settings.leg_noise**2
    constants[layout.IMU_TIMEOUT] = settings.imu_timeout
    silent = slice(layout.SILENT_VARIANCE, layout.SILENT_VARIANCE + 3)
    constants[silent] = settings.unmeasured_acceleration**2
    silent = slice(layout.SILENT_VARIANCE + 3, layout.SILENT_VARIANCE + 6)
    constants[silent] = settings.unmeasured_rotation**2


def _refinements(constants: Array, settings: FilterSettings) -> None:
    """Write gate, adaptation and restart; those that are off get what never acts."""
    legs = np.arange(1, 7)
    gate = settings.gate or Gate()
    restart = settings.reinitialisation or Reinitialisation()
    constants[layout.GATE + 1 : layout.GATE + 7] = np.inf
    constants[layout.GATE_LEG] = constants[layout.FROZEN] = np.inf
    if settings.gate is not None:
        constants[layout.GATE + 1 : layout.GATE + 7] = chi2.isf(gate.probability, legs)
        constants[layout.GATE_LEG] = chi2.isf(gate.probability / legs.size, 1)
        constants[layout.FROZEN] = gate.frozen**2
        constants[layout.MOST_DOUBT] = gate.doubt
    constants[layout.DRIFT] = gate.drift if settings.gate is not None else np.inf
    constants[layout.FEWEST_LEGS] = gate.fewest_legs
    constants[layout.RESTART + 1 : layout.RESTART + 7] = chi2.isf(restart.probability, legs)
    if settings.reinitialisation is not None:
        constants[layout.RESTART_AFTER] = restart.after
    for window, band, adaptation in (
        (layout.LEG_WINDOW, layout.LEG_BAND, settings.adaptive_legs),
        (layout.IMU_WINDOW, layout.IMU_BAND, settings.adaptive_imu),
    ):
        if adaptation is not None:
            constants[window], constants[band] = adaptation.window, adaptation.dead_band
