# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Feed-forward: the forces that a described platform needs for a setpoint."""

from __future__ import annotations

import os

from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array, Motion


class FeedForward:
    """Actuator forces by Newton and Euler of a platform with masses, by its name or file.

    Raises:
        MissingMasses, UnphysicalInertia: If the description makes no dynamics.
    """

    def __init__(self, name_or_path: str | os.PathLike[str]) -> None:
        platform = load_platform(os.fspath(name_or_path))
        self._model = InertialModel.from_platform(platform)
        actuator_forces(self._model, Motion.at_rest(platform.geometry.neutral_pose))

    def forces(self, *motion: Array) -> Array:
        """Return the forces (6,) for the fields of a `Motion`; positive pushes apart [N].

        Raises:
            SingularPose: If the legs do not span all wrenches there.
            StewartError: If a value is not finite.
        """
        return actuator_forces(self._model, Motion(*motion))
