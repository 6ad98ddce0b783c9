# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The PS-6TL paper's plate on massless legs: mass and three principal moments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_dynamics.lagrangian import LagrangianModel
from stewart_identification.errors import FitError
from stewart_identification.experiment import Experiment
from stewart_identification.models.model import LinearModel
from stewart_kinematics.motion import Array, Motion, read_only
from stewart_kinematics.platform import inertia_fault, Platform


class Ps6tlModel(LinearModel):
    """
    Leg forces by the Lagrangian closed form, linear in ``m, Ixx, Iyy, Izz``.

    Parameters
    ----------
    platform : Platform
        With massless legs and a centred, diagonal plate; its masses are where a search begins.

    """

    parameter_names = ('m', 'Ixx', 'Iyy', 'Izz')
    parameter_units = ('kg', 'kg m²', 'kg m²', 'kg m²')
    non_negative = (0, 1, 2, 3)

    def __init__(self, platform: Platform) -> None:
        """Read the plate."""
        self._plate = LagrangianModel.from_platform(platform)
        self.nominal = read_only([self._plate.mass, *self._plate.moments])
        length = platform.geometry.length_scale
        self.scale = read_only(self._plate.mass * np.array([1.0, *(length**2,) * 3]))
        self.bounds = read_only([np.zeros(4), self.nominal + 3.0 * self.scale])

    def regressor(self, experiment: Experiment) -> Array:
        """Return the matrix that takes the parameters to the forces, shape (n, 6, 4)."""
        motion = coordinates(experiment)
        columns = []
        for unit in np.eye(4):
            plate = replace(self._plate, mass=float(unit[0]), moments=unit[1:])
            columns.append(plate.actuator_forces(*motion))
        return np.stack(columns, axis=-1)

    def physical(self, parameters: Array) -> bool:
        """Tell whether a plate can have these parameters."""
        return bool(np.all(parameters >= 0.0)) and not inertia_fault(np.diag(parameters[1:]))


def coordinates(experiment: Experiment) -> tuple[Array, Array, Array]:
    """
    Give X = (x, y, z, roll, pitch, yaw) of Eq. 3 and its derivatives.

    Parameters
    ----------
    experiment : Experiment
        Of a platform.

    Returns
    -------
    tuple of three ndarrays, each of shape (n, 6)
        [m, rad, per s, per s²].

    Raises
    ------
    FitError
        If the experiment is no platform's.

    """
    motion = experiment.inputs
    if not isinstance(motion, Motion):
        raise FitError('a platform moves by poses; this experiment has joint variables')
    yaw, pitch, roll = Rotation.from_quat(motion.quaternion_xyzw).as_euler('ZYX').T
    sy, cy, sp, cp = np.sin(yaw), np.cos(yaw), np.sin(pitch), np.cos(pitch)
    zero, one = np.zeros_like(yaw), np.ones_like(yaw)
    # omega = E (roll', pitch', yaw'), in base axes
    e = np.array([[cy * cp, -sy, zero], [sy * cp, cy, zero], [-sp, zero, one]])
    e = np.moveaxis(e, -1, 0)
    rates = _solve(e, motion.angular_velocity)
    dp, dy = rates[:, 1], rates[:, 2]
    change = np.array(
        [
            [-sy * cp * dy - cy * sp * dp, -cy * dy, zero],
            [cy * cp * dy - sy * sp * dp, -sy * dy, zero],
            [-cp * dp, zero, zero],
        ]
    )
    left = motion.angular_acceleration - np.einsum('ijn,nj->ni', change, rates)
    angles = np.stack([roll, pitch, yaw], axis=1)
    return (
        np.hstack([motion.position, angles]),
        np.hstack([motion.linear_velocity, rates]),
        np.hstack([motion.linear_acceleration, _solve(e, left)]),
    )


def _solve(matrix: Array, right: Array) -> Array:
    return np.asarray(np.linalg.solve(matrix, right[..., None])[..., 0])
