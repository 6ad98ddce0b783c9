# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a model is: parameters in, predicted forces out.

A robot of one's own needs one class with the members of `Model`; where the forces are linear in
the parameters, deriving from `LinearModel` and giving `regressor` is enough, and faster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from stewart_identification.experiment import Experiment
from stewart_kinematics.motion import Array

STEP = 1e-6
"""Step of numerical derivatives, in units of a parameter's scale."""


@runtime_checkable
class Model(Protocol):
    """Predicts the forces of an experiment.

    Attributes:
        parameter_names, parameter_units: One of each per parameter.
        nominal (p,): Where a search begins.
        scale (p,): What counts as a large change of each parameter, above 0, in its unit.
        bounds (2, p): Lower and upper bound of swarms.
    """

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """One name per parameter."""
        ...

    @property
    def parameter_units(self) -> tuple[str, ...]:
        """One unit per parameter."""
        ...

    @property
    def nominal(self) -> Array:
        """Where a search begins, shape (p,)."""
        ...

    @property
    def scale(self) -> Array:
        """Large changes, shape (p,)."""
        ...

    @property
    def bounds(self) -> Array:
        """Box of swarms, shape (2, p)."""
        ...

    def predict(self, parameters: Array, experiment: Experiment) -> Array:
        """Return the forces, shape (n, m), that the parameters, shape (p,), make."""
        ...

    def physical(self, parameters: Array) -> bool:
        """Tell whether a robot can have these parameters."""
        ...


@runtime_checkable
class WithJacobian(Model, Protocol):
    """A model that knows the derivative of its prediction."""

    def jacobian(self, parameters: Array, experiment: Experiment) -> Array:
        """Return the derivative of `predict` by the parameters, shape (n, m, p)."""
        ...


@runtime_checkable
class WithCosts(Model, Protocol):
    """A model that judges many parameter vectors at once, for swarms."""

    def costs(self, experiment: Experiment) -> Callable[[Array], Array]:
        """Return positions, shape (k, p), to sums of squared weighted residuals, shape (k,)."""
        ...


class LinearModel(ABC):
    """A model whose forces are linear in its parameters: offset + regressor @ parameters.

    Attributes:
        bodies: Where blocks of ten parameters [m, h, I] of a body begin
            (`stewart_dynamics.inertia`).
        non_negative: Parameters that cannot be negative, such as friction.
        jumps: Parameters whose columns jump while the motion is smooth: Coulomb friction.
    """

    parameter_names: tuple[str, ...]
    parameter_units: tuple[str, ...]
    nominal: Array
    scale: Array
    bounds: Array
    bodies: tuple[int, ...] = ()
    non_negative: tuple[int, ...] = ()
    jumps: tuple[int, ...] = ()

    @abstractmethod
    def regressor(self, experiment: Experiment) -> Array:
        """Return the matrix that takes the parameters to the forces, shape (n, m, p)."""

    def offset(self, experiment: Experiment) -> Array:
        """Return the forces of all that is known, shape (n, m); none unless a model says so."""
        return np.zeros_like(experiment.forces)

    def nuisance(self, parameters: Array, experiment: Experiment) -> Array:
        """Return what moves the forces and is not asked for, shape (n, m, k); nothing by default.

        Each column belongs to an unknown of its own and is scaled to its standard deviation. It
        may depend on the parameters, shape (p,).
        """
        return np.zeros((*experiment.forces.shape, 0))

    def predict(self, parameters: Array, experiment: Experiment) -> Array:
        """Return the forces, shape (n, m), that the parameters, shape (p,), make."""
        return np.asarray(self.offset(experiment) + self.regressor(experiment) @ parameters)

    def jacobian(self, parameters: Array, experiment: Experiment) -> Array:
        """Return the regressor, which is the derivative everywhere, shape (n, m, p)."""
        return self.regressor(experiment)

    def physical(self, parameters: Array) -> bool:
        """Tell whether all bodies can exist and nothing is negative that cannot be."""
        from stewart_identification.pseudo_inertia import is_physical

        bodies = (parameters[first : first + 10] for first in self.bodies)
        positive = np.all(parameters[list(self.non_negative)] >= 0.0)
        return bool(positive) and all(is_physical(body) for body in bodies)


def local_regressor(model: Model, parameters: Array, experiment: Experiment) -> Array:
    """Give the derivative of a model's forces by its parameters.

    Args:
        model: Its own derivative is used where it has one, otherwise central differences.
        parameters (p,): Where.
        experiment: The motion.

    Returns:
        (n, m, p): Column j by parameter j, per its unit.
    """
    if isinstance(model, WithJacobian):
        return model.jacobian(parameters, experiment)
    columns = []
    for j, step in enumerate(STEP * model.scale):
        ahead, behind = np.array(parameters, dtype=float), np.array(parameters, dtype=float)
        ahead[j] += step
        behind[j] -= step
        difference = model.predict(ahead, experiment) - model.predict(behind, experiment)
        columns.append(difference / (ahead[j] - behind[j]))
    return np.stack(columns, axis=-1)
