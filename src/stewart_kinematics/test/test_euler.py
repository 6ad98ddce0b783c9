# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Euler angles of every sequence, against a peer."""

import itertools

import numpy as np
import pytest
from stewart_kinematics.spatial import euler_from_quaternion
from transforms3d import euler as peer
from transforms3d import quaternions

MOVING = [
    ''.join(axes)
    for axes in itertools.product('XYZ', repeat=3)
    if axes[0] != axes[1] and axes[1] != axes[2]
]


@pytest.mark.parametrize('sequence', MOVING + [name.lower() for name in MOVING])
def test_transforms3d_agrees(sequence):
    rng = np.random.default_rng(20260216)
    name = ('r' if sequence.isupper() else 's') + sequence.lower()
    for first, middle, third in rng.uniform((-3.0, 0.2, -3.0), (3.0, 1.3, 3.0), (20, 3)):
        angles = np.array([first, middle if sequence[0] != sequence[2] else middle + 0.5, third])
        wxyz = quaternions.mat2quat(peer.euler2mat(*angles, axes=name))
        assert np.abs(euler_from_quaternion(sequence, np.roll(wxyz, -1)) - angles).max() < 1e-7


def test_singular_attitude_has_angles_too():
    home = np.array([0.0, 0.0, 0.0, 1.0])
    assert np.array_equal(euler_from_quaternion('ZXZ', home), np.zeros(3))
    assert euler_from_quaternion('ZYX', np.tile(home, (2, 3, 1))).shape == (2, 3, 3)
