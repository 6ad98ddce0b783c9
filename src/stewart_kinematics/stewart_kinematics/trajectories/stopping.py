# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Coming to rest along the path of any trajectory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.kernels.fading import cycloid
from stewart_kinematics.motion import Array, magnitudes, mean_jerk, Motion
from stewart_kinematics.trajectories.cycloidal import (
    PEAK_ACCELERATION,
    PEAK_VELOCITY,
    SHORTEST_MOVE,
)
from stewart_kinematics.trajectories.trajectory import (
    clamp,
    finite,
    not_negative,
    positive,
    Trajectory,
)

if TYPE_CHECKING:
    from stewart_kinematics.model.platform import Limits

REST_VELOCITY, REST_ACCELERATION = 1e-9, 1e-6

RESERVE = 0.998
"""Part of the limits that slowing down uses: between instants a peak is up to 0.15 % higher."""

EXACT = 1.0 + 1e-7
"""Part of the limits that a trajectory followed to its own end may use: rounding."""

INSTANTS = 201  # least number of instants at which a stop is judged

LEADS, DURATIONS, STEPS, PATH_SAMPLES = 17, 24, 33, 1024
"""Grid of the search: leads, durations, instants of each stop; samples of the path."""

TRIALS, LENGTHENING = 10, 1.1
"""How many stops are offered, and how much longer each is than the one before, at least [-]."""


