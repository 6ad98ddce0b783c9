# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Platforms whose legs are rods of constant length, on cranks or on carriages.

A linear leg has a fixed base joint and a length of its own. Here the position of a leg's joint,
the angle of its crank or the place of its carriage, says where the rod begins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import ConfigurationError, GeometryError, LegFamilyError
from stewart_kinematics.kernels import rods as kernels
from stewart_kinematics.model.geometry import (
    Geometry,
    joints_of,
    MAX_BEST_CONDITION,
    pairing_of,
    spread,
)
from stewart_kinematics.model.leg_kinds import KINDS, LegKind, LINEAR, ROTARY
from stewart_kinematics.model.schema import Section
from stewart_kinematics.motion import Array, Pose, read_only
from stewart_kinematics.solvers.jacobian import conditions_of

POSITION_KEYS = {'linear': 'stroke_m', 'rotary': 'angle_deg', 'sliding': 'position_m'}
"""Key of the range of the joint, below ``legs``."""

ROD_KEYS = {
    'rotary': ('crank_radius_m', 'crank_axis_direction', 'crank_zero_direction'),
    'sliding': ('rail_direction',),
}
"""Keys of what moves the rods, below ``legs``."""

WIDEST_TURN = 350.0
"""Of a crank [deg]. A pose tells its angle up to whole turns: what is left of the turn is the gap
in which the angle jumps. A fast crank passes it between two samples: `MotionGuard` compares the
angles of both."""

SQUARE = 1e-6  # how far a crank's direction at angle 0 may be from square to its axis [rad]


