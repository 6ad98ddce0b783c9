# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Letting a motion about a centre grow from rest and shrink back to rest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.kernels import fading as fading_kernels
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.trajectories.trajectory import (
    check_duration,
    clamp,
    motion_from_rows,
    motion_rows,
    not_negative,
    Trajectory,
)


@dataclass(frozen=True, eq=False)
class Faded:
    r"""A trajectory whose deviation from a centre is multiplied by a factor of time.

    The factor is the product of a cycloidal rise during `fade_in` and a cycloidal fall during the
    last `fade_out`, so pose, velocity and acceleration begin and end at the centre at rest, even
    where both overlap. Position: the offset is multiplied. Attitude: the vector
    :math:`\tan(\theta/2)\, n` of the rotation from the centre is multiplied, which keeps its axis
    and has smooth derivatives at :math:`\theta = 0`; a deviation must stay below 180°.

    Attributes:
        fade_in, fade_out: Durations of rise and fall [s]; 0 for none.
        duration: When the fall ends [s]; infinite: when `trajectory` ends.

    Raises:
        TrajectoryError: If a time cannot be used, or an endless motion is to fade out at its end.
    """

    trajectory: Trajectory
    centre: Pose
    fade_in: float
    fade_out: float = 0.0
    duration: float = np.inf

    def __post_init__(self) -> None:
        whole = self.trajectory.duration
        duration = check_duration(self.duration)
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
        if (fade := getattr(self, name)) > duration:
            most = f'the duration of {duration:g} s'
            raise TrajectoryError(f'{name} must be at most {most}, got {fade:g}')
        if self.fade_out > 0.0 and not np.isfinite(duration):
            raise TrajectoryError('fade_out needs an end: give a finite duration, got inf')

    @property
    def shortest_period(self) -> float:
        """Period of the fastest oscillation of what is faded [s]."""
        return self.trajectory.shortest_period

    def with_fade_out_at(self, time: float, fade_out: float) -> Faded:
        """Return the same motion, its fall beginning at `time` and lasting `fade_out` [s].

        Up to `time` both agree, so that a follower may change over at any moment before.

        Raises:
            TrajectoryError: If a time is negative or the faded trajectory ends before.
        """
        end = not_negative('time', time, 's') + not_negative('fade_out', fade_out, 's')
        return replace(self, fade_out=fade_out, duration=end)

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s]; see `Trajectory`."""
        moment = clamp(time, self.duration)
        motion = self.trajectory.sample(moment)
        faded, centre = motion_rows(moment.size), self.centre
        fading_kernels.faded(
            moment.reshape(-1),
            self.fade_in,
            self.fade_out,
            self.duration,
            *motion.rows(),
            centre.position,
            centre.quaternion_xyzw,
            *faded,
        )
        return motion_from_rows(faded, moment.shape)
