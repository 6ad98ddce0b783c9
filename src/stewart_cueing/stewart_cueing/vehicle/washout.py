# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Classical washout: from specific force and rate of a vehicle to the motion of a platform.

The structure is Reid and Nahon's (UTIAS 296, 1985; J. Guidance 13 (1990) 356), in the axes of
docs/conventions.md: vehicle and platform x forward, y left, z up.

- Specific force f = a - g in the vehicle's axes at the pilot's head, (0, 0, +9.81 m/s²) at rest,
  is scaled and limited about rest, turned into base axes by the platform's attitude, made an
  acceleration by adding gravity, and high-passed with s³ / ((s² + 2 ζ ω s + ω²)(s + ω_b)).
- The angular rate, scaled and limited, becomes rates of roll, pitch and yaw, which are high-passed
  with s² / (s² + 2 ζ ω s + ω²).
- What lasts of f_x and f_y becomes tilt: ω² / (s² + 2 ζ ω s + ω²) with a limited rate.

Every filter is behind a first-order lag (`smoothing`), without which a step of the rate would be
an impulse of acceleration. Position, velocity and acceleration are states of one filter, so each
is the derivative of the one before, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
import math
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from stewart_cueing.errors import VehicleInputError
from stewart_cueing.kernels import washout as kernels
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.kernels.attitudes import euler_path
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.spatial import matrix_from_quaternion, rpy_from_quaternion
from stewart_tables.yaml_models import Check

GRAVITY = 9.80665
"""Standard gravity [m/s²]."""

LEVEL = np.array([0.0, 0.0, GRAVITY, 0.0, 0.0, 0.0])
"""Specific force and rate of a vehicle that stands on level ground or flies straight on."""

Triple: TypeAlias = Annotated[tuple[float, float, float], Check(count=3)]


