# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What there is to see of a platform at one instant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from stewart_kinematics.motion import Array, Pose

STALE = 1.0
"""After this time without news nobody knows any more where the platform is [s]."""


@dataclass(frozen=True)
class DriveReport:
    """What the driver says of itself: state, what moves the legs, why the last change happened."""

    state: str
    backend: str = ''
    simulated: bool = False
    reason: str = ''


@dataclass(frozen=True, eq=False)
class Estimate:
    """Where the estimator believes the platform to be; covariance (3, 3) of the position [m²]."""

    pose: Pose
    covariance: Array


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One instant of a rig; what is not known is None.

    Attributes:
        time: Instant [s]; only differences matter.
        pose, commanded: Measured pose of ``platform_link`` in ``base_link``, and setpoint.
        strokes, forces (6,): Measured, legs 1 to 6 [m], positive pushes apart [N].
    """

    time: float
    pose: Pose | None = None
    commanded: Pose | None = None
    strokes: Array | None = None
    forces: Array | None = None
    estimate: Estimate | None = None
    drives: DriveReport | None = None


class Part(Protocol):
    """Something that shows an instant."""

    def show(self, snapshot: Snapshot) -> None:
        """Show it."""


def stroke_reserve(strokes: Array, limits: Array) -> Array:
    """Tell how much of its stroke each leg has left on the nearer side, shape (6,).

    1 in the middle, 0 at an end, negative outside; strokes (6,) and their limits (6, 2) [m].
    """
    half = 0.5 * (limits[:, 1] - limits[:, 0])
    nearer = np.minimum(strokes - limits[:, 0], limits[:, 1] - strokes)
    return np.asarray(nearer / half)


def pose_at(position: Array, quaternion_xyzw: Array) -> Pose:
    """Return the pose of arrays, as messages have them: nodes do not import the kinematics."""
    return Pose(position, quaternion_xyzw)
