# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""The pose that a tracker or a camera gives, late by an unknown constant, as a third sensor.

A pose with stamp :math:`s` describes the platform at :math:`s - d`. It is met at the first leg
sample from there on; the motion between the two is a parabola. The delay :math:`d` is a state, so
with velocity v and acceleration a the residual depends on its error :math:`\delta` as
:math:`-v\,\delta + a\,\delta^2/2 - j\,\delta^3/6`. The second-order term is taken into the mean
and the covariance of the residual (Bar-Shalom, Li, Kirubarajan 2001, section 10.3.2), the
third-order one into the covariance, with the jerk of a sine, :math:`j = a^2/v`: a delay that is
known to 0.1 s would else count as known after the first pose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri
from stewart_estimation.arrangement import Arrangement
from stewart_estimation.errors import SampleError
from stewart_estimation.estimate import Estimate, MetPose
from stewart_estimation.kernels.correction import shift
from stewart_estimation.kernels.prediction import CLEAR
from stewart_estimation.kernels.records import (
    DELAY,
    EXTERNAL,
    FilterState,
    FORCE_BIAS,
    R_ACCELERATION,
    R_RATE,
    R_SPIN,
    TURN,
)
from stewart_estimation.reinitialisation import PLACED, start_covariance, START_VELOCITY
from stewart_estimation.samples import Stamped
from stewart_estimation.settings import ExternalPose
from stewart_kinematics.errors import ShapeError
from stewart_kinematics.motion import Array, read_only
from stewart_kinematics.spatial import (
    compose_quaternions,
    exp_quaternion,
    invert_quaternion,
    log_quaternion,
    matrix_from_quaternion,
    skew,
)

START_TURN = 1.0
"""How fast a platform may turn between a pose that was given and the start there [rad/s]."""

MOVES, MOST_AGE = 0.01, 1.0
"""One whose lengths come so soon may move; one that said nothing for longer has rested, and may
be anywhere after so long [s]. Less certain than that, five lengths would lead a filter astray that
thinks it knows."""

NORM = 1e-2
"""By so much the norm of a quaternion may be off from 1: it was rounded."""

LOST = 10
"""After so many refused poses in a row the delay counts as unknown again."""


@dataclass(frozen=True, eq=False)
class PoseSeries(Stamped):
    """Poses of ``platform_link`` in ``base_link``, by increasing stamp.

    Attributes:
        stamps (n,): [s].
        position, quaternion_xyzw (n, 3), (n, 4): [m].
        covariance (n, 6, 6): Of position and rotation about base axes; zeros where unknown.

    Raises:
        ShapeError: If a shape differs.
        SampleError: If a number is not finite, a quaternion has no length or a stamp comes twice.
    """

    position: Array
    quaternion_xyzw: Array
    covariance: Array

    def __post_init__(self) -> None:
        count = np.shape(self.stamps)[0]
        for name, shape in (
            ('stamps', (count,)),
            ('position', (count, 3)),
            ('quaternion_xyzw', (count, 4)),
            ('covariance', (count, 6, 6)),
        ):
            values = read_only(getattr(self, name))
            if values.shape != shape:
                raise ShapeError(name, str(shape), values.shape)
            bad = np.argwhere(~np.isfinite(values))
            if bad.size:
                raise SampleError(f'external pose {bad[0][0]}: {name} must be finite')
            object.__setattr__(self, name, values)
        norms = np.linalg.norm(self.quaternion_xyzw, axis=1)
        if np.any(np.abs(norms - 1.0) > NORM):
            worst = int(np.argmax(np.abs(norms - 1.0)))
            raise SampleError(f'external pose {worst}: norm of the quaternion is {norms[worst]:g}')
        if np.any(np.diff(self.stamps) <= 0.0):
            row = int(np.argmax(np.diff(self.stamps) <= 0.0)) + 1
            raise SampleError(f'external pose {row}: stamp {self.stamps[row]} s is not increasing')

    def joined(self, stamp: float, pose: Array, covariance: Array) -> PoseSeries:
        """Return the series with a pose (7,) and its covariance (6, 6) put in by its stamp."""
        at = int(np.searchsorted(self.stamps, stamp))
        rows = slice(at, at + int(at < len(self) and self.stamps[at] == stamp))
        parts = (np.array(stamp), pose[:3], pose[3:], covariance)
        return PoseSeries(
            *(
                np.insert(np.delete(values, rows, axis=0), at, part, axis=0)
                for values, part in zip(vars(self).values(), parts, strict=True)
            )
        )

    def since(self, stamp: float) -> PoseSeries:
        """Return the poses from a stamp on."""
        first = int(np.searchsorted(self.stamps, stamp))
        return self[first:] if first else self


