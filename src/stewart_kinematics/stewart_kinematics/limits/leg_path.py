# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A motion that is given as positions of the six legs' joints, as tools for robot arms give it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
import math
from typing import Any

import numpy as np
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.solvers.forward import ForwardStatus, REASONS, solver_of
from stewart_kinematics.solvers.inverse import leg_positions
from stewart_kinematics.trajectories import Rest, Sequence
from stewart_kinematics.trajectories.sampled import quintic, Sampled

MOST_POINTS, LONGEST, RATE = 10_000, 600.0, 200.0
"""Points, and their time [s], at most; so often the legs' positions become a pose [Hz]."""

NEAR, SHORTEST_STEP, STILL = 1e-3, 1e-3, 1e-6
"""A point at time 0 may be that far from where a leg is [m] or [rad]; two points are so far apart
[s] at least; the last one has a rate of at most this."""

AT_ONCE = 200  # samples that are solved in one step


@dataclass(frozen=True, eq=False)
class LegPoints:
    """Where the legs shall be, and when.

    Attributes:
        time (n,): From the beginning of the motion on, ascending [s].
        position (n, 6): Strokes, carriages [m] or crank angles [rad], legs 1 to 6.
        velocity, acceleration (n, 6): Their derivatives, if given.
    """

    time: Array
    position: Array
    velocity: Array | None = None
    acceleration: Array | None = None


@dataclass(frozen=True, eq=False)
class LegPath:
    """A motion from rest to rest through points of the legs, maybe after a rest.

    Attributes:
        sequence: The platform's motion.
        legs: The legs' positions over the time after the wait, a `PPoly`.
        wait: Before anything moves [s].
    """

    sequence: Sequence
    legs: Any
    wait: float = 0.0

    def after(self, wait: float) -> LegPath:
        """Return the same motion after a rest where it begins [s]."""
        if not wait:
            return self
        rest = Rest(self.sequence.sample(0.0).pose, wait)
        return replace(self, sequence=Sequence((rest, *self.sequence.parts)), wait=wait)

    def at(self, time: float) -> Array:
        """Return positions, velocities and accelerations (3, 6) of the legs at a time [s]."""
        moment = min(max(time - self.wait, 0.0), float(self.legs.x[-1]))
        return np.array([self.legs(moment, order) for order in range(3)])


def leg_path(points: LegPoints, start: Pose, guard: MotionGuard) -> Generator[None, None, LegPath]:
    """Plan a motion through points of the legs, in steps between which others get their turn.

    From `start`, where it rests, it goes to the first point, unless that is at time 0, and it ends
    at rest in the last. Between points positions are quintic: they have the velocities and
    accelerations that are given, and those of splines where none are. It begins and ends without
    acceleration.

    Raises:
        TrajectoryError: If points cannot be used, or the legs have no pose there.
        MotionRefused: If the way breaks a limit.
    """
    here = leg_positions(guard.platform.geometry, start.position, start.quaternion_xyzw)
    legs = _through(points, here)
    motion = yield from _platforms(legs, start, guard)
    # At every sample: points may be dense, and legs turn sharply between instants farther apart.
    guard.check_way(motion.sample(motion.time), motion.time)
    return LegPath(Sequence((motion,)), legs)


def _through(points: LegPoints, here: Array) -> Any:
    """Return the legs' positions over time, a `PPoly`, from where they rest."""
    # Late, as in `trajectories.sampled`.
    from scipy.interpolate import CubicSpline

    time, values, first, second = _checked(points)
    if time[0] > 0.0:
        time, values = np.append(0.0, time), np.vstack([here, values])
        rest = np.zeros((1, 6))
        first = None if first is None else np.vstack([rest, first])
        second = None if second is None else np.vstack([rest, second])
    else:
        away = np.abs(values[0] - here)
        if not away.max() <= NEAR:
            leg = int(away.argmax())
            raise TrajectoryError(
                f'the first point, at time 0, is {away[leg]:.3g} from where leg {leg + 1} is, at '
                f'{here[leg]:.6g}; allowed are {NEAR:g}'
            )
        values = np.vstack([here, values[1:]])
    if time.size < 2:
        raise TrajectoryError('the only point is at time 0: nothing would move')
    if first is None:
        first = CubicSpline(time, values, bc_type='clamped')(time, 1)
    first[[0, -1]] = 0.0
    if second is None:
        second = CubicSpline(time, first)(time, 1)
    second[[0, -1]] = 0.0
    return quintic(time, values, first, second)


