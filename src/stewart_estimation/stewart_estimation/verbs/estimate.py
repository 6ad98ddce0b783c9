# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart estimate``: how the platform moved, from a recording of IMU and legs."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import numpy as np
from stewart_estimation.consistency import LEAST_ROWS
from stewart_estimation.results import COLUMNS, table
from stewart_estimation.settings import FilterSettings
from stewart_estimation.verbs.filter_arguments import add_filter_arguments, Run, run_filter
from stewart_kinematics.motion import Array
from stewart_kinematics.verbs.arguments import write_watched
from stewart_tables.csv_tables import STANDARD_STREAM
from stewart_tables.outputs import output_stream
from stewart_tables.progress import show_part

HELP = 'estimate the motion of the platform from a recording of IMU and legs'

DETAILS = """
Written is one row per leg sample: pose, twist, acceleration, biases of the IMU, standard
deviations (sigma_...), innovations and NIS; motions are those of platform_link's origin in base
axes. What is wrong with the input is said in one sentence, and nothing is written: so where the
legs are outside the limits of the platform, or nobody named it and it does not fit. Poses from
outside are used where platform/external_pose was recorded, and how late they are is found. The
exit code is 1 where the estimates cannot be trusted, and why is said: the gate refused too much,
the filter began anew too often, IMU and legs disagree, a bias is larger than any sensor's, the IMU
is turned by more than --misalignment finds, poses from outside are off by more than they say, or
none of them was met.

examples:
  stewart estimate run_1 -o motion.csv
  stewart estimate run_1 --smooth --gate --json -o motion.csv
  stewart estimate --imu imu.csv --legs legs.csv --platform my_platform.yaml -o motion.csv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_filter_arguments(parser)
    parser.add_argument(
        '--smooth', action='store_true', help='let every row know the whole recording'
    )
    parser.add_argument(
        '-o', '--output', type=output_stream, metavar='FILE', help='CSV file; - is stdout'
    )
    parser.add_argument('--json', action='store_true', help='print the summary as JSON')


def main(arguments: argparse.Namespace) -> int:
    """Filter a recording, write the estimates, print a summary."""
    with show_part('estimate') as show:
        run = run_filter(arguments, show, smoothed=arguments.smooth)
    if arguments.output is not None and not run.withheld:
        write_watched(arguments.output, COLUMNS, table(run.smoothed or run.filtered))
    # Standard output holds one thing: the estimates, where they were sent there.
    out = sys.stderr if arguments.output == STANDARD_STREAM else sys.stdout
    said = summary(run)
    if arguments.json:
        print(json.dumps(said, indent=2), file=out)
    else:
        out.write('\n'.join(f'{name}: {_text(value)}' for name, value in said.items()) + '\n')
    if problem := run.problem:
        unwritten = '; no estimates are written' if run.withheld else ''
        sys.stderr.write(f'stewart estimate: FAILED: {problem}{unwritten}\n')
    return 1 if problem else 0


def summary(run: Run) -> dict[str, Any]:
    """Return counts, typical standard deviations, biases at the end, and consistency."""
    series = run.smoothed or run.filtered
    known = np.isfinite(series.position[:, 0])
    final = int(np.flatnonzero(known)[-1])
    sigmas = np.sqrt(series.variances[known])
    typical = np.median(sigmas, axis=0)
    last = np.sqrt(run.filtered.variances[final])
    said: dict[str, Any] = {
        'platform': run.platform.name,
        **({'problem': run.problem} if run.problem else {}),
        'imu_samples': len(run.measurements.imu),
        'leg_samples': len(series),
        'rows_without_estimate': int((~known).sum()),
        'duration_s': float(series.stamps[-1] - series.stamps[0]),
        'smoothed': run.smoothed is not None,
        'median_sigma_position_m': _norm(typical[:3]),
        'median_sigma_velocity_mps': _norm(typical[3:6]),
        'median_sigma_attitude_rad': _norm(typical[6:9]),
        'accelerometer_bias_mps2': run.filtered.accelerometer_bias[final].tolist(),
        'accelerometer_bias_sigma_mps2': last[9:12].tolist(),
        'gyroscope_bias_radps': run.filtered.gyroscope_bias[final].tolist(),
        'gyroscope_bias_sigma_radps': last[12:15].tolist(),
        'restarts_s': [float(run.filtered.stamps[row]) for row in run.filtered.restarts],
        'gaps': [
            f'began anew after a gap of {gap:.3g} s at {run.filtered.stamps[row]:.2f} s'
            for row, gap in run.filtered.gaps.items()
        ],
        'imu_silent_s': imu_silence(run.measurements.imu.stamps, series.stamps, run.settings),
        'covariance_repairs': run.filtered.repairs,
    }
    if run.settings.delay is not None:
        said['imu_delay_s'] = float(run.filtered.delay[final])
        said['imu_delay_sigma_s'] = float(run.filtered.delay_sigma[final])
    if run.measurements.tracker.recorded:
        said['external_poses_recorded'] = run.measurements.tracker.recorded
    if run.filtered.external is not None:
        fit = run.filtered.external
        said['external_poses'] = len(fit.stamps)
        said['external_poses_refused'] = int(np.count_nonzero(~fit.used))
        said['external_mean_nis'] = float(np.mean(fit.nis))
        said['external_delay_s'] = fit.delay
        said['external_delay_sigma_s'] = fit.delay_sigma
    if run.filtered.misalignment_sigma is not None:
        said['misalignment_rad'] = run.filtered.misalignment[final].tolist()
        said['misalignment_sigma_rad'] = run.filtered.misalignment_sigma.tolist()
    if run.filtered.used.sum(axis=0).max() >= LEAST_ROWS:
        consistency = run.judged()
        said |= {
            'mean_nis': consistency.mean_nis,
            'rejected_by_leg': consistency.rejected.tolist(),
            'consistent': consistency.held,
            'broken_tests': [item.name for item in consistency.broken],
        }
        if not consistency.held:
            said['what_to_do'] = 'stewart consistency with the same arguments names options'
    return said


def imu_silence(imu_stamps: Array, leg_stamps: Array, settings: FilterSettings) -> float:
    """Return how long the legs spoke without the IMU, whose rates are held meanwhile [s]."""
    within = np.clip(imu_stamps, leg_stamps[0], leg_stamps[-1])
    steps = np.diff(within, prepend=leg_stamps[0], append=leg_stamps[-1])
    return float(steps[steps > settings.imu_timeout].sum())


def _norm(values: Any) -> float:
    """Return the length of a vector."""
    return float(np.linalg.norm(values))


def _text(value: Any) -> str:
    """Write a value for people."""
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    if isinstance(value, float):
        return f'{value:.6g}'
    if isinstance(value, list):
        return ', '.join(_text(item) for item in value) or 'none'
    return str(value)
