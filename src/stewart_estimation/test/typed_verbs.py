# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart estimate`` and ``stewart consistency`` typed at a run of the simulated SRS."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import cache
from pathlib import Path
import sys

import numpy as np
from srs_simulated import SensorErrors, simulate, SimulatedRun
from stewart_estimation.verbs import consistency, estimate
from stewart_estimation.verbs.measurements import ANGULAR_VELOCITY, SPECIFIC_FORCE
from stewart_tables.columns import LENGTH, TIME
from stewart_tables.csv_tables import write_table

NOISE = ['--imu-sigma', '7e-4', '1.7e-4', '--leg-sigma', '1e-5']
VERBS = {'estimate': estimate, 'consistency': consistency}


def stewart(words: Sequence[str]) -> int:
    """Type a verb: an error that was raised on purpose is one sentence and exit code 1."""
    module = VERBS[words[0]]
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    try:
        return int(module.main(parser.parse_args(words[1:])))
    except Exception as error:
        if not any(cls.__module__.startswith('stewart_') for cls in type(error).__mro__):
            raise
        print(error, file=sys.stderr)
        return 1


@cache
def simulated_run(**spoilt: float) -> SimulatedRun:
    """Return 16 s of MP2, which nobody may change; `spoilt` as of `simulate`."""
    # One standard deviation for all legs, and for all axes, is what the options can say.
    errors = SensorErrors(np.full(3, 7e-4), np.full(3, 1.7e-4), np.full(6, 1e-5))
    return simulate('MP2', 4, duration=16.0, leg_offset=0.003, errors=errors, **spoilt)


def write_tables(run: SimulatedRun, folder: Path) -> tuple[Path, Path]:
    """Write a run as two CSV files, of the IMU and of the legs."""
    imu = np.column_stack([run.imu.stamps, run.imu.specific_forces, run.imu.angular_velocities])
    write_table(folder / 'imu.csv', (TIME, *SPECIFIC_FORCE, *ANGULAR_VELOCITY), imu)
    legs = np.column_stack([run.legs.stamps, run.legs.lengths])
    write_table(folder / 'legs.csv', (TIME, *LENGTH), legs)
    return folder / 'imu.csv', folder / 'legs.csv'
