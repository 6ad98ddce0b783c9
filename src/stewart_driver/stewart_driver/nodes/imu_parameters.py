# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the imu node, and what the reader and the messages get of them."""

from __future__ import annotations

from dataclasses import dataclass

from stewart_driver.witmotion.commands import Algorithm, CONTENT_BITS
from stewart_driver.witmotion.frames import FrameType
from stewart_driver.witmotion.reader import ReaderSettings
from stewart_driver.witmotion.settings import SensorSettings
from stewart_tables.settings import param

CONTENT = tuple(kind.name.lower() for kind in CONTENT_BITS)
ALGORITHMS = tuple(algorithm.name.lower() for algorithm in Algorithm)


@dataclass(frozen=True)
class ImuParameters:
    """Parameters of the imu node."""

    port: str = param('/dev/ttyUSB0', 'serial device, best /dev/serial/by-id/…')
    baud: int = param(115200, 'speed that the sensor shall have [baud]', min=4800, max=921600)
    auto_baud: bool = param(True, 'look for the sensor at all speeds, not at `baud` alone')
    configure: bool = param(True, 'bring the sensor to the settings below; false: write nothing')
    rate: float = param(200.0, 'samples per second [Hz]', min=0.2, max=200.0)
    content: tuple[str, ...] = param(
        ('acceleration', 'angular_velocity', 'quaternion'),
        'frames of a sample; imu/data needs the first two, a fix position and accuracy',
        choices=CONTENT,
    )
    algorithm: str = param(
        'six_axis',
        'yaw from the gyroscope alone, or with the magnetometer, which steel misleads',
        choices=ALGORITHMS,
    )
    bandwidth: float = param(
        98.0,
        "corner of the sensor's low pass, half the rate or less [Hz]: 256, 188, 98, 42, 20, 10, 5",
    )
    gyroscope_range: float = param(2000.0, 'full scale [deg/s]: 250, 500, 1000, 2000')
    accelerometer_range: float = param(16.0, 'full scale [g]: 2, 4, 8, 16')
    save: bool = param(
        False,
        'keep changed settings in the sensor through a loss of power, and restart a sensor that '
        'obeys only then',
    )
    frame_id: str = param('imu_link', 'frame of the sensor')
    latency: float = param(
        0.0, 'from the measurement to the first byte, taken off every stamp [s]', min=0.0, max=1.0
    )
    batch_interval: float = param(
        0.0,
        'pause between two reads; costs age, and stamps where samples get lost; 0.04 saves 3 % of '
        'a core [s]',
        min=0.0,
        max=0.2,
    )
    queue: int = param(400, 'samples kept while the node is busy', min=1)
    silence: float = param(
        1.5, 'time without a frame after which the speed is looked for again [s]', min=0.2
    )
    backoff_min: float = param(0.5, 'shortest wait before another attempt [s]', min=0.05)
    backoff_max: float = param(8.0, 'longest wait before another attempt [s]', min=0.05)
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

    def reader_settings(self) -> ReaderSettings:
        """Return what the reader needs; ConfigurationError if it cannot be done."""
        return ReaderSettings(
            port=self.port,
            sensor=SensorSettings(
                content=tuple(FrameType[name.upper()] for name in self.content),
                rate=self.rate,
                baud=self.baud,
                algorithm=Algorithm[self.algorithm.upper()],
                save=self.save,
                bandwidth=self.bandwidth,
                gyroscope_range=self.gyroscope_range,
                accelerometer_range=self.accelerometer_range,
            ),
            configures=self.configure,
            probes=self.auto_baud,
            queue=self.queue,
            silence=self.silence,
            batch_interval=self.batch_interval,
            backoff=(self.backoff_min, self.backoff_max),
        )
