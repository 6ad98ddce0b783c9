# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a platform is: geometry, limits, masses and sensor, as a YAML file says them."""

from __future__ import annotations

from dataclasses import dataclass, field
import math
import os
from types import MappingProxyType
from typing import Any

import numpy as np
from stewart_description import platform_path, UnknownPlatformError
from stewart_description.suggestion import meant
from stewart_kinematics.errors import ConfigurationError, GeometryError
from stewart_kinematics.model.geometry import Geometry, X_AXES
from stewart_kinematics.model.leg_kinds import LegKind, LINEAR, ROTARY, SLIDING
from stewart_kinematics.model.rods import geometry_of, kind_of, POSITION_KEYS, ROD_KEYS
from stewart_kinematics.model.schema import read_yaml, Section
from stewart_kinematics.motion import Array, Pose, read_only

STANDARD_GRAVITY = (0.0, 0.0, -9.80665)
"""Gravity in ``base_link`` axes where a file does not say it [m/s²]."""

ROUNDING = 1e-6
"""Relative slack of inertias that were rounded for print: of a thin plate, Ixx + Iyy = Izz."""

AXES_KEY = 'base_joint_axis_direction'
"""Key of the fixed axes of the base's universal joints, under ``legs``."""

LEAST_LEAN = np.radians(5.0)
"""Between the fixed axis of a base joint and its leg at the neutral pose [rad]."""


ANGLES = ('roll', 'pitch', 'yaw')
MAGNITUDES = {
    f'{kind}_{name}': f'{kind}_{name}_{unit}ps{power}'
    for kind, unit in (('linear', 'm'), ('angular', 'rad'))
    for name, power in (('velocity', ''), ('acceleration', '2'), ('jerk', '3'))
}
"""Limits of the platform's motion, and their keys under ``limits``."""


@dataclass(frozen=True, eq=False)
class Limits:
    """What the platform may do.

    Attributes:
        stroke (6, 2): Lower and upper position of each leg's joint: stroke or carriage [m], crank
            angle [rad].
        rate, acceleration: Greatest rate and acceleration of a leg's joint, per s and s².
        base_joint_angle, platform_joint_angle: Greatest angle between a leg and its direction at
            the neutral pose, seen in the base and in the platform [rad].
        leg_distance: Least distance between the axes of two legs [m]; 0: any.
        roll, pitch, yaw (2,): Lower and upper angle, a turn apart at most [rad]; about a neutral
            attitude near ±π one of them is beyond that.
        condition_number: Greatest condition number of the Jacobian, moments divided by the length
            scale.
        linear_velocity, linear_acceleration, linear_jerk: Greatest magnitudes for the platform's
            origin [m/s], [m/s²], [m/s³].
        angular_velocity, angular_acceleration, angular_jerk: Greatest magnitudes for the platform
            [rad/s], [rad/s²], [rad/s³].
        pressure_angle: Greatest angle between a rod and the way of its joint, 90° at a dead centre
            [rad]; infinite for linear legs, which have none.
    """

    stroke: Array
    rate: float
    acceleration: float
    base_joint_angle: float
    platform_joint_angle: float
    leg_distance: float
    roll: Array
    pitch: Array
    yaw: Array
    condition_number: float
    linear_velocity: float
    linear_acceleration: float
    linear_jerk: float
    angular_velocity: float
    angular_acceleration: float
    angular_jerk: float
    pressure_angle: float = math.inf

    @property
    def velocities(self) -> Array:
        """Linear and angular velocity (2,) [m/s, rad/s]."""
        return np.array([self.linear_velocity, self.angular_velocity])

    @property
    def accelerations(self) -> Array:
        """Linear and angular acceleration (2,) [m/s², rad/s²]."""
        return np.array([self.linear_acceleration, self.angular_acceleration])

    @property
    def jerks(self) -> Array:
        """Linear and angular jerk (2,) [m/s³, rad/s³]."""
        return np.array([self.linear_jerk, self.angular_jerk])

    @property
    def angles(self) -> Array:
        """Intervals of roll, pitch and yaw (3, 2) [rad]."""
        return np.stack([self.roll, self.pitch, self.yaw])

    def nearest_turn(self, rpy: Array) -> Array:
        """Return roll, pitch, yaw (..., 3), each with the whole turns nearest to its interval.

        An attitude tells angles from -π to π, and the interval of a platform that hangs with a
        roll of π reaches beyond.
        """
        turn = 2.0 * np.pi
        return np.asarray(rpy + turn * np.round((self.angles.mean(axis=1) - rpy) / turn))

    @classmethod
    def from_section(cls, section: Section) -> Limits:
        """Make the limits from the top level of a platform file."""
        legs, limits = section.section('legs'), section.section('limits')
        kind = kind_of(section)
        pressure_angle, known = math.inf, ['retracted_length_m', AXES_KEY, 'kind']
        if kind is not LINEAR:
            pressure_angle = _angle(legs, 'pressure_angle_deg')
            known = ['rod_length_m', 'branch', 'kind', *ROD_KEYS[kind.name]]
            known += [AXES_KEY] if kind is SLIDING else []
        else:
            legs.per_leg('retracted_length_m')
        motion: dict[str, Any] = {name: _range(limits, f'{name}_deg') for name in ANGLES}
        motion |= {name: limits.positive(key) for name, key in MAGNITUDES.items()}
        result = cls(
            stroke=read_only(np.tile(legs.interval(POSITION_KEYS[kind.name]), (6, 1))),
            rate=legs.positive(f'rate_{kind.rate_suffix}'),
            acceleration=legs.positive(f'acceleration_{kind.rate_suffix}2'),
            base_joint_angle=_angle(legs, 'base_joint_angle_deg'),
            platform_joint_angle=_angle(legs, 'platform_joint_angle_deg'),
            leg_distance=legs.number('distance_m', 0.0),
            condition_number=limits.number('condition_number', 1.0),
            pressure_angle=pressure_angle,
            **motion,
        )
        legs.finish(optional=known)
        limits.finish()
        return result


