# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""How well the motion can be known at all: the posterior Cramér-Rao bound of a simulated run.

Nothing here knows the filter. The errors of an estimate (true minus estimated, position and
velocity in base axes, attitude as a rotation vector on the right, two biases) follow the linear
recursion along the true motion, where the specific force :math:`f` and the angular velocity
:math:`\omega` of the sensor go straight from sample to sample:

.. math::

    \theta_1 = \mathrm{Exp}(-\omega\,dt)\,\theta_0 - dt\,(b_\omega + (n_0 + n_1) / 2), \qquad
    a_i = -R_i\,(f_i \times)\,\theta_i - R_i\,(b_f + m_i), \qquad
    v_1 = v_0 + dt\,(a_0 + a_1) / 2, \qquad p_1 = p_0 + dt\,v_0 + dt^2\,(2 a_0 + a_1) / 6

The noise of one IMU sample acts on both sides of it, so those six numbers are states, too. With
Gaussian noise no causal estimator without knowledge of the motion does better than the covariance
of this recursion.

References:
    [1] Tichavsky, Muravchik, Nehorai 1998, Posterior Cramér-Rao bounds for discrete-time nonlinear
       filtering, IEEE Transactions on Signal Processing 46.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from srs_simulated import sensor_values, SimulatedRun
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.motion import Array
from stewart_kinematics.spatial import exp_quaternion, matrix_from_quaternion, skew

SIZE = 21
P, V, T, BF, BW, NF, NW = (slice(3 * i, 3 * i + 3) for i in range(7))

UNKNOWN = np.repeat([1.0, 1.0, 1.0, 1.0, 0.1], 3)
"""Before the first sample: standard deviations [m], [m/s], [rad], [m/s²], [rad/s]."""


def sensor_bound(run: SimulatedRun, used: ArrayLike | None = None) -> Array:
    """Return the least covariance of the errors after every leg sample.

    Args:
        run: What moved, where the sensors sit and how noisy they are; IMU and legs sampled at the
            same instants.
        used (n, 6): Which lengths are to be had; all by default.

    Returns:
        (n, 15, 15): Of the errors of ``platform_link`` as `stewart_estimation.estimate`
        orders them.

    Raises:
        ConfigurationError: If the sensors are not sampled at the same instants.
    """
    stamps = run.legs.stamps
    if not np.array_equal(stamps, run.imu.stamps):
        raise ConfigurationError('run', 'two clocks', 'IMU and legs at the same instants')
    mounting = run.platform.imu
    assert mounting is not None
    attitude = matrix_from_quaternion(run.truth.quaternion_xyzw) @ mounting.rotation
    force, rate = sensor_values(run.truth, mounting, run.platform.gravity)
    steps, noise = _transitions(np.diff(stamps), attitude, force, rate)
    seen = _directions(run, attitude)
    present = np.ones((len(stamps), 6), bool) if used is None else np.asarray(used, dtype=bool)
    variances = np.concatenate([run.errors.specific_force, run.errors.angular_velocity]) ** 2
    legs = run.errors.length**2
    covariance = np.diag(np.concatenate([UNKNOWN**2, variances]))
    found = np.empty((len(stamps), SIZE, SIZE))
    for row in range(len(stamps)):
        if row:
            step, push = steps[row - 1], noise[row - 1]
            covariance = step @ covariance @ step.T + (push * variances) @ push.T
        h, r = seen[row][present[row]], np.diag(legs[present[row]])
        gain = np.linalg.solve(h @ covariance @ h.T + r, h @ covariance).T
        rest = np.eye(SIZE) - gain @ h
        covariance = rest @ covariance @ rest.T + gain @ r @ gain.T
        found[row] = covariance
    to_platform = _to_platform(run, attitude, rate)
    return np.asarray(to_platform @ found @ np.swapaxes(to_platform, -1, -2))


def bound_rms(covariances: Array) -> Array:
    """Return the root mean squares over rows and axes that a covariance allows.

    Args:
        covariances (n, 15, 15): Of `sensor_bound`, or what a filter claims.

    Returns:
        (5,): Position, velocity, attitude, accelerometer bias, gyroscope bias.
    """
    variances = np.diagonal(covariances, axis1=1, axis2=2).mean(axis=0)
    return np.asarray(np.sqrt(variances.reshape(5, 3).mean(axis=1)))


def _transitions(dt: Array, attitude: Array, force: Array, rate: Array) -> tuple[Array, Array]:
    """Return how errors go on over every step, and how the noise at its end comes in."""
    h = dt[:, None, None]
    turn = exp_quaternion(-dt[:, None] * 0.5 * (rate[1:] + rate[:-1]))
    eye = np.broadcast_to(np.eye(SIZE), (len(dt), SIZE, SIZE))
    end = np.zeros((len(dt), 3, SIZE + 6))
    end[:, :, T] = matrix_from_quaternion(turn)
    end[:, :, BW] = -h * np.eye(3)
    end[:, :, NW] = end[:, :, 24:27] = -0.5 * h * np.eye(3)
    pulls = []
    for side, angle in ((slice(None, -1), None), (slice(1, None), end)):
        axes, push = attitude[side], np.zeros((len(dt), 3, SIZE + 6))
        lever = -axes @ skew(force[side])
        if angle is None:
            push[:, :, T], push[:, :, NF] = lever, -axes
        else:
            push[:] = lever @ angle
            push[:, :, 21:24] = -axes
        push[:, :, BF] = -axes
        pulls.append(push)
    step = np.concatenate([eye, np.zeros((len(dt), SIZE, 6))], axis=2)
    step[:, P, V] = h * np.eye(3)
    step[:, P] += h * h * (2.0 * pulls[0] + pulls[1]) / 6.0
    step[:, V] += 0.5 * h * (pulls[0] + pulls[1])
    step[:, T] = end
    # The noise of the new sample takes the place of the old one.
    step[:, 15:] = 0.0
    step[:, 15:, 21:] = np.eye(6)
    return step[:, :, :SIZE], step[:, :, SIZE:]


def _directions(run: SimulatedRun, attitude: Array) -> Array:
    """Return how the lengths change with the errors, shape (n, 6, SIZE)."""
    geometry, mounting = run.platform.geometry, run.platform.imu
    assert mounting is not None
    joints = (geometry.platform_joints - mounting.position) @ mounting.rotation
    sensor = run.truth.position + _rotated(
        matrix_from_quaternion(run.truth.quaternion_xyzw), mounting.position
    )
    legs = sensor[:, None] + joints @ np.swapaxes(attitude, -1, -2) - geometry.base_joints
    axes = legs / np.linalg.norm(legs, axis=-1, keepdims=True)
    seen = np.zeros((len(sensor), 6, SIZE))
    seen[:, :, P] = axes
    seen[:, :, T] = np.cross(joints, axes @ attitude)
    return seen


def _to_platform(run: SimulatedRun, attitude: Array, rate: Array) -> Array:
    """Return what makes errors of the platform of those of the sensor, shape (n, 15, SIZE)."""
    mounting = run.platform.imu
    assert mounting is not None
    lever = mounting.rotation.T @ mounting.position
    out = np.zeros((len(rate), 15, SIZE))
    out[:, range(15), range(15)] = 1.0
    out[:, P, T] = attitude @ skew(lever)
    out[:, V, T] = attitude @ skew(np.cross(rate, lever))
    out[:, V, BW] = out[:, V, NW] = -attitude @ skew(lever)
    out[:, T, T] = mounting.rotation
    return out


def _rotated(rotation: Array, vector: Array) -> Array:
    return np.asarray((rotation @ vector[..., None])[..., 0])
