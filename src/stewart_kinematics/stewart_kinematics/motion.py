# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the platform is and how it moves: one pose, or samples of a motion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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
        position = read_only(self.position)
        quaternion = np.array(self.quaternion_xyzw, dtype=float)
        for name, array, size in (('position', position, 3), ('quaternion_xyzw', quaternion, 4)):
            if array.shape != (size,):
                raise ShapeError(name, f'({size},)', array.shape)
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
    def from_rpy(cls, position: ArrayLike, rpy: Iterable[float]) -> Pose:
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


UNITS = {
    'position': 'm',
    'quaternion_xyzw': '1',
    'linear_velocity': 'm/s',
    'angular_velocity': 'rad/s',
    'linear_acceleration': 'm/s²',
    'angular_acceleration': 'rad/s²',
}
"""Units of the vectors of a motion."""

SIZES = {'position': 3, 'quaternion_xyzw': 4, 'twist': 6, 'acceleration': 6}
"""Last axes of the fields of a motion."""


@dataclass(frozen=True, eq=False)
class Motion:
    """Pose, twist and acceleration of ``platform_link``, for one sample or many.

    All vectors belong to the origin of ``platform_link`` and are expressed in ``base_link`` axes.
    The leading axes of all fields agree; a single sample has none.

    Attributes:
        position (..., 3): [m].
        quaternion_xyzw (..., 4): Unit quaternion, scalar last.
        twist (..., 6): Linear and angular velocity [m/s, rad/s]; rest if it is left out.
        acceleration (..., 6): Linear and angular [m/s², rad/s²]; none if it is left out.

    Raises:
        ShapeError: If a trailing axis is wrong or the leading axes differ.
    """

    position: Array
    quaternion_xyzw: Array
    twist: Array = None  # type: ignore[assignment]
    acceleration: Array = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        shape, values = np.shape(self.position)[:-1], vars(self)
        for name, size in SIZES.items():
            array = values[name]
            if array is None:
                array = np.zeros((*shape, size))
            array = np.asarray(array, dtype=np.float64)
            if array.shape != (*shape, size):
                raise ShapeError(name, str((*shape, size)), array.shape)
            # A frozen class, and half of the time that `object.__setattr__` takes.
            values[name] = array

    @classmethod
    def at_rest(cls, pose: Pose, shape: tuple[int, ...] = ()) -> Motion:
        """Return samples that stand still at `pose`; `shape` gives the leading axes."""
        place = np.broadcast_to(pose.position, (*shape, 3))
        return cls(place, np.broadcast_to(pose.quaternion_xyzw, (*shape, 4)))

    @classmethod
    def of_vectors(
        cls, position: Array, quaternion_xyzw: Array, linear_velocity: Array,
        angular_velocity: Array, linear_acceleration: Array, angular_acceleration: Array,
    ) -> Motion:  # fmt: skip
        """Make a motion of vectors (..., 3) that stand apart [m/s, rad/s, m/s², rad/s²]."""
        twist = np.concatenate([linear_velocity, angular_velocity], axis=-1)
        acceleration = np.concatenate([linear_acceleration, angular_acceleration], axis=-1)
        return cls(position, quaternion_xyzw, twist, acceleration)

    def replaced(self, **vectors: ArrayLike) -> Motion:
        """Return the motion with some of the vectors of `of_vectors` replaced, by their names."""
        names = Motion.of_vectors.__annotations__.keys() - {'return'}
        return Motion.of_vectors(**{n: vectors.get(n, getattr(self, n)) for n in names})

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading axes; ``()`` for a single sample."""
        return self.position.shape[:-1]

    @property
    def pose(self) -> Pose:
        """Pose of a single sample."""
        return Pose(self.position, self.quaternion_xyzw)

    @property
    def linear_velocity(self) -> Array:
        """View of the twist, shape (..., 3) [m/s]."""
        return self.twist[..., :3]

    @property
    def angular_velocity(self) -> Array:
        """View of the twist, shape (..., 3) [rad/s]."""
        return self.twist[..., 3:]

    @property
    def linear_acceleration(self) -> Array:
        """View of the acceleration, shape (..., 3) [m/s²]."""
        return self.acceleration[..., :3]

    @property
    def angular_acceleration(self) -> Array:
        """View of the acceleration, shape (..., 3) [rad/s²]."""
        return self.acceleration[..., 3:]

    def parts(self) -> tuple[Array, Array, Array, Array]:
        """Return the fields."""
        return self.position, self.quaternion_xyzw, self.twist, self.acceleration

    def rows(self) -> tuple[Array, Array, Array, Array]:
        """Return the fields with the leading axes made one, in C order, as kernels take them."""
        p, q, v, a = (np.ascontiguousarray(values) for values in self.parts())
        return p.reshape(-1, 3), q.reshape(-1, 4), v.reshape(-1, 6), a.reshape(-1, 6)

    def __getitem__(self, index: Any) -> Motion:
        """Select samples along the leading axes."""
        return Motion(*(values[index] for values in self.parts()))


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
