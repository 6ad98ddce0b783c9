# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where measured strokes put the platform, and how far that is from what the driver plays."""

from __future__ import annotations

import math

from stewart_kinematics.command_history import CommandHistory
from stewart_kinematics.errors import ConvergenceError
from stewart_kinematics.forward import forward, ForwardResult
from stewart_kinematics.geometry import Geometry
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.tracking import tracking_error, TrackingErrors


class PoseTracking:
    """Forward kinematics along a stream of strokes, compared with the setpoints executed.

    Args:
        geometry: Joints of the platform.
    """

    def __init__(self, geometry: Geometry) -> None:
        """Begin at the neutral pose, with nothing commanded and nothing known of the driver."""
        self._geometry, self._delay = geometry, math.nan
        self._start: Pose | ForwardResult = geometry.neutral_pose
        self._commanded = CommandHistory()

    def solve(self, strokes: Array) -> ForwardResult:
        """Find the pose of measured strokes, beginning at the pose found last.

        Args:
            strokes (6,): [m].

        Returns:
            Converged.

        Raises:
            ConvergenceError: If there is no pose that can be trusted.
            StewartError: If a length is not a positive, finite number.
        """
        # What fails is searched for from the neutral pose the next time.
        start, self._start = self._start, self._geometry.neutral_pose
        result = forward(self._geometry, strokes + self._geometry.retracted_length, start)
        if not result.converged:
            raise ConvergenceError(f'strokes {strokes} m: {result.reason}')
        self._start = result
        return result

    def commanded(self, stamp: float, *motion: Array) -> None:
        """Take note of a setpoint that was executed, with its stamp [s]; see `CommandHistory`."""
        self._commanded.add(stamp, *motion)

    def error(self, stamp: float, result: ForwardResult, strokes: Array) -> TrackingErrors | None:
        """Compare a pose with what the driver plays at that instant.

        Args:
            stamp: When the strokes were measured [s].
            result: Of `solve`.
            strokes (6,): What it was found from [m].

        Returns:
            None while nothing is commanded, and before the first `begin_anew`.
        """
        played = self._commanded.at(stamp - self._delay)
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
