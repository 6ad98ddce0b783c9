# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""Inertial parameters of the thirteen bodies, in the form in which forces are linear.

A body has ten: mass :math:`m`, first moment :math:`h = m c` and the six entries of the inertia
about its *reference point* (not its centre of mass):

``[m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz]``

Reference points and axes: platform - the origin and axes of ``platform_link``; cylinder - the base
joint, leg axes; rod - the platform joint, leg axes. A model's parameter vector is platform (with
payload), cylinder, rod: thirty numbers, the legs being alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from stewart_dynamics.errors import MissingMasses, UnphysicalInertia
from stewart_kinematics.model.platform import inertia_fault, MassProperties, Platform, RigidBody
from stewart_kinematics.motion import Array, read_only

PARAMETERS_PER_BODY = 10
PARAMETER_NAMES = tuple(
    f'{body}_{name}'
    for body in ('platform', 'cylinder', 'rod')
    for name in ('m', 'hx', 'hy', 'hz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')
)


def check_physical(name: str, body: RigidBody) -> None:
    """Refuse a body, called `name`, that no distribution of mass can have.

    Raises:
        UnphysicalInertia: If the mass is negative, a principal moment is negative, or the
            principal moments break the triangle inequality. Inertia without mass passes: the
            PS-6TL's legs are so printed.
    """
    if not body.mass >= 0.0:
        raise UnphysicalInertia(f'{name}: mass must be at least 0 kg, got {body.mass:.6g} kg')
    fault = inertia_fault(body.inertia)
    if fault:
        raise UnphysicalInertia(f'{name}: no body has this inertia; {fault}')


def ten_parameters(body: RigidBody) -> Array:
    """Return ``[m, m c, I]`` (10,) of a body about its reference point [kg, kg m, kg m²]."""
    c = body.centre_of_mass
    inertia = body.inertia + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
    return np.concatenate([[body.mass], body.mass * c, inertia[np.triu_indices(3)]])


def masses_of(platform: Platform) -> MassProperties:
    """Return the masses of a platform.

    Raises:
        MissingMasses: If the description holds none.
        UnphysicalInertia: If a body is impossible; the message names it and its eigenvalue.
    """
    masses = platform.masses
    if masses is None:
        raise MissingMasses(platform.name)
    for name in ('platform', 'cylinder', 'rod', 'payload', 'crank'):
        if (body := getattr(masses, name)) is not None:
            check_physical(name, body)
    return masses


@dataclass(frozen=True, eq=False)
class InertialModel:
    """What the dynamics need to know of a platform.

    Attributes:
        base_joints, platform_joints (6, 3): Joint centres in ``base_link`` and in
            ``platform_link`` [m].
        gravity (3,): In ``base_link`` [m/s²].
        parameters (30,): Platform with payload, cylinder, rod (see the module).
        universal_axes (6, 3): Unit vector of each universal joint's axis that is fixed in the
            base, in ``base_link``.
        length_scale: Divides the moments in condition numbers [m].
    """

    base_joints: Array
    platform_joints: Array
    gravity: Array
    parameters: Array
    universal_axes: Array
    length_scale: float
    name: str = field(default='platform')

    @classmethod
    def from_platform(
        cls, platform: Platform, universal_axes: Array | None = None
    ) -> InertialModel:
        """Read the model off a platform's description, the payload fixed to the platform.

        `universal_axes` (6, 3) replaces the description's axes of the universal joints in the
        base.

        Raises:
            MissingMasses, UnphysicalInertia: As `masses_of`.
        """
        masses = masses_of(platform)
        carried = ten_parameters(masses.platform)
        if masses.payload is not None:
            carried = carried + ten_parameters(masses.payload)
        legs = [ten_parameters(masses.cylinder), ten_parameters(masses.rod)]
        geometry = platform.geometry
        return cls(
            geometry.base_joints,
            geometry.platform_joints,
            read_only(masses.gravity),
            read_only(np.concatenate([carried, *legs])),
            read_only(platform.base_joint_axes if universal_axes is None else universal_axes),
            geometry.length_scale,
            platform.name,
        )
