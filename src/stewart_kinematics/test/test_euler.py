# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Euler angles of every sequence: peers, rates and accelerations."""

from contextlib import suppress
import itertools

import numpy as np
import pytest
from stewart_kinematics import spatial
from stewart_kinematics.errors import ConfigurationError, StewartError
from transforms3d import euler as peer

MOVING = [
    ''.join(axes)
    for axes in itertools.product('XYZ', repeat=3)
    if axes[0] != axes[1] and axes[1] != axes[2]
]
SEQUENCES = MOVING + [name.lower() for name in MOVING]


def angles_of(sequence, rng, count=20):
    """Return angles away from the singularity of the sequence."""
    angles = rng.uniform(-3.0, 3.0, (count, 3))
    middle = rng.uniform(0.2, 1.3, count)
    angles[:, 1] = middle if sequence[0] != sequence[2] else middle + 0.5
    return angles


@pytest.fixture
def rng():
    return np.random.default_rng(20260216)


def test_the_twelve_moving_and_twelve_fixed_sequences_are_accepted_and_no_others():
    accepted = []
    for letters in itertools.product('XYZxyz', repeat=3):
        with suppress(ConfigurationError):
            spatial.quaternion_from_euler(''.join(letters), np.zeros(3))
            accepted.append(''.join(letters))
    assert len(accepted) == 24
    # transforms3d has an entry for each of them, `rzyx` for ZYX and `szyx` for zyx.
    assert {('r' if name.isupper() else 's') + name.lower() for name in accepted} == set(
        peer._AXES2TUPLE
    )


@pytest.mark.parametrize('sequence', SEQUENCES)
def test_transforms3d_agrees(sequence, rng):
    name = ('r' if sequence.isupper() else 's') + sequence.lower()
    for angles in angles_of(sequence, rng):
        matrix = peer.euler2mat(*angles, axes=name)
        ours = spatial.matrix_from_quaternion(spatial.quaternion_from_euler(sequence, angles))
        assert np.abs(ours - matrix).max() < 1e-14


@pytest.mark.parametrize('sequence', SEQUENCES)
def test_angles_come_back(sequence, rng):
    angles = angles_of(sequence, rng)
    back = spatial.euler_from_quaternion(sequence, spatial.quaternion_from_euler(sequence, angles))
    assert np.abs(back - angles).max() < 1e-13


@pytest.mark.parametrize('sequence', SEQUENCES)
def test_rates_are_the_derivative_of_the_rotation(sequence, rng):
    angles, rates, step = angles_of(sequence, rng), rng.normal(size=(20, 3)), 1e-6
    after, middle, before = (
        spatial.matrix_from_quaternion(
            spatial.quaternion_from_euler(sequence, angles + shift * rates)
        )
        for shift in (step, 0.0, -step)
    )
    spin = (after - before) / (2 * step) @ middle.swapaxes(1, 2)
    velocity = spatial.angular_velocity(sequence, angles, rates)
    assert np.abs(spatial.unskew(spin) - velocity).max() < 2e-9
    assert np.abs(spatial.euler_rates(sequence, angles, velocity) - rates).max() < 1e-13


@pytest.mark.parametrize('sequence', SEQUENCES)
def test_acceleration_is_the_derivative_of_the_velocity(sequence, rng):
    angles, step = angles_of(sequence, rng), 1e-6
    rates, seconds = rng.normal(size=(2, 20, 3))
    after, before = (
        spatial.angular_velocity(
            sequence, angles + h * rates + 0.5 * h**2 * seconds, rates + h * seconds
        )
        for h in (step, -step)
    )
    acceleration = spatial.angular_acceleration(sequence, angles, rates, seconds)
    assert np.abs((after - before) / (2 * step) - acceleration).max() < 5e-9
    back = spatial.euler_accelerations(sequence, angles, rates, acceleration)
    assert np.abs(back - seconds).max() < 1e-12


def test_rate_matrix_derivative_matches_finite_differences(rng):
    angles, rates, step = angles_of('ZXZ', rng), rng.normal(size=(20, 3)), 1e-6
    after, before = (spatial.euler_rate_matrix('ZXZ', angles + h * rates) for h in (step, -step))
    derivative = spatial.euler_rate_matrix_derivative('ZXZ', angles, rates)
    assert np.abs((after - before) / (2 * step) - derivative).max() < 1e-9


def test_singular_attitude_has_angles_but_no_rates():
    home = np.array([0.0, 0.0, 0.0, 1.0])
    angles = spatial.euler_from_quaternion('ZXZ', home)
    assert np.array_equal(angles, np.zeros(3))
    with pytest.raises(StewartError, match='ZXZ angles are singular'):
        spatial.euler_rates('ZXZ', angles, np.ones(3))
    with pytest.raises(StewartError, match='singular'):
        spatial.euler_accelerations('ZYX', [0.1, np.pi / 2, 0.2], np.ones(3), np.ones(3))


@pytest.mark.parametrize('sequence', ['ZZX', 'zyX', 'ABC', 'ZY', 'XYZX', ''])
def test_what_is_no_sequence_is_refused(sequence):
    with pytest.raises(ConfigurationError, match='sequence'):
        spatial.quaternion_from_euler(sequence, np.zeros(3))
