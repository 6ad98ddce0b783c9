# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Motion cueing by model predictive control (docs/decisions/0096).

Every `INTERVAL` a convex quadratic program plans the jerk of the platform over a horizon of blocks
of constant jerk, from the present state. With y = (displacement, rotation vector) from the present
pose in base axes, the head's lever r and g = (0, 0, 9.81 m/s²), the specific force in base axes is
to first order

    R f = y''_lin + y''_ang x r + g + g x y_ang .

The cost weighs errors of specific force and angular rate, distance from the neutral pose, velocity
and jerk. Constraints are strokes, rates and accelerations of the legs, roll, pitch and yaw, all
linearised about the previous plan; velocity and acceleration of the platform along their
predicted directions; jerk; and rest at the end. The first jerk of a plan goes to a `Governor`,
which takes no step without an allowed stop behind it: limits hold whatever the program returns.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import daqp
import numpy as np
from stewart_cueing.errors import VehicleInputError
from stewart_cueing.governor import Governor
from stewart_cueing.vehicle.washout import GRAVITY, LEVEL, WashoutSettings
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.solvers.jacobian import jacobian
from stewart_kinematics.spatial import (
    compose_quaternions,
    exp_quaternion,
    log_quaternion,
    matrix_from_quaternion,
    rpy_from_quaternion,
    skew,
)

INTERVAL = 0.01
"""Time between two plans [s]."""

BLOCKS = (0.02, 0.03, 0.05, 0.09, 0.15, 0.25, 0.4, 0.6, 0.9)
"""Lengths of the blocks after the first, which lasts one interval [s]."""

PART = 0.95
"""Part of every limit that a plan may use; the rest is for the governor's stop [-]."""

SOFTNESS = 1e-4
"""Softness of all constraints except rest and jerk, in DAQP's scaling."""

LASTING, FADING = 0.3, 0.15
"""Time constants: low-pass whose output is predicted to persist, and decay of the rest [s]."""

ITERATIONS = 300
"""Limit of the solver's iterations."""

SOFT, EQUAL, END_ROWS = 8, 5, 12
"""DAQP's codes of soft and equality constraints, and the number of rows of the rest."""

LEAST_EFFORT = 1e-6
"""Regularisation of the jerk, so that the program is strictly convex."""

UNIT = np.array([1.0, 0.0, 0.0])
"""Direction assumed for a vector of length 0."""


@dataclass(frozen=True)
class Weights:
    """Weights of the cost, per second; all values are ours.

    Attributes:
        force, rate: Error of specific force [1/(m/s²)²] and rate [1/(rad/s)²].
        position, attitude: Distance from the centre [1/m²], [1/rad²].
        velocity: Of the platform [1/(m/s)²].
        jerk: Part of the allowed jerk [-].
    """

    force: float = 1.0
    rate: float = 30.0
    position: float = 0.5
    attitude: float = 2.0
    velocity: float = 0.1
    jerk: float = 1e-3


