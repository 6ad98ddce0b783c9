# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How far the platform is from where it was commanded to be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_kinematics.geometry import Geometry
from stewart_kinematics.motion import Array
from stewart_kinematics.tracking_kernels import compare

PoseArrays = tuple[Array, Array]
"""Position, shape (3,) [m], and quaternion x, y, z, w, shape (4,)."""


@dataclass(frozen=True, eq=False)
class TrackingErrors:
    """Commanded minus achieved.

    Attributes:
        position (3,): Of ``platform_link``'s origin in ``base_link`` axes [m].
        rotation (3,): Rotation vector taking the achieved to the commanded attitude, ``base_link``
            axes [rad].
        strokes (6,): Legs 1 to 6 [m].
    """

    position: Array
    rotation: Array
    strokes: Array


def tracking_error(
    geometry: Geometry, commanded: PoseArrays, achieved: PoseArrays, strokes: Array
) -> TrackingErrors:
    """Compare a commanded with an achieved pose.

    Args:
        geometry: Joints of the platform.
        commanded, achieved: Position [m] and unit quaternion.
        strokes (6,): Measured strokes [m].

    Returns:
        Of pose and strokes.
    """
    out = np.empty(12)
    compare(
        geometry.base_joints,
        geometry.platform_joints,
        geometry.retracted_length,
        *commanded,
        *achieved,
        strokes,
        out,
    )
    return TrackingErrors(out[0:3], out[3:6], out[6:12])