@dataclass(frozen=True, eq=False)
class Rods:
    """Six rods and what moves them.

    Attributes:
        kind: Rotary or sliding.
        table (6, 13): A row a leg, in the places that `kernels.rods` names: centre of the crank,
            or the carriage's rod joint at position 0, and the directions of the motion in
            ``base_link`` [m]; the rod's length [m]; the branch; the middle of the joint's range.
        axes (6, 3): Unit vectors of the cranks' axes, or of the rails, in ``base_link``.
        platform_joints (6, 3): Where the rods end, in ``platform_link``, already paired [m].
    """

    kind: LegKind
    table: Array
    axes: Array
    platform_joints: Array

    @property
    def lengths(self) -> Array:
        """Lengths of the rods (6,) [m]."""
        return self.table[:, kernels.LENGTH]

    @property
    def origins(self) -> Array:
        """Centres of the cranks, or the carriages' rod joints at position 0 (6, 3) [m]."""
        return self.table[:, kernels.ORIGIN : kernels.ORIGIN + 3]

    @property
    def radii(self) -> Array:
        """Way of the rods' lower ends per position (6,): a crank's radius [m], 1 of a carriage."""
        return np.asarray(np.linalg.norm(self.table[:, 3:6], axis=1))

    def begin(self, positions: ArrayLike) -> Array:
        """Return where the rods begin (..., 6, 3) [m] for joint positions (..., 6)."""
        values = np.ascontiguousarray(positions, dtype=np.float64)
        ends = np.empty((values.size // 6, 6, 3))
        kernels.ends(self.table, values.reshape(-1, 6), ends)
        return ends.reshape(*values.shape, 3)

    def begin_at(self, pose: Pose) -> Array:
        """Return where the rods begin (6, 3) at a pose [m]."""
        row = pose.position.reshape(1, 3), pose.quaternion_xyzw.reshape(1, 4)
        return self.begin(self.positions(*row)[0])

    def slopes(self, positions: Array) -> Array:
        """Return the derivatives (..., 6, 3) of `begin` by the positions (..., 6)."""
        first, second = self.table[:, 3:6], self.table[:, 6:9]
        if self.kind is not ROTARY:
            return np.broadcast_to(first, (*positions.shape, 3))
        angles = positions[..., None]
        return np.asarray(np.cos(angles) * second - np.sin(angles) * first)

    def positions(self, position: Array, quaternion_xyzw: Array) -> Array:
        """Return joint positions (n, 6) at n poses; NaN where a rod does not reach."""
        out = np.empty((len(position), 6))
        pose = np.ascontiguousarray(position), np.ascontiguousarray(quaternion_xyzw)
        kernels.positions(self.table, self.platform_joints, *pose, out)
        return out

    def passive_angles(self, position: Array, quaternion_xyzw: Array, fixed: Array) -> Array:
        """Return u and v (n, 6, 2) of the rods' lower joints; see `inverse.passive_angles`."""
        values = self.positions(position, quaternion_xyzw)
        still = np.zeros((len(position), 6))
        lines, _, transmission = self.jacobians(position, quaternion_xyzw, still)
        directions = lines[..., :3] * transmission[..., None]
        x, y = (np.broadcast_to(a, directions.shape) for a in self._frame(values, fixed))
        ahead, left, up = (np.sum(directions * axis, axis=-1) for axis in (x, y, np.cross(x, y)))
        return np.stack([np.arctan2(-left, up), np.arctan2(ahead, np.hypot(left, up))], axis=-1)

    def _frame(self, positions: Array, fixed: Array) -> tuple[Array, Array]:
        """Return the x and y axes of the frames F, (..., 6, 3)."""
        if self.kind is ROTARY:
            arms = self.begin(positions) - self.origins
            return self.axes, arms / np.linalg.norm(arms, axis=-1, keepdims=True)
        level = np.hypot(fixed[:, 0], fixed[:, 1])
        upright = level == 0.0
        level = np.where(upright, 1.0, level)
        cosine, sine = np.where(upright, 1.0, fixed[:, 0] / level), fixed[:, 1] / level
        return fixed, np.stack([-sine, cosine, np.zeros(6)], axis=-1)

    def motion(self, pose: tuple[Array, Array], twist: Array, acceleration: Array) -> Array:
        """Return positions, rates and accelerations (3, n, 6) of the joints for n samples.

        Poses are (n, 3) [m] and (n, 4); twists and accelerations (n, 6).
        """
        out = np.empty((3, len(twist), 6))
        kernels.motion(self.table, self.platform_joints, *pose, twist, acceleration, out)
        return out

    def jacobians(
        self, position: Array, quaternion_xyzw: Array, twist: Array
    ) -> tuple[Array, Array, Array]:
        """Return the Jacobians (n, 6, 6) of the joints, their derivatives, transmissions (n, 6).

        A transmission is what a joint's unit rate gives along the rod [m/rad], [-]; multiplied by
        it, a row is that of the rod's force: its direction and moment.
        """
        count = len(position)
        out, change = np.empty((count, 6, 6)), np.empty((count, 6, 6))
        transmission = np.empty((count, 6))
        joints = self.table, self.platform_joints
        kernels.jacobians(*joints, position, quaternion_xyzw, twist, out, change, transmission)
        return out, change, transmission

    def conditions(self, position: Array, quaternion_xyzw: Array, length_scale: float) -> Array:
        """Return the condition numbers (n,) of the rods' lines, moments in length scales.

        They tell where the rods do not hold the platform; the pressure angle tells where a joint
        does not move its rod.
        """
        still = np.zeros((len(position), 6))
        matrix, _, transmission = self.jacobians(position, quaternion_xyzw, still)
        return conditions_of(matrix * transmission[..., None], length_scale)


class RodGeometry(Geometry):
    """Joints of a platform on rods.

    There are no fixed base joints and no retracted lengths: whatever asks for them is written for
    linear legs, and is refused.

    Raises:
        GeometryError: As `Geometry`, or if a rod does not reach at the neutral pose.
    """

    rods: Rods  # type: ignore[misc]

    def __init__(self, name: str, rods: Rods, zero_pose: Pose, neutral_pose: Pose) -> None:
        own = {'name': name, 'rods': rods, 'platform_joints': rods.platform_joints}
        # A frozen class.
        vars(self).update(own, zero_pose=zero_pose, neutral_pose=neutral_pose)
        self._refuse_singular()

    def __repr__(self) -> str:
        """Say name and kind: the fields of linear legs are not there."""
        return f'RodGeometry({self.name!r}, {self.rods.kind.name})'

    @property
    def base_joints(self) -> Array:
        """Refuse: the joints at the base move."""
        raise LegFamilyError(self.name, self.rods.kind.name)

    @property
    def retracted_length(self) -> Array:
        """Refuse: the rods do not change their length."""
        raise LegFamilyError(self.name, self.rods.kind.name)

    @classmethod
    def from_section(cls, section: Section) -> RodGeometry:
        """Make the geometry from the top level of a platform file."""
        pairing, name = pairing_of(section), section.text('name')
        origins = joints_of(section, 'base_joints')
        platform_joints = joints_of(section, 'platform_joints')[pairing]
        rods = _rods(section.section('legs'), origins, read_only(platform_joints))
        return cls(name, rods, section.pose('zero_pose'), section.pose('neutral_pose'))

    def _refuse_singular(self) -> None:
        """Refuse rods that do not reach at neutral, or are singular at every pose near it."""
        short = np.flatnonzero(~np.isfinite(self.rods.begin_at(self.neutral_pose)).all(axis=1))
        if short.size:
            rod = f'rod {short[0] + 1} of {self.rods.lengths[short[0]]:.6g} m'
            missed = 'does not reach from its joint to the platform at the neutral pose'
            raise GeometryError(f'{self.name}: {rod} {missed}')
        poses = spread(self.neutral_pose, float(self.rods.lengths.mean()))
        conditions = self.rods.conditions(*poses, self.length_scale)
        best = np.nanmin(conditions)
        if not best <= MAX_BEST_CONDITION:
            raise GeometryError(
                f'{self.name}: the rods are singular wherever the platform is: their condition '
                f'number is {conditions[0]:.4g} at the neutral pose and at best {best:.4g} about '
                f'it, allowed are {MAX_BEST_CONDITION:g}; check pairing and directions'
            )


def kind_of(section: Section) -> LegKind:
    """Return the family of the legs of a platform file; linear where it says nothing."""
    legs = section.section('legs')
    if not legs.has('kind'):
        return LINEAR
    expected = f'one of {", ".join(KINDS)}'
    name = legs.value('kind', expected)
    if not isinstance(name, str) or name not in KINDS:
        raise ConfigurationError(legs.path('kind'), name, expected)
    return KINDS[name]


def geometry_of(section: Section) -> Geometry:
    """Make the geometry of any family from the top level of a platform file."""
    family = Geometry if kind_of(section) is LINEAR else RodGeometry
    return family.from_section(section)


def _rods(legs: Section, origins: Array, platform_joints: Array) -> Rods:
    """Read rods and what moves them."""
    kind = KINDS[legs.text('kind')]
    table = np.zeros((6, kernels.COLUMNS))
    table[:, :3] = origins
    if kind is ROTARY:
        axes, zero = (legs.directions(key) for key in ROD_KEYS['rotary'][1:])
        lean = np.abs(np.sum(axes * zero, axis=1))
        if np.any(lean > SQUARE):
            leg = int(np.argmax(lean)) + 1
            expected = f'square to its axis within {SQUARE:g} rad, as of leg {leg} it is not'
            key = 'crank_zero_direction'
            raise ConfigurationError(legs.path(key), zero[leg - 1].tolist(), expected)
        radius = legs.per_leg('crank_radius_m')[:, None]
        second = np.cross(axes, zero)
        second /= np.linalg.norm(second, axis=1, keepdims=True)
        table[:, 3:6], table[:, 6:9] = radius * np.cross(second, axes), radius * second
    else:
        axes = table[:, 3:6] = legs.directions('rail_direction')
    table[:, kernels.LENGTH] = legs.per_leg('rod_length_m')
    table[:, kernels.BRANCH] = _branch(legs)
    table[:, kernels.MIDDLE] = _range(legs, kind).mean()
    table[:, kernels.ROTARY] = kind is ROTARY
    return Rods(kind, read_only(table), read_only(axes), platform_joints)


def _range(legs: Section, kind: LegKind) -> Array:
    """Read the range of the joints [rad], [m]."""
    key = POSITION_KEYS[kind.name]
    ends = legs.interval(key)
    if kind is ROTARY and np.ptp(ends) > np.radians(WIDEST_TURN) * (1.0 + 1e-9):
        expected = (
            f'an interval of at most {WIDEST_TURN:g}, about the angles that the cranks work at: '
            'at its far side the angle jumps by a turn'
        )
        raise ConfigurationError(legs.path(key), np.degrees(ends).round(6).tolist(), expected)
    return ends


def _branch(legs: Section) -> Array:
    """Read which way the rods go: pushed or pulled by a growing joint position."""
    expected = 'push or pull, or six of them'
    value = legs.value('branch', expected)
    words = value if isinstance(value, list) else [value] * 6
    signs = {'push': 1.0, 'pull': -1.0}
    if len(words) != 6 or not all(isinstance(word, str) and word in signs for word in words):
        raise ConfigurationError(legs.path('branch'), value, expected)
    return np.array([signs[word] for word in words])
