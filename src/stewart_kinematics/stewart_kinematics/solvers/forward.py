# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics: from the six lengths to the pose of the platform.

Source: Vigo (Machines 2022, 10, 711), Algorithm 2. Six lengths have many poses; the one that is
returned as converged is the only one in the assured region about the neutral pose, see
`stewart_kinematics.solvers.uniqueness`. That does not depend on where the iteration started.

Limits: lengths alone cannot tell a platform that has left the assured region, through a
singularity say, from one that has not, if a pose of the region has the very same lengths. Then
the pose of the region is returned. Every other platform outside is reported as not converged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from stewart_kinematics.errors import ConvergenceError, ShapeError, StewartError
from stewart_kinematics.kernels import newton as kernels
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array, Pose, read_only
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.solvers.jacobian import condition_number, jacobian
from stewart_kinematics.solvers.rods import PAST_DEAD_CENTRE, RodSolver
from stewart_kinematics.solvers.uniqueness import uniqueness_region


class ForwardStatus(IntEnum):
    """How a solution ended.

    Attributes:
        CONVERGED: The pose has the lengths, and is the only one of the assured region that has
            them.
        NOT_CONVERGED: The iteration ran out of steps; no pose was found.
        SINGULAR: The iteration came to a singularity, or the pose found is one.
        WRONG_ASSEMBLY: The pose has the lengths, but lies behind a singularity: sign of det J
            differs from that of the neutral pose.
        OUTSIDE_REGION: The pose has the lengths and the neutral pose's sign of det J, but lies
            outside the assured region: other poses with these lengths may exist.
        PAST_DEAD_CENTRE: The pose has the lengths, but a crank or a carriage is on the side of its
            dead centre on which no motion has it.
    """

    CONVERGED = kernels.CONVERGED
    NOT_CONVERGED = kernels.NOT_CONVERGED
    SINGULAR = kernels.SINGULAR
    WRONG_ASSEMBLY = kernels.WRONG_ASSEMBLY
    OUTSIDE_REGION = kernels.OUTSIDE_REGION
    PAST_DEAD_CENTRE = PAST_DEAD_CENTRE


REASONS = {
    ForwardStatus.CONVERGED: 'converged',
    ForwardStatus.NOT_CONVERGED: 'no pose has these lengths',
    ForwardStatus.SINGULAR: 'the search ended at a singularity',
    ForwardStatus.WRONG_ASSEMBLY: 'the pose found lies behind a singularity',
    ForwardStatus.PAST_DEAD_CENTRE: (
        'a joint is past its dead centre: bring it back by itself (stewart jog leg)'
    ),
    ForwardStatus.OUTSIDE_REGION: 'the pose found may not be the only one with these lengths',
}


@dataclass(frozen=True, eq=False)
class ForwardResult:
    """Pose of one sample, or poses of a batch, and how far they can be trusted.

    Attributes:
        position (3,): Origin of ``platform_link`` in ``base_link`` [m]; where not converged the
            last iterate.
        quaternion_xyzw (4,): Unit quaternion, scalar last.
        status (n,): How it ended.
        iterations (n,): Newton steps, those of a second attempt from the neutral pose included.
        residual (n,): Largest difference between a length asked for and a length of the pose [m].
    """

    position: Array
    quaternion_xyzw: Array
    status: ForwardStatus | NDArray[np.int64]
    iterations: int | NDArray[np.int64]
    residual: float | Array
    _geometry: Geometry = field(repr=False)

    @property
    def converged(self) -> bool | NDArray[np.bool_]:
        """Whether the pose may be used, a bool or shape (n,)."""
        return self.status == ForwardStatus.CONVERGED

    @cached_property
    def condition_number(self) -> float | Array:
        """Condition number of the Jacobian, a float or (n,); computed when first asked for."""
        values = condition_number(self._geometry, self.position, self.quaternion_xyzw)
        return values if values.ndim else float(values)

    @property
    def pose(self) -> Pose:
        """Pose of a single sample."""
        return Pose(self.position, self.quaternion_xyzw)

    @property
    def reason(self) -> str:
        """What `status` of a single sample means, in words."""
        return self.report()

    def report(self, index: int = 0) -> str:
        """Say in a clause how a sample ended, and how far a search came that failed."""
        status, iterations, residual = (
            np.ravel(item)[index] for item in (self.status, self.iterations, self.residual)
        )
        left = f' (after {iterations} iterations {residual:.3g} m are left)' if status else ''
        return REASONS[ForwardStatus(int(status))] + left


