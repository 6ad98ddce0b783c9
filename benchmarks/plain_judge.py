# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a platform does at a setpoint, in plain numpy, and how far that is beyond its limits.

Nothing of the guard and its kernels is used: joint positions come from the roots of a quadratic
equation, their rates and accelerations from differences along the motion, the distances of legs
from the corners of a square. Only the numbers of a platform file are taken from the suite.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
import itertools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from stewart_kinematics.kernels.rods import BRANCH, FIRST, SECOND
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.rods import Rods
from stewart_kinematics.motion import Array, Motion

STEP = 2e-4
"""Time over which differences are taken [s]."""

PAIRS = np.array(list(itertools.combinations(range(6), 2)))
FACTS = ('position', 'rate', 'acceleration', 'base angle', 'platform angle', 'roll, pitch, yaw')
FACTS += ('leg distance', 'speeds', 'condition', 'determinant', 'pressure angle', 'finite')


@dataclass(frozen=True)
class Stand:
    """Where joints are at poses (n,): arms s = R b, legs (n, 6, 3) [m], joint positions (n, 6)."""

    rotation: Array
    arms: Array
    legs: Array
    position: Array


class Judge:
    """Tell how far samples are beyond the limits of a platform.

    Attributes:
        platform: Whose limits hold.
        scale: Length that divides moments [m].
    """

    def __init__(self, platform: Platform) -> None:
        self.platform, geometry = platform, platform.geometry
        self.joints, self.home = geometry.platform_joints, geometry.neutral_pose
        offsets = self.joints - self.joints.mean(axis=0)
        self.scale = math.sqrt(np.mean(np.sum(offsets**2, axis=1)))
        self.neutral = self.stand(self.home.position[None], self.home.quaternion_xyzw[None])

    @cached_property
    def _rods(self) -> Rods:
        rods = self.platform.geometry.rods
        assert rods is not None
        return rods

    @cached_property
    def _crank(self) -> tuple[Array, Array, Array]:
        """Return axes (6, 3), middles of the joints' ranges (6,) and branches (6,)."""
        middle = self.platform.limits.stroke.mean(axis=1)
        return self._rods.axes, middle, self._rods.table[:, BRANCH]

    def stand(self, position: Array, quaternion: Array) -> Stand:
        """Return where the joints are at poses (n, 3), (n, 4); NaN where a rod does not reach."""
        turn = Rotation.from_quat(quaternion).as_matrix()
        arms = np.einsum('nij,kj->nki', turn, self.joints)
        ends, geometry = position[:, None] + arms, self.platform.geometry
        if geometry.rods is None:
            legs = ends - geometry.base_joints
            return Stand(turn, arms, legs, _norm(legs) - geometry.retracted_length)
        away = ends - geometry.rods.origins
        with np.errstate(invalid='ignore'):
            roots = self._roots(away)
            legs = away[None] - self.place(roots)
            push = _dot(legs, self.way(roots)) * self._crank[2] > 0.0
        values = np.where(push[0], roots[0], np.where(push[1], roots[1], math.nan))
        return Stand(turn, arms, away - self.place(values), values)

    def misfit(self, position: Array, quaternion: Array, values: Array) -> Array:
        """Return by how much a leg or rod misses its joint, at most, for positions (n, 6) [m]."""
        arms = np.einsum('nij,kj->nki', Rotation.from_quat(quaternion).as_matrix(), self.joints)
        ends, geometry = position[:, None] + arms, self.platform.geometry
        if geometry.rods is None:
            gap = _norm(ends - geometry.base_joints) - geometry.retracted_length - values
        else:
            gap = _norm(ends - geometry.rods.origins - self.place(values)) - geometry.rods.lengths
        return np.asarray(np.abs(gap).max(axis=1))

    def _roots(self, away: Array) -> Array:
        """Return both joint positions (2, n, 6) that put a rod's end at `away` of its origin."""
        rods, middle = self._rods, self._crank[1]
        first, second = _ways(rods)
        square = _dot(away, away)
        if rods.kind.name == 'sliding':
            half, sign = _dot(away, first), np.array([1.0, -1.0])[:, None, None]
            return np.asarray(half + sign * np.sqrt(half**2 - square + rods.lengths**2))
        a, b = _dot(away, first), _dot(away, second)
        e = 0.5 * (square + _dot(first, first) - rods.lengths**2)
        # tan(q / 2) is a root of (e + a) t² - 2 b t + e - a; no difference of like numbers.
        large = b + np.copysign(np.sqrt(a**2 + b**2 - e**2), b)
        angles = 2.0 * np.stack([np.arctan2(large, e + a), np.arctan2(e - a, large)])
        return np.asarray(middle + np.remainder(angles - middle + math.pi, 2 * math.pi) - math.pi)

    def place(self, values: Array) -> Array:
        """Return where rods begin (..., 6, 3), counted from their origins [m]."""
        rods, q = self._rods, values[..., None]
        first, second = _ways(rods)
        if rods.kind.name == 'sliding':
            return np.asarray(q * first)
        return np.asarray(np.cos(q) * first + np.sin(q) * second)

    def way(self, values: Array) -> Array:
        """Return the derivative (..., 6, 3) of `place` by the joint position, a difference."""
        return (self.place(values + 1e-6) - self.place(values - 1e-6)) / 2e-6

    def lines(self, stand: Stand) -> tuple[Array, Array]:
        """Return condition numbers and determinants (n,) of the legs' lines; 0 where none are."""
        d = stand.legs / _norm(stand.legs)[..., None]
        rows = np.concatenate([d, np.cross(stand.arms, d) / self.scale], axis=-1)
        rows = np.where(np.isfinite(rows), rows, 0.0)
        sizes = np.linalg.svd(rows, compute_uv=False)
        with np.errstate(divide='ignore', invalid='ignore'):
            return sizes[:, 0] / sizes[:, -1], np.linalg.det(rows)

    def still(self, position: Array, quaternion: Array) -> Array:
        """Return how far poses at rest are beyond the limits, as `beyond`, the greatest, (n,)."""
        return self.beyond(Motion(position, quaternion)).max(axis=1)

    def beyond(self, motion: Motion) -> Array:
        """Return how far samples (n,) are beyond their limits, a column each of `FACTS`.

        In parts of a limit, or of half its interval: 0 at it, negative within, infinite where a
        number is missing.
        """
        limits, q = self.platform.limits, motion.quaternion_xyzw
        numbers = np.concatenate([motion.position, q, motion.twist, motion.acceleration], axis=1)
        sound = np.isfinite(numbers).all(axis=1) & (np.abs(numbers).max(axis=1) < 1e6)
        with np.errstate(over='ignore', invalid='ignore'):
            sound &= np.abs(_norm(q) - 1.0) <= 1.000001e-6
        worst = np.full((len(q), len(FACTS)), math.inf)
        if not sound.any():
            return worst
        some = motion[sound]
        now = self.stand(some.position, some.quaternion_xyzw)
        rate, acceleration = self._differences(some, now)
        roll_pitch_yaw = Rotation.from_matrix(now.rotation).as_euler('ZYX')[:, ::-1]
        angles = np.stack([limits.roll, limits.pitch, limits.yaw])
        condition, determinant = self.lines(now)
        home = self.lines(self.neutral)[1]
        speeds = np.stack(
            [_norm(part) for part in np.split(some.twist, 2, axis=1)]
            + [_norm(part) for part in np.split(some.acceleration, 2, axis=1)],
            axis=1,
        ) / [
            limits.linear_velocity,
            limits.angular_velocity,
            limits.linear_acceleration,
            limits.angular_acceleration,
        ]
        base, platform = self._joint_angles(now)
        columns = [
            _outside(now.position, limits.stroke),
            np.abs(rate) / limits.rate - 1.0,
            np.abs(acceleration) / limits.acceleration - 1.0,
            base / limits.base_joint_angle - 1.0,
            platform / limits.platform_joint_angle - 1.0,
            _outside(roll_pitch_yaw, angles),
            1.0 - self._distances(now) / max(limits.leg_distance, 1e-12),
            speeds - 1.0,
            (condition / limits.condition_number - 1.0)[:, None],
            (-determinant / home)[:, None],
            self._pressure(now) / limits.pressure_angle - 1.0,
        ]
        found = np.stack([column.max(axis=1) for column in columns], axis=1)
        worst[sound, :-1] = np.where(np.isnan(found), math.inf, found)
        worst[sound, -1] = -1.0
        return worst

    def _differences(self, motion: Motion, now: Stand) -> tuple[Array, Array]:
        """Return rates and accelerations (n, 6) of the joints, by differences of fourth order."""
        near = []
        for t in STEP * np.array([-2.0, -1.0, 1.0, 2.0]):
            path = motion.twist * t + 0.5 * motion.acceleration * t * t
            turn = Rotation.from_rotvec(path[:, 3:]) * Rotation.from_quat(motion.quaternion_xyzw)
            near.append(self.stand(motion.position + path[:, :3], turn.as_quat()).position)
        a, b, c, d = near
        with np.errstate(invalid='ignore'):
            return (
                (8.0 * (c - b) - (d - a)) / (12.0 * STEP),
                (16.0 * (b + c) - (a + d) - 30.0 * now.position) / (12.0 * STEP**2),
            )

    def _joint_angles(self, now: Stand) -> tuple[Array, Array]:
        """Return the angles (n, 6) of the joints at the base and at the platform [rad]."""
        home, legs = self.neutral.legs[0], now.legs
        own = np.einsum('nji,nkj->nki', now.rotation, legs)
        first = self.neutral.rotation[0].T
        platform = _angles(own, home @ first.T)
        rods = self.platform.geometry.rods
        if rods is None or rods.kind.name == 'sliding':
            return _angles(legs, home), platform
        normals = np.broadcast_to(self._crank[0], legs.shape)
        return np.abs(0.5 * math.pi - _angles(legs, normals)), platform

    def _pressure(self, now: Stand) -> Array:
        """Return the pressure angles of rods (n, 6) [rad]; of linear legs, zero."""
        if self.platform.geometry.rods is None:
            return np.zeros_like(now.position)
        angle = _angles(now.legs, self.way(now.position))
        return np.minimum(angle, math.pi - angle)

    def _distances(self, now: Stand) -> Array:
        """Return the distances of the axes of every pair of legs (n, 15) [m]."""
        begin = now.arms - now.legs
        i, j = PAIRS.T
        u, v, r = now.legs[:, i], now.legs[:, j], begin[:, i] - begin[:, j]
        uu, uv, vv = _dot(u, u), _dot(u, v), _dot(v, v)
        free = uu * vv - uv**2
        with np.errstate(divide='ignore', invalid='ignore'):
            s = (uv * _dot(v, r) - vv * _dot(u, r)) / free
            t = (uu * _dot(v, r) - uv * _dot(u, r)) / free
        inside = (s > 0.0) & (s < 1.0) & (t > 0.0) & (t < 1.0)
        middle = _norm(r + s[..., None] * u - t[..., None] * v)
        edges = [_to_segment(r + u * end, v) for end in (0.0, 1.0)]
        edges += [_to_segment(v * end - r, u) for end in (0.0, 1.0)]
        return np.where(inside, middle, np.min(edges, axis=0))


