# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Time the estimators, one thread: ten parameters of a platform, and the cylindrical swarm.

Ten seconds at 100 Hz of the shipped motion with 0.5 N of noise; what is timed begins with the
experiment and ends with parameters, intervals and residuals. The peers are numpy's lstsq on the
same rows, scipy's least_squares on the same model, and for the paper's swarm its own figure.
"""

from __future__ import annotations

# The harness comes first: it holds the libraries to one thread.
import harness  # isort: skip

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
import sys

import numpy as np
from scipy.optimize import least_squares
from stewart_identification.estimators.consistent import Consistent
from stewart_identification.estimators.estimator import Estimator
from stewart_identification.estimators.least_squares import LeastSquares
from stewart_identification.estimators.levenberg_marquardt import LevenbergMarquardt
from stewart_identification.estimators.result import Result
from stewart_identification.estimators.swarm import Swarm
from stewart_identification.experiment import Experiment
from stewart_identification.models.platform import PlatformModel
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.trajectories.multi_sine import from_yaml

sys.path.insert(0, str(Path(__file__).parents[1] / 'papers'))
from cylindrical_cases import disturbed, instants, robot, sines
from reproduction import published
from searches import costs_of, fit_by_swarm
from serial_robot import CentreOfMassRobot, SerialRobot

LSTSQ = 'its rows and numpy.linalg.lstsq'
SCIPY, PYSWARMS = 'scipy.optimize.least_squares alone', 'pyswarms alone, 30 x 300'
PACKAGES = ('numpy', 'scipy', 'numba', 'pyswarms')


def main() -> int:
    """Measure, print and write."""
    model = PlatformModel.from_platform(Platform.from_yaml('ex800'), friction='none')
    experiment = ten_seconds(model)
    found = LevenbergMarquardt().fit(model, experiment, rng=np.random.default_rng(0)).parameters
    if not np.allclose(found, by_scipy(model, experiment), rtol=1e-6, atol=1e-6 * model.scale):
        raise RuntimeError('scipy finds other parameters')
    cylindrical, agreement = cylindrical_swarms(np.random.default_rng(0))
    tasks = [*of_a_platform(model, experiment, np.random.default_rng(0)), *cylindrical]
    about = harness.machine(PACKAGES)
    timings = harness.measure(tasks)
    return harness.report(
        'identification', timings, about, sample='fit', agreement=agreement, paper_s=9.37
    )


def of_a_platform(
    model: PlatformModel, experiment: Experiment, rng: np.random.Generator
) -> list[harness.Task]:
    """Return the fits of a platform's parameters, and those of the peers."""
    rubbing = PlatformModel.from_platform(Platform.from_yaml('ex800'))
    rubbing_and_wrong = replace(rubbing, joint_tolerance=1e-4)
    impossible, swarm = of_no_body(model, experiment), Swarm(30, 300)
    if LeastSquares().fit(model, impossible, rng=rng).physical:
        raise RuntimeError('the constrained fit has nothing to do')

    def fit(estimator: Estimator, chosen: PlatformModel, data: Experiment) -> Callable[[], Result]:
        return lambda: estimator.fit(chosen, data, rng=rng)

    least, marquardt = LeastSquares(), LevenbergMarquardt()
    named = 'least squares, ten parameters'
    return [
        harness.Task(named, fit(least, model, experiment), 1, LSTSQ, 2.8),
        harness.Task(LSTSQ, lambda: lstsq(model, experiment)),
        harness.Task('with friction per leg, 22 parameters', fit(least, rubbing, experiment)),
        harness.Task('with joint errors, too', fit(least, rubbing_and_wrong, experiment)),
        harness.Task(
            'physically consistent, constraint active',
            fit(Consistent(), model, impossible),
            1,
            LSTSQ,
            5.1,
        ),
        harness.Task(
            'Levenberg-Marquardt, Eq. 29', fit(marquardt, model, experiment), 1, SCIPY, 1.4
        ),
        harness.Task(SCIPY, lambda: by_scipy(model, experiment)),
        harness.Task('swarm, 30 x 300', fit(swarm, model, experiment), 1, PYSWARMS, 0.5),
        harness.Task(PYSWARMS, lambda: by_pyswarms(swarm, model, experiment)),
    ]