Solution = tuple[Array, Array, NDArray[np.int64]]
"""Poses (n, 7), figures (n, 3) and status (n,); figures: iterations, largest error [m], det J."""


class ForwardSolver:
    """Forward kinematics of a geometry on linear legs, with what is computed once for it.

    Attributes:
        region: In which a pose is the only one with its lengths.
        constants (11,): Of the kernels, in the places that `kernels.newton` names.
        cone (36, 8): The region: lower triangles of its matrices, one matrix a column.
        neutral (7,): The neutral pose: position and quaternion.

    Raises:
        GeometryError: If no region about the neutral pose has one solution only.
    """

    def __init__(self, geometry: Geometry) -> None:
        pose, self.region = geometry.neutral_pose, uniqueness_region(geometry)
        self._joints = geometry.base_joints, geometry.platform_joints
        # numpy adds rows to rows in half the time that it takes for a vector and rows.
        self._retracted = geometry.retracted_length.reshape(1, 6)
        self.neutral = read_only(np.concatenate([pose.position, pose.quaternion_xyzw]))
        home = jacobian(geometry, pose.position, pose.quaternion_xyzw)
        home[:, 3:] /= geometry.length_scale
        length = leg_lengths(geometry, pose.position, pose.quaternion_xyzw)
        known = geometry.length_scale, self.region.certain, np.linalg.det(home), length.mean()
        self.constants = read_only(kernels.constants_of(self.neutral, *known))
        self.cone = read_only(self.region.cone.transpose(1, 2, 0)[np.tril_indices(8)])

    @staticmethod
    @lru_cache(maxsize=64)
    def of(geometry: Geometry) -> ForwardSolver:
        """Return the solver of a geometry, made once."""
        return ForwardSolver(geometry)

    def solve(self, rows: Array, start: Array | None, *, follow: bool = True) -> Solution:
        """Solve lengths (n, 6) [m]; a start is (7,), `follow` is that of `forward_batch`."""
        count = rows.shape[0]
        poses, figures = np.empty((count, 7)), np.empty((count, 3))
        status = np.zeros(count, np.int64)
        own = *self._joints, self.constants, self.cone
        first = self.neutral if start is None else start
        kernels.forward(*own, rows, first, follow, poses, figures, status)
        # A row without lengths ends the work, so that the last status tells for one sample.
        if count and (count > 1 or status[0] == kernels.NO_LENGTHS):
            _refuse_bad_lengths(rows, status)
        poses.setflags(write=False)
        return poses, figures, status

    def from_positions(self, rows: Array, start: Array | None = None) -> Solution:
        """Solve strokes (n, 6) [m]."""
        return self.solve(self._retracted + rows, start)

    def twist(self, position: Array, quaternion_xyzw: Array, rates: Array) -> Array:
        """Return the twist (6,) of leg rates (6,) [m/s]; NaN at a singular pose."""
        twist, pose = np.empty(6), np.concatenate([position, quaternion_xyzw])
        kernels.forward_twist(*self._joints, self.constants, pose, rates, twist)
        return twist


def solver_of(geometry: Geometry) -> ForwardSolver | RodSolver:
    """Return the solver of a geometry's kind of legs, made once."""
    return (ForwardSolver if geometry.rods is None else RodSolver).of(geometry)


def forward(
    geometry: Geometry, lengths: ArrayLike, start: Pose | ForwardResult | None = None
) -> ForwardResult:
    """Find the pose that has six joint-to-joint lengths (6,) [m] (Vigo, Algorithm 2).

    A start near the pose saves steps and changes nothing else: what fails from it is tried again
    from the neutral pose, which is the default.

    Raises:
        ShapeError: If there are not six lengths.
        StewartError: If a length is not a positive, finite number.
    """
    row = _six('lengths', lengths)
    return result_of(geometry, *ForwardSolver.of(geometry).solve(row, _first(start)))


