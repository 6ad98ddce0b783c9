# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""The region of poses in which leg lengths have one pose only.

Six lengths belong to as many as forty poses. Which of them a platform has taken can be told only
from where it may be. The assured region is proved to hold one pose at most for any six lengths.

A pose is written as a dual quaternion :math:`x = (e, g) \in R^8`, relative to the neutral pose:
unit quaternion e and :math:`g = t e / 2` with the translation t in length scales. The squared
length of every leg is then a quadratic form of x, and so are the two conditions of a pose,
:math:`|e|^2 = 1` and :math:`e \cdot g = 0` [1]. Let N_1 to N_8 be the matrices of these forms and
:math:`B(x)` the matrix with the rows :math:`(N_i x)^T`. Two poses x, y with the same lengths have

.. math:: x^T N_i x - y^T N_i y = 2\, (N_i m) \cdot (x - y) = 0, \qquad m = (x + y) / 2,

that is :math:`B(m) (x - y) = 0`. For any constant matrix C, the set

.. math:: K = \{x : C B(x) + (C B(x))^T \succ 0\}

is a convex cone, because B is linear. So with x and y it contains m, where B is regular, and x = y
follows. No pose of K is singular either: B(x) is singular where the Jacobian is.

So K holds one pose at most for any lengths, whatever C is. The inverse of B at the neutral pose
gives a cone about it; where that is too small, C is improved by minimising the squared shortfall
of the smallest eigenvalue over the corners of two boxes of poses, drawn in to this side of any
singularity. That search decides the size of K, not its property.
Of K, the region is what lies within `REACH_SHIFT` and `REACH_TURN` of neutral: farther out no
platform is, but there are poses that share their lengths with those near by.

Most poses need no eigenvalue. With x scaled to e_w = 1 and the sum of x_k A_k whitened so that it
is the identity at the neutral pose, its change by the other seven coordinates d_k is at most
:math:`(\sum d_k^2 / w_k^2)^{1/2} \lVert \sum w_k^2 A_k^2 \rVert^{1/2}`, whatever the weights w are
(Cauchy and Schwarz): an ellipsoid in K.

References:
    [1] M. L. Husty, "An algorithm for solving the direct kinematics of general Stewart-Gough
       platforms", Mechanism and Machine Theory 31 (4), 1996, pp. 365-380.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from stewart_kinematics.errors import GeometryError
from stewart_kinematics.kernels.newton import LEAST_COSINE, MARGIN, REACH_SHIFT, REACH_TURN
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array, Pose, read_only
from stewart_kinematics.spatial import compose_quaternions, exp_quaternion, invert_quaternion

BOX_SHIFT, BOX_TURN = 0.12, math.radians(15.0)
"""Half-widths of the smaller box of poses [length scales, rad about each axis]."""

BOXES = ((1.0, 1.0), (2.0, 0.03))
"""Size of each box, in parts of the smaller one, and the weight of its corners [-]."""

SHARES = 21
"""Poses on the way from neutral to a corner that are tried for a singularity between them."""

WANTED = 0.1  # smallest eigenvalue asked for at the corners; their mean at the neutral pose is 1
ITERATIONS = 45  # most steps of the search for C
HOME = 3  # the coordinate that is 1 at the neutral pose, e_w, the others being 0
HOME_WEIGHT = 100.0  # weight of the neutral pose in the search: without it there is no region [-]

WORST_CONDITION = 1e8
"""Condition number of B at the neutral pose above which there is no inverse to start from."""

AXES = np.concatenate([np.eye(6), -np.eye(6)])  # both ways along and about each axis

LEAST_SHIFT, LEAST_TURN = 0.01, math.radians(1.0)
"""What a region must have room for about each axis [length scales, rad]."""


def _products(sign: float) -> Array:
    """Return products of (v, 0) with e, from the left (1) or the right (-1), (3, 4, 4) for v."""
    matrices = np.zeros((3, 4, 4))
    for axis, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        matrices[axis, axis, 3], matrices[axis, 3, axis] = 1.0, -1.0
        matrices[axis, j, i], matrices[axis, i, j] = sign, -sign
    return matrices


LEFT, RIGHT = _products(1.0), _products(-1.0)
"""`v LEFT` takes e to the quaternion product (v, 0) e, `v RIGHT` to e (v, 0)."""


