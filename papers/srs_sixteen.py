# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The filter of the paper as the paper has it: sixteen additive states in filterpy.

State (Eq. 10): position of the IMU in base axes, its velocity in its own axes, quaternion
e0, ex, ey, ez, biases of accelerometer and gyroscope. Prediction is Eq. 14 by forward Euler, or
by the midpoint rule with the IMU's samples joined by a straight line, which is not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from filterpy.kalman import MerweScaledSigmaPoints, UnscentedKalmanFilter
import numpy as np
from stewart_estimation.simulated_srs import SimulatedRun
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.forward import forward
from stewart_kinematics.spatial import matrix_from_quaternion, quaternion_from_matrix

SIZE = 16
DEVIATIONS = np.array([1.0] * 6 + [0.1] * 4 + [1.0] * 3 + [0.1] * 3)
"""Square roots of the diagonal of P_0, Eq. 20."""


@dataclass(frozen=True, eq=False)
class SixteenStates:
    """What the filter found, at the stamps of the legs.

    Attributes:
        position, linear_velocity (n, 3): Of the IMU, in base axes [m], [m/s].
        innovations, sigmas (n, 6): [m].
    """

    position: Array
    linear_velocity: Array
    innovations: Array
    sigmas: Array


def run(simulated: SimulatedRun, *, midpoint: bool, factor: float = 1.1) -> SixteenStates:
    """Filter a run.

    Args:
        simulated: IMU and legs with the same stamps.
        midpoint: Midpoint rule instead of forward Euler.
        factor: Of Q and R; 1.1 in Eq. 21.

    Returns:
        Started from forward kinematics.
    """
    platform, errors = simulated.platform, simulated.errors
    mounting = platform.imu
    assert mounting is not None
    base = np.asarray(platform.geometry.base_joints)
    # Eq. 23, and the axes of the sensor.
    upper = (platform.geometry.platform_joints - mounting.position) @ mounting.rotation
    inputs = np.hstack([simulated.imu.specific_forces, simulated.imu.angular_velocities])
    step = float(simulated.imu.stamps[1] - simulated.imu.stamps[0])
    noise = factor * np.diag(np.concatenate([errors.specific_force, errors.angular_velocity]) ** 2)

    def predict(x: Array, dt: float, u: Array) -> Array:
        x = normalised(x)
        slope = rates(x, u[0], platform.gravity)
        if midpoint:
            slope = rates(normalised(x + 0.5 * dt * slope), 0.5 * (u[0] + u[1]), platform.gravity)
        return normalised(x + dt * slope)

    def measure(x: Array) -> Array:
        x = normalised(x)
        return np.linalg.norm(x[:3] + upper @ rotation(x[6:10]).T - base, axis=1)

    kalman: Any = UnscentedKalmanFilter(
        SIZE, 6, step, measure, predict, MerweScaledSigmaPoints(SIZE, 0.1, 2.0, 0.0, _root)
    )
    kalman.x = _start(simulated)
    kalman.P = np.diag(DEVIATIONS**2)
    kalman.R = factor * np.diag(errors.length**2)
    position, velocity, innovations, sigmas = (
        np.empty((len(simulated.legs), n)) for n in (3, 3, 6, 6)
    )
    for row, lengths in enumerate(simulated.legs.lengths):
        if row:
            spread = driving(kalman.x)
            kalman.Q = step**2 * spread @ noise @ spread.T
            kalman.predict(u=inputs[row - 1 : row + 1])
            # The points are drawn again, so that the legs see the noise of the IMU, too.
            kalman.sigmas_f = kalman.points_fn.sigma_points(kalman.x, kalman.P)
            kalman.update(lengths)
            kalman.x = normalised(kalman.x)
            innovations[row], sigmas[row] = kalman.y, np.sqrt(np.diag(kalman.S))
        else:
            innovations[row], sigmas[row] = 0.0, np.nan
        position[row] = kalman.x[:3]
        velocity[row] = rotation(kalman.x[6:10]) @ kalman.x[3:6]
    return SixteenStates(position, velocity, innovations, sigmas)


def rates(x: Array, u: Array, gravity: Array) -> Array:
    """Return the time derivative of the state, Eq. 14."""
    turn, omega = rotation(x[6:10]), u[3:] - x[13:]
    out = np.zeros(SIZE)
    out[:3] = turn @ x[3:6]
    out[3:6] = u[:3] - x[10:13] + turn.T @ gravity - cross(omega, x[3:6])
    out[6:10] = quaternion_rates(x[6:10]) @ omega
    return out


def driving(x: Array) -> Array:
    """Return how the noise of the IMU drives the state, Eq. 17, shape (16, 6)."""
    u, v, w = x[3:6]
    matrix = np.zeros((SIZE, 6))
    matrix[3:6, :3] = -np.eye(3)
    matrix[3:6, 3:] = [[0.0, w, -v], [-w, 0.0, u], [v, -u, 0.0]]
    matrix[6:10, 3:] = -quaternion_rates(x[6:10])
    return matrix


def quaternion_rates(q: Array) -> Array:
    """Return the matrix that makes quaternion rates of angular velocities, Eq. 16."""
    e0, ex, ey, ez = q
    return 0.5 * np.array([[-ex, -ey, -ez], [e0, -ez, ey], [ez, e0, -ex], [-ey, ex, e0]])


def rotation(q: Array) -> Array:
    """Return the matrix from sensor to base axes, Eq. 4 transposed."""
    e0, ex, ey, ez = q
    return np.array(
        [
            [e0**2 + ex**2 - ey**2 - ez**2, 2 * (ex * ey - ez * e0), 2 * (ex * ez + ey * e0)],
            [2 * (ex * ey + ez * e0), e0**2 - ex**2 + ey**2 - ez**2, 2 * (ey * ez - ex * e0)],
            [2 * (ex * ez - ey * e0), 2 * (ey * ez + ex * e0), e0**2 - ex**2 - ey**2 + ez**2],
        ]
    )


def cross(a: Array, b: Array) -> Array:
    """Return the cross product of two vectors; numpy's costs ten times as much."""
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def normalised(x: Array) -> Array:
    """Return the state with a unit quaternion."""
    x = x.copy()
    x[6:10] /= np.sqrt(x[6:10] @ x[6:10])
    return x


def _start(simulated: SimulatedRun) -> Array:
    """Return the state of a platform at rest where the first lengths have it."""
    mounting = simulated.platform.imu
    assert mounting is not None
    found = forward(simulated.platform.geometry, simulated.legs.lengths[0])
    turn = matrix_from_quaternion(found.quaternion_xyzw)
    x = np.zeros(SIZE)
    x[:3] = found.position + turn @ mounting.position
    ex, ey, ez, e0 = quaternion_from_matrix(turn @ mounting.rotation)
    x[6:10] = e0, ex, ey, ez
    return x


def _root(matrix: Array) -> Array:
    """Return the upper Cholesky factor; the quaternion's length has no variance to speak of."""
    symmetric = 0.5 * (matrix + matrix.T)
    floor = 1e-14 * np.eye(len(matrix))
    return np.linalg.cholesky(symmetric + floor).T