@dataclass(frozen=True, eq=False)
class DeceleratedAlongPath:
    r"""The rest of a trajectory, slowed down to a stop on its own path.

    After `lead` [s], in which the trajectory is followed as it is from its `time` on [s], the
    path's time runs as :math:`s(t)` with the rate :math:`\dot s = 1 - \sigma(t/T)`, where σ is the
    cycloid and T the deceleration time [s]: it leaves the trajectory at its full velocity and
    acceleration and arrives at rest, all derivatives up to the jerk being continuous. Half of T of
    the original motion is still travelled.

    Raises:
        TrajectoryError: If the times cannot be used, or if the trajectory would end on the way
            without being at rest there.
    """

    trajectory: Trajectory
    time: float
    deceleration_time: float
    lead: float = 0.0

    def __post_init__(self) -> None:
        time = float(clamp(finite('time', self.time, 's'), self.trajectory.duration))
        object.__setattr__(self, 'time', time)
        positive('deceleration_time', self.deceleration_time, 's')
        not_negative('lead', self.lead, 's')
        end = self.trajectory.duration
        if self.time + self.lead + 0.5 * self.deceleration_time > end:
            last = self.trajectory.sample(end)
            velocity, acceleration = np.abs(last.twist).max(), np.abs(last.acceleration).max()
            if velocity > REST_VELOCITY or acceleration > REST_ACCELERATION:
                raise TrajectoryError(
                    f'the path ends after {end:g} s with a velocity of {velocity:.3g}: too early '
                    f'to stop from {self.time + self.lead:g} s in {self.deceleration_time:g} s'
                )

    @property
    def duration(self) -> float:
        """Time until the platform rests [s]."""
        return self.lead + self.deceleration_time

    @property
    def shortest_period(self) -> float:
        """Period of the fastest oscillation of what is slowed down [s]."""
        return self.trajectory.shortest_period

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s] since the stop began; see `Trajectory`."""
        moment = clamp(time, self.duration)
        led = np.minimum(moment, self.lead)
        tau = clamp((moment - led) / self.deceleration_time, 1.0)
        rate, change, travelled = _slowing(tau)
        path = self.trajectory.sample(self.time + led + self.deceleration_time * travelled)
        rate, change = rate[..., None], change[..., None] / self.deceleration_time
        acceleration = rate**2 * path.acceleration + change * path.twist
        return Motion(path.position, path.quaternion_xyzw, rate * path.twist, acceleration)


def stops(
    trajectory: Trajectory, time: float, limits: Limits, scale: float = 1.0
) -> Iterator[DeceleratedAlongPath]:
    """Offer stops along a trajectory's own path that keep the limits, the soonest first.

    Where the trajectory itself is at a limit, no slowing down is gentle enough. So a stop may
    follow the trajectory for a while before it slows down, and a trajectory that ends soon may be
    followed to its end. The trajectory ends at rest or not at all; each limit is a magnitude, of
    which the fraction `scale` is used.

    Yields:
        At most `TRIALS` stops, and the trajectory's own end at last; acceleration and jerk of the
        platform keep the limits over the whole way.

    Raises:
        TrajectoryError: If `scale` is outside (0, 1].
    """
    if not 0.0 < scale <= 1.0:
        raise TrajectoryError(f'scale must be greater than 0 and at most 1, got {scale}')
    begin = float(clamp(finite('time', time, 's'), trajectory.duration))
    remaining = trajectory.duration - begin
    bounds = scale * np.stack([limits.accelerations, limits.jerks])
    total, offered = 0.0, 0
    for lead, duration in _promising(trajectory, begin, bounds, _longest(limits, scale)):
        if lead + duration < total * LENGTHENING:
            continue
        if stop := _kept(trajectory, begin, duration, lead, RESERVE * bounds):
            yield stop
            total, offered = stop.duration, offered + 1
            if offered == TRIALS:
                break
    if math.isfinite(remaining) and (
        stop := _kept(trajectory, begin, SHORTEST_MOVE, remaining, EXACT * bounds)
    ):
        yield stop


def _kept(
    trajectory: Trajectory, begin: float, duration: float, lead: float, bounds: Array
) -> DeceleratedAlongPath | None:
    """Return a stop if acceleration and jerk keep bounds (2, 2) [SI] on its whole way."""
    try:
        stop = DeceleratedAlongPath(trajectory, begin, duration, lead)
    except TrajectoryError:  # the path ends in motion before this stop does
        return None
    count = max(INSTANTS, math.ceil(100.0 * stop.duration) + 1)
    time = np.linspace(0.0, stop.duration, count)
    motion = stop.sample(time)
    acceleration, jerk = magnitudes(motion.acceleration), mean_jerk(motion, time)
    return stop if np.all(acceleration <= bounds[0]) and np.all(jerk <= bounds[1]) else None


def _longest(limits: Limits, scale: float) -> float:
    """Return a time that is ample for a stop from any motion within the limits [s]."""
    to_rest = 20.0 * limits.velocities / (scale * limits.accelerations)
    return float(max(*to_rest, *(60.0 * limits.accelerations / (scale * limits.jerks))))


def _promising(
    trajectory: Trajectory, begin: float, bounds: Array, longest: float
) -> list[tuple[float, float]]:
    """Return the leads and durations of stops that seem to keep the bounds, by total time.

    Along a path x(s) the acceleration is x_ss s_t^2 + x_s s_tt and the jerk
    x_sss s_t^3 + 3 x_ss s_t s_tt + x_s s_ttt. The path is sampled once for all of them.
    """
    remaining = trajectory.duration - begin
    reach = min(remaining, longest)
    if reach <= 0.0:
        return []
    grid = np.linspace(0.0, reach, PATH_SAMPLES)
    motion = trajectory.sample(begin + grid)
    first, second = motion.twist, motion.acceleration
    third = np.gradient(second, grid, axis=0)
    speed = magnitudes(first[0])
    by_jerk = np.sqrt(2.0 * np.pi * speed / bounds[1])
    least = 0.5 * max(*(PEAK_VELOCITY * speed / bounds[0]), *by_jerk)
    least = max(float(least), SHORTEST_MOVE)
    durations = np.geomspace(least, max(reach, least), DURATIONS)
    leads = np.linspace(0.0, 0.5 * reach, LEADS)
    lead, duration = (item.ravel() for item in np.meshgrid(leads, durations, indexing='ij'))
    sooner = lead + duration < remaining
    lead, duration = lead[sooner], duration[sooner]
    tau = np.linspace(0.0, 1.0, STEPS)
    rate, change, travelled = _slowing(tau)
    way = (lead[:, None] + duration[:, None] * travelled) / reach * (PATH_SAMPLES - 1)
    place = np.minimum(np.rint(way).astype(np.int64), PATH_SAMPLES - 1)
    change = change / duration[:, None]
    growth = -PEAK_ACCELERATION * np.sin(PEAK_ACCELERATION * tau) / duration[:, None] ** 2
    velocity, own = first[place], second[place]
    acceleration = (rate**2)[:, None] * own + change[..., None] * velocity
    jerk = (rate**3)[:, None] * third[place] + growth[..., None] * velocity
    jerk += (3.0 * rate * change)[..., None] * own
    fits = np.all(magnitudes(acceleration).max(axis=1) <= bounds[0], axis=1)
    fits &= np.all(magnitudes(jerk).max(axis=1) <= bounds[1], axis=1)
    order = np.argsort((lead + duration)[fits], kind='stable')
    return list(zip(lead[fits][order].tolist(), duration[fits][order].tolist(), strict=True))


def _slowing(tau: Array) -> tuple[Array, Array, Array]:
    """Return rate [-], its derivative by tau and the path's time over T at tau of a stop."""
    way, slope, _ = cycloid(tau)
    integral = 0.5 * tau**2 + (np.cos(PEAK_ACCELERATION * tau) - 1.0) / PEAK_ACCELERATION**2
    return 1.0 - way, -slope, tau - integral
