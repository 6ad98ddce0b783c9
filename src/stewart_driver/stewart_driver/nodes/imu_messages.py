# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Frames of the sensor as messages (REP-145)."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from sensor_msgs.msg import (
    FluidPressure,
    Imu,
    MagneticField,
    NavSatFix,
    NavSatStatus,
    Temperature,
)
from stewart_driver.nodes.imu_parameters import ImuParameters
from stewart_driver.witmotion.frames import (
    AccelerationFrame,
    AccuracyFrame,
    AngleFrame,
    AngularVelocityFrame,
    GroundVelocityFrame,
    MagneticFieldFrame,
    PositionFrame,
    PressureFrame,
    QuaternionFrame,
)
from stewart_driver.witmotion.grouping import Sample

# Rounded to 2⁻¹⁵ the norm is within 1e-4 of 1; before its filter has begun a sensor sends zeros.
NORM_TOLERANCE = 0.01
NOT_REPORTED = -1.0


def isotropic(sigma: float) -> list[float]:
    """Return the covariance of three independent values with one standard deviation."""
    return [sigma * sigma if row == column else 0.0 for row in range(3) for column in range(3)]


class ImuMessages:
    """
    Make the messages of a sample.

    There is one message object for each topic, filled anew every time: at 200 Hz making one costs
    more than sending it. Publish what a method returns before calling it again.

    Parameters
    ----------
    parameters : ImuParameters
        Frame, standard deviations and scales.

    """

    def __init__(self, parameters: ImuParameters) -> None:
        """Prepare what never changes."""
        self._parameters = parameters
        self._imu = Imu()
        self._imu.angular_velocity_covariance = isotropic(parameters.angular_velocity_stddev)
        self._imu.linear_acceleration_covariance = isotropic(parameters.linear_acceleration_stddev)
        self._known = isotropic(parameters.orientation_stddev)
        self._unknown = [NOT_REPORTED] + 8 * [0.0]
        self._mag = MagneticField(
            magnetic_field_covariance=isotropic(parameters.magnetic_field_stddev)
        )
        self._temperature = Temperature(variance=parameters.temperature_stddev**2)
        self._pressure = FluidPressure(variance=parameters.pressure_stddev**2)
        self._fix = NavSatFix()
        self._fix.status.service = NavSatStatus.SERVICE_GPS
        for message in (self._imu, self._mag, self._temperature, self._pressure, self._fix):
            message.header.frame_id = parameters.frame_id

    def data(self, sample: Sample, stamp: Time) -> Imu | None:
        """Return specific force, angular velocity and, if the sensor sent one, attitude."""
        force = sample.get(AccelerationFrame)
        rate = sample.get(AngularVelocityFrame)
        if force is None or rate is None:
            return None
        message = self._imu
        message.header.stamp = stamp
        vector = message.linear_acceleration
        vector.x, vector.y, vector.z = force.specific_force
        vector = message.angular_velocity
        vector.x, vector.y, vector.z = rate.angular_velocity
        attitude = attitude_of(sample)
        message.orientation_covariance = self._unknown if attitude is None else self._known
        q = message.orientation
        q.x, q.y, q.z, q.w = attitude or (0.0, 0.0, 0.0, 1.0)
        return message

    def mag(self, sample: Sample, stamp: Time) -> MagneticField | None:
        """Return the magnetic field [T]."""
        frame = sample.get(MagneticFieldFrame)
        if frame is None:
            return None
        message = self._mag
        message.header.stamp = stamp
        field = message.magnetic_field
        scale = self._parameters.tesla_per_count
        field.x, field.y, field.z = (count * scale for count in frame.counts)
        return message

    def temperature(self, sample: Sample, stamp: Time) -> Temperature | None:
        """Return the temperature of the accelerometer [°C]."""
        frame = sample.get(AccelerationFrame)
        if frame is None:
            return None
        message = self._temperature
        message.header.stamp = stamp
        message.temperature = frame.temperature_celsius
        return message

    def pressure(self, sample: Sample, stamp: Time) -> FluidPressure | None:
        """Return the air pressure [Pa]."""
        frame = sample.get(PressureFrame)
        if frame is None:
            return None
        message = self._pressure
        message.header.stamp = stamp
        message.fluid_pressure = frame.pressure
        return message

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


def attitude_of(sample: Sample) -> tuple[float, float, float, float] | None:
    """
    Return the attitude that a sample carries, as a unit quaternion x, y, z, w.

    The quaternion frame if there is one, otherwise the angles; None if there is neither, or only
    the zeros of a filter that has not begun.

    """
    quaternion = sample.get(QuaternionFrame)
    if quaternion is None:
        angle = sample.get(AngleFrame)
        return None if angle is None else angle.quaternion_xyzw
    x, y, z, w = quaternion.quaternion_xyzw
    norm = (x * x + y * y + z * z + w * w) ** 0.5
    if abs(norm - 1.0) > NORM_TOLERANCE:
        return None
    return x / norm, y / norm, z / norm, w / norm
