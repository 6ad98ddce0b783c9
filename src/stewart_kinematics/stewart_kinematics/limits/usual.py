# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Name the values of a platform that look as if they were in another unit.

What is usual follows from the platform's size, and is wide: radians for degrees, grams for
kilograms or millimetres for metres lead out of it, another kind of machine does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from stewart_kinematics.model.leg_kinds import LINEAR, ROTARY
from stewart_kinematics.model.platform import ANGLES, Platform, RigidBody
from stewart_kinematics.model.ring_dimensions import USUAL_SIZE
from stewart_kinematics.motion import Array

QUICKEST, SLOWEST = 0.05, 1000.0  # time in which a platform passes its whole travel [s]
STEEL, ALUMINIUM = 8000.0, 2700.0  # densities [kg/m³]
FOIL = 1e-4  # no platform is thinner [m]
THICKNESS = 0.2  # of a leg, over its length [-]
FAR = 3.0  # where something that a platform carries may lie, in radii of its joints [-]
TELESCOPE = 3.0  # greatest stroke, over the retracted length [-]
STRONGEST_GRAVITY = 30.0  # [m/s²]
# Radians have no more than these numbers, which are few degrees.
RIGHT_ANGLE, OF_A_PAIR = np.pi / 2.0, np.pi / 1.5
SAME = 1e-6  # distance of joints that are one, in radii [-]


class Value(NamedTuple):
    """A value with its unit, and the bounds that it usually keeps."""

    key: str
    value: float
    lower: float
    upper: float
    unit: str


def unusual(platform: Platform) -> list[str]:
    """Say in a sentence for each value that is outside of its usual bounds."""
    size = platform.geometry.length_scale
    return [
        f'{key} is {value:.4g} {unit}, usual are {lower:.3g} to {upper:.3g} {unit} where the '
        f'platform joints lie on a circle of {size:.3g} m: is it in {unit}?'
        for group in (_lengths, _angles, _rates, _masses)
        for key, value, lower, upper, unit in group(platform)
        if not lower <= value <= upper
    ]


def _lengths(platform: Platform) -> Iterator[Value]:
    """Yield lengths [m]."""
    geometry, size = platform.geometry, platform.geometry.length_scale
    yield Value('the radius of platform_joints', size, *USUAL_SIZE, 'm')
    if platform.kind is LINEAR:
        stroke = float(np.abs(platform.limits.stroke).max())
        longest = TELESCOPE * float(geometry.retracted_length.max())
        yield Value('the end of legs.stroke_m', stroke, 0.0, longest, 'm')
    if platform.imu is not None:
        place = float(np.linalg.norm(platform.imu.position))
        yield Value('the length of imu.position_m', place, 0.0, FAR * size, 'm')


def _angles(platform: Platform) -> Iterator[Value]:
    """Yield angles [deg]."""
    limits, geometry = platform.limits, platform.geometry
    base = geometry.base_joints if geometry.rods is None else geometry.rods.origins
    for ring, joints in (('base_joints', base), ('platform_joints', geometry.platform_joints)):
        key = f'the angle between neighbours of {ring}'
        yield Value(key, _nearest(joints), OF_A_PAIR, 120.0, 'deg')
    single = {
        f'legs.{name}_deg': getattr(limits, name)
        for name in ('base_joint_angle', 'platform_joint_angle', 'pressure_angle')
        if np.isfinite(getattr(limits, name))
    }
    # Of a range the half counts.
    single |= {
        f'half the range of limits.{name}_deg': 0.5 * np.ptp(getattr(limits, name))
        for name in ANGLES
    }
    if platform.kind is ROTARY:
        single['half the range of legs.angle_deg'] = 0.5 * np.ptp(limits.stroke, axis=1).min()
    for key, angle in single.items():
        yield Value(key, float(np.degrees(angle)), RIGHT_ANGLE, 360.0, 'deg')


def _nearest(joints: Array) -> float:
    """Return the least angle between two of some joints (6, 3), about, as seen amid them [deg]."""
    offsets = joints - joints.mean(axis=0)
    apart = np.linalg.norm(offsets[:, None] - offsets, axis=2)
    apart /= max(np.sqrt((offsets**2).sum(axis=1).mean()), SAME)
    # Legs may share a joint.
    return float(np.degrees(apart[apart > SAME].min(initial=2.0)))


def _rates(platform: Platform) -> Iterator[Value]:
    """Yield rates and accelerations, bounded by the time that the whole travel takes with them."""
    limits, kind, travel = platform.limits, platform.kind, platform.travel
    own, turn = float(np.ptp(limits.stroke, axis=1).min()), travel / platform.geometry.length_scale
    for key, rate, way, unit in (
        (f'legs.rate_{kind.rate_suffix}', limits.rate, own, kind.unit),
        ('limits.linear_velocity_mps', limits.linear_velocity, travel, 'm'),
        ('limits.angular_velocity_radps', limits.angular_velocity, turn, 'rad'),
    ):
        yield Value(key, rate, way / SLOWEST, way / QUICKEST, f'{unit}/s')
    for key, acceleration, way, unit in (
        (f'legs.acceleration_{kind.rate_suffix}2', limits.acceleration, own, kind.unit),
        ('limits.linear_acceleration_mps2', limits.linear_acceleration, travel, 'm'),
        ('limits.angular_acceleration_radps2', limits.angular_acceleration, turn, 'rad'),
    ):
        # Faster and faster over one half of the way, slower and slower over the other.
        bounds = 4.0 * way / SLOWEST**2, 4.0 * way / QUICKEST**2
        yield Value(key, acceleration, *bounds, f'{unit}/s2')


def _masses(platform: Platform) -> Iterator[Value]:
    """Yield masses [kg], centres of mass [m] and radii of gyration [m]; massless bodies pass."""
    yield Value('gravity', float(np.linalg.norm(platform.gravity)), 0.0, STRONGEST_GRAVITY, 'm/s2')
    masses, geometry = platform.masses, platform.geometry
    if masses is None:
        return
    size = geometry.length_scale
    if geometry.rods is None:
        leg = float((geometry.retracted_length + platform.limits.stroke[:, 1]).max())
    else:
        leg = float(geometry.rods.lengths.max())
    ball, foil = STEEL * 4.0 / 3.0 * np.pi * size**3, ALUMINIUM * FOIL * np.pi * size**2
    bar = STEEL * np.pi / 4.0 * (THICKNESS * leg) ** 2 * leg
    carried, moved = (foil, ball, FAR * size), (0.0, bar, leg)
    for name, (lightest, heaviest, far) in {
        'platform': carried,
        'payload': (0.0, *carried[1:]),
        'cylinder': moved,
        'rod': moved,
        'crank': moved,
    }.items():
        body: RigidBody | None = getattr(masses, name)
        if body is None or body.mass == 0.0:
            continue
        key = f'masses.{name}'
        yield Value(f'{key}.mass_kg', body.mass, lightest, heaviest, 'kg')
        centre = float(np.linalg.norm(body.centre_of_mass))
        yield Value(f'the length of {key}.centre_of_mass_m', centre, 0.0, far, 'm')
        gyration = float(np.sqrt(np.abs(body.inertia).max() / body.mass))
        yield Value(f'the radius of gyration by {key}.inertia_kgm2', gyration, 0.0, far, 'm')
    yield Value('masses.carriage_kg', masses.carriage, 0.0, bar, 'kg')
