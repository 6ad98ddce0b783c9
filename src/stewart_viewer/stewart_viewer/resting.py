# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the platform stands, by the poses that come."""

from __future__ import annotations

import numpy as np
from stewart_kinematics.motion import Pose
from stewart_kinematics.spatial import apart, REST_ANGLE, REST_DISTANCE

STANDS = 0.5
"""It stands where it has been for so long [s]."""


class Resting:
    """Poses as they come; see `rests`."""

    def __init__(self) -> None:
        self._place: Pose | None = None
        self._since = self._last = -np.inf

    def see(self, pose: Pose | None, now: float) -> None:
        """Take note of a new pose at a time [s]."""
        if pose is None or self._place is None or _moved(self._place, pose):
            self._place, self._since = pose, now
        self._last = now

    def rests(self, now: float) -> bool:
        """Tell whether the platform has stood in one place lately."""
        return (
            self._place is not None
            and self._last - self._since >= STANDS
            and now - self._last < STANDS
        )


def _moved(one: Pose, other: Pose) -> bool:
    way, turn = apart(one, other)
    return way > REST_DISTANCE or turn > REST_ANGLE
