# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the joints of a platform are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
import itertools
import math
from typing import ClassVar, TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ConfigurationError, GeometryError, ShapeError
from stewart_kinematics.model.schema import Section
from stewart_kinematics.motion import Array, Pose, read_only
from stewart_kinematics.solvers.jacobian import joint_condition

if TYPE_CHECKING:
    from stewart_kinematics.model.rods import Rods

X_AXES = read_only(np.tile([1.0, 0.0, 0.0], (6, 1)))
"""Fixed axes of the base's universal joints where a file does not say them."""

MAX_BEST_CONDITION = 25.0
"""A platform must reach this condition number somewhere about its neutral pose."""

SPREAD_LENGTH = 0.1  # half-width of the spread of positions, as a part of the mean leg length
SPREAD_ANGLE = math.radians(10.0)  # half-width of the spread of attitudes [rad]


@dataclass(frozen=True, eq=False)
class Geometry:
    """Joints, retracted lengths and the two named poses of a platform with linear legs.

    Attributes:
        rods: None; of other families, see `stewart_kinematics.model.rods`.
        name: Name of the platform.
        base_joints (6, 3): Joint centres B_1 to B_6 in ``base_link`` [m].
        platform_joints (6, 3): Joint centres in ``platform_link``, already paired: row i belongs
            to leg i + 1 [m].
        retracted_length (6,): Joint-to-joint length at stroke zero [m].
        zero_pose: Pose from which the papers count displacements.
        neutral_pose: Pose in the middle of the workspace.

    Raises:
        ShapeError: If a shape differs.
        GeometryError: If a value is not finite, a retracted length is not positive, a leg has no
            length at the neutral pose, or the platform is singular wherever it is.
    """

    rods: ClassVar[Rods | None] = None

    name: str
    base_joints: Array
    platform_joints: Array
    retracted_length: Array
    zero_pose: Pose
    neutral_pose: Pose

    def __post_init__(self) -> None:
        shapes = {'base_joints': (6, 3), 'platform_joints': (6, 3), 'retracted_length': (6,)}
        for key, shape in shapes.items():
            array = read_only(getattr(self, key))
            if array.shape != shape:
                raise ShapeError(key, str(shape), array.shape)
            if not np.all(np.isfinite(array)):
                raise GeometryError(f'{self.name}: {key} must be finite, got {array.tolist()}')
            object.__setattr__(self, key, array)
        if np.any(self.retracted_length <= 0.0):
            lengths = f'got {self.retracted_length.tolist()}'
            raise GeometryError(f'{self.name}: retracted lengths must be above 0 m, {lengths}')
        self._refuse_singular()

    @classmethod
    def from_section(cls, section: Section) -> Geometry:
        """Make the geometry from the top level of a platform file."""
        pairing = pairing_of(section)
        return cls(
            name=section.text('name'),
            base_joints=joints_of(section, 'base_joints'),
            platform_joints=joints_of(section, 'platform_joints')[pairing],
            retracted_length=section.section('legs').per_leg('retracted_length_m'),
            zero_pose=section.pose('zero_pose'),
            neutral_pose=section.pose('neutral_pose'),
        )

    def named_pose(self, name: str) -> Pose:
        """Return the pose called ``zero`` or ``neutral``; any other name is ``base_link``."""
        named = {'zero': self.zero_pose, 'neutral': self.neutral_pose}
        return named.get(name, Pose.identity())

    def leg_ends(self, pose: Pose) -> tuple[Array, Array]:
        """Return where legs or rods begin and end at a pose, (6, 3) each, in ``base_link`` [m]."""
        begin = self.base_joints if self.rods is None else self.rods.begin_at(pose)
        return begin, pose.position + self.platform_joints @ pose.rotation.T

    @cached_property
    def length_scale(self) -> float:
        """Root-mean-square distance of the platform joints from their centroid [m].

        It divides the moments in every condition number, so that these have no unit.
        """
        offsets = self.platform_joints - self.platform_joints.mean(axis=0)
        return float(np.sqrt(np.mean(np.sum(offsets**2, axis=1))))

    def _refuse_singular(self) -> None:
        """Refuse joints that are singular, or all but singular, at every pose near neutral.

        The best pose of a spread decides: an architecturally singular platform has none that is
        good, while a sound platform may well come near a singularity somewhere.
        """
        position, quaternion = spread(self.neutral_pose, self._mean_leg_length())
        joints = self.base_joints, self.platform_joints
        conditions = np.full(len(position), math.inf)
        if self.length_scale > 0.0:
            conditions = joint_condition(*joints, self.length_scale, position, quaternion)
        best = conditions.min()
        if not best <= MAX_BEST_CONDITION:
            raise GeometryError(
                f'{self.name}: the geometry is singular wherever the platform is: its condition '
                f'number is {conditions[0]:.4g} at the neutral pose and at best {best:.4g} over '
                f'{len(position)} poses about it (moments divided by the length scale '
                f'{self.length_scale:.6g} m), allowed are {MAX_BEST_CONDITION:g}; check pairing, '
                'offsets and the neutral pose'
            )

    def _mean_leg_length(self) -> float:
        begin, end = self.leg_ends(self.neutral_pose)
        lengths = np.linalg.norm(end - begin, axis=1)
        if np.any(lengths <= 0.0):
            leg = int(np.argmin(lengths)) + 1
            raise GeometryError(f'{self.name}: leg {leg} has no length at the neutral pose')
        return float(lengths.mean())


