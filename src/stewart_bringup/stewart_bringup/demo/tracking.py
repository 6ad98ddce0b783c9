# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How well a motion was followed: the path, when it shows in the strokes, and with which forces.

Two questions are kept apart. *At the same instant*: what is the distance between the setpoint and
the platform now? It contains the constant delay of the chain, which a wave emulator does not
mind. *Along the path*: what remains when that one delay is taken out? It is the error of shape.

A setpoint counts as executed by the first actuator state that is stamped after it and whose six
strokes, seen along the setpoint's own leg rates, have come to the commanded strokes or beyond:
(q_measured - q_commanded) . rate >= 0. The latency is the time from the setpoint's stamp to the
arrival of that actuator state at the recorder. So it contains everything: two hops of DDS, the
driver's playout delay, the lag of the drives, the wait for the next sample and its way back.
Where the legs hardly move the condition says nothing; such setpoints are left out and counted.

A force is stamped as its setpoint, and a drive delivers it when it executes that setpoint, so the
constant delay of the strokes is taken out before the two are compared. What remains is what the
drives had to add: friction, a payload that the description does not know, disturbances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation, Slerp
from stewart_bags.series import JointSeries, PoseSeries, SetpointSeries

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Forces:
    """Forces of one scenario, legs 1 to 6, shape (n, 6), positive pushes apart [N].

    Of cranks and carriages they are efforts, positive drives the joint up [N m], [N]. They were
    delivered at `time` after the first commanded one, the delay taken out [s].
    """

    time: Array
    commanded: Array
    delivered: Array

    @property
    def difference(self) -> tuple[float, float]:
        """Root mean square and largest magnitude of delivered minus commanded [N], [N m]."""
        rest = self.delivered - self.commanded
        return float(np.sqrt(np.mean(np.square(rest)))), float(np.abs(rest).max())


def compare_forces(
    efforts: JointSeries | None, actuators: JointSeries, delay: float
) -> Forces | None:
    """Put commanded and delivered forces side by side; None where one of the two is missing.

    `delay` is that of the strokes against the setpoints' stamps [s].
    """
    if efforts is None or np.isnan(actuators.effort).all():
        return None
    _, rows = np.unique(efforts.stamp_ns, return_index=True)
    origin = int(efforts.stamp_ns[rows[0]])
    known = efforts.seconds(origin)[rows]
    time = actuators.seconds(origin) - delay
    inside = (time >= known[0]) & (time <= known[-1]) & ~np.isnan(actuators.effort).any(axis=1)
    commanded = np.column_stack(
        [np.interp(time[inside], known, efforts.effort[rows, leg]) for leg in range(6)]
    )
    return Forces(time[inside], commanded, actuators.effort[inside])


NS = 1e9
# Slower than this share of the root mean square speed, encoder noise would decide.
SLOW_SHARE = 0.3
SEARCH_TIME = 0.5
BLOCK = 500


@dataclass(frozen=True)
class Latency:
    """Latencies of the setpoints of one scenario.

    Attributes:
        executed (n,): From stamp to the arrival of the state that has executed the setpoint [s].
        commanded (m,): From stamp to the arrival of the joint command at the recorder [s].
        slow: Setpoints left out because the legs hardly moved.
        unreached: Setpoints that no actuator state has executed within 0.5 s.
    """

    executed: Array
    commanded: Array
    slow: int
    unreached: int


def latencies(commands: JointSeries, actuators: JointSeries) -> Latency:
    """Measure the latency of every setpoint that moves the legs; commands have its stamp."""
    commanded = (commands.bag_time_ns - commands.stamp_ns) / NS
    speed = np.linalg.norm(commands.velocity, axis=1)
    moving = speed > SLOW_SHARE * np.sqrt(np.mean(np.square(speed))) if len(speed) else speed > 0
    rows = np.flatnonzero(moving)
    reached = [
        _reached(commands, actuators, rows[start : start + BLOCK])
        for start in range(0, len(rows), BLOCK)
    ]
    indices = np.concatenate(reached) if reached else np.empty(0, np.intp)
    found = indices >= 0
    executed = (actuators.bag_time_ns[indices[found]] - commands.stamp_ns[rows[found]]) / NS
    return Latency(
        executed=executed,
        commanded=commanded,
        slow=int(np.count_nonzero(~moving)),
        unreached=int(np.count_nonzero(~found)),
    )


