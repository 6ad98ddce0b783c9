# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the platform stands, by the poses that come."""

from __future__ import annotations

import numpy as np
from stewart_kinematics.motion import Pose
from stewart_kinematics.trajectories.cycloidal import relative_displacement

SAME_PLACE, SAME_ATTITUDE = 1e-4, 1e-3
"""A platform that stands is measured so far apart at most [m], [rad]."""

STANDS = 0.5
"""It stands where it has been for so long [s]."""


class Resting:
    """Poses as they come; see `rests`."""

    def __init__(self) -> None:
        self._place: Pose | None = None
        self._since = self._last = -np.inf

    def see(self, pose: Pose | None, now: float) -> None:
        """Take note of a new pose at a time [s]."""
        if pose is None or self._place is None or _apart(self._place, pose):
            self._place, self._since = pose, now
        self._last = now

    def rests(self, now: float) -> bool:
        """Tell whether the platform has stood in one place lately."""
        return (
            self._place is not None
            and self._last - self._since >= STANDS
            and now - self._last < STANDS
        )


def _apart(one: Pose, other: Pose) -> bool:
    way, turn = relative_displacement(one, other)
    return bool(np.linalg.norm(way) > SAME_PLACE or np.linalg.norm(turn) > SAME_ATTITUDE)