class OptimalCueing:
    """Model predictive cueing from rest at the neutral pose.

    Args:
        settings: Scales and bounds of the input, and the head; its filters are not used.
        period: Time between two calls of `advance` [s].

    Attributes:
        governor: Holds the motion, and what limits it.
        failures: Number of programs that the solver failed to solve.
    """

    def __init__(
        self,
        guard: MotionGuard,
        settings: WashoutSettings,
        period: float,
        weights: Weights = Weights(),
    ) -> None:
        platform = guard.platform
        self._geometry, self._limits = platform.geometry, platform.limits
        self._centre, self._guard = platform.geometry.neutral_pose, guard
        self.governor, self.failures = Governor(guard, self._centre, period=period), 0
        self._period, self._rows = period, 0
        self._every = max(1, round(INTERVAL / period))
        self._scales, self._bounds = settings.scales, settings.bounds
        yaw = rpy_from_quaternion(self._centre.quaternion_xyzw)[2]
        self._home = exp_quaternion([0.0, 0.0, yaw])
        lengths = np.array([self._every * period, *BLOCKS])
        self._horizon = Horizon(lengths)
        part = PART * guard.scale / math.sqrt(3.0)
        self._scale = np.tile(part * np.repeat(self._limits.jerks, 3), len(lengths))
        self._intervals = self._limit_intervals()
        self._end = np.kron(self._horizon.gain[1:, -1], np.eye(6)) * self._scale
        head = matrix_from_quaternion(self._home) @ np.array(settings.head)
        self._errors = self._sum_of_squares(weights, head)
        self._lasting = np.zeros(6)
        self._learnt = 1.0 - math.exp(-lengths[0] / LASTING)
        self._fading = np.exp(-np.cumsum(lengths) / FADING)[:, None]
        self._program: daqp.Model | None = None
        self._ahead = np.zeros((3, len(lengths), 6))
        # The first program costs as much as ten later ones: it is set up before anybody waits.
        self._jerk = self._planned(self.governor.plan.sample(0.0), LEVEL)

    def advance(self, now: float, sample: Array) -> Motion:
        """Go on from `now` towards the motion of the vehicle.

        Args:
            now: Time since the start [s]; it must not go back.
            sample: Specific force and rate (6,) of the vehicle at the head, in its axes.

        Returns:
            The motion at `now`.

        Raises:
            VehicleInputError: If the sample is not six finite numbers.
        """
        if sample.shape != (6,) or not np.isfinite(sample).all():
            raise VehicleInputError(f'expected six finite numbers [m/s², rad/s], got {sample}')
        state = self.governor.plan.sample(now)
        if self._rows % self._every == 0:
            self._jerk = self._planned(state, sample)
        self._rows += 1
        if self._jerk is None:
            return state
        return self.governor.accelerate(now, state.acceleration + self._period * self._jerk)

    def _planned(self, state: Motion, sample: Array) -> Array | None:
        """Return the jerk (6,) to apply; None if the solver fails."""
        free = self._horizon.free(state)
        gradient = -self._errors.T @ self._wanted(state, sample, free)
        matrix, bounds = self._constraints(state, free, self._horizon.shifted(self._ahead))
        if not np.isfinite(bounds).all():
            # Out of reach of a rod: linearise about the present pose instead.
            matrix, bounds = self._constraints(state, free, np.zeros_like(free))
        solution = self._solved(gradient, matrix, bounds)
        if solution is None:
            # The governor comes to rest; start the solver afresh.
            self.failures, self._program = self.failures + 1, None
            self._ahead = np.zeros_like(free)
            return None
        jerks = (self._scale * solution).reshape(-1, 6)
        self._ahead = free + self._horizon.gain @ jerks
        return jerks[0]

    def _solved(self, gradient: Array, matrix: Array, bounds: Array) -> Array | None:
        """Return the solution, warm-started; None if the solver fails."""
        # The simple bounds of the variables, ± 1, come first.
        lower, upper = (
            np.concatenate([np.full(gradient.size, sign), row])
            for sign, row in zip((-1.0, 1.0), bounds, strict=True)
        )
        if self._program is None:
            self._program = daqp.Model()
            self._program.settings = {'rho_soft': SOFTNESS, 'iter_limit': ITERATIONS}
            kinds = np.zeros(lower.size, dtype=np.int32)
            kinds[gradient.size : -END_ROWS], kinds[-END_ROWS:] = SOFT, EQUAL
            hessian = self._errors.T @ self._errors
            found = self._program.setup(hessian, gradient, matrix, upper, lower, kinds)[0]
        else:
            found = self._program.update(f=gradient, A=matrix, bupper=upper, blower=lower)
        if found < 0:
            return None
        solution, _, found, _ = self._program.solve()
        return solution if found > 0 and np.isfinite(solution).all() else None

    def _sum_of_squares(self, weights: Weights, head: Array) -> Array:
        """Return the matrix (r, 6 n) of the least-squares cost; variables are jerk over its bound.

        Its rows are those of `_wanted`, then one for each variable.
        """
        nothing, unit = np.zeros((3, 3)), np.eye(3)
        felt = np.hstack([unit, -skew(head)]), np.hstack([nothing, skew([0.0, 0.0, GRAVITY])])
        linear, angular = np.hstack([unit, nothing]), np.hstack([nothing, unit])
        way, velocity, acceleration = self._horizon.gain
        parts = [
            (weights.force, np.kron(acceleration, felt[0]) + np.kron(way, felt[1])),
            (weights.rate, np.kron(velocity, angular)),
            (weights.position, np.kron(way, linear)),
            (weights.attitude, np.kron(way, angular)),
            (weights.velocity, np.kron(velocity, linear)),
        ]
        self._felt, self._shares = felt, np.sqrt(np.repeat(self._horizon.lengths, 3))
        self._roots = np.sqrt([weight for weight, _ in parts])
        rows = [
            root * self._shares[:, None] * part * self._scale
            for root, (_, part) in zip(self._roots, parts, strict=True)
        ]
        effort = np.sqrt(weights.jerk * np.repeat(self._horizon.lengths, 6)) + LEAST_EFFORT
        return np.vstack([*rows, np.diag(effort)])

    def _wanted(self, state: Motion, sample: Array, free: Array) -> Array:
        """Return the targets (r,) of the least-squares cost."""
        asked = (sample - LEVEL) * self._scales
        asked = np.clip(asked, -self._bounds, self._bounds)
        self._lasting += self._learnt * (asked - self._lasting)
        asked = self._lasting + self._fading * (asked - self._lasting)
        rotation = matrix_from_quaternion(state.quaternion_xyzw)
        up = LEVEL[:3]
        force = (asked[:, :3] + up) @ rotation.T - up
        off = log_quaternion(
            compose_quaternions(state.quaternion_xyzw, self._home * [-1.0, -1.0, -1.0, 1.0])
        )
        way, velocity, acceleration = free
        targets = [
            force - acceleration @ self._felt[0].T - way @ self._felt[1].T,
            asked[:, 3:] @ rotation.T - velocity[:, 3:],
            self._centre.position - state.position - way[:, :3],
            -off - way[:, 3:],
            -velocity[:, :3],
        ]
        rows = [
            root * self._shares * target.ravel()
            for root, target in zip(self._roots, targets, strict=True)
        ]
        return np.concatenate([*rows, np.zeros(self._scale.size)])

    def _limit_intervals(self) -> list[tuple[Array, Array]]:
        """Return middle and half length of what is constrained, for each order of derivative.

        First come the six legs; then yaw, pitch, roll, or the linear and angular halves.
        """
        limits, scale, both = self._limits, self._guard.scale, [-1.0, 1.0]
        legs = np.outer(np.ones(6), both)
        turns = np.stack([limits.yaw, limits.pitch, limits.roll])
        intervals = [
            (limits.stroke, turns),
            (limits.rate * scale * legs, np.outer(scale * limits.velocities, both)),
            (limits.acceleration * scale * legs, np.outer(scale * limits.accelerations, both)),
        ]
        joined = [np.concatenate(parts) for parts in intervals]
        return [(part.mean(axis=1), 0.5 * np.ptp(part, axis=1)) for part in joined]

    def _constraints(self, state: Motion, free: Array, ahead: Array) -> tuple[Array, Array]:
        """Return the constraint matrix (m, 6 n) and lower and upper bounds (2, m).

        Constraints are linearised about a motion (3, n, 6) and divided by half their interval.
        """
        motion = Motion(
            state.position + ahead[0, :, :3],
            compose_quaternions(exp_quaternion(ahead[0, :, 3:]), state.quaternion_xyzw),
            ahead[1],
            ahead[2],
        )
        legs, geometry = inverse(self._geometry, motion), self._geometry
        legwise = jacobian(geometry, motion.position, motion.quaternion_xyzw)
        angles = self._limits.nearest_turn(rpy_from_quaternion(motion.quaternion_xyzw))[..., ::-1]
        along = [_along(motion.twist), _along(motion.acceleration)]
        slopes = [_euler_slopes(angles), *(rows for rows, _ in along)]
        values = [angles, *(length for _, length in along)]
        legs_values = legs.stroke, legs.rate, legs.acceleration
        matrices, bounds = [], []
        for order, (middle, size) in enumerate(self._intervals):
            slope = np.concatenate([legwise, slopes[order]], axis=1) / size[:, None]
            gain = self._horizon.gain[order][:, None, :, None]
            rows = gain * (slope * self._scale[:6])[:, :, None, :]
            matrices.append(rows.reshape(-1, self._scale.size))
            away = (slope @ (free[order] - ahead[order])[:, :, None])[:, :, 0]
            value = np.concatenate([legs_values[order], values[order]], axis=1)
            there = ((value - middle) / size + away).ravel()
            bounds.append(np.stack([-PART - there, PART - there]))
        end = -free[1:, -1].ravel()
        return np.vstack([*matrices, self._end]), np.hstack([*bounds, np.stack([end, end])])


