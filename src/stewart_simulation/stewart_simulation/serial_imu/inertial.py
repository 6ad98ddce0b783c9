# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What an inertial sensor would feel: specific force, angular velocity, attitude, surroundings."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin
from typing import NamedTuple, TypeAlias

import numpy as np
from stewart_kinematics.motion import Array, Pose
from stewart_simulation.serial_imu.inertial_kernels import feel

Vector: TypeAlias = 'tuple[float, float, float]'
GRAVITY = 9.80665


class InertialState(NamedTuple):
    """Truth at one instant, in sensor axes where not said otherwise.

    Attributes:
        specific_force: Acceleration minus gravity, +g upwards at rest [m/s²].
        angular_velocity: [rad/s].
        quaternion_xyzw: Attitude, sensor to earth axes (x east or as the base has it, z up).
        magnetic_field: [T].
        temperature_celsius: [°C].
        pressure: [Pa].
        height: Above mean sea level [m].
        latitude_deg, longitude_deg: [°].
    """

    specific_force: Vector = (0.0, 0.0, GRAVITY)
    angular_velocity: Vector = (0.0, 0.0, 0.0)
    quaternion_xyzw: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    magnetic_field: Vector = (20e-6, 0.0, -44e-6)
    temperature_celsius: float = 25.0
    pressure: float = 101_325.0
    height: float = 0.0
    latitude_deg: float = 54.0
    longitude_deg: float = 10.0


FIELD = np.array(InertialState().magnetic_field)
InertialMotion: TypeAlias = Callable[[float], InertialState]


def felt(state: Array, accelerations: Array, mounting: Pose, gravity: Array) -> InertialState:
    """Return what a sensor on a platform feels.

    f = Rᵀ (a + α × r + ω × (ω × r) − g), with r from the platform's origin to the sensor in base
    axes and R taking sensor to base axes.

    Args:
        state (13,): Pose and twist of the platform.
        accelerations (6,): Linear and angular [m/s²], [rad/s²].
        mounting: Pose of the sensor in ``platform_link``.
        gravity (3,): In base axes [m/s²].

    Returns:
        Temperature, pressure, position and magnetic field (in base axes) as by default.
    """
    out = np.empty(13)
    feel(state, accelerations, mounting.position, mounting.quaternion_xyzw, gravity, FIELD, out)
    fx, fy, fz, wx, wy, wz, x, y, z, w, bx, by, bz = out.tolist()
    return InertialState((fx, fy, fz), (wx, wy, wz), (x, y, z, w), (bx, by, bz))


def resting(_: float) -> InertialState:
    """Feel nothing but gravity."""
    return InertialState()


def rocking(amplitude: float = 10.0 * pi / 180.0, period: float = 4.0) -> InertialMotion:
    """Return a motion that rolls about the sensor's x axis, in the earth's magnetic field.

    Args:
        amplitude: Largest roll angle [rad].
        period: [s].
    """
    omega = 2.0 * pi / period

    def at(time: float) -> InertialState:
        roll = amplitude * sin(omega * time)
        x, y, z = FIELD.tolist()
        return InertialState(
            specific_force=(0.0, GRAVITY * sin(roll), GRAVITY * cos(roll)),
            angular_velocity=(amplitude * omega * cos(omega * time), 0.0, 0.0),
            quaternion_xyzw=(sin(roll / 2.0), 0.0, 0.0, cos(roll / 2.0)),
            magnetic_field=(
                x,
                y * cos(roll) + z * sin(roll),
                z * cos(roll) - y * sin(roll),
            ),
        )

    return at
