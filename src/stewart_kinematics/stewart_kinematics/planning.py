# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Moves and stops that keep every limit over their whole way."""

from __future__ import annotations

import math

import numpy as np
from stewart_kinematics.errors import MotionRefused, TrajectoryError
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.motion_guard import MotionGuard
from stewart_kinematics.trajectories import Cycloidal, DeceleratedAlongPath, Trajectory
from stewart_kinematics.trajectories.scaling import require_few_samples

CHECK_RATE = 100.0
"""How densely a way is checked [Hz]."""

LEAST_CHECKS = 101
"""However short a move is, it is checked at so many instants."""

# How the quantities that slower motion lowers depend on the duration: as T^-1 or T^-2.
_ORDER = {
    'linear velocity': 1,
    'angular velocity': 1,
    'leg rate': 1,
    'linear acceleration': 2,
    'angular acceleration': 2,
    'leg acceleration': 2,
}

STOP_TRIALS, STOP_GROWTH = 8, 1.4
"""How often a stop that the legs do not allow is tried again, and how much longer [-]."""

RESERVE = 1.001
"""Between two instants of the check a peak can be higher by 0.05 % [-]."""


def plan_move(
    start: Pose,
    target: Pose,
    guard: MotionGuard,
    *,
    duration: float | None = None,
    scale: float = 1.0,
) -> Cycloidal:
    """
    Plan a move that the guard allows from end to end.

    The profile's own limits are those of each base axis; where a move along several axes at once
    or the legs need longer, the move is stretched.

    Parameters
    ----------
    start, target : Pose
        End poses.
    guard : MotionGuard
        Judge of the whole way.
    duration : float, optional
        Duration asked for [s]; by default the shortest.
    scale : float
        Fraction of the platform's velocity, acceleration and jerk limits to use, in (0, 1].

    Returns
    -------
    Cycloidal
        The move.

    Raises
    ------
    TrajectoryError
        If `duration` is too short; the message names the shortest. If it is far too long.
    MotionRefused
        If the way leaves what the platform may do, however slowly it is travelled.

    """
    shortest = _stretched(Cycloidal.fastest(start, target, guard.platform.limits, scale), guard)
    if duration is None:
        return shortest
    if not (math.isfinite(duration) and duration >= shortest.duration * (1.0 - 1e-4)):
        raise TrajectoryError(
            f'a duration of {duration:g} s is too short: this move needs at least '
            f'{shortest.duration:.4f} s'
        )
    move = Cycloidal(start, target, duration)
    check(move, guard)
    return move


def plan_stop(trajectory: Trajectory, time: float, guard: MotionGuard) -> DeceleratedAlongPath:
    """
    Plan to come to rest along a trajectory's own path.

    Parameters
    ----------
    trajectory : Trajectory
        What is followed; it ends at rest or not at all.
    time : float
        Time of the trajectory at which the slowing down begins [s].
    guard : MotionGuard
        Judge of the whole way.

    Returns
    -------
    DeceleratedAlongPath
        The shortest of a few stops within the acceleration and jerk limits that the legs allow.

    Raises
    ------
    MotionRefused
        If even the gentlest breaks a limit.

    """
    limits = guard.platform.limits
    motion = trajectory.sample(time)
    twist, acceleration = np.abs(motion.twist), np.abs(motion.acceleration)
    jerk = np.repeat([limits.linear_jerk, limits.angular_jerk], 3)
    # Along a path x(s) the jerk is x_sss s_t^3 + 3 x_ss s_t s_tt + x_s s_ttt. The last two are the
    # stop's own; while s_t falls by a cycloid, |s_tt| <= 2 / T and |s_ttt| <= 2 pi / T^2.
    duration = max(
        DeceleratedAlongPath.fastest(trajectory, time, limits).duration,
        float(np.sqrt(2.0 * np.pi * twist / jerk).max()),
        float((6.0 * acceleration / jerk).max()),
    )
    for _ in range(STOP_TRIALS):
        stop = DeceleratedAlongPath(trajectory, time, duration)
        try:
            check(stop, guard)
        except MotionRefused:
            duration *= STOP_GROWTH
        else:
            return stop
    check(stop, guard)
    return stop


def check(
    trajectory: Trajectory, guard: MotionGuard, *, begin: float = 0.0, horizon: float = math.inf
) -> None:
    """
    Check a trajectory to its end.

    Parameters
    ----------
    trajectory : Trajectory
        What is checked.
    guard : MotionGuard
        Judge.
    begin : float
        Time of the trajectory from which on it is checked [s].
    horizon : float
        How much of it is checked, at most [s]; finite for an endless one.

    Raises
    ------
    MotionRefused
        If a sample breaks a limit; its index counts the instants checked.

    """
    instants = _instants(min(trajectory.duration - begin, horizon))
    guard.check(trajectory.sample(begin + instants))


def _stretched(move: Cycloidal, guard: MotionGuard) -> Cycloidal:
    """Return the move, slowed down as far as legs and platform as a whole need it."""
    margins = guard.margins(move.sample(_instants(move.duration)))
    # On a given way, velocities go with T^-1 and accelerations with T^-2, those of the legs too.
    # Against a symmetric limit a margin is 1 - |value| / limit.
    used = max(
        max(0.0, 1.0 - float(margins[quantity].min())) ** (1.0 / order)
        for quantity, order in _ORDER.items()
    )
    if used * RESERVE > 1.0:
        move = Cycloidal(move.start, move.target, move.duration * used * RESERVE)
    check(move, guard)
    return move


def _instants(duration: float) -> Array:
    require_few_samples(duration, CHECK_RATE)
    count = max(LEAST_CHECKS, math.ceil(duration * CHECK_RATE) + 1)
    return np.linspace(0.0, duration, count)
