# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Frames of the sensor as messages (REP-145)."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from sensor_msgs.msg import FluidPressure, Imu, MagneticField, NavSatFix, NavSatStatus, Temperature
from std_msgs.msg import Header
from stewart_driver.nodes.imu_parameters import ImuParameters
from stewart_driver.witmotion.frames import (
    AccelerationFrame,
    AccuracyFrame,
    AngularVelocityFrame,
    GroundVelocityFrame,
    MagneticFieldFrame,
    PositionFrame,
    PressureFrame,
)
from stewart_driver.witmotion.samples import attitude_of, isotropic, Sample, UNKNOWN
from stewart_node_support.codec import Writer


class ImuMessages:
    """Make the messages of a sample.

    `data`, which comes with every sample, returns the bytes of an Imu; the others fill one message
    object per topic anew, so publish what a method returns before calling it again.
    """

    def __init__(self, parameters: ImuParameters) -> None:
        self._parameters = parameters
        self._imu = Writer(
            Imu(
                header=Header(frame_id=parameters.frame_id),
                angular_velocity_covariance=isotropic(parameters.angular_velocity_stddev),
                linear_acceleration_covariance=isotropic(parameters.linear_acceleration_stddev),
            ),
            ('orientation', 'orientation_covariance'),
            'angular_velocity',
            'linear_acceleration',
        )
        self._known = isotropic(parameters.orientation_stddev)
        self._unknown = [0.0, 0.0, 0.0, 1.0, *UNKNOWN]
        self._mag = MagneticField(
            magnetic_field_covariance=isotropic(parameters.magnetic_field_stddev)
        )
        self._temperature = Temperature(variance=parameters.temperature_stddev**2)
        self._pressure = FluidPressure(variance=parameters.pressure_stddev**2)
        self._fix = NavSatFix()
        self._fix.status.service = NavSatStatus.SERVICE_GPS
        for message in (self._mag, self._temperature, self._pressure, self._fix):
            message.header.frame_id = parameters.frame_id

    def data(self, sample: Sample, stamp: int) -> bytes | None:
        """Return specific force, angular velocity and, if the sensor sent one, attitude."""
        force = sample.get(AccelerationFrame)
        rate = sample.get(AngularVelocityFrame)
        if force is None or rate is None:
            return None
        attitude = attitude_of(sample)
        turn = self._unknown if attitude is None else [*attitude, *self._known]
        return self._imu.write(stamp, turn, rate.angular_velocity, force.specific_force)

    def mag(self, sample: Sample, stamp: Time) -> MagneticField | None:
        """Return the magnetic field [T]."""
        frame = sample.get(MagneticFieldFrame)
        if frame is None:
            return None
        field, scale = self._mag.magnetic_field, self._parameters.tesla_per_count
        field.x, field.y, field.z = (count * scale for count in frame.counts)
        self._mag.header.stamp = stamp
        return self._mag

    def temperature(self, sample: Sample, stamp: Time) -> Temperature | None:
        """Return the temperature of the accelerometer [°C]."""
        frame = sample.get(AccelerationFrame)
        if frame is None:
            return None
        self._temperature.header.stamp = stamp
        self._temperature.temperature = frame.temperature_celsius
        return self._temperature

    def pressure(self, sample: Sample, stamp: Time) -> FluidPressure | None:
        """Return the air pressure [Pa]."""
        frame = sample.get(PressureFrame)
        if frame is None:
            return None
        self._pressure.header.stamp = stamp
        self._pressure.fluid_pressure = frame.pressure
        return self._pressure

    def fix(self, sample: Sample, stamp: Time) -> NavSatFix | None:
        """Return the satellite position; the height is above mean sea level, not the ellipsoid."""
        position = sample.get(PositionFrame)
        if position is None:
            return None
        ground, accuracy = sample.get(GroundVelocityFrame), sample.get(AccuracyFrame)
        message = self._fix
        message.header.stamp = stamp
        message.latitude, message.longitude = position.latitude_deg, position.longitude_deg
        message.altitude = ground.height if ground else float('nan')
        if accuracy is None:
            message.status.status = NavSatStatus.STATUS_NO_FIX
            message.position_covariance_type = NavSatFix.COVARIANCE_TYPE_UNKNOWN
            return message
        fixed = accuracy.satellites > 0
        message.status.status = NavSatStatus.STATUS_FIX if fixed else NavSatStatus.STATUS_NO_FIX
        message.position_covariance_type = NavSatFix.COVARIANCE_TYPE_APPROXIMATED
        plane = (self._parameters.range_error * accuracy.horizontal_dilution) ** 2
        height = (self._parameters.range_error * accuracy.vertical_dilution) ** 2
        message.position_covariance = [plane, 0.0, 0.0, 0.0, plane, 0.0, 0.0, 0.0, height]
        return message
