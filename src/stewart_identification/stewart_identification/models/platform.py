# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The platform: its ten inertial parameters or three of them, legs and friction where wanted.

Measured forces are those of the drives, so what friction takes is part of them:
``force = inverse dynamics + viscous * rate + coulomb * tanh(rate / stiction_rate)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from stewart_dynamics.forward_dynamics import FRICTIONLESS
from stewart_dynamics.inertia import (
    InertialModel,
    PARAMETER_NAMES,
    PARAMETERS_PER_BODY,
)
from stewart_dynamics.leg_kernels import PLATFORM
from stewart_dynamics.newton_euler import actuator_forces, regressor
from stewart_identification.errors import ConfigurationError, FitError
from stewart_identification.experiment import Experiment
from stewart_identification.models.joint_errors import joint_error_columns
from stewart_identification.models.model import LinearModel
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.inverse import inverse

Inertia = Literal['ten', 'three']
FrictionKind = Literal['none', 'common', 'per leg']
UNITS = ('kg', 'kg m', 'kg m', 'kg m') + ('kg m²',) * 6
LARGEST_RATE = 0.1
"""Leg rate at which a viscous friction is compared with a Coulomb one [m/s]."""
KNOT_DISTANCE = 0.04
"""Between evaluations of what joint errors do, which follows the motion [s]."""


