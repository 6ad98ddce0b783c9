# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How processor time grows with the number of samples and messages, and with the legs' rate.

The slope is that of a straight line through the logarithms of count and time: 1 if twice the work
takes twice the time. The counts take turns, five times, and of each the least time is taken, as it
is other processes of the machine that make the others longer. It fails if a slope is above 1.05,
or below 0.95: then something that is paid once still counts. The table says which.
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

from collections.abc import Callable
from functools import partial
from pathlib import Path
import sys
from tempfile import TemporaryDirectory

import asymmetric
from bags import messages, raw_ours, series_ours, timed, write_bare
import numpy as np
from stewart_bags.writing import Storage
from stewart_driver.control.configuration import InterpolationSettings
from stewart_driver.legs import LegLimits
from stewart_driver.path.interpolation import Interpolator
from stewart_driver.path.motion import LegMotion, Verdict
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import actuator_forces
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.forward import forward, forward_batch
from stewart_kinematics.solvers.inverse import leg_lengths

ROUNDS, MOST_SLOPE, LEAST_SLOPE = 5, 1.05, 0.95
SAMPLES = (40_000, 80_000, 160_000, 320_000)
MESSAGES = SAMPLES
RATES, MOTION_SECONDS = (100, 200, 400, 800), 6
"""Samples of the legs per second [Hz], and how long the motion is that is followed [s]."""

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


def of_rates() -> dict[str, Works]:
    """Return what follows the legs of one motion sample by sample, and their rates."""
    platform = asymmetric.platform()
    poses: Works = {}
    paths: Works = {}
    for rate in RATES:
        motion = asymmetric.motion(platform, MOTION_SECONDS * rate)
        lengths = leg_lengths(platform.geometry, motion.position, motion.quaternion_xyzw)
        poses[rate] = partial(one_by_one, platform.geometry, lengths)
        paths[rate] = partial(driven, rate)
    return {
        "forward kinematics one by one, legs' rate": poses,
        "path of the driver, legs' rate": paths,
    }


def one_by_one(geometry: Geometry, lengths: Array) -> None:
    """Solve pose after pose, each from the one before."""
    start = None
    for row in lengths:
        start = forward(geometry, row, start)


def driven(rate: int) -> None:
    """Offer a setpoint in every cycle, and play the path through them."""
    period, omega = 1.0 / rate, np.linspace(1.0, 3.0, 6)
    limits = LegLimits(np.zeros(6), np.full(6, 0.6), rate=0.6, acceleration=6.0)
    interpolator = Interpolator(limits, InterpolationSettings(), period)
    interpolator.hold(np.full(6, 0.3))
    for cycle in range(MOTION_SECONDS * rate):
        now = cycle * period
        strokes = 0.3 + 0.05 * (1.0 - np.cos(omega * now))
        interpolator.offer(LegMotion(now, strokes, 0.05 * omega * np.sin(omega * now)), now)
        interpolator.command(now)
    if set(interpolator.counts) != {Verdict.ACCEPTED}:
        raise RuntimeError(f'setpoints were refused: {interpolator.last_refusal}')


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


def per(name: str) -> int:
    """Return how many samples there are for one of what grows."""
    return MOTION_SECONDS if name.endswith('rate') else 1


def each(work: Callable[[], object], count: int) -> float:
    """Return the processor time that a work takes, of so many on end [s].

    So all sizes are timed for as long: none fits into a quiet moment that the others miss.
    """
    return timed(lambda: [work() for _ in range(count)]) / count


def slopes(works: dict[str, Works]) -> list[dict[str, object]]:
    """Time every count in turns."""
    rows: list[dict[str, object]] = []
    for name, sizes in works.items():
        for work in sizes.values():
            work()
        times = [(work, max(sizes) // size) for size, work in sizes.items()]
        rounds = np.array([[each(work, count) for work, count in times] for _ in range(ROUNDS)])
        least = rounds.min(axis=0)
        slope = float(np.polyfit(np.log(list(sizes)), np.log(least), 1)[0])
        # Relative errors count, as they do for the slope.
        once = float(np.polyfit(list(sizes), least, 1, w=1.0 / least)[1])
        rows.append(
            {
                'name': name,
                'counts': list(sizes),
                'each_us': (1e6 * least / np.array(list(sizes)) / per(name)).tolist(),
                'rounds_s': rounds.tolist(),
                'once_ms': 1e3 * once,
                'slope': slope,
                'held': LEAST_SLOPE <= slope <= MOST_SLOPE,
            }
        )
        print(f'{name:40s} {slope:.3f}   {min(sizes)} to {max(sizes)}', flush=True)
    return rows


def main() -> int:
    """Measure, print and write."""
    about = harness.machine(('numpy', 'rosbags'))
    with TemporaryDirectory(prefix='growth-') as folder:
        rows = slopes({**of_samples(), **of_rates(), **of_messages(Path(folder))})
    limits = {'least_slope': LEAST_SLOPE, 'most_slope': MOST_SLOPE}
    harness.save('growth', {'machine': about, **limits, 'slopes': rows})
    return 0 if all(row['held'] for row in rows) else 1


if __name__ == '__main__':
    sys.exit(main())
