# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Feed-forward: the forces that a described platform needs for a setpoint."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import os

from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_dynamics.rods import RodModel
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Array, Motion


def efforts_of(platform: Platform) -> Callable[[Motion], Array]:
    """Return what gives the efforts (..., 6) of a platform's legs for a motion (...).

    Of linear legs that are the forces that push the joints apart, by Newton and Euler [N]; of
    cranks torques [N m] and of carriages forces [N], of rods without mass.

    Raises:
        MissingMasses, UnphysicalInertia: If the description makes no dynamics.
    """
    if platform.geometry.rods is not None:
        return RodModel.from_platform(platform).efforts
    return partial(actuator_forces, InertialModel.from_platform(platform))


class FeedForward:
    """Efforts of the legs' joints of a platform with masses, by its name or file.

    Raises:
        MissingMasses, UnphysicalInertia: If the description makes no dynamics.
    """

    def __init__(self, name_or_path: str | os.PathLike[str]) -> None:
        platform = load_platform(os.fspath(name_or_path))
        self._efforts = efforts_of(platform)
        self._efforts(Motion.at_rest(platform.geometry.neutral_pose))

    def forces(self, *motion: Array) -> Array:
        """Return the efforts (6,) for the fields of a `Motion`; see `efforts_of`.

        Raises:
            SingularPose: If the legs do not span all wrenches there.
            StewartError: If a value is not finite.
        """
        return self._efforts(Motion(*motion))
