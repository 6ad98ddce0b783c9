# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""The PS-6TL paper's model in closed form: a rigid plate on six massless legs.

Coordinates :math:`X = (x, y, z, \varphi, \theta, \psi)` with
:math:`R = R_z(\psi) R_y(\theta) R_x(\varphi)` (Eq. 3), so that

.. math::
    M \ddot X + C \dot X + G = J^\top f, \qquad \dot l = J \dot X .

M, C, G and J are derived from Eq. 3 throughout. The paper mixes three Euler conventions and loses
terms of C and J on the way; ``papers/ps6tl.py`` lists them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_dynamics.errors import (
    MissingMasses,
    refuse_not_finite,
    SingularPose,
    UnphysicalInertia,
)
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, read_only

# Condition number of J (SI units) from which forces have no correct digit left.
LARGEST_CONDITION_NUMBER = 1e12


@dataclass(frozen=True, eq=False)
class LagrangianModel:
    """A plate with principal axes along its frame, its centre of mass at the origin.

    Attributes:
        base_joints, platform_joints (6, 3): Joint centres in ``base_link`` and in
            ``platform_link`` [m].
        mass: [kg].
        moments (3,): Principal moments of inertia [kg m²].
        gravity (3,): In ``base_link`` [m/s²].
    """

    base_joints: Array
    platform_joints: Array
    mass: float
    moments: Array
    gravity: Array

    @classmethod
    def from_platform(cls, platform: Platform) -> LagrangianModel:
        """Read the plate off a description; leg inertias are left out, as in the paper's M.

        Raises:
            MissingMasses: If the description holds no masses.
            UnphysicalInertia: If it asks for more than this model has: legs with mass, an offset
                centre of mass, a payload or products of inertia. ``newton_euler`` takes them all.
        """
        masses = platform.masses
        if masses is None:
            raise MissingMasses(platform.name)
        body = masses.platform
        moments = np.diag(body.inertia)
        if (
            masses.payload is not None
            or masses.cylinder.mass + masses.rod.mass > 0.0
            or np.any(body.centre_of_mass)
            or np.any(body.inertia - np.diag(moments))
        ):
            raise UnphysicalInertia(
                f'platform {platform.name}: the Lagrangian model takes a plate with its centre of '
                'mass at the origin, no products of inertia, no payload and massless legs'
            )
        return cls(
            platform.geometry.base_joints,
            platform.geometry.platform_joints,
            body.mass,
            read_only(moments),
            read_only(masses.gravity),
        )

    def mass_matrix(self, coordinates: Array) -> Array:
        """Return M(X) (..., 6, 6) [kg, kg m²] at coordinates (..., 6) [m, rad]."""
        ix, iy, iz = self.moments
        roll, pitch = coordinates[..., 3], coordinates[..., 4]
        sr, cr, sp, cp = np.sin(roll), np.cos(roll), np.sin(pitch), np.cos(pitch)
        m = np.zeros((*coordinates.shape[:-1], 6, 6))
        m[..., [0, 1, 2], [0, 1, 2]] = self.mass
        m[..., 3, 3] = ix
        m[..., 3, 5] = m[..., 5, 3] = -ix * sp
        m[..., 4, 4] = iy * cr**2 + iz * sr**2
        m[..., 4, 5] = m[..., 5, 4] = (iy - iz) * sr * cr * cp
        m[..., 5, 5] = ix * sp**2 + (iy * sr**2 + iz * cr**2) * cp**2
        return m

    def coriolis_matrix(self, coordinates: Array, rates: Array) -> Array:
        """Return Christoffel's C(X, dX) (..., 6, 6): dM/dt - 2 C is skew [kg/s, kg m²/s]."""
        ix, iy, iz = self.moments
        roll, pitch = coordinates[..., 3], coordinates[..., 4]
        sr, cr, sp, cp = np.sin(roll), np.cos(roll), np.sin(pitch), np.cos(pitch)
        # derivative[..., k, j, i] = dM_kj / dX_i; only roll (3) and pitch (4) appear in M.
        d = np.zeros((*coordinates.shape[:-1], 6, 6, 6))
        d[..., 4, 4, 3] = -2.0 * (iy - iz) * sr * cr
        d[..., 4, 5, 3] = d[..., 5, 4, 3] = (iy - iz) * (cr**2 - sr**2) * cp
        d[..., 5, 5, 3] = 2.0 * (iy - iz) * sr * cr * cp**2
        d[..., 3, 5, 4] = d[..., 5, 3, 4] = -ix * cp
        d[..., 4, 5, 4] = d[..., 5, 4, 4] = -(iy - iz) * sr * cr * sp
        d[..., 5, 5, 4] = 2.0 * sp * cp * (ix - iy * sr**2 - iz * cr**2)
        christoffel = 0.5 * (d + np.swapaxes(d, -1, -2) - np.moveaxis(d, -1, -3))
        return np.einsum('...kji,...i->...kj', christoffel, rates)

    def gravity_vector(self) -> Array:
        """Give G, shape (6,), the generalised force that holds the plate [N, N m]."""
        return np.concatenate([-self.mass * self.gravity, np.zeros(3)])

    def jacobian(self, coordinates: Array) -> Array:
        """Return J(X) (..., 6, 6) with leg rates = J dX at coordinates (..., 6) [m, rad]."""
        rotation, turns = _rotation_and_derivatives(coordinates)
        arms = self.platform_joints @ np.swapaxes(rotation, -1, -2)
        legs = coordinates[..., None, :3] + arms - self.base_joints
        directions = legs / np.linalg.norm(legs, axis=-1, keepdims=True)
        by_angle = [
            np.sum(directions * (self.platform_joints @ np.swapaxes(turn, -1, -2)), axis=-1)
            for turn in turns
        ]
        return np.concatenate([directions, np.stack(by_angle, axis=-1)], axis=-1)

    def actuator_forces(self, coordinates: Array, rates: Array, accelerations: Array) -> Array:
        """Return the actuators' forces (..., 6) for X, dX, ddX; positive pushes apart [N].

        Raises:
            SingularPose: If J cannot be inverted; also where the Euler angles are singular, pitch
                = ±90°.
            StewartError: If a value is not finite.
        """
        for name, values in (('X', coordinates), ('dX', rates), ('ddX', accelerations)):
            refuse_not_finite(name, values)
        jacobian = self.jacobian(coordinates)
        condition = np.asarray(np.linalg.cond(jacobian))
        if np.any(condition > LARGEST_CONDITION_NUMBER):
            raise SingularPose(float(condition.max()), int(condition.argmax()))
        load = (
            np.einsum('...ij,...j->...i', self.mass_matrix(coordinates), accelerations)
            + np.einsum('...ij,...j->...i', self.coriolis_matrix(coordinates, rates), rates)
            + self.gravity_vector()
        )
        return np.linalg.solve(np.swapaxes(jacobian, -1, -2), load[..., None])[..., 0]


def _rotation_and_derivatives(coordinates: Array) -> tuple[Array, tuple[Array, Array, Array]]:
    """R of Eq. 3 and its derivatives by roll, pitch and yaw, each of shape (..., 3, 3)."""
    (rx, dx), (ry, dy), (rz, dz) = (_turn(axis, coordinates[..., 3 + axis]) for axis in range(3))
    return rz @ ry @ rx, (rz @ ry @ dx, rz @ dy @ rx, dz @ ry @ rx)


def _turn(axis: int, angle: Array) -> tuple[Array, Array]:
    """Rotation about a coordinate axis and its derivative by the angle."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    c, s = np.cos(angle), np.sin(angle)
    rotation, derivative = (np.zeros((*np.shape(angle), 3, 3)) for _ in range(2))
    rotation[..., axis, axis] = 1.0
    rotation[..., j, j] = rotation[..., k, k] = c
    rotation[..., k, j], rotation[..., j, k] = s, -s
    derivative[..., j, j] = derivative[..., k, k] = -s
    derivative[..., k, j], derivative[..., j, k] = c, -c
    return rotation, derivative
