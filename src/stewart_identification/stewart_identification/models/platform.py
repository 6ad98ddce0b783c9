# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The platform: its ten inertial parameters, and friction of the drives where wanted.

Measured forces are those of the drives, so what friction takes is part of them:
``force = inverse dynamics + viscous * rate + coulomb * direction``, and the terms of
`models.terms` that were asked for. What moves the forces with a known size, joint errors, gains
of the force sensors and their delay, are nuisances.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import get_args, Literal

import numpy as np
from stewart_dynamics.inertia import InertialModel, PARAMETER_NAMES
from stewart_dynamics.leg_kernels import PLATFORM
from stewart_identification.errors import ConfigurationError
from stewart_identification.experiment import Experiment
from stewart_identification.models.mechanics import Mechanics
from stewart_identification.models.model import LinearModel
from stewart_identification.models.terms import (
    EXACT,
    friction_shapes,
    per_leg,
    SPRING,
    term_column,
    TERMS,
)
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion

FrictionKind = Literal['none', 'common', 'per leg']
TEN_UNITS = ('kg', 'kg m', 'kg m', 'kg m') + ('kg m²',) * 6
LARGEST_RATE = 0.1
"""Leg rate at which a viscous friction is compared with a Coulomb one [m/s]."""


@dataclass(frozen=True, eq=False)
class PlatformModel(LinearModel):
    """Forces of the six drives.

    Attributes:
        geometry: Joints as the description has them.
        inertial: Nominal description: legs, gravity, and where a search begins.
        friction: Viscous [N s/m] and Coulomb [N] friction identified along, two or twelve
            parameters.
        joint_tolerance: Standard deviation of every coordinate of every joint centre [m]. Above 0,
            the thirty-six errors are unknowns beside the parameters: estimates allow for them,
            intervals hold them.
        base_lean: Standard deviation of the angles by which gravity turns about x and y [rad]. A
            base that leans looks like another centre of mass, and like rotors.
        force_delay: Standard deviation of the time by which forces are older than the strokes of
            the same sample, as a drive's filtered torque is [s]. Above 0 it is one more unknown: a
            tenth of a millisecond looks like friction and a little like an inertia.
        force_gain: Standard deviation of the relative error of each leg's force, such as a torque
            constant's. What all have in common looks like mass: only a known load tells it.
        terms: Names in `models.terms.TERMS` of what is identified along beside `friction`.
        memory: What motions make of this platform, for one fit (`remembering`); None computes it
            anew each time.
    """

    geometry: Geometry
    inertial: InertialModel
    friction: FrictionKind = 'per leg'
    joint_tolerance: float = 0.0
    force_delay: float = 0.0
    force_gain: float = 0.0
    base_lean: float = 0.0
    terms: tuple[str, ...] = ()
    memory: dict[Motion, Mechanics] | None = field(default=None, repr=False)

    bodies = (0,)

    def __post_init__(self) -> None:
        kinds = get_args(FrictionKind)
        if self.friction not in kinds:
            raise ConfigurationError('friction', self.friction, ' or '.join(kinds))
        units = {'joint_tolerance': 'm', 'force_delay': 's', 'force_gain': '', 'base_lean': 'rad'}
        for name, unit in units.items():
            if not 0.0 <= getattr(self, name) < 0.1:
                expected = f'0 to below 0.1 {unit}'.rstrip()
                raise ConfigurationError(name, getattr(self, name), expected)

    @classmethod
    def from_platform(
        cls,
        platform: Platform,
        *,
        friction: FrictionKind = 'per leg',
        joint_tolerance: float = 0.0,
        force_delay: float = 0.0,
        force_gain: float = 0.0,
        base_lean: float = 0.0,
    ) -> PlatformModel:
        """Make the model of a described platform, whose masses are where a search begins.

        Raises:
            MissingMasses: If the description holds no masses.
            ConfigurationError: If a choice does not exist.
        """
        inertial = InertialModel.from_platform(platform)
        allowed = joint_tolerance, force_delay, force_gain, base_lean
        return cls(platform.geometry, inertial, friction, *allowed)

    @cached_property
    def _beside(self) -> tuple[tuple[str, str, bool], ...]:
        """Name, unit and sign of what is identified beside the ten."""
        rows = []
        for name, unit in (('viscous', 'N s/m'), ('coulomb', 'N')):
            units = {'none': {}, 'common': {'': unit}, 'per leg': per_leg(unit)}[self.friction]
            rows += [(f'{name}{end}', unit, False) for end in units]
        for name in self.terms:
            term = TERMS[name]
            rows += [(f'{name}{end}', unit, term.signed) for end, unit in term.units.items()]
        return tuple(rows)

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names as in `stewart_dynamics.inertia`, then friction, then terms."""
        ten = [name.removeprefix('platform_') for name in PARAMETER_NAMES[PLATFORM]]
        return (*ten, *(name for name, _, _ in self._beside))

    @cached_property
    def parameter_units(self) -> tuple[str, ...]:  # type: ignore[override]
        """One unit per parameter."""
        return (*TEN_UNITS, *(unit for _, unit, _ in self._beside))

    @cached_property
    def non_negative(self) -> tuple[int, ...]:  # type: ignore[override]
        """Friction, and terms that have one sign."""
        return tuple(10 + k for k, (_, _, signed) in enumerate(self._beside) if not signed)

    @cached_property
    def laws(self) -> tuple[int, ...]:  # type: ignore[override]
        """All friction, where terms show that it is not just viscous and Coulomb's."""
        rough = tuple(name for name in self.terms if name not in EXACT)
        if not rough:
            return ()
        names = (*rough, 'viscous', 'coulomb')
        return tuple(k for k, name in enumerate(self.parameter_names) if name.startswith(names))

    @cached_property
    def nominal(self) -> Array:  # type: ignore[override]
        """What the description says, without friction."""
        return np.concatenate([self.inertial.parameters[PLATFORM], np.zeros(len(self._beside))])

    @cached_property
    def scale(self) -> Array:  # type: ignore[override]
        """Mass, mass times length scale and its square; friction of a tenth of the weight."""
        length, mass = self.inertial.length_scale, max(float(self.inertial.parameters[0]), 1e-3)
        powers = {'kg': 1.0, 'kg m': length, 'kg m²': length**2}
        weight = mass * max(float(np.linalg.norm(self.inertial.gravity)), 1.0)
        powers |= {'N s/m': weight / mass / 60.0 / LARGEST_RATE, 'N': weight / mass / 60.0}
        powers |= {'N/N': 0.1 / mass, 'N/m': weight / mass / 60.0 / length}
        powers |= dict.fromkeys(('N m', 'N m/rad'), weight / mass / 60.0 * length)
        return mass * np.array([powers[unit] for unit in self.parameter_units])

    @cached_property
    def bounds(self) -> Array:  # type: ignore[override]
        """Three times the scale about the description; nothing negative that cannot be."""
        lower, upper = self.nominal - 3.0 * self.scale, self.nominal + 3.0 * self.scale
        lower[[0, 4, 7, 9, *self.non_negative]] = 0.0
        return np.stack([lower, upper])

    def remembering(self) -> PlatformModel:
        """Return this model with a memory, which variants of it by `replace` share."""
        return replace(self, memory={}) if self.memory is None else self

    def _mechanics(self, experiment: Experiment) -> Mechanics:
        memory = {} if self.memory is None else self.memory
        found = memory.get(experiment.inputs)
        if found is None or not np.array_equal(found.stamps, experiment.stamps):
            found = Mechanics(self.geometry, self.inertial, experiment.stamps, experiment.inputs)
            memory[experiment.inputs] = found
        return found

    def regressor(self, experiment: Experiment) -> Array:
        """Return the matrix that takes the parameters to the forces, shape (n, 6, p)."""
        mechanics = self._mechanics(experiment)
        columns = [mechanics.ten]
        if not self._beside:
            return mechanics.ten
        legs = mechanics.legs
        shapes = experiment.shapes
        if shapes is None:
            shapes = friction_shapes(legs.rate, experiment.forces)
        along = [legs.rate, shapes[..., 0]]
        if self.friction == 'common':
            columns.append(np.stack(along, axis=-1))
        elif self.friction == 'per leg':
            columns += [_per_leg(values) for values in along]
        for name in self.terms:
            if name == SPRING:
                columns.append(mechanics.sprung)
                continue
            values = term_column(name, shapes, legs.acceleration)
            columns.append(values[..., None] if name == 'rotor' else _per_leg(values))
        return np.concatenate(columns, axis=2)

    def offset(self, experiment: Experiment) -> Array:
        """Return the forces of the legs and of known loads, shape (n, 6)."""
        mechanics = self._mechanics(experiment)
        if experiment.loads is None:
            return mechanics.leg_forces
        loads = np.einsum('nmp,np->nm', mechanics.ten, experiment.loads)
        return np.asarray(mechanics.leg_forces + loads)

    @cached_property
    def groups(self) -> dict[str, slice]:
        """Which columns of `nuisance` are ``joints``, ``lean``, ``gains`` and ``age``."""
        allowed = (
            (self.joint_tolerance, 36),
            (self.base_lean, 2),
            (self.force_gain, 6),
            (self.force_delay, 1),
        )
        ends = np.cumsum([0, *(count if size > 0.0 else 0 for size, count in allowed)]).tolist()
        return dict(
            zip(('joints', 'lean', 'gains', 'age'), map(slice, ends, ends[1:]), strict=True)
        )

    def nuisance(self, parameters: Array, experiment: Experiment) -> Array:
        """Return what one standard deviation of the unknowns beside the parameters does [N].

        The thirty-six joint coordinates, gravity's two angles, the six gains, then the age of the
        forces, as far as each is allowed for: shape (n, 6, k).
        """
        columns = [super().nuisance(parameters, experiment)]
        if self.joint_tolerance > 0.0:
            mechanics = self._mechanics(experiment)
            columns.append(mechanics.joint_errors(parameters[:10], self.joint_tolerance))
        if self.base_lean > 0.0:
            columns.append(self._mechanics(experiment).leaning(parameters[:10], self.base_lean))
        if self.force_gain > 0.0 or self.force_delay > 0.0:
            forces = self.predict(parameters, experiment)
        if self.force_gain > 0.0:
            columns.append(self.force_gain * _per_leg(forces))
        if self.force_delay > 0.0:
            slope = np.gradient(forces, experiment.stamps, axis=0)
            columns.append(-self.force_delay * slope[..., None])
        return np.concatenate(columns, axis=2)


