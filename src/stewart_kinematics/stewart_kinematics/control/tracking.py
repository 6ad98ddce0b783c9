# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the platform is, and how far that is from what it was commanded to do."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
import math

import numpy as np
from stewart_kinematics.errors import ConvergenceError
from stewart_kinematics.kernels.tracking import at_rest, compare, follow
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.solvers.forward import forward_from_positions, ForwardResult
from stewart_kinematics.solvers.inverse import leg_positions

PoseArrays = tuple[Array, Array]  # position, shape (3,) [m], and quaternion x, y, z, w, shape (4,)


@dataclass(frozen=True, eq=False)
class TrackingErrors:
    """Commanded minus achieved.

    Attributes:
        position (3,): Of ``platform_link``'s origin in ``base_link`` axes [m].
        rotation (3,): Rotation vector taking the achieved to the commanded attitude, ``base_link``
            axes [rad].
        strokes (6,): Positions of the joints of legs 1 to 6 [m], [rad].
    """

    position: Array
    rotation: Array
    strokes: Array


def deviation(commanded: PoseArrays, achieved: PoseArrays) -> Array:
    """Return position and rotation of `TrackingErrors`, shape (6,) [m], [rad]."""
    out = np.empty(6)
    compare(*commanded, *achieved, out)
    return out


def tracking_error(
    geometry: Geometry, commanded: PoseArrays, achieved: PoseArrays, strokes: Array
) -> TrackingErrors:
    """Compare a commanded with an achieved pose and measured strokes (6,) [m]."""
    off = deviation(commanded, achieved)
    return TrackingErrors(off[:3], off[3:], leg_positions(geometry, *commanded) - strokes)


class CommandHistory:
    """Keep the last setpoints and continue them to instants in between.

    Args:
        capacity: How many setpoints are kept.
        hold: How long a moving setpoint is continued at most [s]; one at rest holds until the
            next.
    """

    def __init__(self, capacity: int = 400, hold: float = 0.1) -> None:
        self._hold = hold
        self._stamps: deque[float] = deque(maxlen=capacity)
        self._motions: deque[tuple[Array, ...]] = deque(maxlen=capacity)

    def add(self, stamp: float, *motion: Array) -> None:
        """Add one sample, the fields of a `Motion` in C order, that holds at `stamp` [s].

        A stamp that is not later than the last begins a new history.
        """
        if self._stamps and stamp <= self._stamps[-1]:
            self.clear()
        self._stamps.append(stamp)
        self._motions.append(motion)

    def clear(self) -> None:
        """Forget everything: the platform no longer follows what was commanded."""
        self._stamps.clear()
        self._motions.clear()

    def at(self, stamp: float) -> PoseArrays | None:
        """Return the commanded pose at an instant [s]; None where nothing is commanded.

        The setpoint before it is continued with its twist and acceleration; at 200 Hz and the
        jerk of a strong sea (100 m/s³) that is within 2 µm of the motion meant.
        """
        index = bisect_right(self._stamps, stamp) - 1
        if index < 0:
            return None
        motion, step = self._motions[index], stamp - self._stamps[index]
        if at_rest(*motion[2:]):
            return motion[0], motion[1]
        if step > self._hold:
            return None
        out = np.empty(7)
        follow(*motion, step, out)
        return out[0:3], out[3:7]


class PoseTracking:
    """Forward kinematics along a stream of strokes, compared with the setpoints executed."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry, self._delay = geometry, math.nan
        self._start: Pose | ForwardResult = geometry.neutral_pose
        self._commanded = CommandHistory()

    def solve(self, strokes: Array) -> ForwardResult:
        """Find the pose of measured strokes (6,) [m], beginning at the pose found last.

        Raises:
            ConvergenceError: If there is no pose that can be trusted.
            StewartError: If a length is not a positive, finite number.
        """
        # What fails is searched for from the neutral pose the next time.
        start, self._start = self._start, self._geometry.neutral_pose
        result = forward_from_positions(self._geometry, strokes, start)
        if not result.converged:
            rods = self._geometry.rods
            what, unit = ('strokes', 'm') if rods is None else (rods.kind.quantity, rods.kind.unit)
            raise ConvergenceError(f'{what} {strokes} {unit}: {result.reason}')
        self._start = result
        return result

    def commanded(self, stamp: float, *motion: Array) -> None:
        """Take note of a setpoint that was executed, with its stamp [s]; see `CommandHistory`."""
        self._commanded.add(stamp, *motion)

    def played(self, stamp: float) -> PoseArrays | None:
        """Return the pose that the driver plays at an instant [s].

        None while nothing is commanded, and before the first `begin_anew`.
        """
        return self._commanded.at(stamp - self._delay)

    def error(self, stamp: float, result: ForwardResult, strokes: Array) -> TrackingErrors | None:
        """Compare the pose of strokes (6,) [m] with what is `played` at their stamp [s]."""
        played = self.played(stamp)
        if played is None:
            return None
        pose = (result.position, result.quaternion_xyzw)
        return tracking_error(self._geometry, played, pose, strokes)

    def begin_anew(self, playout_delay: float) -> None:
        """Forget what was commanded: the platform no longer follows it.

        Args:
            playout_delay: How long after its stamp the driver plays a setpoint from now on [s].
        """
        self._commanded.clear()
        self._delay = playout_delay
