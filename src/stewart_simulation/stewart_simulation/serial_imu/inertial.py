# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What an inertial sensor would feel: specific force, angular velocity, attitude, surroundings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi, sin
from typing import TypeAlias

import numpy as np
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.spatial.rotations import compose_quaternions, matrix_from_quaternion

Vector: TypeAlias = 'tuple[float, float, float]'
GRAVITY = 9.80665


@dataclass(frozen=True)
class InertialState:
    """
    Truth at one instant, in sensor axes where not said otherwise.

    Attributes
    ----------
    specific_force : tuple of float
        Acceleration minus gravity, +g upwards at rest [m/s²].
    angular_velocity : tuple of float
        [rad/s].
    quaternion_xyzw : tuple of float
        Attitude, sensor to earth axes (x east or as the base has it, z up).
    magnetic_field : tuple of float
        [T].
    temperature_celsius : float
        [°C].
    pressure : float
        [Pa].
    height : float
        Above mean sea level [m].
    latitude_deg, longitude_deg : float
        [°].

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


InertialMotion: TypeAlias = Callable[[float], InertialState]


def felt(motion: Motion, mounting: Pose, gravity: Array | None = None) -> InertialState:
    """
    Return what a sensor on a platform feels.

    f = Rᵀ (a + α × r + ω × (ω × r) − g), with r from the platform's origin to the sensor in base
    axes and R taking sensor to base axes.

    Parameters
    ----------
    motion : Motion
        A single sample.
    mounting : Pose
        Pose of the sensor in ``platform_link``.
    gravity : ndarray, shape (3,), optional
        In base axes [m/s²]; default downwards along z.

    Returns
    -------
    InertialState
        Temperature, pressure, position and magnetic field (in base axes) as by default.

    """
    down = np.array([0.0, 0.0, -GRAVITY]) if gravity is None else gravity
    attitude = compose_quaternions(motion.quaternion_xyzw, mounting.quaternion_xyzw)
    to_sensor = matrix_from_quaternion(attitude).T
    arm = matrix_from_quaternion(motion.quaternion_xyzw) @ mounting.position
    omega, alpha = motion.angular_velocity, motion.angular_acceleration
    acceleration = (
        motion.linear_acceleration + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
    )
    return InertialState(
        specific_force=triple(to_sensor @ (acceleration - down)),
        angular_velocity=triple(to_sensor @ omega),
        quaternion_xyzw=(*triple(attitude[:3]), float(attitude[3])),
        magnetic_field=triple(to_sensor @ np.array(InertialState.magnetic_field)),
    )


def triple(vector: Array) -> Vector:
    """Return three plain numbers."""
    x, y, z = vector
    return float(x), float(y), float(z)


def resting(_: float) -> InertialState:
    """Feel nothing but gravity."""
    return InertialState()


def rocking(amplitude: float = 10.0 * pi / 180.0, period: float = 4.0) -> InertialMotion:
    """
    Return a motion that rolls about the sensor's x axis.

    Parameters
    ----------
    amplitude : float
        Largest roll angle [rad].
    period : float
        [s].

    Returns
    -------
    callable
        Takes a time [s].

    """
    omega = 2.0 * pi / period

    def at(time: float) -> InertialState:
        roll = amplitude * sin(omega * time)
        return InertialState(
            specific_force=(0.0, GRAVITY * sin(roll), GRAVITY * cos(roll)),
            angular_velocity=(amplitude * omega * cos(omega * time), 0.0, 0.0),
            quaternion_xyzw=(sin(roll / 2.0), 0.0, 0.0, cos(roll / 2.0)),
        )

    return at
