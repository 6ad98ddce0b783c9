# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Coming to rest along the path of any trajectory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.trajectories.cycloid import cycloid, PEAK_ACCELERATION, PEAK_VELOCITY
from stewart_kinematics.trajectories.cycloidal import SHORTEST_MOVE
from stewart_kinematics.trajectories.trajectory import clamp, finite, positive, Trajectory

if TYPE_CHECKING:
    from stewart_kinematics.platform import Limits

REST_VELOCITY, REST_ACCELERATION = 1e-9, 1e-6
_SAMPLES, _TRIALS, _GROWTH, _TOLERANCE = 64, 30, 1.25, 1.05


@dataclass(frozen=True, eq=False)
class DeceleratedAlongPath:
    r"""
    The rest of a trajectory, slowed down to a stop on its own path.

    The path's time runs as :math:`s(t)` with the rate
    :math:`\dot s = 1 - \sigma(t/T)`, where σ is the cycloid: it leaves the trajectory at its full
    velocity and acceleration and arrives at rest, all derivatives up to the jerk being continuous.
    Half of the deceleration time of the original motion is still travelled.

    Attributes
    ----------
    trajectory : Trajectory
        What is followed.
    time : float
        Time of the trajectory at which the slowing down begins [s].
    deceleration_time : float
        Duration of the slowing down [s].

    Raises
    ------
    TrajectoryError
        If the times cannot be used, or if the trajectory would end on the way without being at
        rest there.

    """

    trajectory: Trajectory
    time: float
    deceleration_time: float

    def __post_init__(self) -> None:
        """Check that the path is long enough, or ends at rest."""
        time = float(clamp(finite('time', self.time, 's'), self.trajectory.duration))
        object.__setattr__(self, 'time', time)
        positive('deceleration_time', self.deceleration_time, 's')
        end = self.trajectory.duration
        if self.time + 0.5 * self.deceleration_time > end:
            last = self.trajectory.sample(end)
            velocity, acceleration = np.abs(last.twist).max(), np.abs(last.acceleration).max()
            if velocity > REST_VELOCITY or acceleration > REST_ACCELERATION:
                raise TrajectoryError(
                    f'the path ends after {end:g} s with a velocity of {velocity:.3g}: too early '
                    f'to stop from {self.time:g} s in {self.deceleration_time:g} s'
                )

    @classmethod
    def fastest(
        cls, trajectory: Trajectory, time: float, limits: Limits, scale: float = 1.0
    ) -> DeceleratedAlongPath:
        """
        Stop as soon as the acceleration limits allow it.

        Parameters
        ----------
        trajectory : Trajectory
            What is followed; it ends at rest or not at all.
        time : float
            Time of the trajectory at which the slowing down begins [s].
        limits : Limits
            Linear and angular acceleration, each a magnitude.
        scale : float
            Fraction of the limits to use, in (0, 1].

        Returns
        -------
        DeceleratedAlongPath
            The shortest of a geometric series of stops (steps of 25 %) whose acceleration keeps
            the limits, or at most what the trajectory itself takes from `time` on, within 5 %.

        Raises
        ------
        TrajectoryError
            If `scale` is outside (0, 1].

        """
        if not 0.0 < scale <= 1.0:
            raise TrajectoryError(f'scale must be greater than 0 and at most 1, got {scale}')
        moment = float(clamp(finite('time', time, 's'), trajectory.duration))
        bounds = scale * np.array([limits.linear_acceleration, limits.angular_acceleration])
        speed = _sizes(trajectory.sample(moment).twist)
        duration = max(float((PEAK_VELOCITY * speed / bounds).max()), SHORTEST_MOVE)
        stop = cls(trajectory, moment, duration)
        for _ in range(_TRIALS):
            grid = np.linspace(0.0, duration, _SAMPLES)
            own = _sizes(trajectory.sample(moment + 0.5 * grid).acceleration).max(axis=0)
            taken = _sizes(stop.sample(grid).acceleration).max(axis=0)
            if np.all(taken <= _TOLERANCE * np.maximum(bounds, own)):
                break
            duration *= _GROWTH
            stop = cls(trajectory, moment, duration)
        return stop

    @property
    def duration(self) -> float:
        """Time until the platform rests [s]."""
        return self.deceleration_time

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s] since the slowing down began; see `Trajectory`."""
        tau = clamp(time, self.deceleration_time) / self.deceleration_time
        way, slope, _ = cycloid(tau)
        angle = PEAK_ACCELERATION * tau
        integral = 0.5 * tau**2 + (np.cos(angle) - 1.0) / PEAK_ACCELERATION**2
        path = self.trajectory.sample(self.time + self.deceleration_time * (tau - integral))
        return rescaled(path, 1.0 - way, -slope / self.deceleration_time)


def _sizes(values: Array) -> Array:
    """Return the magnitudes of the linear and the angular half, shape (..., 2)."""
    return np.linalg.norm(values.reshape(*values.shape[:-1], 2, 3), axis=-1)


def rescaled(path: Motion, rate: Array, change: Array) -> Motion:
    r"""
    Return a motion as it is when its time runs at another rate.

    Parameters
    ----------
    path : Motion
        Samples with respect to the path's own time :math:`s`.
    rate, change : ndarray, shape (...)
        :math:`\dot s` [-] and :math:`\ddot s` [1/s].

    Returns
    -------
    Motion
        Same poses; velocities times :math:`\dot s`, accelerations
        :math:`x'' \dot s^2 + x' \ddot s`.

    """
    rate, change = rate[..., None], change[..., None]
    return Motion(
        path.position,
        path.quaternion_xyzw,
        rate * path.linear_velocity,
        rate * path.angular_velocity,
        rate**2 * path.linear_acceleration + change * path.linear_velocity,
        rate**2 * path.angular_acceleration + change * path.angular_velocity,
    )
