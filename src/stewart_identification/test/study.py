# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Many runs of the same experiment, on whatever there is to run them.

Any ``concurrent.futures`` executor will do; `executors` opens some. Run k draws from a generator
made of (seed, k), so a study repeats exactly from its seed whatever the number of workers and the
order in which they finish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed, Executor, Future
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from scipy.stats import binom
from stewart_identification.errors import ConfigurationError
from stewart_kinematics.motion import Array

Outcome = TypeVar('Outcome')
Task = Callable[[int, np.random.Generator], Outcome]
"""What one run does, given its number and generator; it has to survive pickling."""


@dataclass(frozen=True, eq=False)
class Study(Generic[Outcome]):
    """What came of it.

    Attributes:
        seed, planned: As asked for.
        outcomes: By the run's number, in order; fewer than planned if it was stopped.
    """

    seed: int
    planned: int
    outcomes: dict[int, Outcome]

    @property
    def complete(self) -> bool:
        """Whether all runs are there."""
        return len(self.outcomes) == self.planned


def run_study(
    task: Task[Outcome],
    runs: int,
    seed: int,
    *,
    executor: Executor | None = None,
    progress: Callable[[int, int], bool] | None = None,
) -> Study[Outcome]:
    """Make the runs.

    Args:
        task: One run.
        runs: How many.
        seed: Of all of them.
        executor: Where they are made; here, one after the other, if not given.
        progress: Told (done, planned) and answers whether to go on; what is done is returned.

    Returns:
        Outcomes by number.

    Raises:
        ConfigurationError: If `runs` is not at least 1 or `seed` is negative.
    """
    if runs < 1:
        raise ConfigurationError('runs', runs, 'at least 1')
    if seed < 0:
        raise ConfigurationError('seed', seed, 'an integer >= 0')
    done: dict[int, Outcome] = {}
    for number, outcome in _finished(task, runs, seed, executor):
        done[number] = outcome
        if progress is not None and not progress(len(done), runs):
            break
    return Study(seed, runs, dict(sorted(done.items())))


def _one(task: Task[Outcome], number: int, seed: int) -> Outcome:
    return task(number, np.random.default_rng((seed, number)))


def _finished(
    task: Task[Outcome], runs: int, seed: int, executor: Executor | None
) -> Iterator[tuple[int, Outcome]]:
    """Yield runs as they are done; what has not begun is cancelled when nobody asks any more."""
    if executor is None:
        for number in range(runs):
            yield number, _one(task, number, seed)
        return
    futures: dict[Future[Outcome], int] = {
        executor.submit(_one, task, number, seed): number for number in range(runs)
    }
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        for future in futures:
            future.cancel()


class Estimate(Protocol):
    """What a summary needs of a result."""

    @property
    def parameters(self) -> Array:
        """Estimates, shape (p,)."""
        ...

    @property
    def intervals(self) -> Array:
        """Their ends, shape (2, p)."""
        ...


@dataclass(frozen=True, eq=False)
class Summary:
    """Many estimates beside the truth.

    Attributes:
        count: Of runs.
        bias, rmse (p,): Mean error, and root of the mean squared error.
        coverage (p,): Part of the runs whose interval held the truth.
        pooled: The same over all parameters.
        band: Where the coverage of one parameter lies with a probability of 99 %, exactly.
        pooled_band: The same for all together, as if they were independent of each other.
    """

    count: int
    bias: Array
    rmse: Array
    coverage: Array
    pooled: float
    band: tuple[float, float]
    pooled_band: tuple[float, float]


def summarise(
    estimates: Sequence[Estimate], truth: Array, *, level: float = 0.95, band: float = 0.99
) -> Summary:
    """Compare many estimates with what they should have found.

    Args:
        estimates: Of one parameter vector.
        truth (p,): True values.
        level: Of the intervals.
        band: Probability of the binomial bands.

    Returns:
        Errors and coverage.
    """
    values = np.array([item.parameters for item in estimates])
    ends = np.array([item.intervals for item in estimates])
    errors = values - truth
    inside = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    runs, size = values.shape
    return Summary(
        runs,
        errors.mean(axis=0),
        np.sqrt(np.mean(errors**2, axis=0)),
        inside.mean(axis=0),
        float(inside.mean()),
        binomial_band(runs, level, band),
        binomial_band(runs * size, level, band),
    )


def binomial_band(count: int, level: float, probability: float) -> tuple[float, float]:
    """Return between which parts of `count` trials of chance `level` succeed, exactly."""
    low, high = binom.interval(probability, count, level)
    return float(low) / count, float(high) / count
