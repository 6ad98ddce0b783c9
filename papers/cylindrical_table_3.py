# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Table III: planned and random trajectories, by the swarm and by least squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cylindrical_cases import instants, least_excess, robot, sines
from cylindrical_robot import CylindricalRobot
import numpy as np
from reproduction import Report
from searches import fit_by_descent, fit_by_swarm
from stewart_identification.estimators.swarm import Swarm
from stewart_identification.experiment import Experiment
from stewart_kinematics.motion import Array

REAL = np.array([5.0, 3.0, -0.5, 3.0])
"""m2, m3, s3z, J (Table III)."""


class FourParameters:
    """The simplified robot of section V: m2, m3, s3z and J = I1zz + I2yy + I3yy, no friction."""

    parameter_names = ('m2', 'm3', 's3z', 'J')
    parameter_units = ('kg', 'kg', 'm', 'kg m²')
    nominal = np.array([2.0, 2.0, -0.2, 1.0])
    scale = np.array([1.0, 1.0, 0.5, 1.0])

    def __init__(self, whole: CylindricalRobot, box: dict[str, Any]) -> None:
        """Take all else from the whole robot, with what section V leaves out at zero."""
        self._whole = whole
        self.bounds = np.array([box['m'], box['m'], box['s'], box['I']], dtype=float).T
        names = whole.parameter_names
        self._places = [names.index(name) for name in ('m2', 'm3', 's3z', 'I1zz')]

    def full(self, parameters: Array) -> Array:
        """Return the thirty-six, shape (..., 36)."""
        result = np.zeros((*np.shape(parameters)[:-1], 36))
        result[..., self._places] = parameters
        return result

    def predict(self, parameters: Array, experiment: Experiment) -> Array:
        """Return the forces."""
        return self._whole.predict(self.full(parameters), experiment)

    def costs(self, experiment: Experiment) -> Callable[[Array], Array]:
        """Return the costs of many robots."""
        inner = self._whole.costs(experiment)
        return lambda positions: inner(self.full(positions))

    def physical(self, parameters: Array) -> bool:
        """Tell whether masses and inertia are positive."""
        return bool(np.all(parameters[[0, 1, 3]] > 0.0))


def compare_table_3(report: Report, said: dict[str, Any]) -> None:
    """Five swarms on each of the three trajectories of Table II, and the same by a descent."""
    model = FourParameters(robot(said), said['box'])
    truth = model.full(REAL)
    chosen = said['swarm']
    swarm = Swarm(chosen['particles'], chosen['iterations'], chosen['c'], chosen['c'], chosen['w'])
    start = said['limits_14']['start']
    for name, given in said['table_2'].items():
        _, a, _ = least_excess(said, given['a'], given['w'], start, said['limits_14'])
        motion = sines(a, np.array(given['w']), np.array(start), instants(said))
        whole = robot(said)
        clean = Experiment(instants(said), motion, np.zeros((len(instants(said)), 3)))
        part = np.random.default_rng(said['choices']['seed']).uniform(
            -said['choices']['noise'], said['choices']['noise'], clean.forces.shape
        )
        samples = clean.with_forces(whole.predict(truth, clean) * (1.0 + part))
        runs = [
            fit_by_swarm(
                swarm, model, samples, np.random.default_rng((said['choices']['seed'], k))
            )
            for k in range(5)
        ]
        values = np.array([run.parameters for run in runs])
        fitted = fit_by_descent(model, samples)
        reach = fitted.intervals[1] - fitted.parameters
        words = ', '.join(
            f'{n} {v:.3f} ± {r:.3f}'
            for n, v, r in zip(model.parameter_names, fitted.parameters, reach, strict=True)
        )
        report.notes.append(
            f'Table III, {name}: five swarms average '
            f'{", ".join(f"{v:.3f}" for v in values.mean(axis=0))} (m2, m3, s3z, J), max-min '
            f'{", ".join(f"{v:.3f}" for v in np.ptp(values, axis=0))}; least squares on the same '
            f'data {words} (95 %).'
        )
        for parameter, entry in said['table_3'][name].items():
            k = model.parameter_names.index(parameter)
            by_swarm = name == 'planned'
            ours = values[:, k].mean() if by_swarm else fitted.parameters[k]
            how = 'swarm' if by_swarm else 'least squares'
            report.add(f'Table III, {name}: {parameter}, {how}', ours, entry)