@dataclass(frozen=True, eq=False)
class PlatformModel(LinearModel):
    """Forces of the six drives.

    Attributes:
        geometry: Joints as the description has them.
        inertial: Nominal description: legs, gravity, and where a search begins.
        inertia: All ten parameters about ``platform_link``'s origin, or mass, Ixx = Iyy and Izz
            about a centre of mass that is known, as in the EX800 paper.
        legs: Whether the twenty parameters of cylinder and rod are asked for, too; otherwise they
            are known.
        friction: Viscous [N s/m] and Coulomb [N] friction identified along, two or twelve
            parameters.
        stiction_rate: Rate that smooths the Coulomb force's change of sign, where an experiment
            does not bring its directions with it [m/s].
        joint_tolerance: Standard deviation of every coordinate of every joint centre [m]. Above 0,
            the thirty-six errors are unknowns beside the parameters: estimates allow for them,
            intervals hold them.
        force_delay: Standard deviation of the time by which forces are older than the strokes of
            the same sample, as a drive's filtered torque is [s]. Above 0 it is one more unknown: a
            tenth of a millisecond looks like friction and a little like an inertia.
    """

    geometry: Geometry
    inertial: InertialModel
    inertia: Inertia = 'ten'
    legs: bool = False
    friction: FrictionKind = 'per leg'
    stiction_rate: float = FRICTIONLESS.stiction_rate
    joint_tolerance: float = 0.0
    force_delay: float = 0.0
    centre_of_mass: Array = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self) -> None:
        """Check the choices."""
        for key, value, allowed in (
            ('inertia', self.inertia, ('ten', 'three')),
            ('friction', self.friction, ('none', 'common', 'per leg')),
        ):
            if value not in allowed:
                raise ConfigurationError(key, value, ' or '.join(allowed))
        if not 0.0 <= self.joint_tolerance < 0.1:
            raise ConfigurationError('joint_tolerance', self.joint_tolerance, '0 to 0.1 m')
        if not 0.0 <= self.force_delay < 0.1:
            raise ConfigurationError('force_delay', self.force_delay, '0 to 0.1 s')
        if not self.stiction_rate > 0.0:
            raise ConfigurationError('stiction_rate', self.stiction_rate, 'above 0 m/s')
        if self.legs and self.inertia == 'three':
            raise ConfigurationError('legs', self.legs, 'no legs beside three parameters')

    @classmethod
    def from_platform(
        cls,
        platform: Platform,
        *,
        inertia: Inertia = 'ten',
        legs: bool = False,
        friction: FrictionKind = 'per leg',
        joint_tolerance: float = 0.0,
        force_delay: float = 0.0,
    ) -> PlatformModel:
        """Make the model of a described platform.

        Args:
            platform: With masses; they are where a search begins, and the legs are taken from
                there.
            inertia, legs, friction, joint_tolerance, force_delay: As the attributes.

        Returns:
            The model.

        Raises:
            MissingMasses: If the description holds no masses.
            ConfigurationError: If a choice does not exist.
        """
        inertial = InertialModel.from_platform(platform)
        assert platform.masses is not None
        body = platform.masses.platform
        if platform.masses.payload is not None:
            body = body.joined(platform.masses.payload)
        return cls(
            platform.geometry,
            inertial,
            inertia,
            legs,
            friction,
            joint_tolerance=joint_tolerance,
            force_delay=force_delay,
            centre_of_mass=body.centre_of_mass,
        )

    @cached_property
    def basis(self) -> Array:
        """Matrix that takes the inertial parameters asked for to the thirty, shape (30, q)."""
        matrix = np.eye(3 * PARAMETERS_PER_BODY)
        if self.inertia == 'three':
            c = self.centre_of_mass
            steiner = c @ c * np.eye(3) - np.outer(c, c)
            columns = np.zeros((30, 3))
            columns[:10, 0] = np.concatenate([[1.0], c, steiner[np.triu_indices(3)]])
            columns[[4, 7], 1] = columns[9, 2] = 1.0
            return columns
        return matrix if self.legs else matrix[:, PLATFORM]

    @cached_property
    def bodies(self) -> tuple[int, ...]:  # type: ignore[override]
        """Where blocks of ten begin."""
        if self.inertia == 'three':
            return ()
        return (0, 10, 20) if self.legs else (0,)

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names as in `stewart_dynamics.inertia`, then friction."""
        if self.inertia == 'three':
            names: Sequence[str] = ('m', 'Ixx=Iyy', 'Izz')
        elif self.legs:
            names = PARAMETER_NAMES
        else:
            names = [name.removeprefix('platform_') for name in PARAMETER_NAMES[PLATFORM]]
        return (*names, *self._friction_names)

    @cached_property
    def _friction_names(self) -> tuple[str, ...]:
        if self.friction == 'common':
            return ('viscous', 'coulomb')
        legs = range(1, 7) if self.friction == 'per leg' else ()
        return tuple(f'{kind}_{leg}' for kind in ('viscous', 'coulomb') for leg in legs)

    @cached_property
    def parameter_units(self) -> tuple[str, ...]:  # type: ignore[override]
        """One unit per parameter."""
        units: tuple[str, ...] = ('kg', 'kg m²', 'kg m²') if self.inertia == 'three' else UNITS
        if self.legs:
            units *= 3
        half = len(self._friction_names) // 2
        return (*units, *('N s/m',) * half, *('N',) * half)

    @property
    def _inertial_count(self) -> int:
        return self.basis.shape[1]

    @cached_property
    def non_negative(self) -> tuple[int, ...]:  # type: ignore[override]
        """Friction; with three parameters these, too."""
        first = 0 if self.inertia == 'three' else self._inertial_count
        return tuple(range(first, len(self.parameter_names)))

    @cached_property
    def jumps(self) -> tuple[int, ...]:  # type: ignore[override]
        """Coulomb friction."""
        names = self.parameter_names
        return tuple(k for k, name in enumerate(names) if name.startswith('coulomb'))

    @cached_property
    def nominal(self) -> Array:  # type: ignore[override]
        """What the description says, without friction."""
        inertial = self.inertial.parameters
        if self.inertia == 'three':
            c, m = self.centre_of_mass, inertial[0]
            steiner = m * (c @ c * np.eye(3) - np.outer(c, c))[np.triu_indices(3)]
            about = inertial[4:10] - steiner
            chosen = np.array([m, 0.5 * (about[0] + about[3]), about[5]])
        else:
            chosen = inertial if self.legs else inertial[PLATFORM]
        return np.concatenate([chosen, np.zeros(len(self._friction_names))])

    @cached_property
    def scale(self) -> Array:  # type: ignore[override]
        """Mass, mass times length scale and its square; friction of a tenth of the weight."""
        length, mass = self.inertial.length_scale, max(float(self.inertial.parameters[0]), 1e-3)
        powers = {'kg': 1.0, 'kg m': length, 'kg m²': length**2}
        weight = mass * max(float(np.linalg.norm(self.inertial.gravity)), 1.0)
        powers |= {'N s/m': weight / mass / 60.0 / LARGEST_RATE, 'N': weight / mass / 60.0}
        return mass * np.array([powers[unit] for unit in self.parameter_units])

    @cached_property
    def bounds(self) -> Array:  # type: ignore[override]
        """Three times the scale about the description; nothing negative that cannot be."""
        lower, upper = self.nominal - 3.0 * self.scale, self.nominal + 3.0 * self.scale
        lower[list(self.non_negative)] = 0.0
        lower[[first + k for first in self.bodies for k in (0, 4, 7, 9)]] = 0.0
        return np.stack([lower, upper])

    def regressor(self, experiment: Experiment) -> Array:
        """Return the matrix that takes the parameters to the forces, shape (n, 6, p)."""
        motion = self._motion(experiment)
        if self.legs:
            inertial = regressor(self.inertial, motion)
        else:
            inertial = regressor(self.inertial, motion, columns=PLATFORM)
            if self.inertia == 'three':
                inertial = inertial @ self.basis[:10]
        if self.friction == 'none':
            return inertial
        rates = inverse(self.geometry, motion).rate
        directions = experiment.directions
        kinds = (
            rates,
            np.tanh(rates / self.stiction_rate) if directions is None else directions,
        )
        if self.friction == 'common':
            return np.concatenate([inertial, np.stack(kinds, axis=-1)], axis=-1)
        count, known = len(experiment), inertial.shape[-1]
        full = np.zeros((count, 6, known + 12))
        full[..., :known] = inertial
        legs = np.arange(6)
        for first, values in zip((known, known + 6), kinds, strict=True):
            full[:, legs, first + legs] = values
        return full

    def offset(self, experiment: Experiment) -> Array:
        """Return the forces of legs that are known, shape (n, 6)."""
        if self.legs:
            return np.zeros((len(experiment), 6))
        legs = self.inertial.parameters.copy()
        legs[PLATFORM] = 0.0
        return actuator_forces(replace(self.inertial, parameters=legs), self._motion(experiment))

    def nuisance(self, parameters: Array, experiment: Experiment) -> Array:
        """Return what one standard deviation of the unknowns beside the parameters does [N].

        The thirty-six joint coordinates, then the age of the forces, as far as either is allowed
        for: shape (n, 6, 0, 1, 36 or 37).
        """
        columns = [super().nuisance(parameters, experiment)]
        if self.joint_tolerance > 0.0:
            columns.append(self._joint_errors(parameters, experiment))
        if self.force_delay > 0.0:
            slope = np.gradient(self.predict(parameters, experiment), experiment.stamps, axis=0)
            columns.append(-self.force_delay * slope[..., None])
        return np.concatenate(columns, axis=2)

    def _joint_errors(self, parameters: Array, experiment: Experiment) -> Array:
        """Return what joint errors of one standard deviation do, shape (n, 6, 36) [N]."""
        count = self.basis.shape[1]
        thirty = self.basis @ parameters[:count]
        if not self.legs:
            thirty[PLATFORM.stop :] = self.inertial.parameters[PLATFORM.stop :]
        inertial = replace(self.inertial, parameters=thirty)
        motion, stamps = self._motion(experiment), experiment.stamps
        knots = _knots(stamps)
        columns = self.joint_tolerance * joint_error_columns(inertial, motion[knots])
        if len(knots) == len(stamps):
            return columns
        return np.asarray(CubicSpline(stamps[knots], columns)(stamps))

    @staticmethod
    def _motion(experiment: Experiment) -> Motion:
        if not isinstance(experiment.inputs, Motion):
            raise FitError('a platform moves by poses; this experiment has joint variables')
        return experiment.inputs


def _knots(stamps: Array) -> NDArray[np.int64]:
    """Return the samples at which slow functions are evaluated, to be interpolated between."""
    every = max(int(KNOT_DISTANCE / max(float(np.max(np.diff(stamps), initial=0.0)), 1e-9)), 1)
    return np.unique(np.append(np.arange(0, len(stamps), every), len(stamps) - 1))


CENTROIDAL_NAMES = ('m', 'cx', 'cy', 'cz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')
CENTROIDAL_UNITS = ('kg', 'm', 'm', 'm') + ('kg m²',) * 6


def centroidal(ten: Array, covariance: Array) -> tuple[Array, Array]:
    """Turn parameters about the origin into mass, centre of mass and inertia about it.

    Args:
        ten (10,): m, h, I about the reference point.
        covariance (10, 10): Of these.

    Returns:
        (10,): Values in the order of `CENTROIDAL_NAMES` [kg, m, kg m²].
        (10, 10): Their covariance, to first order.

    Raises:
        FitError: If the mass is not positive.
    """
    if not ten[0] > 0.0:
        raise FitError(f'no centre of mass: the mass must be above 0, got {ten[0]:.6g} kg')

    def values(parameters: Array) -> Array:
        c = parameters[1:4] / parameters[0]
        steiner = parameters[0] * (c @ c * np.eye(3) - np.outer(c, c))[np.triu_indices(3)]
        return np.concatenate([parameters[:1], c, parameters[4:] - steiner])

    steps = 1e-6 * np.maximum(np.abs(ten), 1e-3 * ten[0])
    slope = np.stack(
        [(values(ten + s) - values(ten - s)) / (2.0 * s.sum()) for s in np.diag(steps)], axis=1
    )
    return values(ten), slope @ covariance @ slope.T
