# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Monte Carlo of the state estimation on the simulated SRS: what sound and faulty sensors give.

Forty seeds of each case of ``estimation_cases.py`` and of each motion profile. What is demanded is
held against a limit, the nominal case, or an oracle: a filter that knows which samples are bad.
"""

from __future__ import annotations

# The harness comes first: it holds the libraries to one thread.
import harness  # isort: skip

import argparse
from collections.abc import Mapping
from dataclasses import asdict, dataclass
import math
import sys

from estimation_cases import CASES, DURATION, GROUPS, Outcome, platform_with_imu_at_origin
import numpy as np
from scipy.stats import chi2
from srs_simulated import PROFILES, simulate

LIMITS = {
    'position': 5e-6,
    'velocity': 4e-5,
    'attitude': 3.2e-6,
    'accelerometer bias': 3e-5,
    'gyroscope bias': 6e-6,
}
WORST = 'at most'


@dataclass(frozen=True)
class Demand:
    """One figure of a case and what it must lie between: mean over the seeds, or the worst."""

    case: str
    figure: str
    most: float
    least: float = -math.inf
    worst: bool = False


def demands(seeds: int) -> list[Demand]:
    """Return what the cases are held against."""
    low, high = chi2.ppf([0.025, 0.975], 15 * seeds) / seeds
    stuck = 'a leg stuck for 2 s, gate'
    return [
        *(Demand('nominal', f'RMS {name}', most) for name, most in LIMITS.items()),
        Demand('nominal', 'inside 2 sigma', 0.97, 0.94),
        Demand('nominal', 'NIS', 6.5, 5.5),
        Demand('nominal', 'lag 1', 0.05, -0.05),
        Demand('nominal', 'NEES', float(high), float(low)),
        Demand('nominal', 'last position error over 30 um [s]', 0.2, worst=True),
        Demand('IMU late, delay estimated', 'worst delay error after 20 s [ms]', 0.1, worst=True),
        Demand('IMU late, delay estimated', 'velocity over nominal', 1.5),
        *(Demand('1 mm spikes, gate', f'{name} over nominal', 1.1) for name in GROUPS),
        *(Demand(stuck, f'{name} over oracle', 1.1) for name in GROUPS),
        Demand(stuck, 'velocity over nominal', 1.1),
        Demand(stuck, 'samples of others refused', 0.0),
        Demand('1 s without legs', 'RMS position', 4e-5),
        *(
            Demand(case, f'{name} over oracle', 1.15)
            for case in ('legs x 8 in bursts, adaptive', 'IMU x 10 in bursts, adaptive')
            for name in GROUPS
        ),
    ]


def figures(outcomes: list[Outcome], nominal: np.ndarray) -> dict[str, tuple[float, float]]:
    """Return mean over the seeds and worst of every figure; an RMS is one over all seeds."""
    mean = np.sqrt(np.mean([outcome.rms**2 for outcome in outcomes], axis=0))
    worst = np.max([outcome.rms for outcome in outcomes], axis=0)
    found = {f'RMS {name}': (float(mean[i]), float(worst[i])) for i, name in enumerate(LIMITS)}
    for i, name in enumerate(GROUPS):
        found[f'{name} over nominal'] = float(mean[i] / nominal[i]), float(worst[i] / nominal[i])
    for key in outcomes[0].extra:
        values = [outcome.extra[key] for outcome in outcomes]
        found[key] = float(np.mean(values)), float(np.max(values))
    return found


def judge(
    profile: str, found: Mapping[str, Mapping[str, tuple[float, float]]], seeds: int
) -> list[dict[str, object]]:
    """Hold the figures of a profile against the demands."""
    rows: list[dict[str, object]] = []
    for demand in demands(seeds):
        value = found[demand.case][demand.figure][demand.worst]
        held = bool(demand.least <= value <= demand.most)
        about = {**asdict(demand), 'profile': profile, 'found': value, 'held': held}
        about['least'] = None if math.isinf(demand.least) else demand.least
        rows.append(about)
    return rows


def main() -> int:
    """Run all cases, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seeds', type=int, default=40)
    count = parser.parse_args().seeds
    platform, cases, judged = platform_with_imu_at_origin(), [], []
    for profile in PROFILES:
        seeds = range(1, count + 1)
        runs = [simulate(profile, seed, platform=platform, duration=DURATION) for seed in seeds]
        found: dict[str, dict[str, tuple[float, float]]] = {}
        nominal = np.full(5, np.nan)
        for name, case in CASES.items():
            outcomes = [case(run, seed) for run, seed in zip(runs, seeds, strict=True)]
            if name == 'nominal':
                nominal = np.sqrt(np.mean([outcome.rms**2 for outcome in outcomes], axis=0))
            found[name] = figures(outcomes, nominal)
            cases.append({'profile': profile, 'case': name, 'figures': found[name]})
            print(f'{profile}, {name}', flush=True)
            for key, (average, most) in found[name].items():
                print(f'    {key}: {average:.4g}, {most:.4g} {WORST}', flush=True)
        judged += judge(profile, found, count)
    missed = [row for row in judged if not row['held']]
    for row in missed:
        print('not held:', ', '.join(f'{key} {value}' for key, value in row.items()))
    about = {**harness.machine(('numpy', 'scipy', 'numba')), 'seeds': str(count)}
    print(f'{len(judged) - len(missed)} of {len(judged)} demands held')
    harness.save('estimation_faults', {'machine': about, 'demands': judged, 'cases': cases})
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