@dataclass(frozen=True, eq=False)
class RigidBody:
    """Inertial parameters of one body.

    Attributes:
        mass: [kg]; zero for a massless body.
        centre_of_mass (3,): In the body's frame [m].
        inertia (3, 3): About the centre of mass, in the axes of the body's frame [kg m²].
    """

    mass: float
    centre_of_mass: Array
    inertia: Array

    @classmethod
    def from_section(cls, section: Section) -> RigidBody:
        """Make the body from a mapping of a platform file."""
        body = cls(
            mass=section.number('mass_kg', 0.0),
            centre_of_mass=section.vector('centre_of_mass_m', 3),
            inertia=_inertia(section),
        )
        section.finish()
        return body

    def joined(self, other: RigidBody) -> RigidBody:
        """Return this body and `other`, given in the same frame, as one."""
        mass = self.mass + other.mass
        if mass == 0.0:
            return RigidBody(0.0, self.centre_of_mass, read_only(self.inertia + other.inertia))
        centre = (self.mass * self.centre_of_mass + other.mass * other.centre_of_mass) / mass
        inertia = np.zeros((3, 3))
        for body in (self, other):
            d = body.centre_of_mass - centre
            inertia += body.inertia + body.mass * (d @ d * np.eye(3) - np.outer(d, d))
        return RigidBody(mass, read_only(centre), read_only(inertia))


