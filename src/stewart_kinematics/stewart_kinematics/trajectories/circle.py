# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A horizontal circle at constant attitude."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.trajectories.trajectory import check_duration, clamp, finite, positive


@dataclass(frozen=True, eq=False)
class Circle:
    """A horizontal circle about a centre, at the centre's attitude (EX800, Eq. 17).

    Attributes:
        radius: [m].
        angular_frequency: Rate of revolution, positive from x to y [rad/s].
        phase: Angle of the first position from x to y [rad].
        duration: [s].

    Raises:
        TrajectoryError: If a value cannot be used.
    """

    centre: Pose
    radius: float
    angular_frequency: float
    phase: float = 0.0
    duration: float = np.inf

    def __post_init__(self) -> None:
        object.__setattr__(self, 'radius', positive('radius', self.radius, 'm'))
        finite('angular_frequency', self.angular_frequency, 'rad/s')
        positive('the size of angular_frequency', abs(self.angular_frequency), 'rad/s')
        object.__setattr__(self, 'phase', finite('phase', self.phase, 'rad'))
        object.__setattr__(self, 'duration', check_duration(self.duration))

    @property
    def shortest_period(self) -> float:
        """Time of a revolution [s]."""
        return 2.0 * np.pi / abs(self.angular_frequency)

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s]; see `Trajectory`."""
        moment = clamp(time, self.duration)
        angle = self.angular_frequency * moment + self.phase
        cosine, sine, zero = np.cos(angle), np.sin(angle), np.zeros(moment.shape)
        outward: Array = self.radius * np.stack([cosine, sine, zero], axis=-1)
        along: Array = self.radius * np.stack([-sine, cosine, zero], axis=-1)
        still = np.zeros((*moment.shape, 3))
        attitude = np.broadcast_to(self.centre.quaternion_xyzw, (*moment.shape, 4))
        velocity = self.angular_frequency * along
        acceleration = -(self.angular_frequency**2) * outward
        position = self.centre.position + outward
        return Motion.of_vectors(position, attitude, velocity, still, acceleration, still)
