# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Moves and stops that keep every limit over their whole way."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
import math

import numpy as np
from stewart_kinematics.errors import MotionRefused, TrajectoryError
from stewart_kinematics.limits.fitting import require_few_samples, RESERVE
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.trajectories import (
    Cycloidal,
    DeceleratedAlongPath,
    Faded,
    Sampled,
    Trajectory,
)
from stewart_kinematics.trajectories.sequence import require_continuous
from stewart_kinematics.trajectories.stopping import stops

CHECK_RATE, MOST_OFTEN = 100.0, 1000.0  # how densely a way is checked, at least and at most [Hz]
PER_PERIOD = 100.0
"""Instants per period of the fastest oscillation: a peak between two is 0.05 % higher."""
LEAST_CHECKS = 201  # however short a move is, it is checked at so many instants
CLOSEST = 1e-4
"""Samples of a recorded motion are looked at to this [s]: differences over less are rounding."""
AT_ONCE = 20_000  # instants whose samples are in memory together

# How the quantities that slower motion lowers depend on the duration: as T^-1 or T^-2.
_ORDER = dict.fromkeys(('linear velocity', 'angular velocity', 'leg rate'), 1) | dict.fromkeys(
    ('linear acceleration', 'angular acceleration', 'leg acceleration'), 2
)

SHORTEST_FADE, FADE_GROWTH, FADE_TRIALS = 0.1, 1.2, 24
"""Shortest fade that is tried [s], how much longer the next one is, and how many are tried."""

NOWHERE: Array = np.empty(0)


def plan_move(
    start: Pose,
    target: Pose,
    guard: MotionGuard,
    *,
    duration: float | None = None,
    scale: float = 1.0,
) -> Cycloidal:
    """Plan a move that the guard allows from end to end.

    The profile keeps the platform's limits; where the legs need longer, the move is stretched.

    Args:
        duration: Duration asked for [s]; by default the shortest.
        scale: Fraction of the platform's velocity, acceleration and jerk limits to use, in (0, 1];
            the guard's own, where that is smaller.

    Raises:
        TrajectoryError: If `duration` is too short (the message names the shortest) or too long.
        MotionRefused: If the way leaves what the platform may do, however slowly it is travelled.
    """
    # Stretching looks at no jerk, so the profile begins within the guard's.
    fastest = Cycloidal.fastest(start, target, guard.platform.limits, min(scale, guard.scale))
    shortest = _stretched(fastest, guard)
    if duration is None:
        return shortest
    if not (math.isfinite(duration) and duration >= shortest.duration * (1.0 - 1e-4)):
        least = f'this move needs at least {shortest.duration:.4f} s'
        raise TrajectoryError(f'a duration of {duration:g} s is too short: {least}')
    # A caller may repeat the printed duration, which may be shorter by its last digit.
    move = Cycloidal(start, target, max(duration, shortest.duration))
    check(move, guard)
    return move


def plan_stop(trajectory: Trajectory, time: float, guard: MotionGuard) -> DeceleratedAlongPath:
    """Plan to come to rest along a trajectory's own path, from its time on [s].

    The soonest of a few stops that keeps every limit, those on the jerk included. The trajectory
    ends at rest or not at all.

    Raises:
        MotionRefused: If none does because a leg's or the platform's range forbids it.
        TrajectoryError: If none does because the trajectory itself breaks acceleration or jerk
            limits.
    """
    refusal: MotionRefused | None = None
    for stop in stops(trajectory, time, guard.platform.limits, guard.scale):
        try:
            check(stop, guard)
            return stop
        except MotionRefused as error:
            refusal = error
    raise refusal or TrajectoryError(
        f'no stop from {time:g} s on keeps the acceleration and jerk limits: the trajectory '
        'itself breaks them'
    )


def plan_fades(
    motion: Trajectory,
    centre: Pose,
    guard: MotionGuard,
    *,
    fade_in: float,
    fade_out: float = 0.0,
    duration: float = math.inf,
    horizon: float = math.inf,
) -> Faded:
    """Give a motion its fades from and to a centre, and check it.

    Where it oscillates, limits are kept with a reserve: setpoints fall between the instants of the
    check.

    Args:
        motion, centre, guard: What is faded, where it grows from and shrinks to, and the judge.
        fade_in, fade_out: Durations of rise and fall [s].
        duration: When the fall ends [s]; infinite: when `motion` ends.
        horizon: How much is checked, at most [s]; finite for an endless motion.

    Raises:
        TrajectoryError: If a fade is so short that a limit is broken; the message names one that
            is long enough. If a time cannot be used.
        MotionRefused: If no fade helps.
    """
    whole = Faded(motion, centre, fade_in, fade_out, duration)
    rest = Motion.at_rest(centre)
    guard = _reserved(motion, guard)

    def begins(fade: float) -> None:
        wave = Faded(motion, centre, fade, duration=whole.duration)
        require_continuous(rest, wave.sample(0.0))
        check(wave, guard, horizon=min(max(fade, SHORTEST_FADE), horizon))

    def ends(fade: float) -> None:
        wave = Faded(motion, centre, 0.0, fade, whole.duration)
        require_continuous(wave.sample(wave.duration), rest)
        check(wave, guard, begin=whole.duration - max(fade, SHORTEST_FADE))

    def lasts() -> None:
        check(Faded(motion, centre, 0.0, duration=whole.duration), guard, horizon=horizon)

    _require_fade('fade_in', fade_in, begins, lasts, whole.duration)
    if math.isfinite(whole.duration):
        _require_fade('fade_out', fade_out, ends, lasts, whole.duration)
    check(whole, guard, horizon=horizon)
    return whole


