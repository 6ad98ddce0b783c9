# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Make the description of a platform from what a person measures on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from stewart_kinematics.errors import ConfigurationError, GeometryError
from stewart_kinematics.model.geometry import joints_of, MAX_BEST_CONDITION
from stewart_kinematics.model.schema import Section
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.solvers.jacobian import joint_condition
from stewart_kinematics.spatial import rpy_deg
from stewart_tables.errors import LARGEST

ASSUMED_CONDITION = 4.0
"""A new design may reach this many times the condition number of its neutral pose."""

ALIKE = 15.0
"""Pair angles whose sum is as near to 120° make rings that are almost the same hexagon [deg]."""

USUAL_SIZE = 5e-3, 6.0
"""Radius of joints, and length of a leg, that no other unit is behind [m]."""

SLENDER = 100.0  # legs that are so many times longer than the radius are in another unit [-]

ASSUMED = 'assumption: made by stewart platform new; replace it by what you know'
MEASURED = 'measured'
DEFAULTED = {
    'rate': ('rate_mps',),
    'acceleration': ('acceleration_mps2',),
    'joint_angle': ('base_joint_angle_deg', 'platform_joint_angle_deg'),
    'leg_distance': ('distance_m',),
}
"""Keys below ``legs`` that have a default of our own."""

SIZES = ('base_radius', 'platform_radius', 'retracted_length')
WAYS = ('stroke', 'leg_distance')
HEIGHTS = ('base_height', 'platform_height')
PAIR_ANGLES = ('base_pair_angle', 'platform_pair_angle')


MEASURES = {
    'base_radius': 'radius of the ring through the base joints [m]',
    'platform_radius': 'radius of the ring through the platform joints [m]',
    'base_pair_angle': 'full angle between two neighbouring base joints of a pair [deg]',
    'platform_pair_angle': 'full angle between two neighbouring platform joints of a pair [deg]',
    'retracted_length': 'length of a drawn-in leg, joint to joint [m]',
    'stroke': 'how far a leg extends from there [m]',
    'rate': 'fastest leg [m/s]',
    'acceleration': 'hardest acceleration of a leg [m/s2]',
    'joint_angle': 'how far a joint may lean from its axis [deg]',
    'leg_distance': 'least distance between the centre lines of two legs [m]',
    'base_height': 'height of the base ring above the origin of base_link [m]',
    'platform_height': 'height of the platform ring above the origin of platform_link [m]',
    'turn': 'of both rings about z; at 0, x passes midway between two pairs of the base [deg]',
}
"""What `RingDimensions` has beside a name, in words."""


@dataclass(frozen=True)
class RingDimensions:
    """What a person measures on a platform whose joints lie on two rings: see `MEASURES`."""

    name: str
    base_radius: float
    platform_radius: float
    base_pair_angle: float
    platform_pair_angle: float
    retracted_length: float
    stroke: float
    rate: float = 0.2
    acceleration: float = 2.0
    joint_angle: float = 45.0
    leg_distance: float = 0.05
    base_height: float = 0.0
    platform_height: float = 0.0
    turn: float = 0.0

    def __post_init__(self) -> None:
        for key, value in vars(self).items():
            if key in MEASURES:
                refuse_measure(key, value)
        if not self.name.isidentifier():
            raise ConfigurationError('name', self.name, 'letters, digits and _, no digit first')


def refuse_measure(key: str, value: float) -> None:
    """Refuse a measure of `RingDimensions` that no platform has.

    Raises:
        ConfigurationError: If it is outside of its bounds.
    """
    smallest, largest = USUAL_SIZE
    metres = f'{largest:g} m; lengths are in metres'
    if key in SIZES and not smallest <= value <= largest:
        expected = f'a length from {smallest:g} to {metres}'
    elif key in WAYS and not 0.0 < value <= largest:
        expected = f'a length above 0 and up to {metres}'
    elif key in HEIGHTS and not abs(value) <= largest:
        expected = f'a length from {-largest:g} to {metres}'
    elif key in PAIR_ANGLES and not 0.0 < value < 120.0:
        expected = 'an angle above 0 and below 120 deg'
    elif key == 'turn' and not abs(value) <= 360.0:
        expected = 'an angle from -360 to 360 deg'
    elif key in DEFAULTED and not 0.0 < value <= LARGEST:
        expected = f'a positive number up to {LARGEST:g}'
    else:
        return
    raise ConfigurationError(key, value, expected)