def spread(neutral: Pose, length: float) -> tuple[Array, Array]:
    """Return the neutral pose, and poses moved along and turned about each axis, both ways."""
    shifts, turns = [np.zeros(3)], [np.zeros(3)]
    for axis, sign in itertools.product(np.eye(3), (-1.0, 1.0)):
        shift, turn = sign * SPREAD_LENGTH * length * axis, sign * SPREAD_ANGLE * axis
        shifts += [shift, np.zeros(3), shift]
        turns += [np.zeros(3), turn, turn]
    turned = Rotation.from_rotvec(turns) * Rotation.from_quat(neutral.quaternion_xyzw)
    return neutral.position + np.array(shifts), turned.as_quat()


def ring_points(radius: float, pair_angle: float, height: float, offset: float) -> Array:
    """Return six joints on a circle (6, 3), in pairs 120° apart [m].

    Pairs are centred at 60°, 180°, 300° plus the offset of the whole ring about z [rad]; the pair
    angle is the full one between the joints 1 and 2, 3 and 4, 5 and 6 [rad]. Radius and height
    over the frame's origin [m]. Vigo, Eqs. 4 to 6, with the index restored: odd joints lie at i
    60° − φ/2, even ones φ further.
    """
    centres = np.radians([60.0, 180.0, 300.0]) + offset
    angles = (centres[:, None] + np.array([-0.5, 0.5]) * pair_angle).ravel()
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(6, height)])


def joints_of(section: Section, key: str) -> Array:
    """Read one set of joints: a ring, or six explicit points."""
    joints = section.section(key)
    if joints.has('ring') == joints.has('points_m'):
        raise ConfigurationError(section.path(key), joints.names(), 'either ring or points_m')
    if joints.has('points_m'):
        points = joints.rows('points_m', 6, 3)
    else:
        ring = joints.section('ring')
        radius, angle = ring.positive('radius_m'), ring.number('pair_angle_deg', 0.0, 120.0)
        height, offset = ring.number('height_m'), ring.number('offset_deg', -360.0, 360.0)
        points = ring_points(radius, angle, height, offset)
        ring.finish()
    joints.finish()
    return points


def pairing_of(section: Section) -> list[int]:
    """Read the pairing and return it as indices."""
    expected = 'a permutation of 1 to 6'
    value = section.value('pairing', expected)
    whole = isinstance(value, list) and all(type(item) is int for item in value)
    if not whole or sorted(value) != [1, 2, 3, 4, 5, 6]:
        raise ConfigurationError(section.path('pairing'), value, expected)
    return [item - 1 for item in value]
