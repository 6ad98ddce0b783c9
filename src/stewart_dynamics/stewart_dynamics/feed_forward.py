# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Feed-forward: the forces that a described platform needs for a setpoint."""

from __future__ import annotations

import os

from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.shared_platform import load_platform


class FeedForward:
    """Actuator forces by Newton and Euler, ready to be asked at once.

    Args:
        name_or_path: Platform by name, or path of its YAML file; with masses.

    Raises:
        MissingMasses, UnphysicalInertia: If the description makes no dynamics.
    """

    def __init__(self, name_or_path: str | os.PathLike[str]) -> None:
        """Read the platform and compile the kernel now, not while the platform moves."""
        platform = load_platform(os.fspath(name_or_path))
        self._model = InertialModel.from_platform(platform)
        actuator_forces(self._model, Motion.at_rest(platform.geometry.neutral_pose))

    def forces(self, *motion: Array) -> Array:
        """Give the forces for one setpoint.

        Args:
            *motion: Position, quaternion x, y, z, w, linear and angular velocity, linear and
                angular acceleration of ``platform_link``, as `Motion` has them.

        Returns:
            (6,): Positive pushes the joints apart [N].

        Raises:
            SingularPose: If the legs do not span all wrenches there.
            StewartError: If a value is not finite.
        """
        return actuator_forces(self._model, Motion(*motion))
