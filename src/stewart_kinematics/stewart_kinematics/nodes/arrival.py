# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the driver has brought the platform to where it was sent."""

from __future__ import annotations

import numpy as np
from stewart_kinematics.motion import Pose
from stewart_kinematics.nodes.start_pose import apart, NotReady, StartPose, TURNED
from stewart_node_support.stamps import NANOSECONDS

# A platform this near to its target is there [m], [rad]; a small one, this part of its legs' way.
NEAR, ALMOST, NEAR_SHARE = 1e-3, 2e-3, 1.0 / 160.0
# At rest is what has not moved farther than this in this time [m], [ns].
REST_DISTANCE, REST_TIME = 1e-4, round(0.3 * NANOSECONDS)


class Arrival:
    """Wait until the platform is measured at the end of a motion.

    Args:
        start_pose: What driver and platform say.
        sent: Where the motion ended.
        stamp: Stamp of its last setpoint [ns].
    """

    def __init__(self, start_pose: StartPose, sent: Pose, stamp: int) -> None:
        self._start_pose = start_pose
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
        if away <= min(NEAR, NEAR_SHARE * self._start_pose.travel) and angle <= ALMOST:
            return True
        if not over or not self._rests(stamp, here):
            return False
        if away > self._start_pose.far or angle > TURNED:
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
        return before is not None and apart(before[1], here)[0] < REST_DISTANCE
