# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A 1:10 model of a boat of 25 m on a sea of 1 m, as its IMU feels it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.trajectories.spectrum import Jonswap
from stewart_simulation.ship import at_scale, Ship

PERIOD, SCALE, PEAK_PERIOD, HEIGHT = 0.01, 10.0, 6.4, 1.0
MODEL_PERIOD = PEAK_PERIOD / SCALE**0.5
SHIP = Ship(Jonswap(HEIGHT, PEAK_PERIOD), 1, np.radians(150.0), at_scale(SCALE))
CALM = at_scale(SCALE).arm[2] / SCALE
"""Height of the base without waves [m]."""
BEGIN, DELAY = 40.0, 0.03
NOISES = np.repeat([0.02, 1e-3], 3)
BIAS = np.array([0.03, -0.02, 0.03, 2e-3, -1e-3, 1e-3])


@cache
def _truth(time: float) -> np.ndarray:
    base = SHIP.at(time)
    return np.concatenate([-base.field(np.array([0.0, 0.0, -9.80665]))[:3], base.turn])


def felt(time: float, rng: np.random.Generator) -> np.ndarray:
    """Return specific force and rates (6,) with noise and bias [m/s²], [rad/s]."""
    return _truth(time) + BIAS + rng.normal(0.0, NOISES)


def left_over(base: Any, motion: Any, platform: Any) -> np.ndarray:
    """Return roll, pitch [rad], heave [m] of the ship and of the platform, shape (2, 3)."""
    attitude = base.rotation @ Rotation.from_quat(motion.quaternion_xyzw).as_matrix()
    height = (base.position + base.rotation @ motion.position)[2]
    level = platform.geometry.neutral_pose.position[2]
    own = [*tilt(base.rotation), base.position[2] - CALM]
    return np.array([own, [*tilt(attitude), height - level - CALM]])


def tilt(rotation: np.ndarray) -> np.ndarray:
    """Return roll and pitch [rad]."""
    return Rotation.from_matrix(rotation).as_euler('ZYX')[:0:-1]