def forward_batch(
    geometry: Geometry, lengths: ArrayLike, start: Pose | None = None, *, follow: bool = True
) -> ForwardResult:
    """Find the poses of many samples, joint-to-joint lengths (n, 6) [m].

    Every sample begins at `start`, by default the neutral pose, or with `follow`, as fits samples
    of a motion, all but the first at the pose of the one before.

    Raises:
        ShapeError, StewartError: As `forward`; sample and leg are named.
    """
    rows = _sixes('lengths', lengths)
    solver = ForwardSolver.of(geometry)
    return _batch(geometry, *solver.solve(rows, _first(start), follow=follow))


def forward_from_positions(
    geometry: Geometry, positions: ArrayLike, start: Pose | ForwardResult | None = None
) -> ForwardResult:
    """Find the pose at which the legs' joints have positions (6,): strokes, carriages or angles.

    As `forward`; the residual is that of the lengths of legs or rods [m].
    """
    row = _six('positions', positions)
    return result_of(geometry, *solver_of(geometry).from_positions(row, _first(start)))


def forward_batch_from_positions(geometry: Geometry, positions: ArrayLike) -> ForwardResult:
    """Find the poses of many samples of joint positions (n, 6), as `forward_batch` does."""
    return _batch(geometry, *solver_of(geometry).from_positions(_sixes('positions', positions)))


def forward_twist(geometry: Geometry, pose: ForwardResult | Pose, rates: ArrayLike) -> Array:
    """Return the twist (6,) [m/s, rad/s] in base axes of rates (6,) of the legs' joints at a pose.

    Raises:
        ShapeError: If there are not six rates.
        ConvergenceError: If the result is not converged, or the pose is singular.
    """
    row = _six('rates', rates)[0]
    if isinstance(pose, ForwardResult) and not pose.converged:
        raise ConvergenceError(f'no twist without a pose: {pose.reason}')
    twist = solver_of(geometry).twist(pose.position, pose.quaternion_xyzw, row)
    if np.all(np.isfinite(row)) and not np.all(np.isfinite(twist)):
        raise ConvergenceError('rates of the joints determine no twist at a singular pose')
    return twist


def _six(name: str, values: ArrayLike) -> Array:
    """Return six numbers as a row (1, 6)."""
    row = np.ascontiguousarray(values, dtype=np.float64)
    if row.shape != (6,):
        raise ShapeError(name, '(6,)', row.shape)
    return row.reshape(1, 6)


def _sixes(name: str, values: ArrayLike) -> Array:
    rows = np.ascontiguousarray(values, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 6:
        raise ShapeError(name, '(n, 6)', rows.shape)
    return rows


def result_of(
    geometry: Geometry, poses: Array, figures: Array, status: NDArray[np.int64]
) -> ForwardResult:
    """Return the pose of a single sample with its figures."""
    pose, (iterations, residual, _) = poses[0], figures[0].tolist()
    outcome = ForwardStatus(int(status[0]))
    return ForwardResult(pose[:3], pose[3:], outcome, int(iterations), residual, geometry)


def _batch(
    geometry: Geometry, poses: Array, figures: Array, status: NDArray[np.int64]
) -> ForwardResult:
    """Return the poses of a batch with their figures."""
    iterations = figures[:, 0].astype(np.int64)
    for array in (status, iterations, figures):
        array.setflags(write=False)
    return ForwardResult(poses[:, :3], poses[:, 3:], status, iterations, figures[:, 1], geometry)


def _first(start: Pose | ForwardResult | None) -> Array | None:
    """Return where the iteration starts (7,), position and quaternion; None: where it likes."""
    if start is None:
        return None
    first = np.empty(7)
    first[:3], first[3:] = start.position, start.quaternion_xyzw
    return first


def _refuse_bad_lengths(rows: Array, status: NDArray[np.int64]) -> None:
    """Name the first length that is none."""
    bad = np.flatnonzero(status == kernels.NO_LENGTHS)
    if bad.size:
        index = int(bad[0])
        leg = int(np.flatnonzero(~((rows[index] > 0.0) & np.isfinite(rows[index])))[0])
        place = f' at sample {index}' if rows.shape[0] > 1 else ''
        raise StewartError(
            f'lengths{place}: leg {leg + 1} must be a finite number above 0 m, '
            f'got {rows[index, leg]:.6g} m'
        )
