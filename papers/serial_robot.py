# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Any serial robot from its standard Denavit-Hartenberg table.

`SerialRobot` is linear in its parameters: ten per link about the link's frame, two of friction per
joint. `CentreOfMassRobot` is the same robot in masses, centres of mass and inertias about these,
as data sheets have them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from serial_kernels import joint_forces
from stewart_identification.errors import ConfigurationError, FitError, ShapeError
from stewart_identification.experiment import Experiment
from stewart_identification.identifiability import Combination, Identifiability
from stewart_identification.models.model import LinearModel
from stewart_identification.pseudo_inertia import is_physical
from stewart_kinematics.motion import Array, read_only

PER_LINK = 12
INERTIAS = ('xx', 'xy', 'xz', 'yy', 'yz', 'zz')
STANDARD_GRAVITY = (0.0, 0.0, -9.80665)


@dataclass(frozen=True, eq=False)
class JointMotion:
    """Motion of a serial robot's joints, in place of a platform's in an experiment.

    Attributes:
        position, velocity, acceleration (n, d): Joint variables, radians or metres, and their time
            derivatives.

    Raises:
        ShapeError: If the shapes differ.
    """

    position: Array
    velocity: Array
    acceleration: Array

    def __post_init__(self) -> None:
        """Copy and compare shapes."""
        shape = np.shape(self.position)
        for item in fields(self):
            values = read_only(getattr(self, item.name))
            if values.ndim != 2 or values.shape != shape:
                raise ShapeError(item.name, str(shape), values.shape)
            object.__setattr__(self, item.name, values)

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading axes: (n,)."""
        return self.position.shape[:-1]

    def __getitem__(self, index: Any) -> JointMotion:
        """Select samples."""
        return JointMotion(*(getattr(self, item.name)[index] for item in fields(self)))


@dataclass(frozen=True)
class Joint:
    """One row of a standard Denavit-Hartenberg table.

    Attributes:
        kind: What it does about, or along, z of the frame before.
        a, alpha, d, theta: [m], [rad]; the joint variable is added to theta, or to d.
    """

    kind: Literal['revolute', 'prismatic']
    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0

    def __post_init__(self) -> None:
        """Check."""
        if self.kind not in ('revolute', 'prismatic'):
            raise ConfigurationError('kind', self.kind, 'revolute or prismatic')


class SerialRobot(LinearModel):
    """Joint forces and torques, linear in twelve parameters per link.

    Link i has ``mi, hix, hiy, hiz, Jixx, Jixy, Jixz, Jiyy, Jiyz, Jizz`` about the origin of frame
    i, then viscous friction ``fvi`` and Coulomb friction ``fci`` of joint i.

    Args:
        joints: From the base on.
        gravity: In base axes [m/s²].
        nominal (12 d,): Where a search begins; links of 1 kg that reach 0.1 m otherwise.
        reach: Length that goes with the masses in the scale of the parameters [m].
        stiction_rate: Rate that smooths the Coulomb force's change of sign; 0 for a sharp one
            [rad/s], [m/s].
    """

    def __init__(
        self,
        joints: Sequence[Joint],
        *,
        gravity: Sequence[float] = STANDARD_GRAVITY,
        nominal: Array | None = None,
        reach: float = 0.5,
        stiction_rate: float = 0.0,
    ) -> None:
        """Lay out the table."""
        if not joints:
            raise ConfigurationError('joints', joints, 'at least one joint')
        self.joints = tuple(joints)
        self.gravity = read_only(gravity)
        self._stiction_rate = stiction_rate
        self._table = np.array(
            [[j.a, j.alpha, j.d, j.theta, float(j.kind == 'prismatic')] for j in joints]
        )
        count = len(joints)
        link = np.array([1.0, *([reach] * 3), *([reach**2] * 6), 1.0, 1.0])
        self.scale = np.tile(link, count)
        default = np.array([1.0, 0.0, 0.0, 0.0, 0.01, 0.0, 0.0, 0.01, 0.0, 0.01, 0.0, 0.0])
        self.nominal = read_only(np.tile(default, count) if nominal is None else nominal)
        if self.nominal.shape != self.scale.shape:
            raise ConfigurationError('nominal', self.nominal.shape, f'{self.scale.size} numbers')
        self.bodies = tuple(range(0, PER_LINK * count, PER_LINK))
        self.non_negative = tuple(k + first for first in self.bodies for k in (10, 11))
        self.bounds = np.stack([-10.0 * self.scale, 10.0 * self.scale])
        self.bounds[0, list(self.non_negative)] = 0.0
        self.bounds[0, [k + first for first in self.bodies for k in (0, 4, 7, 9)]] = 0.0
        numbers = range(1, count + 1)
        self.parameter_names = tuple(name for i in numbers for name in _names(i, 'h', 'J'))
        turning = ('N m s/rad', 'N m'), ('N s/m', 'N')
        self.parameter_units = tuple(
            unit
            for j in joints
            for unit in (
                'kg',
                *('kg m',) * 3,
                *('kg m²',) * 6,
                *turning[int(j.kind == 'prismatic')],
            )
        )

    @property
    def _inertial(self) -> NDArray[np.int64]:
        """Indices of what the kernel takes."""
        every = np.arange(len(self.scale))
        return np.asarray(every[every % PER_LINK < 10], dtype=np.int64)

    def motion_of(self, experiment: Experiment) -> JointMotion:
        """Return the joints' motion, or raise FitError if it is another robot's."""
        motion = experiment.inputs
        if not isinstance(motion, JointMotion) or motion.position.shape[1] != len(self.joints):
            raise FitError(f'this robot needs the motion of its {len(self.joints)} joints')
        return motion

    def regressor(self, experiment: Experiment) -> Array:
        """Return the matrix that takes the parameters to the forces, shape (n, d, 12 d)."""
        motion = self.motion_of(experiment)
        chosen, count = self._inertial, len(self.joints)
        matrix = np.zeros((len(experiment), count, len(self.scale)))
        matrix[..., chosen] = self._forces(np.eye(len(chosen)), motion).swapaxes(1, 2)
        each = np.arange(count)
        matrix[:, each, PER_LINK * each + 10] = motion.velocity
        matrix[:, each, PER_LINK * each + 11] = self._direction(motion)
        return matrix

    def predict_many(self, parameters: Array, experiment: Experiment) -> Array:
        """Return the forces, shape (n, k, d), of many robots, shape (k, 12 d), by recursion."""
        motion = self.motion_of(experiment)
        forces = self._forces(np.ascontiguousarray(parameters[:, self._inertial]), motion)
        forces += motion.velocity[:, None] * parameters[:, 10::PER_LINK]
        forces += self._direction(motion)[:, None] * parameters[:, 11::PER_LINK]
        return forces

    def predict(self, parameters: Array, experiment: Experiment) -> Array:
        """Return the forces, shape (n, d), that the parameters, shape (12 d,), make."""
        return self.predict_many(np.asarray(parameters)[None], experiment)[:, 0]

    def _forces(self, rows: Array, motion: JointMotion) -> Array:
        out = np.empty((motion.position.shape[0], rows.shape[0], len(self.joints)))
        q, dq, ddq = (
            np.ascontiguousarray(item)
            for item in (motion.position, motion.velocity, motion.acceleration)
        )
        joint_forces(self._table, self.gravity, rows, q, dq, ddq, out)
        return out

    def _direction(self, motion: JointMotion) -> Array:
        if self._stiction_rate == 0.0:
            return np.sign(motion.velocity)
        return np.asarray(np.tanh(motion.velocity / self._stiction_rate))


class CentreOfMassRobot:
    """A serial robot in masses, centres of mass and inertias about these.

    Link i has ``mi, six, siy, siz, Iixx, Iixy, Iixz, Iiyy, Iiyz, Iizz, fvi, fci``. The forces are
    not linear in them, so a search has to be one that does not need that.

    Args:
        robot: The same robot about its links' frames.
        nominal (12 d,): Where a search begins.
        bounds (2, 12 d): Of swarms.
    """

    def __init__(self, robot: SerialRobot, nominal: Array, bounds: Array) -> None:
        """Name the parameters."""
        self.robot = robot
        self.nominal, self.bounds = read_only(nominal), read_only(bounds)
        self.scale = read_only(robot.scale)
        numbers = range(1, len(robot.joints) + 1)
        self.parameter_names = tuple(name for i in numbers for name in _names(i, 's', 'I'))
        units = np.array(robot.parameter_units, dtype=object)
        units[[12 * (i - 1) + k for i in numbers for k in (1, 2, 3)]] = 'm'
        self.parameter_units = tuple(units)

    def linear(self, parameters: Array) -> Array:
        """Return the parameters about the links' frames, shape (..., 12 d)."""
        blocks = np.asarray(parameters).reshape(*np.shape(parameters)[:-1], -1, PER_LINK)
        m, s = blocks[..., 0], blocks[..., 1:4]
        x, y, z = s[..., 0], s[..., 1], s[..., 2]
        steiner = np.stack([y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y])
        result = blocks.copy()
        result[..., 1:4] = m[..., None] * s
        result[..., 4:10] += m[..., None] * np.moveaxis(steiner, 0, -1)
        return result.reshape(np.shape(parameters))

    @cached_property
    def expansions(self) -> dict[str, str]:
        """Say each parameter about a link's frame in those about its centre of mass."""
        said: dict[str, str] = {}
        for i in range(1, len(self.robot.joints) + 1):
            x, y, z = (f's{i}{axis}' for axis in 'xyz')
            said |= {f'h{i}{axis}': f'm{i} s{i}{axis}' for axis in 'xyz'}
            steiner = (
                f'm{i} ({y}² + {z}²)',
                f'-m{i} {x} {y}',
                f'-m{i} {x} {z}',
                f'm{i} ({x}² + {z}²)',
                f'-m{i} {y} {z}',
                f'm{i} ({x}² + {y}²)',
            )
            for axes, more in zip(INERTIAS, steiner, strict=True):
                sign = '-' if more.startswith('-') else '+'
                said[f'J{i}{axes}'] = f'I{i}{axes} {sign} {more.removeprefix("-")}'
        return said

    def predict(self, parameters: Array, experiment: Experiment) -> Array:
        """Return the forces, shape (n, d), that the parameters, shape (12 d,), make."""
        return self.robot.predict(self.linear(parameters), experiment)

    def jacobian(self, parameters: Array, experiment: Experiment) -> Array:
        """Return the derivative of `predict` by the parameters, shape (n, d, 12 d)."""
        slope = np.eye(len(self.scale))
        for first in self.robot.bodies:
            block = slice(first, first + 10)
            slope[block, block] = _steiner_slope(np.asarray(parameters)[block])
        return self.robot.regressor(experiment) @ slope

    def costs(self, experiment: Experiment) -> Callable[[Array], Array]:
        """Return positions, shape (k, p), to sums of squared weighted residuals, shape (k,)."""
        used, weights = experiment.used, experiment.weights
        target = np.nan_to_num(experiment.forces)[:, None]
        factor = (used * weights)[:, None]

        def costs(positions: Array) -> Array:
            left = (self.robot.predict_many(self.linear(positions), experiment) - target) * factor
            return np.asarray(np.einsum('nkd,nkd->k', left, left))

        return costs

    def physical(self, parameters: Array) -> bool:
        """Tell whether all links can exist and no friction drives."""
        blocks = self.linear(parameters).reshape(-1, PER_LINK)
        return bool(np.all(blocks[:, 10:] >= 0.0)) and all(is_physical(b[:10]) for b in blocks)


