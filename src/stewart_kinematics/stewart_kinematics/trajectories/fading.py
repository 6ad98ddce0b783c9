# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Letting a motion about a centre grow from rest and shrink back to rest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.trajectories.attitude import scaled
from stewart_kinematics.trajectories.cycloid import cycloid
from stewart_kinematics.trajectories.trajectory import clamp, lasting, not_negative, Trajectory


@dataclass(frozen=True, eq=False)
class Faded:
    r"""
    A trajectory whose deviation from a centre is multiplied by a factor of time.

    The factor is the product of a cycloidal rise during `fade_in` and a cycloidal fall during the
    last `fade_out`, so pose, velocity and acceleration begin and end at the centre at rest, even
    where both overlap. Position: the offset is multiplied. Attitude: the vector
    :math:`\tan(\theta/2)\, n` of the rotation from the centre is multiplied, which keeps its axis
    and has smooth derivatives at :math:`\theta = 0`; a deviation must stay below 180°.

    Attributes
    ----------
    trajectory : Trajectory
        What is faded; its time is the time here.
    centre : Pose
        Where the motion grows from and shrinks to.
    fade_in, fade_out : float
        Durations of rise and fall [s]; 0 for none.
    duration : float
        When the fall ends [s]; infinite: when `trajectory` ends.

    Raises
    ------
    TrajectoryError
        If a time cannot be used, or a fade-out is asked for at the end of an endless motion.

    """

    trajectory: Trajectory
    centre: Pose
    fade_in: float
    fade_out: float = 0.0
    duration: float = np.inf

    def __post_init__(self) -> None:
        """Check the times."""
        whole = self.trajectory.duration
        duration = lasting(self.duration)
        if np.isinf(duration):
            duration = whole
        if duration > whole:
            raise TrajectoryError(
                f'duration must be at most the {whole:g} s of what is faded, got {duration:g}'
            )
        object.__setattr__(self, 'duration', duration)
        for name in ('fade_in', 'fade_out'):
            object.__setattr__(self, name, not_negative(name, getattr(self, name), 's'))
        # A fall that begins during the rise needs no complete rise: the product is smooth anyway.
        name = 'fade_out' if self.fade_out > 0.0 else 'fade_in'
        if getattr(self, name) > duration:
            raise TrajectoryError(
                f'{name} must be at most the duration of {duration:g} s, '
                f'got {getattr(self, name):g}'
            )
        if self.fade_out > 0.0 and not np.isfinite(duration):
            raise TrajectoryError('fade_out needs an end: give a finite duration, got inf')

    def ended(self, time: float, fade_out: float) -> Faded:
        """
        Return the same motion, its fall beginning at `time`.

        Up to `time` both agree, so that a follower may change over at any moment before.

        Parameters
        ----------
        time : float
            Beginning of the fall [s].
        fade_out : float
            Duration of the fall [s].

        Returns
        -------
        Faded
            Trajectory with the duration `time` + `fade_out`.

        Raises
        ------
        TrajectoryError
            If a time is negative or the faded trajectory ends before.

        """
        end = not_negative('time', time, 's') + not_negative('fade_out', fade_out, 's')
        return replace(self, fade_out=fade_out, duration=end)

    def factor(self, time: Array) -> tuple[Array, Array, Array]:
        """Return the factor at `time` [s] and its first two derivatives [-, 1/s, 1/s²]."""
        rise = _ramp(time, self.fade_in)
        if self.fade_out == 0.0:
            return rise
        fall = _ramp(self.duration - time, self.fade_out)
        return (
            rise[0] * fall[0],
            rise[1] * fall[0] - rise[0] * fall[1],
            rise[2] * fall[0] - 2.0 * rise[1] * fall[1] + rise[0] * fall[2],
        )

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s]; see `Trajectory`."""
        moment = clamp(time, self.duration)
        return scaled_about(self.trajectory.sample(moment), self.centre, *self.factor(moment))


def _ramp(time: Array, duration: float) -> tuple[Array, Array, Array]:
    """Return a cycloidal rise from 0 to 1 and its derivatives [-, 1/s, 1/s²]."""
    if duration == 0.0:
        return np.ones(time.shape), np.zeros(time.shape), np.zeros(time.shape)
    way, rate, curvature = cycloid(np.clip(time / duration, 0.0, 1.0))
    return way, rate / duration, curvature / duration**2


def scaled_about(
    motion: Motion, centre: Pose, factor: Array, rate: Array, curvature: Array
) -> Motion:
    """
    Multiply a motion's deviation from a centre by a factor of time.

    Parameters
    ----------
    motion : Motion
        Samples, shape (...).
    centre : Pose
        What a factor of 0 gives.
    factor, rate, curvature : ndarray, shape (...)
        The factor and its first two time derivatives [-, 1/s, 1/s²].

    Returns
    -------
    Motion
        Same shape, with consistent derivatives.

    """
    f, df, ddf = factor[..., None], rate[..., None], curvature[..., None]
    offset = motion.position - centre.position
    quaternion, velocity, acceleration = scaled(
        (motion.quaternion_xyzw, motion.angular_velocity, motion.angular_acceleration),
        centre.quaternion_xyzw,
        (factor, rate, curvature),
    )
    return Motion(
        centre.position + f * offset,
        quaternion,
        f * motion.linear_velocity + df * offset,
        velocity,
        f * motion.linear_acceleration + 2.0 * df * motion.linear_velocity + ddf * offset,
        acceleration,
    )
