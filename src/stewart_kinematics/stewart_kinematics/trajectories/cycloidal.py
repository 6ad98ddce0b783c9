# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Point-to-point moves along a straight line with a cycloidal profile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.kernels.fading import cycloid
from stewart_kinematics.motion import Array, Motion, Pose, read_only
from stewart_kinematics.spatial import (
    compose_quaternions,
    exp_quaternion,
    invert_quaternion,
    log_quaternion,
)
from stewart_kinematics.trajectories.trajectory import clamp, positive

if TYPE_CHECKING:
    from stewart_kinematics.model.platform import Limits

PEAK_VELOCITY = 2.0
PEAK_ACCELERATION = 2.0 * np.pi
PEAK_JERK = 4.0 * np.pi**2

SHORTEST_MOVE = 0.02  # duration given to a move whose way needs less, down to none at all [s]


@dataclass(frozen=True, eq=False)
class Cycloidal:
    """A move from one pose to another, from rest to rest, in a finite duration [s].

    The position follows a straight line. The attitude turns about one fixed axis, the shortest
    way (the geodesic of the rotation vector), so that attitude, like position, depends on the end
    poses only and not on a choice of Euler angles. Both share the cycloidal profile and the
    duration (Vigo, Eqs. 23 to 28, which interpolate each Euler angle by itself).
    """

    start: Pose
    target: Pose
    duration: float
    _way: Array = field(init=False, repr=False)
    _turn: Array = field(init=False, repr=False)
    shortest_period: ClassVar[float] = np.inf

    def __post_init__(self) -> None:
        object.__setattr__(self, 'duration', positive('duration', self.duration, 's'))
        vectors = relative_displacement(self.start, self.target)
        for name, vector in zip(('_way', '_turn'), vectors, strict=True):
            object.__setattr__(self, name, read_only(vector))

    @classmethod
    def fastest(cls, start: Pose, target: Pose, limits: Limits, scale: float = 1.0) -> Cycloidal:
        """Make the fastest move inside the limits.

        `scale` is the fraction of every limit to use, in (0, 1]. A way too short to need it lasts
        `SHORTEST_MOVE`.

        Raises:
            TrajectoryError: If `scale` is outside (0, 1].
        """
        if not 0.0 < scale <= 1.0:
            raise TrajectoryError(f'scale must be greater than 0 and at most 1, got {scale}')
        durations = [SHORTEST_MOVE]
        halves = zip(('linear', 'angular'), relative_displacement(start, target), strict=True)
        for kind, way in halves:
            bounds = (
                scale * getattr(limits, f'{kind}_{name}')
                for name in ('velocity', 'acceleration', 'jerk')
            )
            durations.append(shortest_duration(np.linalg.norm(way), *bounds))
        return cls(start, target, max(durations))

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s]; see `Trajectory`."""
        moment = clamp(time, self.duration)
        way, rate, curvature = cycloid(moment / self.duration)
        rate, curvature = rate / self.duration, curvature / self.duration**2
        both = np.concatenate([self._way, self._turn])
        place = self.start.position + way[..., None] * self._way
        turn = exp_quaternion(way[..., None] * self._turn)
        attitude = compose_quaternions(turn, self.start.quaternion_xyzw)
        return Motion(place, attitude, rate[..., None] * both, curvature[..., None] * both)


def relative_displacement(start: Pose, target: Pose) -> tuple[Array, Array]:
    """Return the way [m] and the rotation vector [rad] between poses in base axes, (3,) each."""
    back = invert_quaternion(start.quaternion_xyzw)
    turn = log_quaternion(compose_quaternions(target.quaternion_xyzw, back))
    return target.position - start.position, turn


def shortest_duration(
    way: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, jerk: ArrayLike
) -> float:
    """Return the shortest duration that keeps every coordinate inside its limits [s].

    Ways (...) are in m or rad, of either sign, limits in the same unit per s, s² and s³.

    Raises:
        TrajectoryError: If a limit is not greater than 0.

    References:
        Vigo (Machines 2022, 10, 711), Eqs. 26 to 28.
    """
    limits = {'velocity': velocity, 'acceleration': acceleration, 'jerk': jerk}
    for name, limit in limits.items():
        if not np.all(np.asarray(limit, dtype=float) > 0.0):
            raise TrajectoryError(f'the {name} limit must be greater than 0, got {limit!r}')
    distance = np.abs(np.asarray(way, dtype=float))
    by_velocity = PEAK_VELOCITY * distance / np.asarray(velocity, dtype=float)
    by_acceleration = np.sqrt(PEAK_ACCELERATION * distance / np.asarray(acceleration, dtype=float))
    by_jerk = np.cbrt(PEAK_JERK * distance / np.asarray(jerk, dtype=float))
    return float(max(by_velocity.max(), by_acceleration.max(), by_jerk.max()))
