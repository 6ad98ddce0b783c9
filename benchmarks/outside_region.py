# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What forward kinematics says of platforms that are far outside the assured region."""

from __future__ import annotations

import argparse
import sys

from harness import machine, save
import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.forward import forward_batch, ForwardSolver, ForwardStatus
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.solvers.jacobian import jacobian

PLATFORMS = ('vigo', 'ex800', 'ps6tl_1500', 'srs')
SAME_LENGTH = 1e-9
"""How alike six lengths are that belong to two poses [m]."""


def main() -> int:
    """Print a line per platform, write the JSON file; return 1 if a wrong mode passed silently."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--poses', type=int, default=100_000, help='per platform')
    parser.add_argument('--seed', type=int, default=20260219)
    arguments = parser.parse_args()
    rows = [count(name, arguments.poses, arguments.seed) for name in PLATFORMS]
    for name in rows[0]:
        print(f'{name:44s}' + ''.join(f'{row[name]:>14}' for row in rows))
    save('outside_region', {'machine': machine(['numpy', 'scipy', 'numba']), 'platforms': rows})
    return 1 if any(row['silent wrong modes'] for row in rows) else 0


def count(name: str, poses: int, seed: int) -> dict[str, object]:
    """Return what became of random poses outside the region of a platform."""
    geometry = Platform.from_yaml(name).geometry
    region = ForwardSolver.of(geometry).region
    position, quaternion = _outside(geometry, poses, np.random.default_rng(seed))
    lengths = leg_lengths(geometry, position, quaternion)
    result = forward_batch(geometry, lengths, follow=False)
    home = _determinant_sign(
        geometry, geometry.neutral_pose.position, geometry.neutral_pose.quaternion_xyzw
    )
    twin = result.converged
    p, q = result.position[twin], result.quaternion_xyzw[twin]
    shared = np.abs(leg_lengths(geometry, p, q) - lengths[twin]).max(axis=1) < SAME_LENGTH
    inside = region.contains(p, q)
    tilt = _angle(_up(quaternion[twin]), _up(q))
    apart = np.linalg.norm(p - position[twin], axis=1)
    return {
        'platform': name,
        'poses outside the region': poses,
        'of these behind a singularity': int(
            np.sum(_determinant_sign(geometry, position, quaternion) == -home)
        ),
        'flagged': int(np.sum(~twin)),
        **{f'  {s.name}': int(np.sum(result.status == s)) for s in ForwardStatus if s},
        'shares its lengths with a pose of the region': int(np.sum(shared & inside)),
        '  least distance between the two [m]': round(float(apart.min()), 3),
        '  least angle between their verticals [deg]': round(float(tilt.min()), 1),
        'silent wrong modes': int(np.sum(~(shared & inside))),
    }


def _outside(geometry: Geometry, poses: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return poses of any attitude within four leg lengths, none in the assured region."""
    neutral = geometry.neutral_pose
    reach = 2.0 * leg_lengths(geometry, neutral.position, neutral.quaternion_xyzw).mean()
    position = neutral.position + rng.uniform(-reach, reach, (2 * poses, 3))
    quaternion = Rotation.random(2 * poses, rng).as_quat()
    outside = ~ForwardSolver.of(geometry).region.contains(position, quaternion)
    return position[outside][:poses], quaternion[outside][:poses]


def _determinant_sign(geometry: Geometry, position: Array, quaternion: Array) -> Array:
    return np.asarray(np.sign(np.linalg.det(jacobian(geometry, position, quaternion))))


def _up(quaternion: Array) -> Array:
    """Return the upward direction as an accelerometer at rest sees it, (n, 3)."""
    return np.asarray(Rotation.from_quat(quaternion).inv().apply([0.0, 0.0, 1.0]))


def _angle(first: Array, second: Array) -> Array:
    """Return the angles between unit vectors [deg]."""
    return np.degrees(np.arccos(np.clip(np.sum(first * second, axis=1), -1.0, 1.0)))


if __name__ == '__main__':
    sys.exit(main())