class Horizon:
    """Blocks of constant jerk and the motion at their ends.

    Attributes:
        lengths (n,): Of the blocks [s].
        gain (3, n, n): Displacement, velocity, acceleration at block ends per unit jerk.
    """

    def __init__(self, lengths: Array) -> None:
        self.lengths, self._ends = lengths, np.cumsum(lengths)
        begin = self._ends - lengths
        since = np.maximum(self._ends[:, None] - begin, 0.0)
        after = np.maximum(self._ends[:, None] - self._ends, 0.0)
        self.gain = np.stack([(since**k - after**k) / math.factorial(k) for k in (3, 2, 1)])

    def free(self, state: Motion) -> Array:
        """Return displacement, velocity and acceleration (3, n, 6) for zero jerk."""
        t, a = self._ends[:, None], state.acceleration
        way = t * state.twist + 0.5 * t * t * a
        return np.stack([way, state.twist + t * a, np.broadcast_to(a, way.shape)])

    def shifted(self, ahead: Array) -> Array:
        """Return a plan (3, n, 6) as seen one first block later, interpolated linearly."""
        time = np.minimum(self._ends + self.lengths[0], self._ends[-1])
        place = np.minimum(np.searchsorted(self._ends, time), len(time) - 1)
        share = (time - self._ends[place - 1]) / self.lengths[place]
        before, after = ahead[:, place - 1], ahead[:, place]
        moved = before + share[:, None] * (after - before)
        moved[0] -= ahead[0, 0]
        return np.asarray(moved)


