# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""The cylindrical robot of "PSO estimation of robot dynamics without parameterisation".

A vertical revolute joint, a vertical and a horizontal prismatic one. In closed form, with
:math:`\rho = d_3 + s_{3z}` and
:math:`J_0 = I_{1zz} + I_{2yy} + I_{3yy} + m_1 (s_{1x}^2 + s_{1y}^2) + m_2 (s_{2x}^2 + s_{2z}^2)
+ m_3 s_{3x}^2`:

.. math::
    \tau_1 &= (J_0 + m_3 \rho^2) \ddot\theta + m_3 s_{3x} \ddot d_3 + 2 m_3 \rho \dot\theta
    \dot d_3 \\
    \tau_2 &= (m_2 + m_3) (\ddot d_2 + g) \\
    \tau_3 &= m_3 (\ddot d_3 + s_{3x} \ddot\theta - \rho \dot\theta^2)

and viscous and Coulomb friction in each.
"""

from __future__ import annotations

from collections.abc import Callable
import math

import numpy as np
from stewart_identification.experiment import Experiment
from stewart_identification.models.serial_robot import CentreOfMassRobot, Joint, SerialRobot
from stewart_kinematics.kernels.compiled import kernel, MATRIX, SCALAR, VECTOR_OUT, VOID
from stewart_kinematics.motion import Array

JOINTS = (Joint('revolute'), Joint('prismatic', alpha=-0.5 * math.pi), Joint('prismatic'))
"""Table I of the paper."""

# The eleven that the forces depend on, in this order.
J0, M3S3X, M3, M3S3Z, M23, VISCOUS, COULOMB, BASE = 0, 1, 2, 3, 4, 5, 8, 11


@kernel(VOID, MATRIX, SCALAR, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, VECTOR_OUT)
def sums_of_squares(
    base: Array,
    g: float,
    position: Array,
    velocity: Array,
    acceleration: Array,
    target: Array,
    weights: Array,
    out: Array,
) -> None:
    """Sum of squared weighted residuals of every row of `base`; weight 0 where absent."""
    for k in range(base.shape[0]):
        b = base[k]
        total = 0.0
        for n in range(position.shape[0]):
            d3, w, v2, v3 = position[n, 2], velocity[n, 0], velocity[n, 1], velocity[n, 2]
            turn, a2, a3 = acceleration[n, 0], acceleration[n, 1], acceleration[n, 2]
            mrho = b[M3] * d3 + b[M3S3Z]
            inertia = b[J0] + (mrho + b[M3S3Z]) * d3
            one = inertia * turn + b[M3S3X] * a3 + 2.0 * mrho * w * v3
            two = b[M23] * (a2 + g)
            three = b[M3] * a3 + b[M3S3X] * turn - mrho * w * w
            one += b[VISCOUS] * w + b[COULOMB] * np.sign(w) - target[n, 0]
            two += b[VISCOUS + 1] * v2 + b[COULOMB + 1] * np.sign(v2) - target[n, 1]
            three += b[VISCOUS + 2] * v3 + b[COULOMB + 2] * np.sign(v3) - target[n, 2]
            one, two, three = one * weights[n, 0], two * weights[n, 1], three * weights[n, 2]
            total += one * one + two * two + three * three
        out[k] = total


class CylindricalRobot(CentreOfMassRobot):
    """The same thirty-six parameters as the generic model, by the closed form.

    Args:
        nominal (36,): Where a search begins.
        bounds (2, 36): Of swarms.
        gravity: Downwards [m/s²].
    """

    def __init__(self, nominal: Array, bounds: Array, gravity: float = 9.80665) -> None:
        """Keep the generic robot for what the closed form does not give."""
        super().__init__(SerialRobot(JOINTS, gravity=(0.0, 0.0, -gravity)), nominal, bounds)
        self._g = gravity

    @staticmethod
    def base_parameters(parameters: Array) -> Array:
        """Return the eleven combinations that the forces depend on, shape (..., 11)."""
        links = np.asarray(parameters).reshape(*np.shape(parameters)[:-1], 3, 12)
        m, s, inertia = links[..., 0], links[..., 1:4], links[..., 4:10]
        result = np.empty((*links.shape[:-2], BASE))
        result[..., J0] = (
            inertia[..., 0, 5]
            + inertia[..., 1, 3]
            + inertia[..., 2, 3]
            + m[..., 0] * (s[..., 0, 0] ** 2 + s[..., 0, 1] ** 2)
            + m[..., 1] * (s[..., 1, 0] ** 2 + s[..., 1, 2] ** 2)
            + m[..., 2] * (s[..., 2, 0] ** 2 + s[..., 2, 2] ** 2)
        )
        result[..., M3S3X] = m[..., 2] * s[..., 2, 0]
        result[..., M3] = m[..., 2]
        result[..., M3S3Z] = m[..., 2] * s[..., 2, 2]
        result[..., M23] = m[..., 1] + m[..., 2]
        result[..., VISCOUS : VISCOUS + 3] = links[..., 10]
        result[..., COULOMB : COULOMB + 3] = links[..., 11]
        return result

    def predict(self, parameters: Array, experiment: Experiment) -> Array:
        """Return the forces, shape (n, 3), that the parameters, shape (36,), make."""
        motion, b = self.robot.motion_of(experiment), self.base_parameters(parameters)
        d3 = motion.position[:, 2]
        (w, _, v3), (turn, a2, a3) = motion.velocity.T, motion.acceleration.T
        mrho = b[M3] * d3 + b[M3S3Z]
        inertia = b[J0] + (mrho + b[M3S3Z]) * d3
        forces = np.stack(
            [
                inertia * turn + b[M3S3X] * a3 + 2.0 * mrho * w * v3,
                b[M23] * (a2 + self._g),
                b[M3] * a3 + b[M3S3X] * turn - mrho * w**2,
            ],
            axis=1,
        )
        forces += motion.velocity * b[VISCOUS : VISCOUS + 3]
        forces += np.sign(motion.velocity) * b[COULOMB : COULOMB + 3]
        return forces

    def costs(self, experiment: Experiment) -> Callable[[Array], Array]:
        """Return positions, shape (k, 36), to sums of squared weighted residuals, shape (k,)."""
        motion = self.robot.motion_of(experiment)
        target = np.nan_to_num(experiment.forces)
        weights = experiment.used * experiment.weights

        def costs(positions: Array) -> Array:
            values = np.empty(len(positions))
            sums_of_squares(
                self.base_parameters(positions),
                self._g,
                motion.position,
                motion.velocity,
                motion.acceleration,
                target,
                weights,
                values,
            )
            return values

        return costs
