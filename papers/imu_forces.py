# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Generalised forces of the platform, as predicted, as "measured" by an IMU, and fused."""

from __future__ import annotations

from dataclasses import dataclass

from imu_fusion import fuse, Fusion, MEASUREMENT, PROCESS
from stewart_dynamics.multibody import MultibodyModel
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion


@dataclass(frozen=True, eq=False)
class GeneralisedForces:
    """The paper's forces of one motion, n samples.

    Attributes:
        predicted, measured (n, 3): Q_c = Q_e - M q'' of the platform's centre of mass, base axes
            [N].
        forces: Both blended (Eq. 19, Fig. 9).
        accelerations: Linear accelerations of the platform blended in the same way (Fig. 10)
            [m/s²].
    """

    predicted: Array
    measured: Array
    forces: Fusion
    accelerations: Fusion


def generalised_forces(
    platform: Platform,
    predicted: Motion,
    measured: Motion,
    *,
    process: float = PROCESS,
    measurement: float = MEASUREMENT,
) -> GeneralisedForces:
    """Put two motions through the 78-coordinate model and fuse what comes out.

    Args:
        platform: With the masses that are assumed.
        predicted, measured: The same samples, as commanded or seen by the legs, and as seen by an
            IMU.
        process, measurement: Factors of G and H.

    Returns:
        Forces and accelerations.
    """
    model = MultibodyModel.from_platform(platform)
    theory, found = (
        model.solve(motion).generalised_forces[:, 0, :3] for motion in (predicted, measured)
    )
    weights = {'process': process, 'measurement': measurement}
    return GeneralisedForces(
        theory,
        found,
        fuse(theory, found, **weights),
        fuse(predicted.linear_acceleration, measured.linear_acceleration, **weights),
    )