def sum_in_detail(name: str, linear: Identifiability, expansions: dict[str, str]) -> str:
    """Say in which sum a parameter about the centre of mass is known.

    Args:
        name: Parameter of `CentreOfMassRobot`, such as ``s1x``.
        linear: Verdicts on the same robot about its links' frames.
        expansions: Of the parameters about the frames.

    Returns:
        The sums it takes part in; empty if there is none.
    """
    found = []
    for combination in linear.combinations:
        words = ' '.join(expansions.get(part, part) for part in combination.names)
        if name in words.replace('(', ' ').replace(')', ' ').replace('²', ' ').split():
            found.append(_expanded(combination, expansions))
    return '; '.join(found)


def _expanded(combination: Combination, expansions: dict[str, str]) -> str:
    """Write a sum for people, with longer expressions for names."""
    text = ''
    for name, coefficient in zip(combination.names, combination.coefficients, strict=True):
        size = abs(coefficient)
        said = expansions.get(name, name)
        if abs(size - 1.0) > 1e-6:
            said = f'{size:.4g} ({said})' if name in expansions else f'{size:.4g} {said}'
        elif name in expansions and coefficient < 0.0:
            said = f'({said})'
        sign = '-' if coefficient < 0.0 else '+'
        text += f' {sign} {said}' if text else (f'-{said}' if sign == '-' else said)
    return text


def _names(link: int, moment: str, inertia: str) -> tuple[str, ...]:
    return (
        f'm{link}',
        *(f'{moment}{link}{axis}' for axis in 'xyz'),
        *(f'{inertia}{link}{axes}' for axes in INERTIAS),
        f'fv{link}',
        f'fc{link}',
    )


def _steiner_slope(block: Array) -> Array:
    """Differentiate a link's parameters about its frame by those about its centre, (10, 10)."""
    m, (x, y, z) = block[0], block[1:4]
    slope = np.eye(10)
    slope[1:4, 0] = x, y, z
    slope[[1, 2, 3], [1, 2, 3]] = m
    slope[4:, 0] = y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y
    slope[4:, 1] = m * np.array([0.0, -y, -z, 2 * x, 0.0, 2 * x])
    slope[4:, 2] = m * np.array([2 * y, -x, 0.0, 0.0, -z, 2 * y])
    slope[4:, 3] = m * np.array([2 * z, 0.0, -x, 2 * z, -y, 0.0])
    return slope