@dataclass(frozen=True)
class WashoutSettings:
    """Parameters of the washout, per axis x, y, z or roll, pitch, yaw; all values are ours.

    Attributes:
        force_scale, rate_scale: Parts of specific force and rate that are played [-].
        force_limit [m/s²], rate_limit [rad/s]: Bounds of what is played.
        force_frequency, force_damping, return_frequency: ω [rad/s], ζ [-], ω_b [rad/s] of the
            translational high-passes.
        turn_frequency, turn_damping: ω, ζ of the rotational high-passes.
        tilt_frequency, tilt_damping: ω, ζ of the tilt's low-pass.
        tilt_rate: Bound of the tilt's rate [rad/s].
        smoothing: Time constant of the lag before every filter [s].
        head: Position of the pilot's head in platform_link [m].
    """

    force_scale: Triple = (0.5, 0.5, 0.5)
    force_limit: Triple = (4.0, 4.0, 4.0)
    rate_scale: Triple = (0.5, 0.5, 0.5)
    rate_limit: Triple = (0.5, 0.5, 0.5)
    force_frequency: Triple = (2.5, 2.5, 3.5)
    force_damping: float = 1.0
    return_frequency: Triple = (0.2, 0.2, 0.4)
    turn_frequency: Triple = (0.7, 0.7, 0.7)
    turn_damping: float = 1.0
    tilt_frequency: float = 2.5
    tilt_damping: float = 1.0
    tilt_rate: float = math.radians(3.0)
    smoothing: float = 0.005
    head: Triple = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Refuse what makes no filter."""
        for item in fields(self):
            values = np.asarray(getattr(self, item.name), dtype=float)
            least = -math.inf if item.name == 'head' else 0.0
            positive = not item.name.endswith(('scale', 'limit', 'head', 'tilt_rate'))
            fits = np.isfinite(values) & ((values > least) if positive else (values >= least))
            if not fits.all():
                expected = 'finite numbers above 0' if positive else 'finite numbers from 0'
                raise ConfigurationError(item.name, values.tolist(), expected)

    @property
    def scales(self) -> Array:
        """Of specific force and rate (6,) [-]."""
        return np.array([*self.force_scale, *self.rate_scale])

    @property
    def bounds(self) -> Array:
        """Of what is played of them (6,) [m/s², rad/s]."""
        return np.array([*self.force_limit, *self.rate_limit])


PRESETS = {
    'vigo': WashoutSettings(
        force_scale=(0.25, 0.25, 0.2),
        rate_scale=(0.3, 0.3, 0.3),
        force_limit=(2.0, 2.0, 2.0),
        force_frequency=(4.0, 4.0, 4.0),
        return_frequency=(0.5, 0.5, 0.5),
        turn_frequency=(1.0, 1.0, 1.0),
    ),
    'srs': WashoutSettings(head=(0.0, 0.0, 1.0)),
}
"""Settings by platform: ours, published nowhere."""


class Washout:
    """The washout of one platform, sample after sample.

    Args:
        centre: Pose to which everything returns; of its attitude the heading counts.
        period: Time between two samples [s].
    """

    def __init__(self, settings: WashoutSettings, centre: Pose, period: float) -> None:
        if not 0.0 < period < math.inf:
            raise ConfigurationError('period', period, 'a time above 0 s')
        self.settings, self.centre, self.period = settings, centre, period
        s, lag = settings, 1.0 / settings.smoothing
        linear, turning = [], []
        for w, wb in zip(s.force_frequency, s.return_frequency, strict=True):
            a2, a1 = 2.0 * s.force_damping * w + wb, w * w + 2.0 * s.force_damping * w * wb
            linear.append((w * w * wb, a1, a2))
        for w in s.turn_frequency:
            turning.append((w * w, 2.0 * s.turn_damping * w))
        self._linear_law, self._angular_law = np.array(linear), np.array(turning)
        self._linear = np.stack([_step(_chain(law, lag), lag, period) for law in linear])
        self._angular = np.stack([_step(_chain(law, lag), lag, period) for law in turning])
        damping = 2.0 * s.tilt_damping * s.tilt_frequency
        gain = s.tilt_frequency / (2.0 * s.tilt_damping)
        tilt = _step(np.array([[0.0, 1.0], [0.0, -damping]]), damping, period, place=1)
        self._tilt = np.stack([tilt, tilt])
        self._tilt_law = np.tile([period, gain, damping, s.tilt_rate], (2, 1))
        self._scales, self._bounds = s.scales, s.bounds
        self._head = np.array(s.head)
        # A pilot sits upright: of the centre's attitude only the heading counts.
        self._yaw = float(rpy_from_quaternion(centre.quaternion_xyzw)[2])
        self._heading = Rotation.from_rotvec([0.0, 0.0, self._yaw]).as_matrix()
        self._origin = centre.position + self._heading @ self._head
        self._memory = np.zeros(kernels.MEMORY)

    def run(self, inputs: ArrayLike) -> Motion:
        """Return the motion (n,) of the platform for n successive samples.

        Args:
            inputs: (n, 6): Specific force [m/s²] and angular rate [rad/s] of the vehicle at the
                pilot's head, in the vehicle's axes.

        Raises:
            VehicleInputError: If they are not n rows of six finite numbers; the state stays.
        """
        rows = np.ascontiguousarray(inputs, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != 6 or not np.isfinite(rows).all():
            bad = rows[~np.isfinite(rows).all(axis=-1)][:1] if rows.ndim == 2 else rows.shape
            raise VehicleInputError(
                f'expected rows of six finite numbers [m/s², rad/s], got {np.asarray(bad)}'
            )
        response = np.empty((len(rows), kernels.RESPONSE_COLUMNS))
        kernels.run_washout(
            rows,
            self._linear,
            self._linear_law,
            self._angular,
            self._angular_law,
            self._tilt,
            self._tilt_law,
            GRAVITY,
            self.settings.smoothing,
            self._scales,
            self._bounds,
            self._memory,
            response,
        )
        return self._motion(response)

    def _motion(self, response: Array) -> Motion:
        """Return the motion of the platform from that of the head, in n rows."""
        count = len(response)
        quaternion, twist, acceleration = np.empty((count, 4)), *np.empty((2, count, 6))
        angles = [np.ascontiguousarray(response[:, k : k + 3][:, ::-1]) for k in (9, 12, 15)]
        angles[0][:, 0] += self._yaw
        level = np.array([0.0, 0.0, 0.0, 1.0])
        euler_path(2, 1, 0, *angles, level, quaternion, twist, acceleration)
        turning, change = twist[:, 3:], acceleration[:, 3:]
        way, velocity, gain = response[:, :9].reshape(count, 3, 3).swapaxes(0, 1) @ self._heading.T
        arm = matrix_from_quaternion(quaternion) @ self._head
        swing = np.cross(turning, arm)
        twist[:, :3] = velocity - swing
        acceleration[:, :3] = gain - np.cross(change, arm) - np.cross(turning, swing)
        return Motion(self._origin + way - arm, quaternion, twist, acceleration)


def _chain(law: tuple[float, ...], lag: float) -> Array:
    """Return the system matrix of a chain of integrators behind a lag, states (lag, chain)."""
    order = len(law)
    matrix = np.diag(np.ones(order), 1)
    matrix[0, :2] = -lag, 0.0
    matrix[order, 0] = 1.0
    matrix[order, 1:] -= law
    return matrix


def _step(matrix: Array, gain: float, period: float, place: int = 0) -> Array:
    """Return the exact step (m, m + 2) of x' = A x + b u, b = gain at `place`, for a straight u.

    With v' = slope, u' = v the exponential of the extended matrix holds both integrals.
    """
    size = len(matrix)
    extended = np.zeros((size + 2, size + 2))
    extended[:size, :size], extended[place, size], extended[size, size + 1] = matrix, gain, 1.0
    exponential = expm(extended * period)
    slope = exponential[:size, size + 1] / period
    old = exponential[:size, size] - slope
    return np.ascontiguousarray(np.column_stack([exponential[:size, :size], old, slope]))
