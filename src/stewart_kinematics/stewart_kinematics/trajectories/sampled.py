# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory through recorded samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Array, Motion, read_only, SIZES
from stewart_kinematics.spatial import continuous_quaternions
from stewart_kinematics.trajectories.attitude import from_quaternion_path, quaternion_derivatives
from stewart_kinematics.trajectories.trajectory import clamp
from stewart_tables.errors import LARGEST

LARGEST_STEP = 5.0  # a step longer than this many median steps is a gap

SMALLEST_STEP = 1e-9
"""Stamps of ROS count nanoseconds; what differs by less is one sample written twice [s]."""

# Coefficients of the quintic on [0, 1] over value, velocity and acceleration at both ends, highest
# power first.
_QUINTIC = np.array(
    [
        [-6.0, -3.0, -0.5, 6.0, -3.0, 0.5],
        [15.0, 8.0, 1.5, -15.0, 7.0, -1.0],
        [-10.0, -6.0, -1.5, 10.0, -4.0, 0.5],
        [0.0, 0.0, 0.5, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ]
)


@dataclass(frozen=True, eq=False)
class Sampled:
    """A motion through samples, with continuous acceleration.

    From poses alone the pieces are cubic (a spline with continuous second derivative); from poses
    and twists, or poses, twists and accelerations, they are quintic and meet what was recorded.
    Attitudes are interpolated as quaternions and normalised; the derivatives account for it.

    Attributes:
        time (n,): Stamps, ascending and without gaps [s]; the trajectory's time starts at the
            first.
        position (n, 3): [m].
        quaternion_xyzw (n, 4): Unit quaternions; neighbours less than 180° apart.
        twist (n, 6): Linear and angular velocity in base axes [m/s, rad/s].
        acceleration (n, 6): Linear and angular acceleration in base axes [m/s², rad/s²]; needs
            `twist`.
        lines: Lines of the file that hold the samples, for messages; samples are counted from 1
            otherwise.

    Raises:
        TrajectoryError: If there are fewer than two samples, a shape or a value cannot be used, or
            a stamp is repeated, out of order or follows a gap; the message names the line or the
            sample.
    """

    time: Array
    position: Array
    quaternion_xyzw: Array
    twist: Array | None = None
    acceleration: Array | None = None
    lines: Sequence[int] | None = None
    _pieces: Any = field(init=False, repr=False)
    shortest_period: ClassVar[float] = np.inf

    def __post_init__(self) -> None:
        time = np.asarray(self.time, dtype=float)
        if time.ndim != 1 or time.size < 2:
            raise TrajectoryError(f'at least 2 samples are needed, got {time.size}')
        for name, size in SIZES.items():
            values = getattr(self, name)
            if values is not None:
                object.__setattr__(self, name, self._checked(name, values, (time.size, size)))
        if self.acceleration is not None and self.twist is None:
            raise TrajectoryError('accelerations without twists cannot be interpolated')
        self._check_stamps(time)
        object.__setattr__(self, 'time', read_only(time))
        quaternion = continuous_quaternions(self.quaternion_xyzw)
        object.__setattr__(self, 'quaternion_xyzw', read_only(quaternion))
        object.__setattr__(self, '_pieces', self._fit(time - time[0], quaternion))

    @property
    def duration(self) -> float:
        """Time between the first and the last sample [s]."""
        return float(self.time[-1] - self.time[0])

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s] since the first sample; see `Trajectory`."""
        moment = clamp(time, self.duration)
        value, first, second = (self._pieces(moment, order) for order in range(3))
        place, velocity, acceleration = (part[..., :3] for part in (value, first, second))
        attitude = from_quaternion_path(value[..., 3:], first[..., 3:], second[..., 3:])
        quaternion, turning, change = attitude
        return Motion.of_vectors(place, quaternion, velocity, turning, acceleration, change)

    def _place(self, index: int) -> str:
        """Name a sample by the line it stands in, or by its number."""
        return f'sample {index + 1}' if self.lines is None else f'line {self.lines[index]}'

    def _checked(self, name: str, values: ArrayLike, shape: tuple[int, ...]) -> Array:
        """Return a read-only copy; refuse another shape, no numbers, quaternions of norm 0."""
        array = read_only(values)
        if array.shape != shape:
            raise TrajectoryError(f'{name} must have shape {shape}, got {array.shape}')
        bad = ~(np.abs(array) <= LARGEST)
        if bad.any():
            row, column = np.argwhere(bad)[0].tolist()
            raise TrajectoryError(
                f'{name} of {array[row, column]:g} in {self._place(row)}, '
                f'expected are numbers from {-LARGEST:g} to {LARGEST:g}'
            )
        if name == 'quaternion_xyzw':
            norm = np.linalg.norm(array, axis=1)
            off = np.abs(norm - 1.0) > 1e-3
            if off.any():
                index = int(off.argmax())
                where = f'{norm[index]:.6g} in {self._place(index)}'
                raise TrajectoryError(f'quaternion of norm {where}, expected is 1')
            return read_only(array / norm[:, None])
        return array

    def _check_stamps(self, time: Array) -> None:
        """Refuse stamps that are no numbers, repeated, out of order or after a gap."""
        bad = ~(np.abs(time) <= LARGEST)
        if bad.any():
            index = int(bad.argmax())
            raise TrajectoryError(
                f'time of {time[index]:g} s in {self._place(index)}, '
                f'expected are {-LARGEST:g} to {LARGEST:g} s'
            )
        steps = np.diff(time)
        back = steps < SMALLEST_STEP
        if back.any():
            index = int(back.argmax())
            what = 'repeats' if steps[index] > -SMALLEST_STEP else 'goes back from'
            stamp = f'time {time[index + 1]:.9g} s in {self._place(index + 1)}'
            raise TrajectoryError(f'{stamp} {what} {time[index]:.9g} s')
        median = float(np.median(steps))
        gap = steps > LARGEST_STEP * median
        if gap.any():
            index = int(gap.argmax())
            raise TrajectoryError(
                f'a gap of {steps[index]:.6g} s before {self._place(index + 1)}, allowed are '
                f'{LARGEST_STEP:g} median steps of {median:.6g} s'
            )

    def _fit(self, time: Array, quaternion: Array) -> Any:
        """Return the `PPoly` over position and quaternion, shape (n, 7)."""
        # Late: only those who play a table wait for it.
        from scipy.interpolate import CubicSpline

        value = np.concatenate([self.position, quaternion], axis=1)
        if self.twist is None:
            return CubicSpline(time, value)
        acceleration = self.acceleration
        if acceleration is None:
            acceleration = np.asarray(CubicSpline(time, self.twist)(time, 1))
        first, second = quaternion_derivatives(quaternion, self.twist[:, 3:], acceleration[:, 3:])
        first = np.concatenate([self.twist[:, :3], first], axis=1)
        second = np.concatenate([acceleration[:, :3], second], axis=1)
        return quintic(time, value, first, second)


def quintic(time: Array, value: Array, first: Array, second: Array) -> Any:
    """Return a `PPoly` of quintics with given value and first two derivatives at times (n,)."""
    from scipy.interpolate import PPoly

    step = np.diff(time)[:, None]
    left = value[:-1], first[:-1] * step, second[:-1] * step**2
    ends = np.stack([*left, value[1:], first[1:] * step, second[1:] * step**2])
    # PPoly counts from the left stamp in s, the table above in fractions of the step.
    powers = step[None] ** -np.arange(5.0, -1.0, -1.0)[:, None, None]
    return PPoly(np.tensordot(_QUINTIC, ends, axes=1) * powers, time)
