# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the imu node; no ROS."""

from __future__ import annotations

from dataclasses import dataclass

from stewart_driver.witmotion.reader import ReaderSettings
from stewart_tables.settings import param, part


@dataclass(frozen=True)
class ImuParameters(ReaderSettings):
    """Parameters of the imu node: of the reader, and of what becomes of its samples."""

    frame_id: str = param('imu_link', 'frame of the sensor')
    latency: float = param(
        0.0, 'from the measurement to the first byte, taken off every stamp [s]', min=0.0, max=1.0
    )
    orientation_stddev: float = param(0.01, 'assumption: 0.6°, all axes [rad]', min=1e-9)
    angular_velocity_stddev: float = param(1e-3, 'assumption: 0.06°/s [rad/s]', min=1e-9)
    linear_acceleration_stddev: float = param(0.02, 'assumption: 2 mg [m/s2]', min=1e-9)
    magnetic_field_stddev: float = param(1e-6, 'assumption [T]', min=1e-12)
    temperature_stddev: float = param(1.0, 'assumption; the die is warmer than the air', min=1e-3)
    pressure_stddev: float = param(10.0, 'assumption: 1 m of height [Pa]', min=1e-3)
    range_error: float = param(
        5.0, 'standard deviation of a satellite fix per unit of dilution [m]', min=1e-3
    )
    tesla_per_count: float = param(
        1e-4 / 12000,
        'step of the magnetometer [T]; default: QMC5883L at 2 G, with which the field in a '
        'captured WTGAHRS2 is 44 uT; other chips differ',
        min=1e-12,
    )
    temperature_period: float = param(1.0, 'shortest time between two temperatures [s]', min=0.0)

    def __post_init__(self) -> None:
        """Leave the checks to the reader's settings, which are made when it is needed."""

    def reader_settings(self) -> ReaderSettings:
        """Return what the reader needs; ConfigurationError if it cannot be done."""
        return part(self, ReaderSettings)
