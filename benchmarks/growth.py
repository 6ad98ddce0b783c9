# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How processor time grows with the number of samples, messages and setpoints.

The slope is that of a straight line through the logarithms of count and time: 1 if twice the work
takes twice the time. The counts take turns, five times, and of each the least time is taken, as it
is other processes of the machine that make the others longer. It fails if a slope is above 1.05;
below 0.95 something that is paid once still counts, and the table says so.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

from collections.abc import Callable
from functools import partial
import json
from pathlib import Path
import sys
from tempfile import TemporaryDirectory

import asymmetric
from bags import messages, raw_ours, series_ours, timed, write_bare
import numpy as np
from stewart_bags.writing import Storage
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.solvers.forward import forward_batch
from stewart_kinematics.solvers.inverse import leg_lengths

ROUNDS, MOST_SLOPE, LEAST_SLOPE = 5, 1.05, 0.95
SAMPLES = (40_000, 80_000, 160_000, 320_000)
MESSAGES = (5_000, 10_000, 20_000, 40_000)

Works = dict[int, Callable[[], object]]


def of_samples() -> dict[str, Works]:
    """Return what works on arrays of samples, and their counts."""
    platform = asymmetric.platform()
    geometry, model = platform.geometry, InertialModel.from_platform(platform)
    guard = MotionGuard(platform)
    found: dict[str, Works] = {}
    for count in SAMPLES:
        motion = asymmetric.motion(platform, count)
        lengths = leg_lengths(geometry, motion.position, motion.quaternion_xyzw)
        # The guard and the Newton steps take ten times as long as the others.
        few = slice(0, count // 8)
        for name, size, work in (
            (
                'inverse kinematics',
                count,
                partial(leg_lengths, geometry, motion.position, motion.quaternion_xyzw),
            ),
            ('forward kinematics', count // 8, partial(forward_batch, geometry, lengths[few])),
            ('actuator forces', count, partial(actuator_forces, model, motion)),
            ('motion guard', count // 8, partial(guard.allowed, motion[few])),
        ):
            found.setdefault(f'{name}, samples', {})[size] = work
    return found


def of_messages(folder: Path) -> dict[str, Works]:
    """Return what reads bags, and their lengths."""
    found: dict[str, Works] = {}
    for count in MESSAGES:
        data = messages(count)
        for storage in Storage:
            path = folder / f'{storage.value}_{count}'
            write_bare(path, storage, data)
            for name, read in (('read bytes', raw_ours), ('read arrays', series_ours)):
                works = found.setdefault(f'bag, {storage.value}, {name}, messages', {})
                works[count] = partial(read, path)
    return found


def slopes(works: dict[str, Works]) -> list[dict[str, object]]:
    """Time every count in turns."""
    rows: list[dict[str, object]] = []
    for name, sizes in works.items():
        for work in sizes.values():
            work()
        rounds = np.array([[timed(work) for work in sizes.values()] for _ in range(ROUNDS)])
        least = rounds.min(axis=0)
        slope = float(np.polyfit(np.log(list(sizes)), np.log(least), 1)[0])
        rows.append(
            {
                'name': name,
                'counts': list(sizes),
                'each_us': (1e6 * least / np.array(list(sizes))).tolist(),
                'rounds_s': rounds.tolist(),
                'slope': slope,
                'held': slope <= MOST_SLOPE,
            }
        )
        print(f'{name:40s} {slope:.3f}   {min(sizes)} to {max(sizes)}', flush=True)
    return rows


def main() -> int:
    """Measure, print and write."""
    about = harness.machine(('numpy', 'rosbags'))
    with TemporaryDirectory(prefix='growth-') as folder:
        rows = slopes({**of_samples(), **of_messages(Path(folder))})
    harness.OUTPUT.mkdir(parents=True, exist_ok=True)
    content = {'machine': about, 'most_slope': MOST_SLOPE, 'slopes': rows}
    text = json.dumps(content, indent=1) + '\n'
    (harness.OUTPUT / 'growth.json').write_text(text, encoding='utf-8')
    return 0 if all(row['held'] for row in rows) else 1


if __name__ == '__main__':
    sys.exit(main())