NO_BODY = RigidBody(0.0, read_only(np.zeros(3)), read_only(np.zeros((3, 3))))
"""What stands for a body that a family of legs does not have."""


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Masses of a platform and the gravity they feel.

    Attributes:
        gravity (3,): In ``base_link`` axes [m/s²].
        platform: In ``platform_link``, without the payload.
        cylinder: In the leg frame, from the base joint.
        rod: In the leg frame, from the platform joint.
        payload: In ``platform_link``.
        crank: Of rotary legs, with what turns with it: from the crank's centre, x along its axis,
            y towards the rod.
        carriage: Mass of what slides with a sliding leg [kg].
    """

    gravity: Array
    platform: RigidBody
    cylinder: RigidBody
    rod: RigidBody
    payload: RigidBody | None
    crank: RigidBody | None = None
    carriage: float = 0.0


@dataclass(frozen=True, eq=False)
class Platform:
    """One type of platform.

    Attributes:
        name, title: Short and long name.
        geometry: Where its joints are.
        limits: What it may do.
        masses: None where they are unknown: dynamics is refused then.
        imu: ``imu_link`` in ``platform_link``; None where there is no sensor.
        sources: Where the numbers come from, by key path or a prefix of one.
        gravity (3,): In ``base_link`` axes, known even where the masses are not [m/s²].
        base_joint_axes (6, 3): Unit vector of the axis of each base joint, a universal joint, that
            is fixed in ``base_link``. The leg frame's y axis is normal to it and to the leg.
    """

    name: str
    title: str
    geometry: Geometry
    limits: Limits
    masses: MassProperties | None
    imu: Pose | None
    sources: MappingProxyType[str, str]
    gravity: Array = field(default_factory=lambda: read_only(STANDARD_GRAVITY))
    base_joint_axes: Array = field(default_factory=lambda: X_AXES)

    def __post_init__(self) -> None:
        """Feel the gravity of the masses, where there are any."""
        if self.masses is not None:
            object.__setattr__(self, 'gravity', self.masses.gravity)

    @property
    def kind(self) -> LegKind:
        """Family of the legs."""
        rods = self.geometry.rods
        return LINEAR if rods is None else rods.kind

    @property
    def travel(self) -> float:
        """Shortest way that a leg's joint has from end to end, of a crank along its arc [m]."""
        rods, ranges = self.geometry.rods, np.ptp(self.limits.stroke, axis=1)
        return float(ranges.min() if rods is None else (ranges * rods.radii).min())

    @classmethod
    def from_yaml(cls, name_or_path: str | os.PathLike[str]) -> Platform:
        """Read a stored platform by its name, like ``vigo``, or a YAML file.

        Raises:
            ConfigurationError: If the name is unknown, or a key is wrong, missing or unknown.
            GeometryError: If the joints do not make a usable platform.
            OSError: If the file cannot be read.
        """
        try:
            path = platform_path(name_or_path)
        except UnknownPlatformError as error:
            known = f'one of {", ".join(error.known)} or the path of a .yaml file'
            expected = known + meant(error.name, error.known)
            raise ConfigurationError('platform', error.name, expected) from error
        section = read_yaml(path)
        try:
            return cls.from_section(section)
        except ConfigurationError as error:
            raise ConfigurationError(error.key, error.value, error.expected, str(path)) from error
        except GeometryError as error:
            raise GeometryError(f'{path}: {error}') from error

    @classmethod
    def from_section(cls, section: Section) -> Platform:
        """Make the platform from the top level of its file."""
        gravity, masses = _masses(section, kind_of(section))
        legs = section.section('legs')
        platform = cls(
            name=section.text('name'),
            title=section.text('title'),
            limits=Limits.from_section(section),
            geometry=geometry_of(section),
            masses=masses,
            gravity=gravity,
            imu=section.pose('imu') if section.has('imu') else None,
            sources=_sources(section),
            base_joint_axes=legs.directions(AXES_KEY) if legs.has(AXES_KEY) else X_AXES,
        )
        section.finish(optional=('masses', 'imu', 'identification', 'calibration'))
        platform._refuse_turning_legs(legs)
        return platform

    def _refuse_turning_legs(self, legs: Section) -> None:
        """Refuse a fixed axis along its leg: the leg would turn about itself, and not be held."""
        if self.kind is ROTARY:
            return
        begin, end = self.geometry.leg_ends(self.geometry.neutral_pose)
        along = end - begin
        away = np.linalg.norm(np.cross(self.base_joint_axes, along), axis=1)
        lean = np.arcsin(np.minimum(1.0, away / np.linalg.norm(along, axis=1)))
        leg = int(np.argmin(lean))
        if lean[leg] < LEAST_LEAN:
            expected = (
                f'at least {np.degrees(LEAST_LEAN):g}° from the leg at the neutral pose, as of '
                f'leg {leg + 1} it is not'
            )
            raise ConfigurationError(
                legs.path(AXES_KEY), self.base_joint_axes[leg].round(6).tolist(), expected
            )


