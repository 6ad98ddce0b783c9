# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a model is: forces that are linear in its parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from stewart_identification.experiment import Experiment
from stewart_identification.pseudo_inertia import is_physical
from stewart_kinematics.motion import Array


class LinearModel(ABC):
    """Forces: offset + regressor @ parameters.

    Attributes:
        nominal (p,): Where a search begins.
        scale (p,): What counts as a large change of each parameter, above 0, in its unit.
        bounds (2, p): Box of swarms.
        bodies: Where blocks of ten parameters [m, h, I] of a body begin
            (`stewart_dynamics.inertia`).
        non_negative: Parameters that cannot be negative, such as friction.
        laws: Parameters of laws that machines follow only roughly.
    """

    parameter_names: tuple[str, ...]
    parameter_units: tuple[str, ...]
    nominal: Array
    scale: Array
    bounds: Array
    bodies: tuple[int, ...] = ()
    non_negative: tuple[int, ...] = ()
    laws: tuple[int, ...] = ()

    def remembering(self) -> LinearModel:
        """Return the same model for one fit: what motions make of it may be computed once."""
        return self

    @abstractmethod
    def regressor(self, experiment: Experiment) -> Array:
        """Return the matrix that takes the parameters to the forces, shape (n, m, p)."""

    def offset(self, experiment: Experiment) -> Array:
        """Return the forces of all that is known, shape (n, m)."""
        return np.zeros_like(experiment.forces)

    def nuisance(self, parameters: Array, experiment: Experiment) -> Array:
        """Return what moves the forces and is not asked for, shape (n, m, k).

        Each column belongs to an unknown of its own and is scaled to its standard deviation. It
        may depend on the parameters, shape (p,).
        """
        return np.zeros((*experiment.forces.shape, 0))

    def nuisance_change(self, parameters: Array, experiment: Experiment) -> Array:
        """Return what the noise of `experiment.shaken` changes of `nuisance`, shape (n, m, k)."""
        assert experiment.shaken is not None
        shaken = self.nuisance(parameters, experiment.shaken)
        return np.asarray(shaken - self.nuisance(parameters, experiment))

    def predict(self, parameters: Array, experiment: Experiment) -> Array:
        """Return the forces, shape (n, m), that the parameters, shape (p,), make."""
        return np.asarray(self.offset(experiment) + self.regressor(experiment) @ parameters)

    def physical(self, parameters: Array) -> bool:
        """Tell whether all bodies can exist and nothing is negative that cannot be."""
        bodies = (parameters[first : first + 10] for first in self.bodies)
        positive = np.all(parameters[list(self.non_negative)] >= 0.0)
        return bool(positive) and all(is_physical(body) for body in bodies)
