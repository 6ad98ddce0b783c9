# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples of an IMU and of six leg lengths, one by one and in series, each on its own clock."""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from stewart_estimation.errors import SampleError
from stewart_kinematics.errors import ShapeError
from stewart_kinematics.motion import Array, read_only

ONES = np.ones(6)

S = TypeVar('S', bound='Stamped')


@dataclass(frozen=True, eq=False)
class Stamped:
    """Arrays that have a row per stamp."""

    stamps: Array

    def __len__(self) -> int:
        return len(self.stamps)

    def __getitem__(self: S, rows: Any) -> S:
        return replace(self, **{name: values[rows] for name, values in vars(self).items()})


def imu_sample(stamp: float, specific_force: ArrayLike, angular_velocity: ArrayLike) -> Array:
    """Return specific force and angular velocity (3,) as one (6,) after a look at them.

    Raises:
        ShapeError: If there are not three numbers in each.
        SampleError: If a number or the stamp is not finite.
    """
    if np.shape(specific_force) != (3,):
        raise ShapeError('specific_force', '(3,)', np.shape(specific_force))
    if np.shape(angular_velocity) != (3,):
        raise ShapeError('angular_velocity', '(3,)', np.shape(angular_velocity))
    values = np.empty(6)
    values[:3], values[3:] = specific_force, angular_velocity
    # One sum is enough to find what is not finite, and this is done at every sample.
    if not math.isfinite(values.dot(ONES) + stamp):
        raise SampleError(
            f'an IMU sample must be finite, got {values.tolist()} [m/s², rad/s] at {stamp} s'
        )
    return values


def stated_sigmas(variances: Array) -> Array | None:
    """Return the standard deviations of a message's variances (3,); None where it says nothing."""
    if not np.all(np.isfinite(variances) & (variances > 0.0)):
        return None
    return np.asarray(np.sqrt(variances))


def leg_sample(stamp: float, lengths: ArrayLike) -> Array:
    """Return a copy of six joint-to-joint lengths [m] after a look at them; NaN is a missing leg.

    Raises:
        ShapeError: If there are not six.
        SampleError: If a length is infinite or not positive, or the stamp is not finite.
    """
    row = np.array(lengths, dtype=np.float64)
    if row.shape != (6,):
        raise ShapeError('lengths', '(6,)', row.shape)
    for leg, length in enumerate(row.tolist(), 1):
        if not (0.0 < length < math.inf or math.isnan(length)):
            raise SampleError(
                f'a length must be finite and above 0 m, or NaN where missing, got {length:.6g} m '
                f'on leg {leg} at {stamp} s'
            )
    if not math.isfinite(stamp):
        raise SampleError(f'a stamp must be finite, got {stamp} s')
    return row


def _stamps(stamps: Array) -> Array:
    """Return read-only stamps after a look at them."""
    values = read_only(stamps)
    if values.ndim != 1:
        raise ShapeError('stamps', '(n,)', values.shape)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise SampleError(f'stamps must be finite, got {values[bad[0]]} s at sample {bad[0]}')
    return values


def _order(stamps: Array, present: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the samples present by stamp; of several with one stamp, the one given last."""
    order = np.flatnonzero(present)[np.argsort(stamps[present], kind='stable')]
    last = np.ones(order.size, dtype=bool)
    last[:-1] = np.diff(stamps[order]) > 0.0
    return order[last]


@dataclass(frozen=True, eq=False)
class ImuSeries(Stamped):
    """Samples of an IMU, in any order.

    Attributes:
        stamps (n,): [s].
        specific_forces (n, 3): In the axes of the sensor, +g upwards at rest [m/s²]; a row with
            NaN is a missing sample.
        angular_velocities (n, 3): In the axes of the sensor [rad/s].

    Raises:
        ShapeError: If a shape differs.
        SampleError: If a stamp is not finite or a value is infinite.
    """

    specific_forces: Array
    angular_velocities: Array

    def __post_init__(self) -> None:
        stamps = _stamps(self.stamps)
        object.__setattr__(self, 'stamps', stamps)
        for name in ('specific_forces', 'angular_velocities'):
            values = read_only(getattr(self, name))
            if values.shape != (stamps.size, 3):
                raise ShapeError(name, f'({stamps.size}, 3)', values.shape)
            bad = np.argwhere(np.isinf(values))
            if bad.size:
                row, axis = bad[0]
                raise SampleError(
                    f'{name} must be finite, or NaN where missing, got {values[row, axis]} on '
                    f'axis {"xyz"[axis]} at sample {row}'
                )
            object.__setattr__(self, name, values)

    @property
    def values(self) -> Array:
        """Specific forces and angular velocities side by side, (n, 6)."""
        return np.hstack([self.specific_forces, self.angular_velocities])

    def ordered(self) -> ImuSeries:
        """Return the samples by stamp, without missing ones and without equal stamps."""
        present = np.asarray(np.isfinite(self.values).all(axis=1))
        return self[_order(self.stamps, present)]


@dataclass(frozen=True, eq=False)
class LegSeries(Stamped):
    """Samples of the six joint-to-joint lengths, in any order.

    Attributes:
        stamps (n,): [s].
        lengths (n, 6): [m]; NaN is a missing leg.

    Raises:
        ShapeError: If a shape differs.
        SampleError: If a stamp is not finite, or a length is infinite or not positive.
    """

    lengths: Array

    def __post_init__(self) -> None:
        stamps, lengths = _stamps(self.stamps), read_only(self.lengths)
        if lengths.shape != (stamps.size, 6):
            raise ShapeError('lengths', f'({stamps.size}, 6)', lengths.shape)
        bad = np.argwhere(np.isinf(lengths) | (lengths <= 0.0))
        if bad.size:
            row, leg = bad[0]
            raise SampleError(
                f'lengths must be finite and above 0 m, or NaN where missing, got '
                f'{lengths[row, leg]:.6g} m on leg {leg + 1} at sample {row}'
            )
        object.__setattr__(self, 'stamps', stamps)
        object.__setattr__(self, 'lengths', lengths)

    def ordered(self) -> LegSeries:
        """Return the samples by stamp, without equal stamps; rows without a leg stay."""
        return self[_order(self.stamps, np.ones(self.stamps.size, dtype=bool))]