def document(rings: RingDimensions) -> dict[str, Any]:
    """Return the content of a platform's YAML file, to be read by ``Platform.from_section``.

    The neutral pose is the one in which every leg stands half way out; a short ring of pairs over
    a long one, turned by 60°, is what nearly every hexapod is.

    Raises:
        ConfigurationError: If the legs are too short to hold the platform above its base.
        GeometryError: If the platform is singular at its neutral pose, or nearly so.
    """
    moving_pair_angle = 120.0 - rings.platform_pair_angle
    joints = {
        'base_joints': _ring(
            rings.base_radius, rings.base_pair_angle, rings.base_height, rings.turn
        ),
        'platform_joints': _ring(
            rings.platform_radius, moving_pair_angle, rings.platform_height, rings.turn
        ),
    }
    base, moving = (joints_of(Section(joints, ''), key) for key in joints)
    half = rings.retracted_length + 0.5 * rings.stroke
    zero, neutral = (_height(base, moving, length) for length in (rings.retracted_length, half))
    condition = _condition(rings, base, moving, neutral)
    return {
        'name': rings.name,
        'title': rings.name.replace('_', ' '),
        **joints,
        'pairing': [1, 2, 3, 4, 5, 6],
        'zero_pose': _level(zero),
        'neutral_pose': _level(neutral),
        'legs': {
            'retracted_length_m': rings.retracted_length,
            'stroke_m': [0.0, rings.stroke],
            **{key: getattr(rings, name) for name, keys in DEFAULTED.items() for key in keys},
        },
        'limits': assumed_limits(
            rings.rate,
            rings.acceleration,
            rings.platform_radius,
            ASSUMED_CONDITION * condition,
            Pose.from_rpy([0.0, 0.0, neutral], (0.0, 0.0, 0.0)),
        ),
        'sources': {
            'base_joints': MEASURED,
            'platform_joints': f'{MEASURED}; a pair of {rings.platform_pair_angle:g} deg holds '
            f'legs 2 and 3, so that legs 1 and 2 are {moving_pair_angle:g} deg apart',
            'pairing': 'assumption: leg i joins the points i of both rings',
            'zero_pose': 'computed: every leg retracted',
            'neutral_pose': 'computed: every leg half way out',
            'legs': MEASURED,
            **{
                f'legs.{key}': ASSUMED
                for name, keys in DEFAULTED.items()
                if getattr(rings, name) == getattr(RingDimensions, name)
                for key in keys
            },
            'limits': ASSUMED,
        },
    }


def _ring(radius: float, pair_angle: float, height: float, turn: float) -> dict[str, Any]:
    """Return six joints on a ring [m], [deg]."""
    plane = {'height_m': height, 'offset_deg': turn}
    return {'ring': {'radius_m': radius, 'pair_angle_deg': pair_angle, **plane}}


def _level(height: float) -> dict[str, Any]:
    """Return a pose above the middle of the base [m]."""
    return {'position_m': [0.0, 0.0, height], 'rpy_deg': [0.0, 0.0, 0.0]}


def assumed_limits(
    rate: float, acceleration: float, radius: float, condition: float, neutral: Pose
) -> dict[str, Any]:
    """Return the section ``limits`` that a platform of this size and these legs is likely to have.

    Rate [m/s] and acceleration [m/s²] are of a leg, the radius [m] of the platform's joints. The
    angles lie about those of the neutral pose.
    """
    angles = zip(('roll', 'pitch', 'yaw'), rpy_deg(neutral), (30.0, 30.0, 40.0), strict=True)
    return {
        **{
            f'{name}_deg': [round(middle, 1) - half, round(middle, 1) + half]
            for name, middle, half in angles
        },
        'condition_number': round(condition, 1),
        'linear_velocity_mps': rate,
        'linear_acceleration_mps2': acceleration,
        'linear_jerk_mps3': 10.0 * acceleration,
        'angular_velocity_radps': rate / radius,
        'angular_acceleration_radps2': acceleration / radius,
        'angular_jerk_radps3': 10.0 * acceleration / radius,
    }


def _height(base: Array, moving: Array, length: float) -> float:
    """Return the height at which all legs of the level platform have a length [m]."""
    away = base[0] - moving[0]
    across = float(np.linalg.norm(away[:2]))
    if length <= across:
        expected = f"more than {across:.4g} m, the horizontal distance of a leg's joints"
        raise ConfigurationError('retracted_length', length, expected)
    return float(np.sqrt(length**2 - across**2) + away[2])


def _condition(rings: RingDimensions, base: Array, moving: Array, height: float) -> float:
    """Return the condition number of the level platform, moments divided by its radius.

    Joints that do not hold it are refused; the message says what to change.
    """
    position, level = np.array([[0.0, 0.0, height]]), np.array([[0.0, 0.0, 0.0, 1.0]])
    condition = float(joint_condition(base, moving, rings.platform_radius, position, level)[0])
    if condition <= MAX_BEST_CONDITION:
        return condition
    total = rings.base_pair_angle + rings.platform_pair_angle
    remedy = 'the legs are too flat, or too long for the rings: change lengths or radii'
    if max(rings.retracted_length, rings.stroke) > SLENDER * rings.platform_radius:
        remedy += '; are all lengths in metres?'
    if abs(total - 120.0) < ALIKE:
        remedy = (
            f'the pair angles add up to {total:g} deg, and near 120 deg both rings are the same '
            'hexagon (a regular one at 60 and 60 deg): take other angles, as 20 and 20 deg'
        )
    raise GeometryError(
        f'this design is singular at its neutral pose: its condition number there is '
        f'{condition:.3g}, allowed are {MAX_BEST_CONDITION:g}; {remedy}'
    )
