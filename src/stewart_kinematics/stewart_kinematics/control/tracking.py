# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the platform is, and how far that is from what it was commanded to do."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
import math

import numpy as np
from stewart_kinematics.errors import ConvergenceError
from stewart_kinematics.kernels.newton import CONVERGED
from stewart_kinematics.kernels.tracking import compare
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.forward import result_of, solver_of
from stewart_kinematics.solvers.inverse import leg_positions

# Setpoints that are kept, and how long a moving one is continued at most [s].
KEPT, CONTINUED = 400, 0.1


class PoseTracking:
    """Forward kinematics along a stream of strokes, compared with the setpoints executed."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry, self._delay = geometry, math.nan
        self._solver = solver_of(geometry)
        neutral = geometry.neutral_pose
        self._neutral = np.concatenate([neutral.position, neutral.quaternion_xyzw])
        self._start = self._neutral
        self._stamps: deque[float] = deque(maxlen=KEPT)
        self._motions: deque[tuple[Array, ...]] = deque(maxlen=KEPT)

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
        """Take note of a setpoint that was executed: its stamp [s], and the fields of a `Motion`.

        A stamp that is not later than the last begins a new history.
        """
        if self._stamps and stamp <= self._stamps[-1]:
            self._forget()
        self._stamps.append(stamp)
        self._motions.append(motion)

    def compare(self, stamp: float, pose: Array) -> Array | None:
        """Compare a pose (7,) with the one that the driver plays at an instant [s].

        The setpoint before it is continued with its twist and acceleration; at 200 Hz and the
        jerk of a strong sea (100 m/s³) that is within 2 µm of the motion meant. One that moves
        holds for `CONTINUED`, one at rest until the next.

        Returns:
            (13,): The commanded pose, position [m] and quaternion x, y, z, w, then commanded minus
            achieved: ``platform_link``'s origin in ``base_link`` axes [m], and the rotation vector
            taking the achieved to the commanded attitude, ``base_link`` axes [rad]. None where
            nothing is commanded, and before the first `begin_anew`.
        """
        played = stamp - self._delay
        index = bisect_right(self._stamps, played) - 1
        if index < 0:
            return None
        out, step = np.empty(13), played - self._stamps[index]
        return out if compare(*self._motions[index], step, CONTINUED, pose, out) else None

    def error(
        self, stamp: float, pose: Array, strokes: Array
    ) -> tuple[Array, Array, Array] | None:
        """Compare the pose (7,) of strokes (6,) [m] with what is played at their stamp [s].

        Returns:
            Commanded minus achieved position and rotation, as `compare` has them, and strokes (6,)
            [m], [rad].
        """
        found = self.compare(stamp, pose)
        if found is None:
            return None
        away: Array = leg_positions(self._geometry, found[0:3], found[3:7]) - strokes
        return found[7:10], found[10:13], away

    def begin_anew(self, playout_delay: float) -> None:
        """Forget what was commanded: the platform no longer follows it.

        From now on the driver plays a setpoint `playout_delay` [s] after its stamp.
        """
        self._forget()
        self._delay = playout_delay

    def _forget(self) -> None:
        self._stamps.clear()
        self._motions.clear()
