# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Make a platform file from the hexapod of an MJCF, SDF or URDF model; say what it assumes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from scipy.optimize import brentq, least_squares
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.exchange.hexapod import find_hexapod, Hexapod, Leg, merged, PAYLOAD
from stewart_kinematics.exchange.linkage import Link, Linkage
from stewart_kinematics.exchange.mjcf import NUMBERS
from stewart_kinematics.exchange.mjcf_reading import read_mjcf
from stewart_kinematics.exchange.sdf_reading import read_sdf
from stewart_kinematics.exchange.urdf_reading import read_urdf
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import AXES_KEY, RigidBody, STANDARD_GRAVITY
from stewart_kinematics.model.ring_dimensions import (
    ASSUMED_CONDITION,
    assumed_limits,
    RingDimensions,
)
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.solvers.jacobian import condition_number
from stewart_kinematics.spatial import rpy_deg

ALIKE = 1e-6  # legs that differ by a larger part are worth a note

FLAT = 0.1
"""Joints that are off their plane by a smaller part of their spread lie in it."""

ASSUMED_STROKE = 0.25
"""Half of a stroke that a model does not say, as a part of the mean length of a leg."""

ASYMMETRIC = np.radians(0.1)
"""A base joint that goes further to one side than to the other by more is worth a note [rad]."""

UNSAID = 'the model does not say it; replace it by what you know'

READERS: dict[str, Callable[[Path, ET.Element], Linkage]] = {
    'mujoco': lambda path, _: read_mjcf(path),
    'sdf': read_sdf,
    'robot': read_urdf,
}
"""By the first element of a file."""


def import_platform(path: Path) -> tuple[dict[str, Any], list[str]]:
    """Read a hexapod: MJCF (root ``mujoco``), SDFormat (``sdf``) or URDF (``robot``).

    Returns:
        Content of a platform file, to be read by ``Platform.from_section``.
        What was assumed or left out, in sentences.

    Raises:
        ConfigurationError: If the file is none of these, or holds no hexapod that a platform file
            can describe.
        GeometryError: If its joints do not make a usable platform.
    """
    try:
        root = ET.fromstring(path.read_bytes())
    except ET.ParseError as error:
        raise ConfigurationError(str(path), str(error), 'XML') from error
    if root.tag not in READERS:
        expected = 'mujoco (MJCF), sdf or robot (URDF)'
        raise ConfigurationError(f'{path}: first element', root.tag, expected)
    linkage = READERS[root.tag](path, root)
    return _Import(linkage, find_hexapod(linkage, str(path)), path.name, str(path)).content()