def of_no_body(model: PlatformModel, experiment: Experiment) -> Experiment:
    """Return the experiment of a plate thinner than any: unconstrained, it is never a body."""
    thin = model.nominal.copy()
    thin[9] = thin[4] + thin[7] + 2e-3
    more = model.regressor(experiment) @ (thin - model.nominal)
    return experiment.with_forces(experiment.forces + more)


def cylindrical_swarms(rng: np.random.Generator) -> tuple[list[harness.Task], float]:
    """Return the paper's swarm on two models of its robot, and by how much their costs differ."""
    said = published('cylindrical')
    closed = robot(said)
    generic = CentreOfMassRobot(
        SerialRobot(closed.robot.joints, gravity=closed.robot.gravity),
        closed.nominal,
        closed.bounds,
    )
    given = said['equation_16']
    motion = sines(
        np.array(given['a']), np.array(given['w']), np.array(given['c']), instants(said)
    )
    samples = disturbed(closed, motion, said, rng)
    positions = rng.uniform(*closed.bounds, (100, 36))
    one, other = (costs_of(item, samples)(positions) for item in (closed, generic))
    agreement = float(np.max(np.abs(one - other) / one))
    print(f'closed form and generic DH: costs differ by {agreement:.1e}')
    if not agreement < 1e-9:
        raise RuntimeError('the generic model is another robot')
    paper, same = Swarm(20, 100), 'cylindrical swarm, 20 x 100, generic DH'
    return [
        harness.Task(
            'cylindrical swarm, 20 x 100, closed form',
            lambda: fit_by_swarm(paper, closed, samples, rng),
            1,
            same,
            0.6,
        ),
        harness.Task(same, lambda: fit_by_swarm(paper, generic, samples, rng)),
    ], agreement


def ten_seconds(model: PlatformModel) -> Experiment:
    """Return 10 s at 100 Hz of the shipped motion."""
    time = 0.01 * np.arange(1000)
    motion = from_yaml('ex800_identification', model.geometry.neutral_pose).sample(time)
    still = Experiment(time, motion, np.zeros((1000, 6)))
    noise = np.random.default_rng(1).normal(0.0, 0.5, (1000, 6))
    return still.with_forces(model.predict(model.nominal, still) + noise)


def equations(model: PlatformModel, experiment: Experiment) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of every sample and leg, and the forces that they shall give."""
    rows = model.regressor(experiment).reshape(-1, len(model.nominal))
    return rows, (experiment.forces - model.offset(experiment)).ravel()


def lstsq(model: PlatformModel, experiment: Experiment) -> np.ndarray:
    """Return the parameters by numpy, without anything that is known about them."""
    return np.linalg.lstsq(*equations(model, experiment), rcond=None)[0]


def by_scipy(model: PlatformModel, experiment: Experiment) -> np.ndarray:
    """Return the parameters by scipy's Levenberg-Marquardt from the nominal ones."""
    rows, left = equations(model, experiment)
    return least_squares(
        lambda x: rows @ x - left, model.nominal, method='lm', x_scale=model.scale
    ).x


def by_pyswarms(swarm: Swarm, model: PlatformModel, experiment: Experiment) -> float:
    """Return the cost that as large and long a search of pyswarms ends with."""
    # Silenced by ours, which ran before.
    from pyswarms.single import GlobalBestPSO

    rows, left = equations(model, experiment)
    search = GlobalBestPSO(
        swarm.particles,
        len(model.nominal),
        {'c1': swarm.cognitive, 'c2': swarm.social, 'w': swarm.inertia},
        bounds=tuple(model.bounds),
    )

    def costs(positions: np.ndarray) -> np.ndarray:
        return ((positions @ rows.T - left) ** 2).sum(axis=1)

    return search.optimize(costs, swarm.iterations, verbose=False)[0]


if __name__ == '__main__':
    sys.exit(main())