def _ways(rods: Rods) -> tuple[Array, Array]:
    """Return the two directions (6, 3) of each crank, as long as it; the first is a rail's."""
    return rods.table[:, FIRST : FIRST + 3], rods.table[:, SECOND : SECOND + 3]


def _to_segment(point: Array, along: Array) -> Array:
    """Return the distances (...) of points from the segments between the origin and `along`."""
    share = np.clip(_dot(point, along) / _dot(along, along), 0.0, 1.0)
    return _norm(point - share[..., None] * along)


def _outside(values: Array, bounds: NDArray[np.float64]) -> Array:
    """Return how far values (n, k) are outside bounds (k, 2), in parts of half their interval."""
    middle, half = bounds.mean(axis=1), 0.5 * np.diff(bounds, axis=1)[:, 0]
    return np.asarray(np.abs(values - middle) / half - 1.0)


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.sum(a * b, axis=-1))


def _norm(a: Array) -> Array:
    return np.sqrt(_dot(a, a))


def _angles(a: Array, b: Array) -> Array:
    """Return the angles between vectors [rad], by the chord (Kahan), exact near zero too."""
    x, y = a / _norm(a)[..., None], b / _norm(b)[..., None]
    return 2.0 * np.arctan2(_norm(x - y), _norm(x + y))