NO_POSES = PoseSeries(np.empty(0), np.empty((0, 3)), np.empty((0, 4)), np.empty((0, 6, 6)))


def are_poses(position: Array, quaternion_xyzw: Array, covariance: Array) -> NDArray[np.bool_]:
    """Say of each row (n, 3), (n, 4), (n, 6, 6) whether a `PoseSeries` takes it, shape (n,)."""
    finite = [
        np.isfinite(values).reshape(len(values), -1).all(axis=1)
        for values in (position, quaternion_xyzw, covariance)
    ]
    with np.errstate(all='ignore'):
        norms = np.linalg.norm(quaternion_xyzw, axis=1)
    return np.logical_and.reduce([*finite, np.abs(norms - 1.0) <= NORM])


def due(poses: PoseSeries, filtered: FilterState) -> int:
    """Return the row of the next pose that was not met yet; write when it is due."""
    row = int(np.searchsorted(poses.stamps, filtered.memory.posed, side='right'))
    filtered.memory.pose_due = poses.stamps[row] if row < len(poses) else np.inf
    return row


def fuse(
    arrangement: Arrangement,
    filtered: FilterState,
    report: Array,
    poses: PoseSeries,
    row: int,
) -> MetPose:
    """Correct the filter by the pose of a row; return what became of it.

    Args:
        arrangement, filtered: The filter, just corrected by a leg sample.
        report (31,): Motion at that sample, as `kernels.report` writes it.
        poses, row: The pose to be met.
    """
    told = arrangement.settings.external
    assert told is not None
    filtered.memory.posed = poses.stamps[row]
    state, covariance, setup = filtered.state, filtered.covariance, arrangement.setup
    at = setup.external_at
    rate, pull, spin = (report[k : k + 3] for k in (R_RATE, R_ACCELERATION, R_SPIN))
    # Poses before this one may have moved the state: place and velocity are made anew.
    arm = matrix_from_quaternion(state[TURN:FORCE_BIAS]) @ setup.origin
    here = compose_quaternions(state[TURN:FORCE_BIAS], setup.to_platform_turn)
    velocity, unknown = state[3:6] + np.cross(rate, arm), covariance[at, at]
    lead = poses.stamps[row] - state[EXTERNAL] + state[DELAY] - filtered.memory.time
    turn = compose_quaternions(exp_quaternion(lead * rate + 0.5 * lead**2 * spin), here)
    axes = matrix_from_quaternion(turn)
    second = 0.5 * np.concatenate([pull, axes.T @ spin])
    place = state[:3] + arm + lead * velocity + 0.5 * lead**2 * pull
    residual = np.concatenate(
        [
            poses.position[row] - place,
            log_quaternion(
                compose_quaternions(invert_quaternion(turn), poses.quaternion_xyzw[row])
            ),
        ]
    )
    jacobian = _jacobian(arrangement, state, lead, velocity, axes.T @ rate)
    jacobian[:3, at] = -(velocity + lead * pull)
    jacobian[3:, at] = -axes.T @ (rate + lead * spin)
    residual -= second * unknown
    spread = _in_platform_axes(poses.covariance[row], axes, told.position, told.attitude)
    spread += 2.0 * np.outer(second, second) * unknown**2
    moving = velocity, rate, pull, spin
    considered, more = _of_the_delay(told, setup, covariance, jacobian, moving)
    spread += more
    crossed = covariance @ jacobian.T
    spread += jacobian @ crossed
    gain = np.linalg.solve(spread, crossed.T).T
    nis = float(residual @ np.linalg.solve(spread, residual))
    passed = bool(nis <= chdtri(6, told.probability))
    met = MetPose(passed, residual, np.sqrt(np.diagonal(spread)), nis)
    if not passed:
        _refuse(filtered, at, told.sigma)
        return met
    filtered.memory.refused = 0
    change = gain @ residual
    covariance -= gain @ crossed.T
    covariance[:] = 0.5 * (covariance + covariance.T)
    if considered:
        covariance[at, at], change[at] = unknown, 0.0
    shift(setup, filtered, change)
    return met


