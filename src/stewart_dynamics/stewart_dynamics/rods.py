# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""Inverse dynamics of platforms on cranks or carriages, whose rods have no mass.

A rod without mass carries a force along itself. So the platform's balance gives the rods' forces,
and the virtual power of every joint its effort:

.. math:: J^T \tau = W + \sum_i J_i^T m_i(q_i, \ddot q_i)

in the form :math:`\tau_i = f_i\, d_i \cdot B_q + m_i`, with the wrench W that moves platform and
payload, the force f of the rod (positive pushes the joints apart), and what moves the crank or
carriage itself: inertia times acceleration, less the effort of gravity. Masses of rods, friction
and rotors behind gears are not in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from stewart_dynamics.errors import refuse_not_finite, SingularPose
from stewart_dynamics.inertia import check_physical, masses_of
from stewart_kinematics.errors import LegFamilyError, MotionRefused, Violation
from stewart_kinematics.model.leg_kinds import ROTARY
from stewart_kinematics.model.platform import NO_BODY, Platform, RigidBody
from stewart_kinematics.model.rods import Rods
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.spatial import matrix_from_quaternion

WORST_CONDITION = 1e10
"""Condition number of the rods' lines above which they hold no platform [-]."""


@dataclass(frozen=True, eq=False)
class RodModel:
    """What the dynamics need to know of a platform on rods.

    Attributes:
        rods: Rods and what moves them.
        carried: Platform and payload as one body, in ``platform_link``.
        driven: Crank or carriage, in the crank's frame, from its centre.
        gravity (3,): In ``base_link`` [m/s²].
        length_scale: Divides the moments in condition numbers [m].
    """

    rods: Rods
    carried: RigidBody
    driven: RigidBody
    gravity: Array
    length_scale: float

    @classmethod
    def from_platform(cls, platform: Platform) -> RodModel:
        """Read the model off a platform's description, the payload fixed to the platform.

        Raises:
            LegFamilyError: If the legs are no rods.
            MissingMasses, UnphysicalInertia: As `masses_of`.
        """
        rods = platform.geometry.rods
        if rods is None:
            raise LegFamilyError(platform.name, platform.kind.name)
        masses = masses_of(platform)
        carried = masses.platform
        if masses.payload is not None:
            carried = carried.joined(masses.payload)
        driven = masses.crank or replace(NO_BODY, mass=masses.carriage)
        check_physical('carriage', driven)
        return cls(rods, carried, driven, masses.gravity, platform.geometry.length_scale)

    def efforts(self, motion: Motion) -> Array:
        """Return the efforts (..., 6) of the joints for a motion (...): torques [N m], forces [N].

        Positive drives the joint towards greater positions.

        Raises:
            MotionRefused: If a rod does not reach, or a value is not finite.
            SingularPose: If the rods do not hold the platform.
        """
        position, quaternion, twist, acceleration = motion.rows()
        values, _, seconds = self.rods.motion((position, quaternion), twist, acceleration)
        _require_reach(self.rods, motion, values, seconds)
        matrix, _, gears = self.rods.jacobians(position, quaternion, twist)
        condition = self.rods.conditions(position, quaternion, self.length_scale)
        worst = int(np.argmax(condition))
        if not condition[worst] < WORST_CONDITION:
            raise SingularPose(float(condition[worst]), worst if motion.shape else None)
        lines = matrix * gears[..., None]
        wrench = self._wrench(quaternion, twist, acceleration)
        forces = np.linalg.solve(lines.swapaxes(1, 2), wrench[..., None])[..., 0]
        efforts = forces * gears + self._own(values, seconds)
        return np.asarray(efforts.reshape(*motion.shape, 6))

    def _wrench(self, quaternion: Array, twist: Array, acceleration: Array) -> Array:
        """Return force and moment (n, 6) about the platform's origin that move it, base axes."""
        turn = matrix_from_quaternion(quaternion)
        body, omega, alpha = self.carried, twist[:, 3:], acceleration[:, 3:]
        arm = turn @ body.centre_of_mass
        inertia = turn @ body.inertia @ turn.swapaxes(1, 2)
        centre = acceleration[:, :3] + np.cross(alpha, arm)
        centre = centre + np.cross(omega, np.cross(omega, arm))
        force = body.mass * (centre - self.gravity)
        spin = np.einsum('nij,nj->ni', inertia, omega)
        moment = np.einsum('nij,nj->ni', inertia, alpha) + np.cross(omega, spin)
        return np.hstack([force, moment + np.cross(arm, force)])

    def _own(self, values: Array, seconds: Array) -> Array:
        """Return the efforts (n, 6) that move cranks or carriages themselves."""
        rods, body = self.rods, self.driven
        if rods.kind is not ROTARY:
            return np.asarray(body.mass * (seconds - rods.axes @ self.gravity))
        along, across = body.centre_of_mass[1:]
        inertia = body.inertia[0, 0] + body.mass * (along**2 + across**2)
        radial = rods.begin(values) - rods.origins
        radial = radial / np.linalg.norm(radial, axis=-1, keepdims=True)
        tangent = np.cross(rods.axes, radial)
        # A turn by dq moves the centre of mass by axis x arm dq.
        slope = along * tangent - across * radial
        return np.asarray(inertia * seconds - body.mass * (slope @ self.gravity))


def _require_reach(rods: Rods, motion: Motion, values: Array, seconds: Array) -> None:
    """Refuse what is not finite, and rods that do not reach."""
    for name in Motion.__dataclass_fields__:
        refuse_not_finite(name, getattr(motion, name))
    bad = np.argwhere(~np.isfinite(values) | ~np.isfinite(seconds))
    if bad.size:
        sample, leg = (int(item) for item in bad[0])
        kind, index = rods.kind, sample if motion.shape else None
        value = float(values[sample, leg])
        raise MotionRefused(
            Violation(kind.quantity, value, -np.inf, np.inf, kind.unit, leg + 1, index)
        )