class _Import:
    """One hexapod on its way into a platform file."""

    def __init__(self, linkage: Linkage, found: Hexapod, source: str, file: str) -> None:
        self.linkage, self.found, self.file = linkage, found, file
        self.source = f'imported from {source}'
        self.base, self.plate = (linkage.links[body[0]] for body in (found.base, found.platform))
        self.notes = [*found.notes, *linkage.ignored]
        self.sources: dict[str, str] = {}

    def content(self) -> tuple[dict[str, Any], list[str]]:
        """Return what stands in the file, and the notes."""
        geometry, stroke = self._geometry()
        retracted = float(geometry.retracted_length[0])
        content: dict[str, Any] = {
            'name': self.linkage.name,
            'title': self.linkage.title or self.linkage.name.replace('_', ' '),
            'base_joints': {'points_m': geometry.base_joints.tolist()},
            'platform_joints': {'points_m': geometry.platform_joints.tolist()},
            'pairing': [1, 2, 3, 4, 5, 6],
            'zero_pose': _written(geometry.zero_pose),
            'neutral_pose': _written(geometry.neutral_pose),
            'legs': {'retracted_length_m': retracted, 'stroke_m': stroke},
            'limits': {},
        }
        for key, value in self._limits(geometry).items():
            group, name = key.split('.')
            content[group][name] = value
            self.sources.setdefault(key, self.source)
        axes = self._axes()
        if axes is not None:
            content['legs'][AXES_KEY] = axes.tolist()
        content['masses'] = self._masses()
        imu = self.linkage.imu
        if imu is not None and imu[0] in self.found.platform:
            content['imu'] = _written(_seen(*imu[1:], self.plate))
        self.sources['pairing'] = f'{self.source}: legs in the order of their slides'
        legs = [f'legs.{key}' for key in content['legs']]
        for key in (*content, *legs):
            if key not in ('name', 'title', 'legs', 'limits', 'masses'):
                self.sources.setdefault(key, self.source)
        rounded = {key: _rounded(value) for key, value in content.items()}
        return {**rounded, 'sources': dict(sorted(self.sources.items()))}, self.notes

    def _geometry(self) -> tuple[Geometry, list[float]]:
        """Return where the joints are, the poses, and the strokes."""
        legs, numbers = self.found.legs, self.linkage.numbers
        bases = np.array([leg.base - self.base.position for leg in legs]) @ self.base.rotation
        sockets = np.array([leg.socket - self.plate.position for leg in legs])
        sockets = sockets @ self.plate.rotation
        drawn = _seen(self.plate.position, self.plate.rotation, self.base)
        lengths = np.linalg.norm(drawn.position + sockets @ drawn.rotation.T - bases, axis=1)
        retracted, stroke = self._strokes(lengths)
        neutral = self._neutral(drawn, bases, sockets, retracted + np.array(stroke), lengths)
        zero = neutral
        if {'zero_pose.position_m', 'zero_pose.rpy_deg'} <= set(numbers):
            turn = np.radians(numbers['zero_pose.rpy_deg'])
            zero = Pose.from_rpy(numbers['zero_pose.position_m'], turn)
        else:
            self._assume('zero_pose', 'the neutral pose')
        name, retracts = self.linkage.name, np.full(6, retracted)
        return Geometry(name, bases, sockets, retracts, zero, neutral), stroke

    def _assume(self, key: str, sentence: str) -> None:
        """Take note of an assumption, in the file and for the person at the screen."""
        self.sources[key] = f'assumption: {sentence}'
        self.notes.append(f'{key}: assumed, {sentence}')

    def _strokes(self, lengths: Array) -> tuple[float, list[float]]:
        """Return the length at stroke 0 and the strokes of all legs, which a file has once."""
        legs = self.found.legs
        zero = np.array([leg.zero_length for leg in legs])
        if any(leg.limits is None for leg in legs):
            half = ASSUMED_STROKE * float(lengths.mean())
            about = f'± {half:.4g} m about the drawn mean; the model has slides without limits'
            self._assume('legs.stroke_m', about)
            self.sources['legs.retracted_length_m'] = 'assumption: as legs.stroke_m'
            return float(lengths.mean()) - half, [0.0, 2.0 * half]
        ranges = np.array([leg.limits for leg in legs])
        same = np.ptp(zero) <= 1e-9 and np.ptp(ranges, axis=0).max() <= 1e-9
        if same and zero[0] > 1e-9 and zero[0] + ranges[0, 0] > 0.0:
            return float(zero.mean()), ranges.mean(axis=0).tolist()
        shortest = float((zero + ranges[:, 0]).max())
        longest = float((zero + ranges[:, 1]).min())
        if not 0.0 < shortest < longest:
            key, expected = 'lengths of the legs [m]', 'lengths above 0 m that all six have'
            raise ConfigurationError(key, [shortest, longest], expected, self.file)
        if not same:
            common = f'{shortest:.6g} to {longest:.6g} m'
            self.notes.append(f'legs: their lengths differ, what all have is taken: {common}')
        return shortest, [0.0, longest - shortest]

    def _neutral(
        self, drawn: Pose, bases: Array, sockets: Array, reach: Array, lengths: Array
    ) -> Pose:
        """Return the pose of the drawing if the legs reach it, or else the one half way out.

        That stands off the plane of the base's joints, which may be tilted in the base's frame.
        """
        slack = 1e-6
        if np.all((reach[0] - slack <= lengths) & (lengths <= reach[1] + slack)):
            return drawn

        tops = drawn.position + sockets @ drawn.rotation.T
        centre = tops.mean(axis=0) - bases.mean(axis=0)
        outward = np.sum([leg.along for leg in self.found.legs], axis=0) @ self.base.rotation
        normal = _normal(bases, outward)
        level = drawn.position - (centre @ normal) * normal

        def excess(height: float) -> float:
            legs = tops + (height - centre @ normal) * normal - bases
            return float(np.linalg.norm(legs, axis=1).mean() - reach.mean())

        if excess(0.0) >= 0.0:
            expected = f'{reach[0]:.6g} to {reach[1]:.6g} m, what the slides allow, at some height'
            drawn_legs = lengths.round(6).tolist()
            raise ConfigurationError('drawn legs [m]', drawn_legs, expected, self.file)
        height = float(brentq(excess, 0.0, 2.0 * reach.mean()))
        place = level + height * normal
        far = f'{float(place @ normal):.6g} m'
        where = f'half way out, at {far}; the drawing is out of reach'
        self._assume('neutral_pose', where)
        return Pose(place, drawn.quaternion_xyzw)

    def _limits(self, geometry: Geometry) -> dict[str, Any]:
        """Return every number of `NUMBERS`, from the model or assumed."""
        numbers, legs, neutral = self.linkage.numbers, self.found.legs, geometry.neutral_pose
        rates = [leg.rate for leg in legs if leg.rate is not None]
        rate = min(rates) if len(rates) == 6 else RingDimensions.rate
        acceleration = RingDimensions.acceleration
        nearest = min(
            float(pdist(joints).min())
            for joints in (geometry.base_joints, geometry.platform_joints)
        )
        condition = float(condition_number(geometry, neutral.position, neutral.quaternion_xyzw))
        size, worst = geometry.length_scale, ASSUMED_CONDITION * condition
        limits = assumed_limits(rate, acceleration, size, worst, neutral)
        assumed = {
            'legs.rate_mps': rate,
            'legs.acceleration_mps2': acceleration,
            'legs.base_joint_angle_deg': RingDimensions.joint_angle,
            'legs.platform_joint_angle_deg': RingDimensions.joint_angle,
            'legs.distance_m': min(RingDimensions.leg_distance, 0.5 * nearest),
            **{f'limits.{key}': value for key, value in limits.items()},
        }
        known: dict[str, Any] = {'legs.rate_mps': rate} if len(rates) == 6 else {}
        cone = self._cone(geometry)
        if cone is not None:
            known['legs.base_joint_angle_deg'] = min(90.0, float(np.degrees(cone)))
        said = ((key, numbers[key]) for key in NUMBERS if key in numbers)
        known |= {key: item if len(item) > 1 else item[0] for key, item in said}
        unsaid = [key for key in NUMBERS if key not in known]
        self.sources |= dict.fromkeys(unsaid, f'assumption: {UNSAID}')
        return {key: known.get(key, assumed[key]) for key in NUMBERS}

    def _cone(self, geometry: Geometry) -> float | None:
        """Return how far every base joint goes to either side of the neutral pose [rad]."""
        feet, tips = geometry.leg_ends(geometry.neutral_pose)
        along = (tips - feet) @ self.base.rotation.T
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        least: tuple[float, str] | None = None
        lopsided = 0.0
        for leg, direction in zip(self.found.legs, along, strict=True):
            for hinge, angle in zip(leg.hinges, _angles(leg, direction), strict=True):
                if hinge.limits is None:
                    continue
                below, above = angle - hinge.limits[0], hinge.limits[1] - angle
                lopsided = max(lopsided, abs(above - below))
                if least is None or min(below, above) < least[0]:
                    ends = np.degrees([-below, above])
                    told = f'{hinge.name or leg.name} goes {ends[0]:.4g} to {ends[1]:.4g} deg'
                    least = min(below, above), told
        if least is None:
            return None
        key, told = 'legs.base_joint_angle_deg', f'{least[1]} from where the leg is neutral'
        if least[0] <= 0.0:
            self.notes.append(f'{key}: assumed; {told}')
            return None
        if lopsided > ASYMMETRIC:
            self.notes.append(f'{key}: what all have on either side is taken; {told}')
        return least[0]

    def _axes(self) -> Array | None:
        """Return the fixed axes of the base joints; None if they are x, as in a file without."""
        axes = [leg.axis for leg in self.found.legs]
        if any(axis is None for axis in axes):
            why = 'not every leg has a universal joint at the base'
            self.notes.append(f'legs.{AXES_KEY}: assumed x; {why}')
            return None
        turned = np.array(axes) @ self.base.rotation
        return None if np.allclose(turned, [1.0, 0.0, 0.0], rtol=0.0, atol=1e-12) else turned

    def _masses(self) -> dict[str, Any]:
        """Return gravity and, if any body has a mass, all bodies."""
        gravity = self.linkage.gravity
        if gravity is None:
            root = self.linkage.links[0].rotation
            gravity = self.base.rotation.T @ root @ np.array(STANDARD_GRAVITY)
            turned = not np.allclose(gravity, STANDARD_GRAVITY, rtol=0.0, atol=1e-9)
            whose = f' of {self.linkage.links[0].name}' if turned else ''
            self._assume('masses.gravity_mps2', f'standard gravity along -z{whose}')
        else:
            gravity = self.base.rotation.T @ gravity
            self.sources['masses.gravity_mps2'] = self.source
        section: dict[str, Any] = {'gravity_mps2': gravity.tolist()}
        legs, links, plate = self.found.legs, self.linkage.links, self.plate
        carried = [k for k in self.found.platform if links[k].name in PAYLOAD]
        own = [k for k in self.found.platform if k not in carried]
        bodies = {
            'platform': merged(self.linkage, own, plate.rotation, plate.position),
            'cylinder': self._mean('cylinder', [leg.cylinder for leg in legs]),
            'rod': self._mean('rod', [leg.rod for leg in legs]),
        }
        if carried:
            bodies['payload'] = merged(self.linkage, carried, plate.rotation, plate.position)
        if not any(body.mass > 0.0 for body in bodies.values()):
            self.notes.append('masses: the model has none')
            return section
        for name, body in bodies.items():
            section[name] = {
                'mass_kg': body.mass,
                'centre_of_mass_m': body.centre_of_mass.tolist(),
                'inertia_kgm2': body.inertia.tolist(),
            }
            self.sources[f'masses.{name}'] = self.source
        return section

    def _mean(self, name: str, bodies: list[RigidBody]) -> RigidBody:
        """Return the mean of six legs' bodies; a note if they are not alike."""
        rows = [np.array([b.mass, *b.centre_of_mass, *b.inertia.ravel()]) for b in bodies]
        mean = np.mean(rows, axis=0)
        for begin, end, what in ((0, 1, 'mass'), (1, 4, 'centre'), (4, 13, 'inertia')):
            size = float(np.abs(mean[begin:end]).max())
            worst = float(np.ptp(rows, axis=0)[begin:end].max())
            if worst > ALIKE * size and worst > 1e-9:
                differ = f'the legs differ in {what} by {worst:.3g}, the mean is taken'
                self.notes.append(f'masses.{name}: {differ}')
        return RigidBody(float(mean[0]), mean[1:4], mean[4:].reshape(3, 3))


