# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Time the inverse kinematics and the Jacobian of the Vigo platform against plain numpy."""

from __future__ import annotations

# The harness comes first: it holds the libraries to one thread.
import harness  # isort: skip

import sys

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.inverse import inverse, leg_lengths
from stewart_kinematics.solvers.jacobian import jacobian
from stewart_kinematics.solvers.warming import warm_up

POSES = 100_000
PACKAGES = ('numpy', 'scipy', 'numba')


def by_numpy(geometry: Geometry, position: Array, quaternion: Array) -> Array:
    """Return lengths as numpy and scipy are mostly written."""
    rotation = Rotation.from_quat(quaternion).as_matrix()
    joints = position[:, None] + np.einsum('nij,kj->nki', rotation, geometry.platform_joints)
    return np.asarray(np.linalg.norm(joints - geometry.base_joints, axis=-1))


def main() -> int:
    """Measure, print and write."""
    geometry = Platform.from_yaml('vigo').geometry
    warm_up(geometry)
    rng = np.random.default_rng(20260222)
    position = geometry.neutral_pose.position + rng.uniform(-0.1, 0.1, (POSES, 3))
    angles = rng.uniform(-15.0, 15.0, (POSES, 3))
    quaternion = Rotation.from_euler('ZYX', angles, degrees=True).as_quat()
    motion = Motion(position, quaternion, *rng.normal(size=(2, POSES, 6)))
    expected = by_numpy(geometry, position, quaternion)
    assert np.abs(leg_lengths(geometry, position, quaternion) - expected).max() < 1e-14
    one, attitude, sample = position[0], quaternion[0], motion[0]
    tasks = [
        harness.Task(
            'leg_lengths(), batch',
            lambda: leg_lengths(geometry, position, quaternion),
            POSES,
            'numpy and scipy, batch',
            0.08,
        ),
        harness.Task('inverse(), batch', lambda: inverse(geometry, motion), POSES),
        harness.Task('jacobian(), batch', lambda: jacobian(geometry, position, quaternion), POSES),
        harness.Task(
            'leg_lengths(), one pose',
            lambda: leg_lengths(geometry, one, attitude),
            1,
            'numpy and scipy, one pose',
            0.2,
        ),
        harness.Task('inverse(), one sample', lambda: inverse(geometry, sample)),
        harness.Task(
            'numpy and scipy, batch', lambda: by_numpy(geometry, position, quaternion), POSES
        ),
        harness.Task(
            'numpy and scipy, one pose',
            lambda: by_numpy(geometry, position[:1], quaternion[:1]),
        ),
    ]
    about = harness.machine(PACKAGES)
    return harness.report('inverse_kinematics', harness.measure(tasks), about)


if __name__ == '__main__':
    sys.exit(main())
