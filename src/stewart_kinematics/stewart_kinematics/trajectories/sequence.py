# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories one after the other, without a jump."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.motion import Array, Motion, read_only, SIZES, UNITS
from stewart_kinematics.trajectories.trajectory import clamp, Trajectory

_TOLERANCES = {'position': 1e-9, 'quaternion_xyzw': 1e-9} | {
    f'{half}_{name}': most
    for name, most in (('velocity', 1e-7), ('acceleration', 1e-5))
    for half in ('linear', 'angular')
}


@dataclass(frozen=True, eq=False)
class Sequence:
    """Trajectories played one after the other; only the last may be endless.

    Attributes:
        starts (n,): Time at which each part begins [s].

    Raises:
        TrajectoryError: If there is nothing to play, a part before the last is endless, or pose,
            velocity or acceleration would jump where two parts meet; the message says where.
    """

    parts: tuple[Trajectory, ...]
    starts: Array = field(init=False, repr=False)
    _ends: tuple[float, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'parts', tuple(self.parts))
        if not self.parts:
            raise TrajectoryError('a sequence needs at least 1 part, got 0')
        for number, (before, after) in enumerate(zip(self.parts, self.parts[1:], strict=False), 1):
            if not np.isfinite(before.duration):
                raise TrajectoryError(f'part {number} of {len(self.parts)} never ends')
            require_continuous(before.sample(before.duration), after.sample(0.0), number)
        ends = np.cumsum([p.duration for p in self.parts]).tolist()
        object.__setattr__(self, 'starts', read_only([0.0, *ends[:-1]]))
        object.__setattr__(self, '_ends', tuple(ends))

    @property
    def duration(self) -> float:
        """Sum of the durations [s]."""
        return self._ends[-1]

    @property
    def shortest_period(self) -> float:
        """Period of the fastest oscillation of any part [s]."""
        return min(part.shortest_period for part in self.parts)

    def part_at(self, time: float) -> int:
        """Return the index, from 0, of the part played at `time` [s]."""
        return min(bisect_right(self._ends, time), len(self.parts) - 1)

    def part(self, time: float) -> tuple[Trajectory, float]:
        """Return the part that a time [s] belongs to, and when that began [s]."""
        index = self.part_at(time)
        return self.parts[index], float(self.starts[index])

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s]; see `Trajectory`."""
        moment = clamp(time, self.duration)
        if moment.ndim == 0:
            index = self.part_at(float(moment))
            return self.parts[index].sample(moment - self.starts[index])
        which = np.searchsorted(self._ends, moment, side='right')
        which = np.minimum(which, len(self.parts) - 1)
        values = [np.empty((*moment.shape, size)) for size in SIZES.values()]
        for index, part in enumerate(self.parts):
            chosen = which == index
            motion = part.sample(moment[chosen] - self.starts[index])
            for array, found in zip(values, motion.parts(), strict=True):
                array[chosen] = found
        return Motion(*values)


def require_continuous(end: Motion, begin: Motion, number: int = 1) -> None:
    """Raise TrajectoryError where the end of part `number` and the next part's begin differ."""
    for name, tolerance in _TOLERANCES.items():
        left, right = getattr(end, name), getattr(begin, name)
        if name == 'quaternion_xyzw' and left @ right < 0.0:
            right = -right
        jump = float(np.abs(left - right).max())
        if not jump <= tolerance:
            where = f'between part {number} and part {number + 1}'
            unit = UNITS[name].replace('1', '-')
            raise TrajectoryError(
                f'{name} jumps by {jump:.3g} {unit} {where}, allowed are {tolerance:g} {unit}'
            )