def _normal(bases: Array, outward: Array) -> Array:
    """Return the normal of the plane of six base joints, to the side to which the legs point.

    Joints that lie in no plane, or legs within it, are taken for a base that stands upright.
    """
    _, spread, axes = np.linalg.svd(bases - bases.mean(axis=0))
    normal = axes[2] if spread[2] < FLAT * spread[1] else np.array([0.0, 0.0, 1.0])
    side = float(outward @ normal)
    if abs(side) < FLAT:
        side = float(normal[2])
    return np.asarray(-normal if side < 0.0 else normal)


def _angles(leg: Leg, direction: Array) -> list[float]:
    """Return the positions of a base joint's hinges with the leg along a direction [rad]."""
    drawn = np.array([hinge.position for hinge in leg.hinges])

    def missed(change: Array) -> Array:
        along = leg.along
        for hinge, angle in reversed(list(zip(leg.hinges, change, strict=True))):
            along = Rotation.from_rotvec(angle * hinge.axis).apply(along)
        return np.asarray(along - direction)

    still = np.zeros(len(drawn))
    if not len(drawn) or np.abs(missed(still)).max() < ALIKE:
        return list(drawn)
    return list(drawn + least_squares(missed, still, xtol=1e-12).x)


def _seen(position: Array, rotation: Array, frame: Link) -> Pose:
    """Return a place of the drawing in a link's frame."""
    turn = Rotation.from_matrix(frame.rotation.T @ rotation)
    return Pose(frame.rotation.T @ (position - frame.position), turn.as_quat())


def _rounded(value: Any) -> Any:
    """Return a value without the noise of turning it: twelve digits of the largest in a list."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, float):
        return float(f'{value:.13g}')
    if not isinstance(value, list) or isinstance(value[0], int):
        return value
    largest = float(np.abs(value).max())
    digits = 12 - int(np.floor(np.log10(largest))) if largest > 0.0 else 12
    return (np.round(value, digits) + 0.0).tolist()


def _written(pose: Pose) -> dict[str, list[float]]:
    return {'position_m': pose.position.tolist(), 'rpy_deg': rpy_deg(pose)}
