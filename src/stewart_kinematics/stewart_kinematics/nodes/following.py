# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the driver follows a motion while it is played."""

from __future__ import annotations

import numpy as np
from stewart_kinematics.motion import Pose
from stewart_kinematics.nodes.start_pose import NotReady, StartPose, TURNED
from stewart_kinematics.spatial import apart
from stewart_node_support.stamps import NANOSECONDS

# Between two looks, and so long a platform may stand still while it is far from its path [ns].
LOOK, LONGEST_STILL = round(0.1 * NANOSECONDS), round(1.0 * NANOSECONDS)
# A platform stands still that moves by no more than this part of what is far.
STILL = 0.1


class Following:
    """Find a platform that stands still although its path has gone elsewhere.

    A driver that refuses a path stays ENABLED, and the platform where it is. One that is late, as
    after a pause of the machine, moves.
    """

    def __init__(self, start_pose: StartPose) -> None:
        self._start_pose = start_pose
        self._said: tuple[int, Pose] | None = None
        self._still: Pose | None = None
        self._astray_since: int | None = None

    def say(self, stamp: int, pose: Pose) -> None:
        """Take note of a setpoint that was said [ns]; one at a time is waited for."""
        if self._said is None:
            self._said = stamp, pose

    def require(self) -> None:
        """Look, a few times a second.

        Raises:
            NotReady: If the platform has stood still for a second, far from where it was sent.
            MessageError: If its pose cannot be read.
        """
        if self._said is None:
            return
        stamp, sent = self._said
        found = self._start_pose.measured_since(stamp + LOOK)
        if found is None:
            return
        self._said = None
        taken, here = found
        far = self._start_pose.far
        moved = self._still is None or not _within(self._still, here, STILL * far, STILL * TURNED)
        if moved:
            self._still = here
        if moved or self._start_pose.may_be_behind or _within(sent, here, far, TURNED):
            self._astray_since = None
            return
        self._astray_since = self._astray_since or taken
        if taken - self._astray_since >= LONGEST_STILL:
            away, angle = apart(sent, here)
            raise NotReady(
                f'the platform stands still, {1e3 * away:.3g} mm and {np.degrees(angle):.1f}° '
                'from where it was sent: the driver does not follow (why: "driver: commands" of '
                'its diagnostics)'
            )


def _within(first: Pose, second: Pose, distance: float, angle: float) -> bool:
    """Tell whether two poses are this near to each other [m], [rad]."""
    away, turned = apart(first, second)
    return away <= distance and turned <= angle
