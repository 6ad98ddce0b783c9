# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How many poses six lengths have, how long finding them all takes and whether any is missed."""

from __future__ import annotations

import argparse
import sys
import time

from harness import machine, save
import numpy as np
from random_platforms import clouds
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import GeometryError
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.solvers.assembly_modes import assembly_modes
from stewart_kinematics.solvers.forward import forward
from stewart_kinematics.solvers.inverse import leg_lengths

PLATFORMS = ('vigo', 'ex800', 'srs', 'ps6tl_1500')
SHIFT, TURN = 0.3, 0.3
"""Half-widths of the poses about neutral [length scales, rad about each axis]."""

SAME_POSE = 1e-6
"""Distance of positions that are one [m]."""


def main() -> int:
    """Print a column per platform, write the JSON file; return 1 if a pose was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--sets', type=int, default=200, help='of six lengths, per platform')
    parser.add_argument('--seed', type=int, default=20261123)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    rows = []
    for name in PLATFORMS:
        geometry = Platform.from_yaml(name).geometry
        rows.append({'platform': name, **count([geometry] * arguments.sets, rng)})
    general = [clouds(rng) for _ in range(arguments.sets)]
    rows.append({'platform': 'random', **count(general, rng)})
    for name in rows[0]:
        print(f'{name:36s}' + ''.join(f'{row[name]!s:>14}' for row in rows))
    save('assembly_modes', {'machine': machine(['numpy', 'scipy']), 'platforms': rows})
    return 1 if any(row['pose itself not among them'] for row in rows) else 0


def count(geometries: list[Geometry], rng: np.random.Generator) -> dict[str, object]:
    """Return what was found for the lengths of one random pose of each geometry."""
    poses, solutions, seconds, residual = [], [], [], 0.0
    missed, lost, unsure, differs, converged = 0, 0, 0, 0, 0
    for geometry in geometries:
        home, scale = geometry.neutral_pose, geometry.length_scale
        position = home.position + SHIFT * scale * rng.uniform(-1.0, 1.0, 3)
        turn = Rotation.from_rotvec(TURN * rng.uniform(-1.0, 1.0, 3))
        quaternion = (turn * Rotation.from_quat(home.quaternion_xyzw)).as_quat()
        lengths = leg_lengths(geometry, position, quaternion)
        begin = time.perf_counter()
        modes = assembly_modes(geometry, lengths)
        seconds.append(time.perf_counter() - begin)
        poses.append(len(modes.position))
        solutions.append(modes.solutions)
        residual = max(residual, float(modes.residual.max(initial=0.0)))
        missed += not np.any(np.abs(modes.position - position).max(axis=1) < SAME_POSE)
        lost += modes.lost > 0
        unsure += int(np.sum(~modes.certified))
        try:
            result = forward(geometry, lengths)
        except GeometryError:
            # Next to the neutral pose there is no region with one pose only.
            continue
        converged += bool(result.converged)
        marked = modes.position[modes.connected]
        alike = marked.size and np.abs(marked[0] - result.position).max() < SAME_POSE
        differs += bool(result.converged and not alike)
    return {
        'sets of lengths': len(geometries),
        'solutions, least to most': f'{min(solutions)} .. {max(solutions)}',
        'poses, least to most': f'{min(poses)} .. {max(poses)}',
        'poses, mean': round(float(np.mean(poses)), 2),
        'largest residual [m]': f'{residual:.1e}',
        'poses not certified': unsure,
        'sets with lost paths': int(lost),
        'pose itself not among them': int(missed),
        'forward kinematics converged': converged,
        '  to another than the connected mode': differs,
        'time, first of all [s]': round(seconds[0], 3),
        'time, mean of the others [s]': round(float(np.mean(seconds[1:])), 3),
        'time, longest of the others [s]': round(float(np.max(seconds[1:])), 3),
    }


if __name__ == '__main__':
    sys.exit(main())