def _checked(points: LegPoints) -> tuple[Array, Array, Array | None, Array | None]:
    """Return copies of times, positions, velocities and accelerations that can be used."""
    time, count = np.array(points.time, dtype=float), len(points.time)
    if not 1 <= count <= MOST_POINTS:
        raise TrajectoryError(f'expected 1 to {MOST_POINTS} points, got {count}')
    if not (np.isfinite(time).all() and time[0] >= 0.0 and time[-1] <= LONGEST):
        raise TrajectoryError(
            f'times of points go from 0 to {LONGEST:g} s at most, got {time[0]:g} to {time[-1]:g}'
        )
    steps = np.diff(time, prepend=0.0 if time[0] else -1.0)
    if steps.min() < SHORTEST_STEP:
        index = int(steps.argmin())
        raise TrajectoryError(
            f'point {index + 1} comes {steps[index]:g} s after the one before, at least '
            f'{SHORTEST_STEP:g} s are needed'
        )
    if points.acceleration is not None and points.velocity is None:
        raise TrajectoryError('points with accelerations need velocities, too')
    parts = []
    for name in ('position', 'velocity', 'acceleration'):
        part = getattr(points, name)
        if part is not None:
            part = np.array(part, dtype=float)
            if part.shape != (count, 6) or not np.isfinite(part).all():
                raise TrajectoryError(f'every point needs six finite numbers as its {name}')
        parts.append(part)
    position, velocity, acceleration = parts
    if velocity is not None and (most := float(np.abs(velocity[-1]).max())) > STILL:
        raise TrajectoryError(f'the last point has a rate of {most:g}: a motion ends at rest')
    return time, position, velocity, acceleration


def _outside(position: Array, bounds: Array) -> str:
    """Say which leg's position (6,) is outside its bounds (6, 2); empty if none is."""
    beyond = np.maximum(bounds[:, 0] - position, position - bounds[:, 1])
    leg = int(beyond.argmax())
    if beyond[leg] <= 0.0:
        return ''
    low, high = bounds[leg]
    return f'leg {leg + 1} is at {position[leg]:.6g}, allowed are {low:g} to {high:g}'


def _platforms(legs: Any, start: Pose, guard: MotionGuard) -> Generator[None, None, Sampled]:
    """Return the platform's motion whose legs go so."""
    from scipy.interpolate import CubicSpline

    solver = solver_of(guard.platform.geometry)
    duration = float(legs.x[-1])
    time = np.linspace(0.0, duration, max(math.ceil(duration * RATE), 4) + 1)
    positions, rates = legs(time), legs(time, 1)
    here = first = np.concatenate([start.position, start.quaternion_xyzw])
    poses, twists = np.empty((time.size, 7)), np.empty((time.size, 6))
    for begin in range(0, time.size, AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        poses[some], _, status = solver.from_positions(positions[some], here)
        if status.any():
            index = int(np.flatnonzero(status)[0])
            reason = REASONS[ForwardStatus(int(status[index]))]
            there = positions[begin + index]
            raise TrajectoryError(
                f'{time[begin + index]:.3f} s after its beginning: '
                f'{_outside(there, guard.platform.limits.stroke) or reason}'
            )
        here = poses[some][-1]
        for row in range(begin, min(begin + AT_ONCE, time.size)):
            twists[row] = solver.twist(poses[row, :3], poses[row, 3:], rates[row])
        yield
    poses[0] = first
    change = CubicSpline(time, twists)(time, 1)
    change[[0, -1]] = 0.0
    return Sampled(time, poses[:, :3], poses[:, 3:], twists, change)
