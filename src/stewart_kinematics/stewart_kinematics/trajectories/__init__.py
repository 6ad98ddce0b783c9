# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories: pure functions of time that return pose, twist and acceleration.

Each has a `duration` [s] (infinite allowed) and `sample(time)`, which takes times of any shape,
clamps them into [0, duration] and returns a `Motion` of that shape.
"""

from stewart_kinematics.trajectories.circle import Circle
from stewart_kinematics.trajectories.cycloidal import Cycloidal
from stewart_kinematics.trajectories.fading import Faded
from stewart_kinematics.trajectories.multi_sine import MultiSine
from stewart_kinematics.trajectories.sampled import Sampled
from stewart_kinematics.trajectories.sequence import Sequence
from stewart_kinematics.trajectories.spectrum import Jonswap
from stewart_kinematics.trajectories.stopping import DeceleratedAlongPath
from stewart_kinematics.trajectories.trajectory import Rest, Trajectory
from stewart_kinematics.trajectories.waves import AiryWave, OrbitalWave

__all__ = [
    'AiryWave',
    'Circle',
    'Cycloidal',
    'DeceleratedAlongPath',
    'Faded',
    'Jonswap',
    'MultiSine',
    'OrbitalWave',
    'Rest',
    'Sampled',
    'Sequence',
    'Trajectory',
]
