# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Angular velocity and acceleration from Euler angles: the oracle of attitudes that move."""

import numpy as np
from scipy.spatial.transform import Rotation


def rate_matrix(sequence, angles):
    """Return E (..., 3, 3) with omega = E q' in the fixed frame, for intrinsic angles."""
    matrix = np.empty((*angles.shape, 3))
    for column, letter in enumerate(sequence):
        axis = np.eye(3)['XYZ'.index(letter)]
        outer = np.eye(3)
        if column:
            before = angles.reshape(-1, 3)[:, :column]
            outer = Rotation.from_euler(sequence[:column], before).as_matrix()
            outer = outer.reshape(*angles.shape[:-1], 3, 3)
        matrix[..., column] = outer @ axis
    return matrix


def angular_motion(sequence, angles, rates, accelerations):
    """Return angular velocity and acceleration, (..., 3) each, in the fixed frame."""
    matrix = rate_matrix(sequence, angles)
    derivative, carried = np.zeros_like(matrix), np.zeros_like(angles)
    # Each axis is carried along by the angles outside of it.
    for column in range(3):
        derivative[..., column] = np.cross(carried, matrix[..., column])
        carried = carried + matrix[..., column] * rates[..., column, None]
    second = (matrix @ accelerations[..., None] + derivative @ rates[..., None])[..., 0]
    return (matrix @ rates[..., None])[..., 0], second