@dataclass(frozen=True, eq=False)
class UniquenessRegion:
    """Region about the neutral pose in which the forward kinematics has one solution.

    Attributes:
        centre: The neutral pose.
        length_scale: What divides translations [m].
        cone (8, 8, 8): Symmetric matrices A_k; a pose x of the region has a positive definite sum
            of x_k A_k.
    """

    centre: Pose
    length_scale: float
    cone: Array

    def definiteness(self, position: ArrayLike, quaternion_xyzw: ArrayLike) -> Array:
        """Return the smallest eigenvalue (...), at least `MARGIN` in the cone [-].

        Positions (..., 3) [m] and quaternions (..., 4) are those of ``platform_link`` in
        ``base_link``.
        """
        x = dual_quaternion(self.centre, self.length_scale, position, quaternion_xyzw)
        values = np.linalg.eigvalsh(np.tensordot(x, self.cone, 1))[..., 0]
        return np.asarray(values, dtype=np.float64)

    @cached_property
    def certain(self) -> float:
        r"""Squared radius of the ellipsoid that needs no eigenvalue.

        A pose with :math:`|e_v|^2 + |g|^2 \le \text{certain}\, e_w^2` is in the region, with the
        vector part e_v and the scalar part e_w of its quaternion [-].
        """
        values, vectors = np.linalg.eigh(self.cone[HOME])
        whitening = vectors / np.sqrt(values - MARGIN)
        others = np.delete(self.cone, HOME, axis=0)
        whitened = whitening.T @ others @ whitening
        square = 1.0 / np.linalg.eigvalsh(np.sum(whitened @ whitened, axis=0))[-1]
        return min(float(square), math.tan(0.5 * REACH_TURN) ** 2, 0.25 * REACH_SHIFT**2)

    def contains(self, position: ArrayLike, quaternion_xyzw: ArrayLike) -> NDArray[np.bool_]:
        """Tell which poses are in the region, shape (...); parameters as for `definiteness`."""
        x = dual_quaternion(self.centre, self.length_scale, position, quaternion_xyzw)
        near = 2.0 * np.linalg.norm(x[..., 4:], axis=-1) <= REACH_SHIFT
        near &= x[..., HOME] >= LEAST_COSINE
        return np.asarray(near & (self.definiteness(position, quaternion_xyzw) >= MARGIN))


def uniqueness_region(geometry: Geometry) -> UniquenessRegion:
    """Find the region of a geometry, in less than a second; a `ForwardSolver` keeps it.

    Raises:
        GeometryError: If the region has no room about the neutral pose, which is all but singular.
    """
    forms = length_forms(*relative_joints(geometry))
    home = forms[:, :, HOME]
    if not np.linalg.cond(home) < WORST_CONDITION:
        raise _ambiguous(geometry)
    plain: Array = np.asarray(np.linalg.inv(home))
    region = _region(geometry, forms, plain)
    poses, weights = _corners(geometry, forms)
    least = region.definiteness(*poses)
    if np.any(least < WANTED):
        x = dual_quaternion(geometry.neutral_pose, geometry.length_scale, *poses)
        improved = _region(geometry, forms, _improved(forms, plain, x, weights))
        if weights @ improved.contains(*poses) > weights @ (least >= MARGIN):
            region = improved
    if not np.all(region.contains(*_poses(geometry, AXES, LEAST_SHIFT, LEAST_TURN))):
        raise _ambiguous(geometry)
    return region


def dual_quaternion(
    centre: Pose, length_scale: float, position: ArrayLike, quaternion_xyzw: ArrayLike
) -> Array:
    """Return poses (..., 3) [m], (..., 4) as dual quaternions relative to a centre.

    Returns:
        (..., 8): Quaternion e with e_w >= 0, scalar last, and t e / 2, translations in length
        scales [-]; the centre is (0, 0, 0, 1, 0, 0, 0, 0).
    """
    shift = (np.asarray(position, dtype=float) - centre.position) / length_scale
    turn = compose_quaternions(quaternion_xyzw, invert_quaternion(centre.quaternion_xyzw))
    turn = turn * np.where(turn[..., 3:] < 0.0, -1.0, 1.0)
    translation = np.concatenate([shift, np.zeros_like(shift[..., :1])], axis=-1)
    return np.concatenate([turn, 0.5 * compose_quaternions(translation, turn)], axis=-1)


def relative_joints(geometry: Geometry) -> tuple[Array, Array]:
    """Return base and platform joints (6, 3) relative to the neutral pose, in length scales."""
    neutral, scale = geometry.neutral_pose, geometry.length_scale
    base = (geometry.base_joints - neutral.position) / scale
    return base, geometry.platform_joints @ neutral.rotation.T / scale


def length_forms(base: Array, platform: Array) -> Array:
    """Return the quadratic forms of a pose's dual quaternion; joints are those of `leg_forms`.

    Returns:
        (..., 8, 8, 8): N_1 to N_6: squared lengths in squared length scales; N_7: |e|²; N_8: 2 e .
        g [-].
    """
    forms = np.zeros((*base.shape[:-2], 8, 8, 8))
    forms[..., :6, :, :] = leg_forms(base, platform)
    forms[..., 6, :4, :4] = forms[..., 7, :4, 4:] = forms[..., 7, 4:, :4] = np.eye(4)
    return forms


