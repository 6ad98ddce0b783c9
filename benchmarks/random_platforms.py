# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How much of the poses about neutral the assured region holds on random platforms."""

from __future__ import annotations

import argparse
from collections.abc import Callable
import sys
import time

from harness import machine, save
import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import GeometryError
from stewart_kinematics.model.geometry import Geometry, ring_points
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.solvers.forward import forward_batch, ForwardSolver
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.solvers.jacobian import jacobian

SHIFT, TURN_DEG = 0.12, 15.0
"""Half-widths of the box of poses [length scales, deg of roll, pitch and yaw]."""

POSES = 500
SAME_POSE = 1e-6


def main() -> int:
    """Print a column per kind, write the JSON file; return 1 if a region was silently wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--platforms', type=int, default=100, help='of each kind')
    parser.add_argument('--seed', type=int, default=20261123)
    arguments = parser.parse_args()
    kinds = {'rings': rings, 'clouds': clouds}
    rows = [
        {'joints': name, **count(make, arguments.platforms, arguments.seed)}
        for name, make in kinds.items()
    ]
    for name in rows[0]:
        print(f'{name:44s}' + ''.join(f'{row[name]:>14}' for row in rows))
    save('random_platforms', {'machine': machine(['numpy', 'scipy', 'numba']), 'kinds': rows})
    return 1 if any(row['silently wrong ahead of it'] for row in rows) else 0


def count(
    make: Callable[[np.random.Generator], Geometry], platforms: int, seed: int
) -> dict[str, object]:
    """Return what became of the poses of random platforms."""
    rng = np.random.default_rng(seed)
    refused, behind, unsure, wrong, mirrored, seconds = 0, 0, 0, 0, 0, []
    for _ in range(platforms):
        geometry = make(rng)
        position, quaternion = _about(geometry, rng)
        begin = time.perf_counter()
        try:
            ForwardSolver.of(geometry)
        except GeometryError:
            refused += 1
            continue
        seconds.append(time.perf_counter() - begin)
        result = forward_batch(geometry, leg_lengths(geometry, position, quaternion), follow=False)
        ahead = _relative_determinant(geometry, position, quaternion) > 0.0
        other = np.abs(result.position - position).max(axis=1) > SAME_POSE
        behind += int(np.count_nonzero(~ahead))
        unsure += int(np.count_nonzero(~result.converged & ahead))
        wrong += int(np.count_nonzero(result.converged & ahead & other))
        mirrored += int(np.count_nonzero(result.converged & ~ahead))
    poses = platforms * POSES
    return {
        'platforms': platforms,
        'of these refused': refused,
        'poses': poses,
        'behind a singularity': behind,
        '  given the pose ahead of it': mirrored,
        'not assured ahead of it': unsure,
        '  of the poses ahead of it [%]': round(100.0 * unsure / (poses - behind), 3),
        'silently wrong ahead of it': wrong,
        'region, mean time [s]': round(float(np.mean(seconds)), 3),
        'region, longest time [s]': round(float(np.max(seconds)), 3),
    }


def rings(rng: np.random.Generator) -> Geometry:
    """Return a valid platform with its joints on two rings."""
    while True:
        base = ring_points(1.0, np.radians(rng.uniform(5.0, 115.0)), 0.0, 0.0)
        turn = np.radians(rng.choice([0.0, 60.0]) + rng.uniform(-5.0, 5.0))
        spread, height = np.radians(rng.uniform(5.0, 115.0)), rng.uniform(-0.1, 0.1)
        platform = ring_points(rng.uniform(0.4, 1.1), spread, height, turn)
        try:
            return _level(base, np.roll(platform, rng.integers(-1, 2), axis=0), rng, 0.5, 2.0)
        except GeometryError:
            continue


def clouds(rng: np.random.Generator) -> Geometry:
    """Return a valid platform with its joints anywhere in two flat boxes."""
    flat = np.array([1.0, 1.0, 0.3])
    while True:
        base, platform = flat * rng.uniform(-1.0, 1.0, (2, 6, 3))
        try:
            return _level(base, rng.uniform(0.4, 1.0) * platform, rng, 0.8, 2.5)
        except GeometryError:
            continue


def _level(
    base: Array, platform: Array, rng: np.random.Generator, low: float, high: float
) -> Geometry:
    pose = Pose.from_rpy([0.0, 0.0, rng.uniform(low, high)], (0.0, 0.0, 0.0))
    return Geometry('random', base, platform, np.full(6, 0.1), pose, pose)


def _about(geometry: Geometry, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return random poses of the box."""
    shift = geometry.length_scale * rng.uniform(-SHIFT, SHIFT, (POSES, 3))
    angles = rng.uniform(-TURN_DEG, TURN_DEG, (POSES, 3))
    turn = Rotation.from_euler('ZYX', angles, degrees=True)
    return geometry.neutral_pose.position + shift, turn.as_quat()


def _relative_determinant(geometry: Geometry, position: Array, quaternion: Array) -> Array:
    home = geometry.neutral_pose
    neutral = np.linalg.det(jacobian(geometry, home.position, home.quaternion_xyzw))
    return np.asarray(np.linalg.det(jacobian(geometry, position, quaternion)) / neutral)


if __name__ == '__main__':
    sys.exit(main())