def _along(vectors: Array) -> tuple[Array, Array]:
    """Return unit rows (k, 2, 6) along linear and angular halves (k, 6), and their lengths."""
    halves = vectors.reshape(-1, 2, 3)
    length = np.linalg.norm(halves, axis=-1)
    unit = np.where(length[..., None] > 1e-9, halves / np.maximum(length, 1e-9)[..., None], UNIT)
    rows = np.zeros((len(vectors), 2, 6))
    rows[:, 0, :3], rows[:, 1, 3:] = unit[:, 0], unit[:, 1]
    return rows, length


def _euler_slopes(angles: Array) -> Array:
    """Return rows (k, 3, 6): yaw, pitch, roll (k, 3) by a small rotation in base axes."""
    yaw, pitch = angles[:, 0], angles[:, 1]
    rows = np.zeros((len(angles), 3, 6))
    rows[:, 2, 3], rows[:, 2, 4] = np.cos(yaw) / np.cos(pitch), np.sin(yaw) / np.cos(pitch)
    rows[:, 1, 3], rows[:, 1, 4] = -np.sin(yaw), np.cos(yaw)
    rows[:, 0, 3:5] = np.sin(pitch)[:, None] * rows[:, 2, 3:5]
    rows[:, 0, 5] = 1.0
    return rows
