# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the platform is and how it moves: one pose, or samples of a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ShapeError, StewartError

Array = NDArray[np.float64]


def read_only(values: ArrayLike) -> Array:
    """Return a read-only float64 copy of `values`."""
    array = np.array(values, dtype=np.float64, order='C')
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Pose:
    """Position and attitude of ``platform_link`` in ``base_link``.

    Attributes:
        position (3,): Origin of ``platform_link`` in ``base_link`` [m].
        quaternion_xyzw (4,): Unit quaternion taking ``platform_link`` to ``base_link``
            coordinates, scalar last.

    Raises:
        ShapeError: If a shape differs.
        StewartError: If a value is not finite or the quaternion's norm is not 1 within 1e-6.
    """

    position: Array
    quaternion_xyzw: Array

    def __post_init__(self) -> None:
        position, quaternion = (
            read_only(self.position),
            np.array(self.quaternion_xyzw, dtype=float),
        )
        if position.shape != (3,):
            raise ShapeError('position', '(3,)', position.shape)
        if quaternion.shape != (4,):
            raise ShapeError('quaternion_xyzw', '(4,)', quaternion.shape)
        if not (np.all(np.isfinite(position)) and np.all(np.isfinite(quaternion))):
            raise StewartError(f'a pose must be finite, got {position} m and {quaternion}')
        norm = float(np.linalg.norm(quaternion))
        if abs(norm - 1.0) > 1e-6:
            raise StewartError(f'a quaternion must have norm 1, got {norm:.9g}')
        object.__setattr__(self, 'position', position)
        object.__setattr__(self, 'quaternion_xyzw', read_only(quaternion / norm))

    @classmethod
    def identity(cls) -> Pose:
        """Return the pose in which ``platform_link`` and ``base_link`` coincide."""
        return cls(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))

    @classmethod
    def from_rpy(cls, position: ArrayLike, rpy: Sequence[float]) -> Pose:
        """Make a pose from a position [m] and roll, pitch, yaw [rad].

        ``R = R_z(yaw) R_y(pitch) R_x(roll)``.
        """
        roll, pitch, yaw = rpy
        quaternion = Rotation.from_euler('ZYX', [yaw, pitch, roll]).as_quat()
        return cls(np.asarray(position, dtype=float), quaternion)

    @property
    def rotation(self) -> Array:
        """Rotation matrix taking ``platform_link`` to ``base_link`` coordinates, shape (3, 3)."""
        # A copy, for scipy 1.11 takes no array that is read-only.
        return self._rotation.copy()

    @cached_property
    def _rotation(self) -> Array:
        return np.asarray(Rotation.from_quat(self.quaternion_xyzw).as_matrix())


@dataclass(frozen=True, eq=False)
class Motion:
    """Pose, twist and acceleration of ``platform_link``, for one sample or many.

    All vectors belong to the origin of ``platform_link`` and are expressed in ``base_link`` axes.
    The leading axes of all fields agree; a single sample has none.

    Attributes:
        position (..., 3): [m].
        quaternion_xyzw (..., 4): Unit quaternion, scalar last.
        linear_velocity, angular_velocity (..., 3): [m/s], [rad/s].
        linear_acceleration, angular_acceleration (..., 3): [m/s²], [rad/s²].

    Raises:
        ShapeError: If a trailing axis is wrong or the leading axes differ.
    """

    position: Array
    quaternion_xyzw: Array
    linear_velocity: Array
    angular_velocity: Array
    linear_acceleration: Array
    angular_acceleration: Array

    def __post_init__(self) -> None:
        shape = np.shape(self.position)[:-1]
        vector, attitude, values = (*shape, 3), (*shape, 4), vars(self)
        for name, value in values.items():
            array = np.asarray(value, dtype=np.float64)
            expected = attitude if name == 'quaternion_xyzw' else vector
            if array.shape != expected:
                raise ShapeError(name, str(expected), array.shape)
            # A frozen class, and half of the time that `object.__setattr__` takes for six fields.
            values[name] = array

    @classmethod
    def at_rest(cls, pose: Pose, shape: tuple[int, ...] = ()) -> Motion:
        """Return samples that stand still at `pose`; `shape` gives the leading axes."""
        zero = np.zeros((*shape, 3))
        return cls(
            np.broadcast_to(pose.position, (*shape, 3)),
            np.broadcast_to(pose.quaternion_xyzw, (*shape, 4)),
            zero,
            zero,
            zero,
            zero,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading axes; ``()`` for a single sample."""
        return self.position.shape[:-1]

    @property
    def pose(self) -> Pose:
        """Pose of a single sample."""
        return Pose(self.position, self.quaternion_xyzw)

    @property
    def twist(self) -> Array:
        """Linear and angular velocity, shape (..., 6) [m/s, rad/s]."""
        return np.concatenate([self.linear_velocity, self.angular_velocity], axis=-1)

    @property
    def acceleration(self) -> Array:
        """Linear and angular acceleration, shape (..., 6) [m/s², rad/s²]."""
        return np.concatenate([self.linear_acceleration, self.angular_acceleration], axis=-1)

    def parts(self) -> tuple[Array, ...]:
        """Return the fields."""
        return tuple(vars(self).values())

    def rows(self) -> tuple[Array, Array, Array, Array, Array, Array]:
        """Return the fields with the leading axes made one, in C order, as kernels take them."""
        return (
            np.ascontiguousarray(self.position).reshape(-1, 3),
            np.ascontiguousarray(self.quaternion_xyzw).reshape(-1, 4),
            np.ascontiguousarray(self.linear_velocity).reshape(-1, 3),
            np.ascontiguousarray(self.angular_velocity).reshape(-1, 3),
            np.ascontiguousarray(self.linear_acceleration).reshape(-1, 3),
            np.ascontiguousarray(self.angular_acceleration).reshape(-1, 3),
        )

    def __getitem__(self, index: Any) -> Motion:
        """Select samples along the leading axes."""
        return Motion(*(getattr(self, item.name)[index] for item in fields(self)))


def mean_jerk(motion: Motion, time: Array) -> Array:
    """Return the jerk between n successive samples at increasing times (n,) [s].

    Returns:
        (n - 1, 2): Linear and angular magnitude [m/s³, rad/s³] of the change of acceleration over
        time, each at most the greatest jerk between its two samples.
    """
    return np.asarray(magnitudes(np.diff(motion.acceleration, axis=0)) / np.diff(time)[:, None])


def magnitudes(values: Array) -> Array:
    """Return the magnitudes of the linear and the angular half, (..., 6) -> (..., 2)."""
    return np.linalg.norm(values.reshape(*values.shape[:-1], 2, 3), axis=-1)
