# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the driver has brought the platform to where it was sent."""

from __future__ import annotations

import numpy as np
from stewart_kinematics.motion import Pose
from stewart_kinematics.nodes.start_pose import NotReady, StartPose, TURNED
from stewart_kinematics.spatial import apart, REST_ANGLE, REST_DISTANCE
from stewart_node_support.stamps import NANOSECONDS

# A platform this near to its target is there [m], [rad]; a small one, this part of its legs' way.
NEAR, ALMOST, NEAR_SHARE = 1e-3, 2e-3, 1.0 / 160.0
# So much of its way may be left where a platform rests; if more is, it was not brought there.
HALF = 0.5
# At rest is what has not moved in this time [ns].
REST_TIME = round(0.3 * NANOSECONDS)


class Arrival:
    """Wait until the platform is measured at the end of a motion.

    Args:
        begun, sent: Where the last move of the motion began, and where it ended.
        stamp: Stamp of its last setpoint [ns].
    """

    def __init__(self, start_pose: StartPose, begun: Pose, sent: Pose, stamp: int) -> None:
        self._start_pose = start_pose
        self._way = apart(begun, sent)
        self._sent, self._stamp = sent, stamp
        self._look: tuple[int, Pose] | None = None

    def over(self) -> bool:
        """Tell whether the platform is there; False while it may still be on its way.

        Raises:
            NotReady: If it rests elsewhere, or nobody measures where it is.
        """
        over = self._start_pose.over(self._stamp)
        found = self._start_pose.measured_since(self._stamp)
        if found is None:
            if over:
                raise NotReady('no platform/pose tells where the platform is')
            return False
        stamp, here = found
        away, angle = apart(self._sent, here)
        near = min(NEAR, NEAR_SHARE * self._start_pose.travel)
        if away <= near and angle <= ALMOST:
            return True
        if not over or not self._rests(stamp, here):
            return False
        # Of a short way a platform that has not moved is within what is far.
        farthest = _most_left(self._way[0], near, self._start_pose.far)
        if away > farthest or angle > _most_left(self._way[1], ALMOST, TURNED):
            raise NotReady(
                f'the platform rests {1e3 * away:.3g} mm and {np.degrees(angle):.1f}° from the '
                'target: the driver has not followed (why: "driver: commands" of its diagnostics)'
            )
        return True

    def _rests(self, stamp: int, here: Pose) -> bool:
        """Tell whether the platform has not moved since a look that is `REST_TIME` ago."""
        if self._look is not None and stamp - self._look[0] < REST_TIME:
            return False
        before, self._look = self._look, (stamp, here)
        if before is None:
            return False
        moved, turned = apart(before[1], here)
        return moved < REST_DISTANCE and turned < REST_ANGLE


def _most_left(way: float, near: float, far: float) -> float:
    """Return how far from its target a platform may rest that was to go some way."""
    return min(far, max(near, HALF * way)) if way > near else far
