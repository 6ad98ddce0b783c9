# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Platforms and motions on which the models are held against each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_dynamics.inertia import InertialModel
from stewart_kinematics.model.platform import MassProperties, Platform, RigidBody
from stewart_kinematics.motion import Motion
from stewart_kinematics.trajectories.circle import Circle
from stewart_kinematics.trajectories.multi_sine import from_yaml


def _lump(rng: np.random.Generator, mass: float, size: float, centre: np.ndarray) -> RigidBody:
    """Eight point masses at random: a body that exists, without symmetry."""
    points = rng.normal(scale=size, size=(8, 3))
    points -= points.mean(axis=0)
    inertia = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points) * mass / 8.0
    return RigidBody(mass, centre, inertia)


@pytest.fixture(scope='session')
def ex800() -> Platform:
    return Platform.from_yaml('ex800')


@pytest.fixture(scope='session')
def asymmetric(ex800: Platform) -> Platform:
    """The EX800's joints with bodies of no symmetry at all, a payload and tilted gravity."""
    rng = np.random.default_rng(20)
    masses = MassProperties(
        gravity=np.array([1.2, -2.1, -9.4]),
        platform=_lump(rng, 6.8, 0.10, np.array([0.02, -0.03, 0.05])),
        cylinder=_lump(rng, 0.36, 0.05, np.array([0.010, 0.006, 0.12])),
        rod=_lump(rng, 0.12, 0.04, np.array([-0.004, 0.007, -0.12])),
        payload=_lump(rng, 2.0, 0.05, np.array([0.05, -0.03, 0.08])),
    )
    return replace(ex800, masses=masses)


@pytest.fixture(scope='session')
def six_axis_motion(ex800: Platform) -> Callable[[np.ndarray], Motion]:
    """A motion of all six axes at once, with its exact derivatives.

    The attitude is a rotation about x, then y, then z by sines; its angular velocity and
    acceleration follow from differentiating the product of the three.
    """
    amplitude = np.array([0.02, 0.03, 0.02, 0.12, 0.15, 0.2])
    frequency = np.array([2.0, 1.3, 3.0, 1.7, 2.1, 1.1])
    phase = np.array([0.3, 1.0, -0.4, 0.8, 2.0, -1.2])
    home = ex800.geometry.neutral_pose.position

    def motion(time: np.ndarray) -> Motion:
        angle = np.multiply.outer(time, frequency) + phase
        x = amplitude * np.sin(angle)
        v = amplitude * frequency * np.cos(angle)
        a = -amplitude * frequency**2 * np.sin(angle)
        axes = np.eye(3)
        omega, alpha = np.zeros((*np.shape(time), 3)), np.zeros((*np.shape(time), 3))
        turned = Rotation.identity(1) if not np.shape(time) else Rotation.identity(len(time))
        for k in (2, 1, 0):
            axis = turned.apply(axes[k]).reshape((*np.shape(time), 3))
            rate, change = v[..., 3 + k, None], a[..., 3 + k, None]
            alpha = alpha + change * axis + rate * np.cross(omega, axis)
            omega = omega + rate * axis
            turned = turned * Rotation.from_rotvec(
                np.atleast_2d(np.multiply.outer(x[..., 3 + k], axes[k]))
            )
        quaternion = turned.as_quat().reshape((*np.shape(time), 4))
        twist = np.concatenate([v[..., :3], omega], axis=-1)
        acceleration = np.concatenate([a[..., :3], alpha], axis=-1)
        return Motion(home + x[..., :3], quaternion, twist, acceleration)

    return motion


@pytest.fixture(scope='session')
def asymmetric_model(asymmetric: Platform) -> InertialModel:
    return InertialModel.from_platform(asymmetric)


@pytest.fixture(scope='session')
def motions(ex800: Platform, six_axis_motion: Callable[[np.ndarray], Motion]) -> dict[str, Motion]:
    """Forty samples each of the general motion and of the EX800 paper's, Eqs. 17 and 18."""
    home = ex800.geometry.neutral_pose
    corrected = from_yaml('ex800_wave', home)
    amplitude = corrected.amplitude.copy()
    amplitude[5] *= 10.0  # 0.29 rad is printed
    return {
        'general': six_axis_motion(np.linspace(0.0, 6.0, 40)),
        'circle': Circle(home, 0.05, 1.2566).sample(np.linspace(0.0, 5.0, 40)),
        'wave': corrected.sample(np.linspace(0.0, 1.7, 40)),
        'wave as printed': replace(corrected, amplitude=amplitude).sample(
            np.linspace(0.0, 1.7, 40)
        ),
    }
