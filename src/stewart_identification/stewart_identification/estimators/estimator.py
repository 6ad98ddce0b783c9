# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What an estimator is: a search in the linear system that an experiment makes of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from stewart_identification.estimators.linear_system import linear_system, LinearSystem
from stewart_identification.estimators.result import Result
from stewart_identification.experiment import Experiment
from stewart_identification.models.model import LinearModel
from stewart_kinematics.motion import Array

Progress = Callable[[int, int, Array, float], bool]
"""Told (iterations done, iterations planned, best parameters, cost) and answers whether to go on;
an estimator that is told to stop returns the best so far."""


class Stopped(Exception):
    """The progress callback wants no more."""


class Found(NamedTuple):
    """Where a search ended: parameters (p,), and what `Result` tells of how it got there."""

    parameters: Array
    method: str
    iterations: int = 1
    converged: bool = True
    constrained: bool = False


@dataclass(frozen=True)
class Estimator(ABC):
    """Fits a model to an experiment.

    Attributes:
        level: Of the intervals.
    """

    level: float = field(default=0.95, kw_only=True)

    @abstractmethod
    def search(self, system: LinearSystem, rng: np.random.Generator, progress: Progress) -> Found:
        """Look for the parameters; `fit` says what else there is."""

    def fit(
        self,
        model: LinearModel,
        experiment: Experiment,
        *,
        rng: np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Result:
        """Estimate the parameters.

        Args:
            rng: Source of everything random; the same state gives the same result.
            progress: Told after every iteration; may stop the search.

        Raises:
            FitError: If too few forces were measured, or one cannot be reckoned with.
        """
        system = linear_system(model, experiment)
        chance = np.random.default_rng(0) if rng is None else rng
        found = self.search(system, chance, progress or (lambda *_: True))
        return system.result(
            found.parameters,
            self.level,
            found.method,
            found.iterations,
            converged=found.converged,
            constrained=found.constrained,
        )