def _of_the_delay(
    told: ExternalPose,
    setup: np.record,
    covariance: Array,
    jacobian: Array,
    moving: tuple[Array, Array, Array, Array],
) -> tuple[bool, Array]:
    """Tell whether the delay is only considered, and what it adds to the residual's covariance.

    At rest it would follow the error of the velocity if it were estimated. Nor may it go with the
    position then, or the legs would move it: its column of the Jacobian becomes 0.

    Args:
        told, setup, covariance, jacobian: As `fuse` has them.
        moving (3,): Velocity, angular velocity, and the accelerations of both.
    """
    velocity, rate, pull, spin = moving
    at, reach = setup.external_at, setup.delay_arm
    unknown = covariance[at, at]
    square = velocity @ velocity + reach**2 * (rate @ rate)
    doubt = np.trace(covariance[3:6, 3:6]) + reach**2 * np.trace(covariance[12:15, 12:15])
    if square < max(told.moving**2, CLEAR * doubt):
        more = np.outer(jacobian[:, at], jacobian[:, at]) * unknown
        jacobian[:, at] = 0.0
        return True, more
    bend = pull @ pull + reach**2 * (spin @ spin)
    third = 15.0 / 36.0 * bend**2 / square * unknown**3
    return False, np.diag(np.repeat([third, third / reach**2], 3))


def _refuse(filtered: FilterState, at: int, sigma: float) -> None:
    """Count a refused pose; `LOST` of them in a row make the delay unknown again, to `sigma` [s].

    So many poses are not wrong; what they are held against is, and that is the delay.
    """
    memory, covariance = filtered.memory, filtered.covariance
    memory.refused += 1
    if memory.refused >= LOST:
        memory.refused = 0
        covariance[at, :] = covariance[:, at] = 0.0
        covariance[at, at] = sigma**2


def _jacobian(
    arrangement: Arrangement, state: Array, lead: float, velocity: Array, rate: Array
) -> Array:
    """Return how position and attitude of ``platform_link`` depend on the tangent, (6, n)."""
    setup = arrangement.setup
    jacobian = np.zeros((6, arrangement.size))
    jacobian[:3, :3], jacobian[:3, 3:6] = np.eye(3), lead * np.eye(3)
    sensor = matrix_from_quaternion(state[TURN:FORCE_BIAS])
    jacobian[:3, 6:9] = -sensor @ skew(setup.origin)
    jacobian[3:, 6:9], jacobian[3:, 12:15] = setup.to_platform, -lead * setup.to_platform
    if setup.delay_at >= 0:
        jacobian[:3, setup.delay_at], jacobian[3:, setup.delay_at] = velocity, rate
    return jacobian


def _in_platform_axes(stated: Array, axes: Array, position: float, attitude: float) -> Array:
    """Return the covariance (6, 6) of a pose with its rotation in platform axes, R being `axes`.

    Where it states no variance it has these sigmas [m], [rad].
    """
    unknown, turn = np.diagonal(stated) <= 0.0, np.eye(6)
    assumed = np.diag(np.repeat([position, attitude], 3) ** 2)
    turn[3:, 3:] = axes.T
    return np.asarray(turn @ np.where(unknown[:, None] | unknown, assumed, stated) @ turn.T)


def estimate_at(stamp: float, pose: Array, covariance: Array) -> Estimate:
    """Return an estimate to start from: a pose (7,) [m] at rest, as far as is known.

    Args:
        stamp: [s].
        pose: Position and quaternion x, y, z, w in ``base_link``.
        covariance (6, 6): Of position and rotation about base axes; 1 cm and 0.02 rad where it
            states no variance.
    """
    known = _in_platform_axes(covariance, matrix_from_quaternion(pose[3:]), 1e-2, 2e-2)
    return Estimate(stamp, pose[:3], pose[3:], start_covariance(known))


def begun_at(estimate: Estimate, stamp: float) -> Estimate:
    """Return an estimate at another stamp [s], at which the platform speaks for the first time.

    Raises:
        SampleError: If they are farther apart than `MOST_AGE`.
    """
    age = stamp - estimate.stamp
    if abs(age) > MOST_AGE:
        raise SampleError(
            f'the pose that was given is of {age:.1f} s before the first lengths, allowed are '
            f'{MOST_AGE:g} s'
        )
    covariance = estimate.covariance.copy()
    if abs(age) < MOVES:
        covariance[PLACED, PLACED] += (np.repeat([START_VELOCITY, START_TURN], 3) * age) ** 2
    return replace(estimate, stamp=stamp, covariance=covariance)