def _angle(section: Section, key: str) -> float:
    """Read a joint's range, an angle above 0 and at most 90 degrees."""
    section.number(key, 0.0, 90.0)
    return section.positive(key)


def _range(section: Section, key: str) -> Array:
    """Read an interval of angles within ±360 degrees, of a turn at most."""
    value = section.interval(key)
    if np.any(np.abs(value) > 2.0 * np.pi) or np.ptp(value) > 2.0 * np.pi * (1.0 + 1e-9):
        expected = 'within ±360, at most 360 apart'
        raise ConfigurationError(section.path(key), np.degrees(value).tolist(), expected)
    return value


def _inertia(section: Section) -> Array:
    """Read a diagonal or a full inertia and refuse one that no body can have."""
    key, value = 'inertia_kgm2', section.value('inertia_kgm2', 'three numbers or 3x3')
    nested = isinstance(value, list) and any(isinstance(row, list) for row in value)
    inertia = section.rows(key, 3, 3) if nested else read_only(np.diag(section.vector(key, 3)))
    if not np.allclose(inertia, inertia.T, rtol=1e-9, atol=0.0):
        raise ConfigurationError(section.path(key), value, 'a symmetric matrix')
    fault = inertia_fault(inertia)
    if fault:
        raise ConfigurationError(section.path(key), value, f'an inertia of a body; {fault}')
    return inertia


def inertia_fault(inertia: Array) -> str:
    """Say why no body can have a symmetric inertia (3, 3) about its centre of mass [kg m²].

    The sentence has the eigenvalue concerned; it is empty if nothing is wrong.
    """
    moments = np.linalg.eigvalsh(inertia)
    slack = ROUNDING * float(np.abs(moments).max())
    if moments[0] < -slack:
        return f'it is not positive definite, eigenvalue {moments[0]:.6g} kg m²'
    others = moments[0] + moments[1]
    if moments[2] > others + slack:
        broken = f'it breaks the triangle inequality, eigenvalue {moments[2]:.6g} kg m² exceeds '
        return f'{broken}the sum of the others, {others:.6g} kg m²'
    return ''


def _masses(section: Section, kind: LegKind) -> tuple[Array, MassProperties | None]:
    """Read the gravity and, where the file has the bodies, their masses."""
    if not section.has('masses'):
        return read_only(STANDARD_GRAVITY), None
    masses = section.section('masses')
    gravity = masses.vector('gravity_mps2', 3)
    if set(masses.names()) <= {'gravity_mps2'}:
        return gravity, None
    of_kind = {LINEAR: ['cylinder', 'rod'], ROTARY: ['crank'], SLIDING: []}[kind]
    payload = ['payload'] if masses.has('payload') else []
    bodies: dict[str, Any] = {'cylinder': NO_BODY, 'rod': NO_BODY, 'payload': None}
    for key in ('platform', *of_kind, *payload):
        bodies[key] = RigidBody.from_section(masses.section(key))
    if kind is SLIDING:
        bodies['carriage'] = masses.number('carriage_kg', 0.0)
    masses.finish()
    return gravity, MassProperties(gravity, **bodies)


def _sources(section: Section) -> MappingProxyType[str, str]:
    """Read where the numbers come from."""
    sources = section.section('sources')
    return MappingProxyType({key: sources.text(key) for key in sources.names()})