def _reached(
    commands: JointSeries, actuators: JointSeries, rows: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return for each row the index of the first state that has executed it, or -1."""
    first = np.searchsorted(actuators.stamp_ns, commands.stamp_ns[rows])
    last = np.searchsorted(actuators.stamp_ns, commands.stamp_ns[rows] + int(SEARCH_TIME * NS))
    width = max(int(np.max(last - first, initial=0)), 1)
    window = first[:, None] + np.arange(width)
    inside = window < last[:, None]
    window = np.minimum(window, len(actuators) - 1)
    ahead = actuators.position[window] - commands.position[rows, None]
    advance = np.einsum('kij,kj->ki', ahead, commands.velocity[rows])
    done = (advance >= 0.0) & inside
    index = np.take_along_axis(window, done.argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(done.any(axis=1), index, -1)


LONGEST_DELAY = 0.2


@dataclass(frozen=True)
class Errors:
    """Commanded minus achieved.

    Attributes:
        position, rotation (n, 3): In base_link axes [m]; rotation vector from the achieved to the
            commanded attitude [rad].
        strokes (m, 6): Legs 1 to 6 [m], of cranks [rad].
    """

    position: Array
    rotation: Array
    strokes: Array


@dataclass(frozen=True)
class Tracking:
    """Tracking of one scenario.

    Attributes:
        pose_time, stroke_time (n,), (m,): Instants of the errors along the path, after the first
            setpoint [s].
        delay: Constant delay of the strokes against the setpoints' stamps [s].
        instant, path: At the same instant, and with `delay` taken out.
    """

    pose_time: Array
    stroke_time: Array
    delay: float
    instant: Errors
    path: Errors


def track(
    setpoints: SetpointSeries, commands: JointSeries, actuators: JointSeries, poses: PoseSeries
) -> Tracking:
    """Compare commanded and achieved motion."""
    origin = int(setpoints.stamp_ns[0])
    path = _Path(setpoints, commands, origin)
    stroke_time, pose_time = actuators.seconds(origin), poses.seconds(origin)
    delay = path.delay_of(stroke_time, actuators.position)
    errors, kept = [], []
    for shift in (0.0, delay):
        strokes_inside = path.inside(stroke_time - shift)
        poses_inside = path.inside(pose_time - shift)
        errors.append(
            Errors(
                *path.pose_errors(
                    pose_time[poses_inside] - shift,
                    poses.position[poses_inside],
                    poses.quaternion_xyzw[poses_inside],
                ),
                path.strokes(stroke_time[strokes_inside] - shift)
                - actuators.position[strokes_inside],
            )
        )
        kept.append((pose_time[poses_inside], stroke_time[strokes_inside]))
    return Tracking(*kept[1], delay, *errors)


class _Path:
    """The commanded motion as a function of time."""

    def __init__(self, setpoints: SetpointSeries, commands: JointSeries, origin: int) -> None:
        # A spline's knots increase; a repeated stamp would not.
        _, rows = np.unique(setpoints.stamp_ns, return_index=True)
        at = setpoints.seconds(origin)[rows]
        self._position = CubicHermiteSpline(
            at, setpoints.position[rows], setpoints.linear_velocity[rows]
        )
        self._attitude = Slerp(at, Rotation.from_quat(setpoints.quaternion_xyzw[rows]))
        _, rows = np.unique(commands.stamp_ns, return_index=True)
        known = commands.seconds(origin)[rows]
        self.strokes = CubicHermiteSpline(known, commands.position[rows], commands.velocity[rows])
        self._span = max(at[0], known[0]), min(at[-1], known[-1])

    def inside(self, time: Array) -> NDArray[np.bool_]:
        return (time >= self._span[0]) & (time <= self._span[1])

    def delay_of(self, time: Array, strokes: Array) -> float:
        """Return the delay that leaves the smallest mean square stroke error."""
        sure = self.inside(time - LONGEST_DELAY) & self.inside(time)
        time, strokes = time[sure], strokes[sure]
        result = minimize_scalar(
            lambda delay: float(np.mean(np.square(self.strokes(time - delay) - strokes))),
            bounds=(0.0, LONGEST_DELAY),
            method='bounded',
            options={'xatol': 1e-6},
        )
        return float(result.x)

    def pose_errors(self, time: Array, position: Array, quaternion: Array) -> tuple[Array, Array]:
        turned = self._attitude(time) * Rotation.from_quat(quaternion).inv()
        return self._position(time) - position, turned.as_rotvec()


def root_mean_square(vectors: Array) -> float:
    """Return the root of the mean squared length of vectors, shape (n, k)."""
    return float(np.sqrt(np.mean(np.sum(np.square(vectors), axis=1))))


def largest(vectors: Array) -> float:
    """Return the length of the longest of the vectors, shape (n, k)."""
    return float(np.linalg.norm(vectors, axis=1).max())
