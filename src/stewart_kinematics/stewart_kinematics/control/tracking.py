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
from stewart_kinematics.kernels.newton import CONVERGED
from stewart_kinematics.kernels.tracking import compare
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.forward import result_of, solver_of
from stewart_kinematics.solvers.inverse import leg_positions


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

    def compare(self, stamp: float, achieved: Array) -> Array | None:
        """Compare an achieved pose (7,) with the one commanded at an instant [s].

        The setpoint before it is continued with its twist and acceleration; at 200 Hz and the
        jerk of a strong sea (100 m/s³) that is within 2 µm of the motion meant.

        Returns:
            (13,): The commanded pose, position [m] and quaternion x, y, z, w, then position and
            rotation of `TrackingErrors`. None where nothing is commanded.
        """
        index = bisect_right(self._stamps, stamp) - 1
        if index < 0:
            return None
        out, step = np.empty(13), stamp - self._stamps[index]
        return out if compare(*self._motions[index], step, self._hold, achieved, out) else None


class PoseTracking:
    """Forward kinematics along a stream of strokes, compared with the setpoints executed."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry, self._delay = geometry, math.nan
        self._solver = solver_of(geometry)
        neutral = geometry.neutral_pose
        self._neutral = np.concatenate([neutral.position, neutral.quaternion_xyzw])
        self._start = self._neutral
        self._commanded = CommandHistory()

    def solve(self, strokes: Array) -> Array:
        """Find the pose (7,) of measured strokes (6,) [m], beginning at the pose found last.

        Returns:
            Position [m] and quaternion x, y, z, w; read-only.

        Raises:
            ConvergenceError: If there is no pose that can be trusted.
            StewartError: If a length is not a positive, finite number.
        """
        # What fails is searched for from the neutral pose the next time.
        start, self._start = self._start, self._neutral
        poses, figures, status = self._solver.from_positions(strokes.reshape(1, 6), start)
        if status[0] != CONVERGED:
            rods = self._geometry.rods
            what, unit = ('strokes', 'm') if rods is None else (rods.kind.quantity, rods.kind.unit)
            reason = result_of(self._geometry, poses, figures, status).reason
            raise ConvergenceError(f'{what} {strokes} {unit}: {reason}')
        pose: Array = poses[0]
        self._start = pose
        return pose

    def commanded(self, stamp: float, *motion: Array) -> None:
        """Take note of a setpoint that was executed, with its stamp [s]; see `CommandHistory`."""
        self._commanded.add(stamp, *motion)

    def compare(self, stamp: float, pose: Array) -> Array | None:
        """Compare a pose (7,) with the one that the driver plays at an instant [s].

        Returns:
            As `CommandHistory.compare`; None also before the first `begin_anew`.
        """
        return self._commanded.compare(stamp - self._delay, pose)

    def error(self, stamp: float, pose: Array, strokes: Array) -> TrackingErrors | None:
        """Compare the pose (7,) of strokes (6,) [m] with what is played at their stamp [s]."""
        found = self.compare(stamp, pose)
        if found is None:
            return None
        away = leg_positions(self._geometry, found[0:3], found[3:7]) - strokes
        return TrackingErrors(found[7:10], found[10:13], away)

    def begin_anew(self, playout_delay: float) -> None:
        """Forget what was commanded: the platform no longer follows it.

        Args:
            playout_delay: How long after its stamp the driver plays a setpoint from now on [s].
        """
        self._commanded.clear()
        self._delay = playout_delay