def _per_leg(values: Array) -> Array:
    """Give every leg a column of its own, shape (n, m, m), of values, shape (n, m)."""
    return values[..., None] * np.eye(values.shape[1])


CENTROIDAL_NAMES = ('m', 'cx', 'cy', 'cz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')
CENTROIDAL_UNITS = ('kg', 'm', 'm', 'm') + ('kg m²',) * 6


def centroidal(ten: Array, covariance: Array) -> tuple[Array, Array]:
    """Turn parameters about the origin into mass, centre of mass and inertia about it.

    Args:
        ten (10,): m, h, I about the reference point.
        covariance (10, 10): Of these.

    Returns:
        (10,): Values in the order of `CENTROIDAL_NAMES` [kg, m, kg m²]; only a mass that is above
            0 has others.
        (10, 10): Their covariance, to first order.
    """
    if not ten[0] > 0.0:
        return np.append(ten[0], np.full(9, np.nan)), np.full((10, 10), np.nan)

    def values(parameters: Array) -> Array:
        c = parameters[1:4] / parameters[0]
        steiner = parameters[0] * (c @ c * np.eye(3) - np.outer(c, c))[np.triu_indices(3)]
        return np.concatenate([parameters[:1], c, parameters[4:] - steiner])

    steps = 1e-6 * np.maximum(np.abs(ten), 1e-3 * ten[0])
    slope = np.stack(
        [(values(ten + s) - values(ten - s)) / (2.0 * s.sum()) for s in np.diag(steps)], axis=1
    )
    return values(ten), slope @ covariance @ slope.T
