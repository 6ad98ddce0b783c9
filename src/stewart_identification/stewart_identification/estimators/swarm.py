# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Particle swarms by pyswarms, seeded by us.

pyswarms draws from numpy's global generator and opens a log file wherever it is imported. Both are
prevented here: the generator is seeded from ours for the run and put back, and the log has no
handler. Two swarms in one process must take turns (a lock sees to it); processes do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
import logging.config
import os
import threading
from types import ModuleType
from typing import Any

import numpy as np
from stewart_identification.errors import ConfigurationError
from stewart_identification.estimators.estimator import Estimator, Found, Progress, Stopped
from stewart_identification.estimators.linear_system import LinearSystem
from stewart_kinematics.motion import Array

Costs = Callable[[Array], Array]

_TURN = threading.Lock()


@dataclass(frozen=True)
class Swarm(Estimator):
    """Global-best particle swarm inside the model's bounds.

    Attributes:
        particles, iterations: Size and length of the search; the EX800 paper has 30, the
            Cylindrical one 20 and 100.
        cognitive, social, inertia: c1, c2 and w.
    """

    particles: int = 30
    iterations: int = 300
    cognitive: float = 1.3
    social: float = 1.3
    inertia: float = 0.6

    def __post_init__(self) -> None:
        for name in ('particles', 'iterations'):
            if getattr(self, name) < 1:
                raise ConfigurationError(name, getattr(self, name), 'at least 1')

    def search(self, system: LinearSystem, rng: np.random.Generator, progress: Progress) -> Found:
        """Minimise the cost inside the model's bounds; see `Estimator`."""
        best, _, done = self.minimise(system.cost, system.model.bounds, rng, progress)
        method = f'particle swarm, {self.particles} x {self.iterations}'
        return Found(best, method, done, done == self.iterations)

    def minimise(
        self,
        costs: Costs,
        bounds: Array,
        rng: np.random.Generator,
        progress: Progress | None = None,
        start: Array | None = None,
    ) -> tuple[Array, float, int]:
        """Minimise any function in a box.

        Args:
            costs: Positions, shape (k, p), to costs, shape (k,).
            bounds (2, p): The box.
            rng: Source of the swarm's randomness.
            progress: May stop it.
            start (k, p): First positions; uniform in the box if not given.

        Returns:
            (p,): Best position.
            Its cost.
            Iterations done.
        """
        watch = _Watch(costs, self.iterations, progress)
        first = rng.uniform(bounds[0], bounds[1], (self.particles, bounds.shape[1]))
        if start is not None:
            first[: len(start)] = np.clip(start, bounds[0], bounds[1])
        with _TURN, _seeded(rng):
            swarm = _pyswarms().single.GlobalBestPSO(
                self.particles,
                bounds.shape[1],
                {'c1': self.cognitive, 'c2': self.social, 'w': self.inertia},
                # pyswarms draws first positions from its own box and wants ours strictly inside.
                bounds=(
                    bounds[0] - 1e-9 * np.ptp(bounds, 0),
                    bounds[1] + 1e-9 * np.ptp(bounds, 0),
                ),
                # A particle that would leave goes half way to the wall: put on the wall, as a
                # clip does, the whole swarm ends up there.
                bh_strategy='intermediate',
                init_pos=first,
            )
            with suppress(Stopped):
                swarm.optimize(watch, self.iterations, verbose=False)
        return np.clip(watch.best, bounds[0], bounds[1]), watch.cost, watch.done


class _Watch:
    """Remembers the best position ever and tells how far the search is."""

    def __init__(self, costs: Costs, planned: int, progress: Progress | None) -> None:
        self._costs, self._planned, self._progress = costs, planned, progress
        self.best: Array = np.empty(0)
        self.cost, self.done = np.inf, 0

    def __call__(self, positions: Array) -> Array:
        values = self._costs(positions)
        index = int(np.argmin(values))
        if values[index] < self.cost or self.done == 0:
            self.best, self.cost = positions[index].copy(), float(values[index])
        self.done += 1
        if self._progress is not None and not self._progress(
            self.done, self._planned, self.best, self.cost
        ):
            raise Stopped
        return values


@cache
def _pyswarms() -> ModuleType:
    """Import pyswarms without the log file that it opens in the working directory."""
    configure: Any = logging.config.dictConfig
    before = os.environ.pop('LOG_CFG', None)
    logging.config.dictConfig = lambda config: None
    try:
        import pyswarms
        from pyswarms.utils.reporter import Reporter
    finally:
        logging.config.dictConfig = configure
        if before is not None:
            os.environ['LOG_CFG'] = before
    # Every optimiser makes a reporter of its own, which would configure the root logger again.
    Reporter._setup_logger = lambda self, path=None: None
    Reporter.log = lambda self, *arguments, **keywords: None
    return pyswarms


@contextmanager
def _seeded(rng: np.random.Generator) -> Iterator[None]:
    """Seed numpy's global generator, which pyswarms uses, and put it back afterwards."""
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(int(rng.integers(2**32)))  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
