# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Time the forward kinematics against scipy's fsolve and a Pinocchio closed-loop Newton.

All start at the neutral pose of the Vigo platform and solve the same random poses (+-100 mm,
+-15 degrees), to 1e-12 m; their answers are compared before anything is timed.
"""

from __future__ import annotations

# The harness comes first: it holds the libraries to one thread.
import harness  # isort: skip

import itertools
import sys

from closed_loop import ClosedLoop
import numpy as np
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation
from stewart_kinematics.kernels import newton as forward_kernels
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.solvers.forward import forward, forward_batch, ForwardSolver
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.solvers.warming import warm_up

SHIFT, TURN_DEG = 0.1, 15.0
POSES = 1000
PINOCCHIO = 'Pinocchio closed-loop Newton'
PACKAGES = ('numpy', 'scipy', 'numba', 'pin')


def random_poses(geometry: Geometry, count: int) -> tuple[Array, Array]:
    """Return poses about the neutral one."""
    rng = np.random.default_rng(20260221)
    position = geometry.neutral_pose.position + rng.uniform(-SHIFT, SHIFT, (count, 3))
    angles = rng.uniform(-TURN_DEG, TURN_DEG, (count, 3))
    return position, Rotation.from_euler('ZYX', angles, degrees=True).as_quat()


def motion(geometry: Geometry, count: int) -> Array:
    """Return lengths of a motion sampled at 1 kHz, as an encoder reads them."""
    time = 1e-3 * np.arange(count)[:, None]
    wave = np.sin(2 * np.pi * np.array([0.11, 0.17, 0.23, 0.13, 0.19, 0.29]) * time)
    position = geometry.neutral_pose.position + SHIFT * wave[:, :3]
    attitude = Rotation.from_euler('ZYX', TURN_DEG * wave[:, 3:], degrees=True)
    return leg_lengths(geometry, position, attitude.as_quat())


def by_fsolve(geometry: Geometry, lengths: Array) -> Array:
    """Solve with scipy: position and rotation vector, numpy lengths, numerical Jacobian."""
    base, platform = geometry.base_joints, geometry.platform_joints

    def error(x: Array) -> Array:
        angle = np.sqrt(x[3:] @ x[3:])
        a, b = (np.sin(angle) / angle, (1 - np.cos(angle)) / angle**2) if angle else (1.0, 0.5)
        u, v, w = x[3:]
        cross = np.array([[0.0, -w, v], [w, 0.0, -u], [-v, u, 0.0]])
        rotation = np.eye(3) + a * cross + b * (cross @ cross)
        legs = x[:3] + platform @ rotation.T - base
        return np.sqrt(np.sum(legs * legs, axis=1)) - lengths

    start = np.concatenate([geometry.neutral_pose.position, np.zeros(3)])
    return np.asarray(fsolve(error, start, xtol=1e-12))


def by_kernel(geometry: Geometry, rows: Array) -> list[harness.Task]:
    """Return the task that calls the kernel without the API around it."""
    solver = ForwardSolver.of(geometry)
    constants, cone, start = solver.constants, solver.cone, solver.neutral
    poses, figures, status = np.empty((1, 7)), np.empty((1, 3)), np.zeros(1, np.int64)
    cycle = itertools.cycle([rows[n : n + 1].copy() for n in range(len(rows))])
    base, platform = geometry.base_joints, geometry.platform_joints

    def call() -> None:
        forward_kernels.forward(
            base, platform, constants, cone, next(cycle), start, False, poses, figures, status
        )

    return [harness.Task('kernel, one pose', call, 1, PINOCCHIO, 0.012)]


def check(geometry: Geometry, peer: ClosedLoop, rows: Array) -> None:
    """Raise unless the peers find the poses that we find."""
    for lengths in rows[:50]:
        ours = forward(geometry, lengths)
        assert ours.converged
        theirs, _ = peer.solve(lengths)
        assert np.abs(theirs[:3] - ours.position).max() < 1e-9
        solution = by_fsolve(geometry, lengths)
        assert np.abs(solution[:3] - ours.position).max() < 1e-7
        rotation = Rotation.from_rotvec(solution[3:]) * Rotation.from_quat(theirs[3:]).inv()
        assert rotation.magnitude() < 1e-7


def main() -> int:
    """Measure, print and write."""
    geometry = Platform.from_yaml('vigo').geometry
    warm_up(geometry)
    position, quaternion = random_poses(geometry, POSES)
    rows = leg_lengths(geometry, position, quaternion)
    sequence = motion(geometry, 100_000)
    peer = ClosedLoop(geometry)
    check(geometry, peer, rows)
    one, near, slow, closed = (itertools.cycle(rows) for _ in range(4))
    beside = itertools.cycle(
        [Pose(p + 1e-4, q) for p, q in zip(position, quaternion, strict=True)]
    )
    iterations = np.asarray(forward_batch(geometry, rows, follow=False).iterations)
    followed = np.asarray(forward_batch(geometry, sequence).iterations)
    tasks = [
        harness.Task(
            'forward(), from neutral', lambda: forward(geometry, next(one)), 1, PINOCCHIO, 0.04
        ),
        harness.Task(
            'forward(), from 0.2 mm beside',
            lambda: forward(geometry, next(near), next(beside)),
            1,
            PINOCCHIO,
            0.04,
        ),
        *by_kernel(geometry, rows),
        harness.Task(
            'forward_batch(), each from neutral',
            lambda: forward_batch(geometry, rows, follow=False),
            POSES,
        ),
        harness.Task(
            'forward_batch(), motion at 1 kHz',
            lambda: forward_batch(geometry, sequence),
            len(sequence),
            PINOCCHIO,
            0.004,
        ),
        harness.Task('scipy fsolve', lambda: by_fsolve(geometry, next(slow))),
        harness.Task(PINOCCHIO, lambda: peer.solve(next(closed))),
    ]
    return harness.report(
        'forward_kinematics',
        harness.measure(tasks),
        harness.machine(PACKAGES),
        iterations_from_neutral=np.bincount(iterations).tolist(),
        iterations_along_the_motion=np.bincount(followed).tolist(),
    )


if __name__ == '__main__':
    sys.exit(main())
