# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the state estimator, and the settings of the filter that they make."""

from __future__ import annotations

from dataclasses import dataclass

from stewart_estimation.machine import Array, Platform
from stewart_estimation.settings import (
    ANGULAR_VELOCITY,
    ExternalPose,
    FilterSettings,
    LENGTH,
    refinements,
    settings_for,
    SPECIFIC_FORCE,
)
from stewart_tables.settings import param

PERIODS, USUAL_PERIOD = 20, 0.005
"""IMU samples whose median distance counts, and what is assumed until then [s]."""


@dataclass(frozen=True)
class EstimatorParameters:
    """Parameters of the state estimator node."""

    platform: str = param('vigo', 'platform by name, or path of its YAML file')
    imu_position: tuple[float, ...] = param(
        (), 'imu_link in platform_link [m]; empty: as the platform has it'
    )
    imu_rpy_deg: tuple[float, ...] = param(
        (), 'roll, pitch, yaw of imu_link in platform_link [deg]; empty: as the platform has it'
    )
    imu_period: float = param(
        0.0,
        'time between IMU samples for which its noise holds [s]; 0: measured in the first '
        f'{PERIODS} of them',
        min=0.0,
        max=1.0,
    )
    specific_force_sigma: float = param(
        0.0,
        'standard deviation of one IMU sample [m/s²]; 0: as the messages say, or '
        f'{SPECIFIC_FORCE:g} where they do not',
        min=0.0,
    )
    angular_velocity_sigma: float = param(
        0.0,
        'standard deviation of one IMU sample [rad/s]; 0: as the messages say, or '
        f'{ANGULAR_VELOCITY:g} where they do not',
        min=0.0,
    )
    leg_sigma: float = param(
        LENGTH, 'standard deviation of one measured length [m]', min=1e-9, max=0.1
    )
    leg_sigmas: tuple[float, ...] = param(
        (), 'the same for each leg [m]; empty: leg_sigma for all six', min=1e-9, max=0.1
    )
    accelerometer_walk: float = param(
        1e-4, 'random walk of the accelerometer bias in a second [m/s²]', min=0.0
    )
    gyroscope_walk: float = param(
        1e-5, 'random walk of the gyroscope bias in a second [rad/s]', min=0.0
    )
    coast: float = param(
        1.0, 'how long the IMU leads on while the legs are silent [s]', min=0.0, max=10.0
    )
    gate: bool = param(True, 'refuse single legs that do not fit')
    restart: bool = param(True, 'begin anew from the legs where nothing fits any more')
    delay: bool = param(False, 'find how late the IMU is, while the platform moves')
    misalignment: bool = param(False, 'find how the IMU is turned against its stated mounting')
    adapt: bool = param(False, 'learn the noise of IMU and legs on the way')
    external_pose: bool = param(
        True, 'use platform/external_pose where it comes, and find how late it is'
    )
    external_delay: float = param(
        0.0, 'first guess of how late the external pose is [s]', min=0.0, max=0.4
    )
    external_position_sigma: float = param(
        1e-3, 'where external poses state no covariance: of the position [m]', min=1e-9
    )
    external_attitude_sigma: float = param(
        2e-3, 'where external poses state no covariance: of the attitude [rad]', min=1e-9
    )
    publish_tf: bool = param(False, 'broadcast base_link to platform_estimate')


def settings_from(
    parameters: EstimatorParameters,
    platform: Platform,
    specific_force: Array | None,
    angular_velocity: Array | None,
    period: float | None = None,
    external: bool = False,
) -> FilterSettings:
    """Return what the filter is told.

    Args:
        parameters, platform: Of the node; gravity, and where the IMU sits.
        specific_force, angular_velocity (3,): Standard deviations that the IMU's messages state
            [m/s²], [rad/s]; a parameter above 0 has the last word.
        period: Measured time between IMU samples [s], where no parameter says it.
        external: Whether external poses come.

    Raises:
        ConfigurationError: If nobody knows where the IMU sits.
    """
    return settings_for(
        platform,
        specific_force=parameters.specific_force_sigma or specific_force,
        angular_velocity=parameters.angular_velocity_sigma or angular_velocity,
        length=parameters.leg_sigmas or parameters.leg_sigma,
        period=parameters.imu_period or period or USUAL_PERIOD,
        accelerometer_walk=parameters.accelerometer_walk,
        gyroscope_walk=parameters.gyroscope_walk,
        external=_external(parameters) if external and parameters.external_pose else None,
        **refinements(parameters),
    )


def _external(parameters: EstimatorParameters) -> ExternalPose:
    """Return what is assumed of external poses."""
    return ExternalPose(
        start=parameters.external_delay,
        position=parameters.external_position_sigma,
        attitude=parameters.external_attitude_sigma,
    )