def leg_forms(base: NDArray[Any], platform: NDArray[Any]) -> NDArray[Any]:
    """Return the quadratic forms (..., 6, 8, 8) of the squared lengths, times |e|².

    Joints a (..., 6, 3) and b (6, 3) are in the axes that the pose relates, real or complex; the
    forms in the square of their unit.
    """
    # |t + R b - a|² with R b = e b e* and t = 2 g e*; `a e` and `e b` as matrices times e.
    left, right = np.tensordot(base, LEFT, 1), np.tensordot(platform, RIGHT, 1)
    crossed = left.swapaxes(-2, -1) @ right
    forms = np.zeros((*base.shape[:-1], 8, 8), dtype=crossed.dtype)
    own = np.sum(base * base + platform * platform, axis=-1)[..., None, None]
    forms[..., :4, :4] = own * np.eye(4) - crossed - crossed.swapaxes(-2, -1)
    forms[..., 4:, 4:] = 4.0 * np.eye(4)
    forms[..., 4:, :4] = 2.0 * (right - left)
    forms[..., :4, 4:] = forms[..., 4:, :4].swapaxes(-2, -1)
    return forms


def _region(geometry: Geometry, forms: Array, multiplier: Array) -> UniquenessRegion:
    """Return the region that belongs to C; the mean eigenvalue at the neutral pose is 1."""
    cone = np.tensordot(multiplier, forms, 1).transpose(2, 0, 1)
    cone = 0.5 * (cone + cone.transpose(0, 2, 1))
    cone = cone / (np.trace(cone[HOME]) / 8.0)
    return UniquenessRegion(geometry.neutral_pose, geometry.length_scale, read_only(cone))


def _poses(geometry: Geometry, signs: Array, shift: float, turn: float) -> tuple[Array, Array]:
    """Return poses, moved and turned along neutral axes by parts (n, 6) [length scales, rad]."""
    neutral = geometry.neutral_pose
    position = neutral.position + shift * geometry.length_scale * signs[:, :3] @ neutral.rotation.T
    turns = exp_quaternion(turn * signs[:, 3:] @ neutral.rotation.T)
    return position, compose_quaternions(turns, neutral.quaternion_xyzw)


def _corners(geometry: Geometry, forms: Array) -> tuple[tuple[Array, Array], Array]:
    """Return the poses that the region is to contain, neutral first, and their weights (n,).

    A corner behind a singularity cannot be in the region: the last pose before it takes its place.
    """
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=6)))
    parts = np.concatenate([np.zeros((1, 6)), *(size * signs for size, _ in BOXES)])
    weights = np.concatenate([[HOME_WEIGHT], *(np.full(len(signs), w) for _, w in BOXES)])
    shares = np.linspace(0.0, 1.0, SHARES)
    ways = np.multiply.outer(shares, parts).reshape(-1, 6)
    poses = _poses(geometry, ways, BOX_SHIFT, BOX_TURN)
    x = dual_quaternion(geometry.neutral_pose, geometry.length_scale, *poses)
    determinants = np.linalg.det(np.moveaxis(np.tensordot(forms, x, (2, 1)), 2, 0))
    ahead = (determinants * determinants[0] > 0.0).reshape(SHARES, -1)
    last = np.cumprod(ahead, axis=0).sum(axis=0) - 1
    return _poses(geometry, shares[last, None] * parts, BOX_SHIFT, BOX_TURN), weights


def _improved(forms: Array, plain: Array, x: Array, weights: Array) -> Array:
    """Return a C with less weighted squared shortfall of eigenvalues below WANTED at poses x."""
    rows = plain @ np.moveaxis(np.tensordot(forms, x, (2, 1)), 2, 0)

    # A tenth of what a node imports, and many never ask where the one pose is assured.
    from scipy.optimize import minimize

    def shortfall(values: Array) -> tuple[float, Array]:
        product = values.reshape(8, 8) @ rows
        eigenvalues, vectors = np.linalg.eigh(0.5 * (product + product.swapaxes(1, 2)))
        missing = np.maximum(0.0, WANTED - eigenvalues)
        chosen = missing[:, 0] > 0.0
        slopes = (-2.0 * weights[chosen, None] * missing[chosen])[:, None, :] * vectors[chosen]
        moved = rows[chosen] @ vectors[chosen]
        gradient = np.tensordot(slopes, moved, ((0, 2), (0, 2)))
        return float(weights @ np.sum(missing**2, axis=1)), gradient.ravel()

    found = minimize(
        shortfall, np.eye(8).ravel(), jac=True, method='L-BFGS-B', options={'maxiter': ITERATIONS}
    )
    return np.asarray(found.x.reshape(8, 8) @ plain)


def _ambiguous(geometry: Geometry) -> GeometryError:
    """Return the error of a neutral pose without room."""
    return GeometryError(
        f'{geometry.name}: forward kinematics is ambiguous next to the neutral pose: within '
        f'{LEAST_SHIFT * geometry.length_scale:.3g} m or {math.degrees(LEAST_TURN):g}° of it the '
        'platform is singular or nearly so; choose another neutral pose'
    )
