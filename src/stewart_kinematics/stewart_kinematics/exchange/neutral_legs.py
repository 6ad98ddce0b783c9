# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What every model of a closed chain begins with: legs at the neutral pose, and bodies."""

from __future__ import annotations

from dataclasses import dataclass
import re
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.model.platform import NO_BODY, Platform, RigidBody
from stewart_kinematics.motion import Array, read_only
from stewart_kinematics.solvers.inverse import leg_lengths, passive_angles

LEAST_MASS = 1e-7
"""Simulators refuse a moving body without mass; one without mass is written with this [kg]."""

LEAST_INERTIA = 1e-12  # added to the moments of a body that has none about some axis [kg m²]

TRIANGLE = 1e-12  # part of the greatest moment by which the others exceed it: rounding [-]

ASSUMPTIONS = (
    'Joints are rigid, without play, friction or damping; motors have no inertia of their own.',
    'Bodies have no shape that collides: what is drawn is for the eye.',
    'A platform file knows no motor forces: the actuators have no limit.',
    'Moments of inertia of a thin plate are greater by a millionth at most: simulators allow for '
    'no rounding of the triangle inequality.',
)

NO_MASSES = (
    'The platform file has no masses: every body has {mass:g} kg, and forces mean nothing here.'
)


@dataclass(frozen=True, eq=False)
class NeutralLegs:
    """The legs of a platform at its neutral pose.

    Attributes:
        angles (6, 2): Angles u, v of the base joints [rad].
        angle_ranges (6, 2, 2): Lower and upper u and v: the box about the cone of the base joint
            [rad].
        stroke (6,): Strokes [m].
        frames (6, 3, 3): Leg axes in ``base_link``: z from the base joint to the platform joint, y
            the axis of the base joint that turns with the leg.
        tips (6, 3): Platform joints in ``base_link`` [m].
    """

    angles: Array
    angle_ranges: Array
    stroke: Array
    frames: Array
    tips: Array

    @classmethod
    def of(cls, platform: Platform) -> NeutralLegs:
        """Put the legs where they are at the neutral pose."""
        geometry, pose = platform.geometry, platform.geometry.neutral_pose
        position, quaternion = pose.position, pose.quaternion_xyzw
        angles = passive_angles(geometry, position, quaternion, platform.base_joint_axes)
        feet, tips = geometry.leg_ends(pose)
        pairs = zip(tips - feet, platform.base_joint_axes, strict=True)
        cone = platform.limits.base_joint_angle
        about_u = np.arcsin(np.minimum(1.0, np.sin(cone) / np.cos(angles[:, 1])))
        reach = np.stack([about_u, np.full(6, cone)], axis=1)
        ranges = np.stack([angles - reach, angles + reach], axis=2)
        stroke = leg_lengths(geometry, position, quaternion) - geometry.retracted_length
        return cls(angles, ranges, stroke, np.array([leg_axes(*pair) for pair in pairs]), tips)


def leg_axes(along: ArrayLike, fixed_axis: ArrayLike) -> Array:
    """Return the axes (3, 3) of a leg on a universal joint, as columns x, y, z.

    z lies along the leg, a vector of any length from the base joint; y is the axis of the joint
    that is not fixed in the base.
    """
    z = np.asarray(along, dtype=float)
    z = z / np.linalg.norm(z)
    y = np.cross(z, np.asarray(fixed_axis, dtype=float))
    y /= np.linalg.norm(y)
    return np.stack([np.cross(y, z), y, z], axis=1)


def weighed(body: RigidBody | None) -> RigidBody:
    """Return a body as simulators take it: with a mass, and with inertia about every axis.

    No moment is greater than the sum of the others, of which a platform file may miss a millionth.
    """
    body = body or NO_BODY
    inertia = body.inertia
    moments = np.linalg.eigvalsh(inertia)
    missing = moments[2] * (1.0 + TRIANGLE) - moments[0] - moments[1]
    more = max(float(missing), 0.0)
    if moments[0] + more < LEAST_INERTIA:
        more += LEAST_INERTIA
    if more:
        inertia = read_only(inertia + more * np.eye(3))
    return RigidBody(max(body.mass, LEAST_MASS), body.centre_of_mass, inertia)


def bodies(platform: Platform) -> dict[str, RigidBody]:
    """Return platform, cylinder and rod, and the payload where there is one, as simulators do."""
    masses = platform.masses
    names = 'platform', 'cylinder', 'rod'
    found = {name: weighed(getattr(masses, name, None)) for name in names}
    if masses is not None and masses.payload is not None:
        found['payload'] = weighed(masses.payload)
    return found


def words(values: ArrayLike) -> str:
    """Return numbers as XML wants them: every digit, spaces between."""
    return ' '.join(repr(float(value) + 0.0) for value in np.ravel(values))


def add(
    parent: ET.Element, tag: str, attributes: dict[str, Any] | None = None, **more: Any
) -> ET.Element:
    """Add an element; attributes that are no texts are numbers, and written as `words`."""
    both = {**more, **(attributes or {})}
    texts = {key: item if isinstance(item, str) else words(item) for key, item in both.items()}
    return ET.SubElement(parent, tag, texts)


def document(root: ET.Element, platform: Platform, *sentences: str) -> str:
    """Return the whole file, indented; it begins with what the model is and what it assumes."""
    lines = [
        f'{platform.title} ({platform.name}), written by stewart export.',
        'Units: m, kg, s, N, rad; inertias in kg m2 about the centre of mass.',
        'Drawn at the neutral pose; a positive force pushes the joints of a leg apart.',
        *sentences,
        *ASSUMPTIONS,
    ]
    if platform.masses is None:
        lines.append(NO_MASSES.format(mass=LEAST_MASS))
    # XML forbids two hyphens in a row in a comment.
    text = re.sub('-(?=-)', '- ', '\n  ' + '\n  '.join(lines) + '\n')
    root.insert(0, ET.Comment(text))
    ET.indent(root)
    return f'<?xml version="1.0"?>\n{ET.tostring(root, encoding="unicode")}\n'
