# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What every trajectory is: a pure function of time with a duration. The simplest is a rest."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Array, Motion, Pose, SIZES
from stewart_tables.errors import LARGEST


class Trajectory(Protocol):
    """A motion of the platform as a pure function of time.

    Twist and acceleration are the analytic derivatives of the pose. Nothing here reads a clock:
    whoever follows a trajectory says which time is meant.
    """

    @property
    def duration(self) -> float:
        """Time from the first to the last pose [s]; infinite for a motion without an end."""

    @property
    def shortest_period(self) -> float:
        """Period of the fastest oscillation [s]; infinite where nothing oscillates."""

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at times (...) since the start [s], clamped into [0, duration]."""


def clamp(time: ArrayLike, duration: float) -> Array:
    """Return times (...) since the start as times from 0 to `duration` [s].

    Raises:
        TrajectoryError: If a time is not a number.
    """
    moment = np.asarray(time, dtype=np.float64)
    single = moment.ndim == 0
    if math.isnan(moment) if single else np.isnan(moment).any():
        raise TrajectoryError('time must be a number of seconds, got nan')
    # Nodes ask for one instant at a time: numpy takes ten times as long as Python for that.
    return np.asarray(
        min(max(float(moment), 0.0), duration) if single else np.clip(moment, 0.0, duration)
    )


def motion_rows(count: int) -> tuple[Array, ...]:
    """Return room for the fields of `count` samples, for the kernels."""
    return tuple(np.empty((count, size)) for size in SIZES.values())


def motion_from_rows(rows: tuple[Array, ...], shape: tuple[int, ...]) -> Motion:
    """Return the motion that kernels have written, with the leading axes of the times."""
    return Motion(*(values.reshape(*shape, values.shape[1]) for values in rows))


def finite(name: str, value: float, unit: str) -> float:
    """Return `value` as a float; refuse what is no number up to `LARGEST`."""
    if not abs(value) <= LARGEST:
        raise TrajectoryError(f'{name} must be {-LARGEST:g} to {LARGEST:g} {unit}, got {value}')
    return float(value)


def positive(name: str, value: float, unit: str) -> float:
    """Return `value` as a float; refuse what is not greater than 0 or above `LARGEST`."""
    if not 0.0 < value <= LARGEST:
        raise TrajectoryError(
            f'{name} must be greater than 0 and at most {LARGEST:g} {unit}, got {value}'
        )
    return float(value)


def not_negative(name: str, value: float, unit: str) -> float:
    """Return `value` as a float; refuse what is below 0 or above `LARGEST`."""
    if not 0.0 <= value <= LARGEST:
        raise TrajectoryError(f'{name} must be 0 to {LARGEST:g} {unit}, got {value}')
    return float(value)


def check_duration(value: float) -> float:
    """Return a duration as a float, infinity allowed; refuse NaN and what is not positive."""
    if not value > 0.0:
        raise TrajectoryError(f'duration must be greater than 0 s, got {value}')
    return float(value)


@dataclass(frozen=True, eq=False)
class Rest:
    """A rest at a pose for a duration [s]: exactly, however short it is.

    Raises:
        TrajectoryError: If the duration cannot be used.
    """

    pose: Pose
    duration: float = math.inf
    shortest_period: ClassVar[float] = math.inf

    def __post_init__(self) -> None:
        object.__setattr__(self, 'duration', check_duration(self.duration))

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s]; see `Trajectory`."""
        return Motion.at_rest(self.pose, clamp(time, self.duration).shape)
