# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Section VI: motions planned for |det Q'Q| and for |det W'W|, inside the limits of Eq. 15."""

from __future__ import annotations

from typing import Any

from cylindrical_cases import excess, instants, sines
from cylindrical_robot import CylindricalRobot
import numpy as np
from reproduction import Report
from serial_robot import JointMotion
from stewart_identification.estimators.swarm import Swarm
from stewart_identification.excitation import joint_criterion
from stewart_identification.experiment import Experiment
from stewart_identification.identifiability import identifiability
from stewart_kinematics.motion import Array

PENALTY = 1e3
AMPLITUDE, FREQUENCY = 1.5, 2.5
"""Box of a_kj [m, rad] and of the angular frequencies [rad/s]; not printed."""


class Planner:
    """The paper's procedure with a soft penalty instead of 1e40 (steps 1 to 5)."""

    def __init__(self, said: dict[str, Any], model: CylindricalRobot) -> None:
        """Take limits, instants and the base columns of the regressor."""
        self._limits, self._time = said['limits_15'], instants(said)
        self._model = model
        self._start = np.array([0.0, 0.5, 0.5])
        rng = np.random.default_rng(0)
        general = self.experiment(JointMotion(*rng.normal(size=(3, len(self._time), 3))))
        verdicts = identifiability(model.robot, general)
        names = model.robot.parameter_names
        self._base = [names.index(c.names[0]) for c in verdicts.combinations]

    def experiment(self, motion: JointMotion) -> Experiment:
        """Return the motion as an experiment without forces."""
        return Experiment(self._time, motion, np.zeros((len(self._time), 3)))

    def motion(self, position: Array) -> JointMotion:
        """Return the motion of a particle: nine amplitudes, nine frequencies."""
        a, w = position.reshape(2, 3, 3)
        return sines(a, w, self._start, self._time)

    def by_q(self, motion: JointMotion) -> float:
        """Log |det Q'Q|."""
        return joint_criterion(motion.position, motion.velocity, motion.acceleration)

    def by_w(self, motion: JointMotion) -> float:
        """Log |det W'W| over the base parameters."""
        columns = self._model.robot.regressor(self.experiment(motion))[..., self._base]
        values = np.linalg.svd(columns.reshape(-1, len(self._base)), compute_uv=False)
        with np.errstate(divide='ignore'):
            return 2.0 * float(np.sum(np.log(values)))

    def inside(self, motion: JointMotion) -> bool:
        """Tell whether the limits hold."""
        return not np.any(excess(motion, self._limits))

    def plan(self, seed: int) -> Array:
        """Let a swarm look for the best motion by Q, then shrink it until the limits hold."""

        def costs(positions: Array) -> Array:
            motions = [self.motion(item) for item in positions]
            short = np.array([np.sum(excess(m, self._limits)) for m in motions])
            values = np.array([self.by_q(m) for m in motions])
            return PENALTY * short - np.maximum(values, -1e6)

        reach = np.repeat([AMPLITUDE, FREQUENCY], 9)
        best, _, _ = Swarm(30, 300, 1.5, 1.5, 0.7).minimise(
            costs, np.stack([-reach, reach]), np.random.default_rng(seed)
        )
        shrink = np.concatenate([np.ones(9), np.zeros(9)])
        for factor in np.linspace(1.0, 0.5, 51):
            position = np.where(shrink, factor * best, best)
            if self.inside(self.motion(position)):
                return position
        raise RuntimeError('the swarm found no motion inside the limits of Eq. 15')

    def random(self, count: int, seed: int) -> list[JointMotion]:
        """Return random motions inside the limits."""
        rng, found = np.random.default_rng(seed), []
        reach = np.repeat([AMPLITUDE, FREQUENCY], 9)
        while len(found) < count:
            position = rng.uniform(-reach, reach) * np.repeat([0.3, 1.0], 9)
            motion = self.motion(position)
            if self.inside(motion):
                found.append(motion)
        return found


def compare_criteria(report: Report, said: dict[str, Any], model: CylindricalRobot) -> None:
    """Plan by Q, as the paper does, and judge the plan by both criteria."""
    planner = Planner(said, model)
    seed = said['choices']['seed']
    q_plan = planner.motion(planner.plan(seed))
    others = planner.random(20, seed)
    q_random = max(planner.by_q(motion) for motion in others)
    w_random = max(planner.by_w(motion) for motion in others)
    entries = said['criteria']
    report.add("planned for Q: log|det Q'Q|", planner.by_q(q_plan) - q_random, entries['q_gain'])
    report.add("planned for Q: log|det W'W|", planner.by_w(q_plan) - w_random, entries['shared'])
