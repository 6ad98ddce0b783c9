# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How far the platform is from where it shall be.

Two questions are kept apart. *At the same instant*: what is the distance between the setpoint and
the platform now? It contains the constant delay of the chain, which a wave emulator does not
mind. *Along the path*: what remains when that one delay is taken out? It is the error of shape.
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

LONGEST_DELAY = 0.2


@dataclass(frozen=True)
class Errors:
    """Commanded minus achieved.

    Attributes:
        position (n, 3): In base_link axes [m].
        rotation (n, 3): Rotation vector taking the achieved to the commanded attitude, base_link
            axes [rad].
        strokes (m, 6): Legs 1 to 6 [m].
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