def plan_fade_out(wave: Faded, since: float, fade_out: float, guard: MotionGuard) -> Faded:
    """Plan to fade a motion out at its centre from its time `since` on [s].

    The fall lasts `fade_out` [s], from 0; it is lengthened as far as the limits need it.

    Raises:
        MotionRefused: If the fall breaks a limit, however long it lasts.
        TrajectoryError: If the motion ends before a fall can.
    """
    guard = _reserved(wave.trajectory, guard)
    for fade in _fades(fade_out):
        ended = wave.with_fade_out_at(since, fade)
        try:
            check(ended, guard, begin=since)
            return ended
        except MotionRefused as error:
            refusal = error
    raise refusal


def _reserved(motion: Trajectory, guard: MotionGuard) -> MotionGuard:
    """Return the guard that judges a motion; recorded ones are looked at where they are played."""
    if math.isfinite(motion.shortest_period):
        return MotionGuard(guard.platform, scale=guard.scale / RESERVE)
    return guard


def _fades(shortest: float) -> list[float]:
    """Return a fade of at least `shortest` [s], and longer ones to try after it."""
    first = max(shortest, SHORTEST_FADE)
    return [first * FADE_GROWTH**n for n in range(FADE_TRIALS)]


def _require_fade(
    name: str,
    fade: float,
    attempt: Callable[[float], None],
    plain: Callable[[], None],
    longest: float,
) -> None:
    """Raise unless an attempt accepts the fade; name one that it accepts, if `plain` passes."""
    try:
        attempt(fade)
        return
    except (MotionRefused, TrajectoryError) as error:
        refusal = error
    plain()
    for longer in _fades(fade):
        enough = math.ceil(100.0 * longer) / 100.0
        if enough > longest:
            break
        with suppress(MotionRefused, TrajectoryError):
            attempt(enough)
            hint = f'is too short for this motion, {enough:.2f} s are long enough'
            refusal = TrajectoryError(f'a {name} of {fade:g} s {hint}: {refusal}')
            break
    raise refusal


def check(
    trajectory: Trajectory, guard: MotionGuard, *, begin: float = 0.0, horizon: float = math.inf
) -> None:
    """Check a trajectory from `begin` [s] to its end, or over at most `horizon` [s].

    It is looked at `CHECK_RATE` times a second, fast oscillations more often, a recorded motion at
    each of its samples as well.

    Raises:
        MotionRefused: If a sample breaks a limit; its index counts the `checked_instants`.
    """
    instants = checked_instants(trajectory, begin=begin, horizon=horizon)
    # A piece begins with the last instant of the one before, whose successor it judges.
    for first in range(0, instants.size - 1, AT_ONCE):
        some = instants[first : first + AT_ONCE + 1]
        motion = trajectory.sample(begin + some)
        try:
            guard.check_way(motion, some)
        except MotionRefused as refusal:
            found = refusal.violation
            index = None if found.index is None else first + found.index
            raise MotionRefused(replace(found, index=index)) from refusal


def checked_instants(
    trajectory: Trajectory, *, begin: float = 0.0, horizon: float = math.inf
) -> Array:
    """Return when `check` looks at a trajectory, times (n,) since `begin` [s]."""
    duration = min(trajectory.duration - begin, horizon)
    stamps = _stamps(trajectory, begin, begin + duration) - begin
    rate = min(max(CHECK_RATE, PER_PERIOD / trajectory.shortest_period), MOST_OFTEN)
    return _instants(duration, stamps, rate)


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


def _instants(duration: float, stamps: Array = NOWHERE, rate: float = CHECK_RATE) -> Array:
    """Return the instants from 0 to `duration` [s] that are checked, near stamps (n,) [s], too."""
    require_few_samples(duration, rate)
    count = max(LEAST_CHECKS, math.ceil(duration * rate) + 1)
    grid, step = np.linspace(0.0, duration, count, retstep=True)
    near = stamps[(stamps > 0.0) & (stamps < duration)]
    near = CLOSEST * np.unique(np.rint(near / CLOSEST))
    apart = np.abs(near - step * np.rint(near / step)) > 0.5 * CLOSEST
    return np.union1d(grid, near[apart])


def _stamps(trajectory: Trajectory, begin: float, end: float) -> Array:
    """Return when between two times a trajectory has samples that were recorded (n,) [s]."""
    if isinstance(trajectory, Faded):
        return _stamps(trajectory.trajectory, begin, end)
    if not isinstance(trajectory, Sampled):
        return NOWHERE
    # A stop is planned between two setpoints, and an hour has millions of samples.
    time = trajectory.time
    first, last = np.searchsorted(time, [time[0] + begin, time[0] + end])
    return time[first:last] - time[0]
