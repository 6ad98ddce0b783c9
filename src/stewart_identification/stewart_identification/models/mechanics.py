# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What one motion makes of a described platform, whatever is identified along."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.leg_kernels import PLATFORM
from stewart_dynamics.newton_euler import actuator_forces, regressor
from stewart_identification.models.joint_errors import (
    joint_error_columns,
    motions_with_moved_joints,
    Moved,
)
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.inverse import inverse, LegKinematics
from stewart_kinematics.solvers.jacobian import jacobian

KNOT_DISTANCE = 0.08
"""Between evaluations of what joint errors do, which follows the motion [s]; closer ones have more
of the strokes' noise in them, and look like rotors and friction."""


@dataclass(frozen=True, eq=False)
class Mechanics:
    """Columns and forces of a motion of n samples, each computed when it is first asked for."""

    geometry: Geometry
    inertial: InertialModel
    stamps: Array
    motion: Motion

    @cached_property
    def ten(self) -> Array:
        """What the platform's ten parameters are multiplied by, shape (n, 6, 10)."""
        return np.asarray(regressor(self.inertial, self.motion, columns=PLATFORM))

    @cached_property
    def leg_forces(self) -> Array:
        """Forces that the legs alone need, shape (n, 6) [N]."""
        return actuator_forces(self._with(np.zeros(10)), self.motion)

    @cached_property
    def sprung(self) -> Array:
        """Forces of the legs against what `models.terms.SPRING` counts, shape (n, 6, 12) [N].

        Six springs that rest in the neutral pose, along the axes of base_link and about them, then
        six steady parts of a wrench.
        """
        position, quaternion = self.motion.position, self.motion.quaternion_xyzw
        steady = np.linalg.inv(jacobian(self.geometry, position, quaternion)).swapaxes(1, 2)
        neutral = self.geometry.neutral_pose
        turned = Rotation.from_quat(quaternion) * Rotation.from_quat(neutral.quaternion_xyzw).inv()
        away = np.concatenate([position - neutral.position, turned.as_rotvec()], axis=1)
        return np.concatenate([steady * away[:, None], steady], axis=2)

    @cached_property
    def legs(self) -> LegKinematics:
        """Motion of the legs."""
        return inverse(self.geometry, self.motion)

    def joint_errors(self, ten: Array, size: float) -> Array:
        """Return what errors of the joint coordinates do, shape (n, 6, 36) [N].

        Args:
            ten (10,): Parameters of the platform.
            size: Of every error [m].
        """
        nominal = np.array_equal(ten, self.inertial.parameters[PLATFORM])
        columns = size * (self._nominal_errors if nominal else self._errors(ten))
        if len(self._knots) == len(self.stamps):
            return columns
        return np.asarray(CubicSpline(self.stamps[self._knots], columns)(self.stamps))

    def leaning(self, ten: Array, size: float) -> Array:
        """Return what a base that leans does, shape (n, 6, 2) [N].

        Args:
            ten (10,): Parameters of the platform.
            size: Of the angle by which gravity turns about x, and about y [rad].
        """
        model, nothing = self._with(ten), actuator_forces(self._with(ten), self.motion)
        turned = np.cross(np.eye(3)[:2], self.inertial.gravity)
        leant = [replace(model, gravity=model.gravity + size * change) for change in turned]
        # Forces are linear in gravity.
        return np.stack([actuator_forces(one, self.motion) - nothing for one in leant], axis=-1)

    @cached_property
    def _knots(self) -> NDArray[np.int64]:
        """Samples at which slow functions are evaluated, to be interpolated between."""
        stamps, count = self.stamps, len(self.stamps)
        longest = max(float(np.max(np.diff(stamps), initial=0.0)), 1e-9)
        every = max(int(KNOT_DISTANCE / longest), 1)
        return np.unique(np.append(np.arange(0, count, every), count - 1))

    @cached_property
    def _nominal_errors(self) -> Array:
        return self._errors(self.inertial.parameters[PLATFORM])

    def _errors(self, ten: Array) -> Array:
        return joint_error_columns(self._with(ten), self.motion[self._knots], self._moved)

    @cached_property
    def _moved(self) -> Moved:
        """Motions with moved joints at the knots: what a fit needs at all its parameters."""
        return motions_with_moved_joints(self.inertial, self.motion[self._knots])

    def _with(self, ten: Array) -> InertialModel:
        parameters = self.inertial.parameters.copy()
        parameters[PLATFORM] = ten
        return replace(self.inertial, parameters=parameters)
