# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""
The region of poses in which leg lengths have one pose only.

Six lengths belong to as many as forty poses. Which of them a platform has taken can be told only
from where it may be. The assured region is an ellipsoid about the neutral pose,

.. math:: |\Delta p|^2 / a^2 + |\theta|^2 / b^2 \le 1,

with the displacement :math:`\Delta p` and the rotation vector :math:`\theta` from neutral. In
:math:`y = (\Delta p / a, \theta / b)` the lengths are a map f with Jacobian J(y), and
:math:`F = J(0)^{-1} f`. The semi-axes are chosen so that :math:`J(0)^{-1} J(y)` has a positive
definite symmetric part all over the region. Two things follow, the region being convex:

* No pose in it is singular, and all have the neutral pose's sign of det J.
* Different poses y, z in it have different lengths, for
  :math:`(y - z) \cdot (F(y) - F(z)) = \int (y - z)^T J(0)^{-1} J (y - z) > 0` along the segment.

So a pose of the region that has the measured lengths is the only one there, however it was found.
The definiteness is searched for violations, by samples and then uphill from the worst of them; it
is not proved by interval arithmetic. `MARGIN` and `SHRINKAGE` keep a distance from what was found.

References
----------
.. [1] J. M. Ortega, W. C. Rheinboldt, "Iterative Solution of Nonlinear Equations in Several
   Variables", 1970, section 5.4 (monotone mappings).

"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
import math

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import GeometryError
from stewart_kinematics.geometry import Geometry
from stewart_kinematics.jacobian import jacobian
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.spatial import (
    compose_quaternions,
    exp_quaternion,
    invert_quaternion,
    left_jacobian,
    rotation_angle,
)

ROTATION_SEMI_AXES = tuple(math.radians(angle) for angle in (60, 55, 50, 45, 40, 30, 20, 10))
"""Candidates for b [rad]; the one with the largest a² b is taken: moving needs more room."""

LEAST_ROOM = 0.25
"""Translation semi-axis that must remain, in length scales."""

MOST_ROOM = 8.0
"""Translation semi-axis at which the search stops, in length scales."""

MARGIN = 0.02
"""Smallest eigenvalue of the symmetric part that is still accepted; it is 1 at neutral."""

SHRINKAGE = 0.97
"""Factor on the translation semi-axis after the choice, and for as long as it does not hold."""

RAYS = 1500
"""Random directions that are searched, each at `RADII`."""

RADII = (1.0, 0.8)
"""Where a ray is searched, in parts of the region's radius."""

ROUGHLY = 1500
"""Samples that serve to choose the semi-axes, before all of them judge the choice."""

CLIMBERS = 48
"""Worst samples from which the search goes on."""


@dataclass(frozen=True, eq=False)
class AssuredRegion:
    """
    Region about the neutral pose in which the forward kinematics has one solution.

    Attributes
    ----------
    centre : Pose
        The neutral pose.
    translation : float
        Semi-axis a [m].
    rotation : float
        Semi-axis b [rad].

    """

    centre: Pose
    translation: float
    rotation: float

    def radius(self, position: ArrayLike, quaternion_xyzw: ArrayLike) -> Array:
        """
        Return how far poses are from the centre; up to 1 they are inside.

        Parameters
        ----------
        position : array_like, shape (..., 3)
            Origin of ``platform_link`` in ``base_link`` [m].
        quaternion_xyzw : array_like, shape (..., 4)
            Attitude, scalar last.

        Returns
        -------
        ndarray, shape (...)
            Square root of the left side of the ellipsoid's equation.

        """
        shift = np.linalg.norm(np.asarray(position) - self.centre.position, axis=-1)
        back = invert_quaternion(self.centre.quaternion_xyzw)
        turn = rotation_angle(compose_quaternions(quaternion_xyzw, back))
        radius = np.hypot(shift / self.translation, turn / self.rotation)
        return np.asarray(radius, dtype=np.float64)


@lru_cache(maxsize=64)
def assured_region(geometry: Geometry) -> AssuredRegion:
    """
    Return the assured region of a geometry; computed once, in some tenths of a second.

    Parameters
    ----------
    geometry : Geometry
        Joints and neutral pose.

    Returns
    -------
    AssuredRegion
        The region.

    Raises
    ------
    GeometryError
        If not even the smallest region about the neutral pose has one solution only.

    """
    rng = np.random.default_rng(0)
    rays = rng.normal(size=(RAYS, 6))
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    samples = np.concatenate([radius * rays for radius in RADII])
    room, rotation = max(
        ((_roughly(geometry, angle, samples), angle) for angle in ROTATION_SEMI_AXES),
        key=lambda pair: pair[0] ** 2 * pair[1],
    )
    least = LEAST_ROOM * geometry.length_scale
    while room >= least:
        room *= SHRINKAGE
        if _worst(geometry, room, rotation, samples, rng) >= MARGIN:
            return AssuredRegion(geometry.neutral_pose, room, rotation)
    raise GeometryError(
        f'{geometry.name}: forward kinematics is ambiguous next to the neutral pose: turning by '
        f'{math.degrees(rotation):g}° leaves less than {least:.3g} m to move'
    )


def _roughly(geometry: Geometry, rotation: float, samples: Array) -> float:
    """Return about the largest translation semi-axis, or 0 where there is none."""
    lower, upper = 0.0, MOST_ROOM * geometry.length_scale
    while upper - lower > 0.01 * upper and upper > 0.5 * LEAST_ROOM * geometry.length_scale:
        middle = 0.5 * (lower + upper)
        if _definiteness(geometry, middle, rotation, samples[:ROUGHLY]).min() >= MARGIN:
            lower = middle
        else:
            upper = middle
    return lower


def _worst(
    geometry: Geometry,
    translation: float,
    rotation: float,
    samples: Array,
    rng: np.random.Generator,
) -> float:
    """Return the smallest definiteness, searched downhill from the worst samples."""
    values = _definiteness(geometry, translation, rotation, samples)
    best = np.argsort(values)[:CLIMBERS]
    points, values = samples[best], values[best]
    for step in np.geomspace(0.3, 0.01, 30):
        trial = points + step * rng.normal(size=points.shape)
        trial /= np.maximum(1.0, np.linalg.norm(trial, axis=1, keepdims=True))
        found = _definiteness(geometry, translation, rotation, trial)
        better = found < values
        points[better], values[better] = trial[better], found[better]
    return float(values.min())


def _definiteness(geometry: Geometry, translation: float, rotation: float, y: Array) -> Array:
    """Return the smallest eigenvalue of the symmetric part of J(0)^-1 J(y), (n, 6) -> (n,)."""
    neutral = geometry.neutral_pose
    theta = rotation * y[:, 3:]
    here = jacobian(
        geometry,
        neutral.position + translation * y[:, :3],
        compose_quaternions(exp_quaternion(theta), neutral.quaternion_xyzw),
    )
    here[..., :3] *= translation
    here[..., 3:] = rotation * (here[..., 3:] @ left_jacobian(theta))
    home = jacobian(geometry, neutral.position, neutral.quaternion_xyzw)
    home[..., :3] *= translation
    home[..., 3:] *= rotation
    relative = np.linalg.solve(home, here)
    symmetric = 0.5 * (relative + np.swapaxes(relative, -1, -2))
    return np.asarray(np.linalg.eigvalsh(symmetric)[:, 0], dtype=np.float64)
