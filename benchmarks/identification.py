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

from dataclasses import replace
from pathlib import Path
import sys

import numpy as np
from stewart_identification.estimators.consistent import Consistent
from stewart_identification.estimators.least_squares import LeastSquares
from stewart_identification.estimators.levenberg_marquardt import LevenbergMarquardt
from stewart_identification.estimators.swarm import costs_of, Swarm
from stewart_identification.experiment import Experiment
from stewart_identification.models.platform import PlatformModel
from stewart_identification.models.serial_robot import CentreOfMassRobot, SerialRobot
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.trajectories.multi_sine import from_yaml

sys.path.insert(0, str(Path(__file__).parents[1] / 'papers'))
from cylindrical_cases import disturbed, instants, robot, sines
from reproduction import published

PACKAGES = ('numpy', 'scipy', 'numba', 'pyswarms')


def main() -> int:
    """Measure, print and write."""
    platform = Platform.from_yaml('ex800')
    model = PlatformModel.from_platform(platform, friction='none')
    rubbing = PlatformModel.from_platform(platform)
    experiment = ten_seconds(model)
    # Thinner than any plate: unconstrained, this one is never a body.
    thin = model.nominal.copy()
    thin[9] = thin[4] + thin[7] + 2e-3
    impossible = experiment.with_forces(
        experiment.forces + model.regressor(experiment) @ (thin - model.nominal)
    )
    rng = np.random.default_rng(0)
    if LeastSquares().fit(model, impossible, rng=rng).physical:
        raise RuntimeError('the constrained fit has nothing to do')

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

    swarm, paper = Swarm(30, 300), Swarm(20, 100)
    tasks = [
        harness.Task(
            'least squares, ten parameters',
            lambda: LeastSquares().fit(model, experiment, rng=rng),
            1,
            5e3,
        ),
        harness.Task('its rows and numpy.linalg.lstsq', lambda: lstsq(model, experiment)),
        harness.Task(
            'with friction per leg, 22 parameters',
            lambda: LeastSquares().fit(rubbing, experiment, rng=rng),
        ),
        harness.Task(
            'with joint errors, too',
            lambda: LeastSquares().fit(
                replace(rubbing, joint_tolerance=1e-4), experiment, rng=rng
            ),
        ),
        harness.Task(
            'physically consistent, constraint active',
            lambda: Consistent().fit(model, impossible, rng=rng),
            1,
            20e3,
        ),
        harness.Task(
            'Levenberg-Marquardt, Eq. 29',
            lambda: LevenbergMarquardt().fit(model, experiment, rng=rng),
        ),
        harness.Task(
            'Levenberg-Marquardt, scipy',
            lambda: LevenbergMarquardt('scipy').fit(model, experiment, rng=rng),
        ),
        harness.Task('swarm, 30 x 300', lambda: swarm.fit(model, experiment, rng=rng), 1, 0.5e6),
        harness.Task(
            'cylindrical swarm, 20 x 100, closed form',
            lambda: paper.fit(closed, samples, rng=rng),
            1,
            30e3,
        ),
        harness.Task(
            'cylindrical swarm, 20 x 100, generic DH',
            lambda: paper.fit(generic, samples, rng=rng),
            1,
            1e6,
        ),
    ]
    about = harness.machine(PACKAGES)
    timings = harness.measure(tasks)
    return harness.report(
        'identification', timings, about, sample='fit', agreement=agreement, paper_s=9.37
    )


def ten_seconds(model: PlatformModel) -> Experiment:
    """Return 10 s at 100 Hz of the shipped motion."""
    time = 0.01 * np.arange(1000)
    motion = from_yaml('ex800_identification', model.geometry.neutral_pose).sample(time)
    still = Experiment(time, motion, np.zeros((1000, 6)))
    noise = np.random.default_rng(1).normal(0.0, 0.5, (1000, 6))
    return still.with_forces(model.predict(model.nominal, still) + noise)


def lstsq(model: PlatformModel, experiment: Experiment) -> np.ndarray:
    """Return the parameters by numpy, without anything that is known about them."""
    rows = model.regressor(experiment).reshape(-1, len(model.nominal))
    left = (experiment.forces - model.offset(experiment)).ravel()
    return np.linalg.lstsq(rows, left, rcond=None)[0]


if __name__ == '__main__':
    sys.exit(main())
