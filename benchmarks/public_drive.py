# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A minute of a public drive, cued by both methods on two platforms, every setpoint judged.

    python benchmarks/public_drive.py [FOLDER]

The recording is not part of this repository. Fetch it yourself from the GitHub repository below at
the commit named, which states no licence, and put it into FOLDER; it is checked by its SHA-256.

A phone on the dashboard of a car in Austin, Texas, 10 Hz: from 28 m/s on a highway to a stop and
round corners. Its x axis points down and its z axis backwards; the signs of its accelerometer are
proved by the recording: the lateral force is speed times rate of yaw. The ride is written as
`public_drive.csv` for `stewart cue`, too.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
import sys
import time

# The harness comes first: it holds the libraries to one thread.
from harness import machine, OUTPUT, save  # isort: skip

from imu_recordings import checked, Source
import numpy as np
from stewart_cueing.vehicle.inputs import COLUMNS, VehicleRide
from stewart_cueing.vehicle.methods import METHODS
from stewart_cueing.vehicle.ride import cued, RATE, settings_for
from stewart_cueing.vehicle.washout import GRAVITY
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.shared_platform import load_platform
from stewart_tables.csv_tables import write_table

PHONE = Source(
    'cloudpose/smartphone_driving_dataset',
    '12ae2e804dcfbbf76b389f8af8ce726f0cb6a2e5',
    'dataset1_phone.csv',
    '76a5f2ffd5ff8bec611efb6fe177547f6b172899573a091382db172364e0ad3b',
)
SAMPLES = 601


def read_drive(path: Path) -> VehicleRide:
    """Return the first minute in axes x forward, y left, z up; print what proves the axes."""
    with path.open(newline='', encoding='utf-8') as stream:
        rows = list(csv.DictReader(stream))

    def columns(*names: str) -> np.ndarray:
        return np.array([[float(row[name]) for name in names] for row in rows])

    raw = columns(*(f'accelerometerAcceleration{axis}(G)' for axis in 'XYZ'))
    turn = columns(*(f'gyroRotation{axis}(rad/s)' for axis in 'XYZ'))
    force = GRAVITY * raw[:, [2, 1, 0]]
    rate = -turn[:, [2, 1, 0]]
    seconds = columns('accelerometerTimestamp_sinceReboot(s)')[:, 0]
    speed = columns('locationSpeed(m/s)')[:, 0]
    second = np.ones(10) / 10.0
    turned, felt = (np.convolve(v, second, 'same') for v in (speed * rate[:, 2], force[:, 1]))
    slope, likeness = np.polyfit(turned, felt, 1)[0], np.corrcoef(turned, felt)[0, 1]
    print(f'lateral force over speed times rate of yaw: {slope:.2f}, correlation {likeness:.2f}')
    return VehicleRide(seconds[:SAMPLES], np.hstack([force, rate])[:SAMPLES])


def study(ride: VehicleRide, name: str, method: str) -> dict[str, object]:
    """Return what one platform makes of the ride; a guard of its own judges every setpoint."""
    platform = load_platform(name)
    begin = time.process_time()
    found = cued(ride, platform, settings_for(name), method=method)
    spent = time.process_time() - begin
    judge = MotionGuard(platform)
    admitted = len(judge.admit_run(found.motion, found.time).stroke)
    error = found.given_perceived - found.wanted_perceived
    return {
        'platform': name,
        'method': method,
        'seconds': float(found.time[-1]),
        'setpoints': found.time.size,
        'refused': found.time.size - admitted,
        'legs_used': found.workspace,
        'held_back': float(np.mean(found.held < 1.0)),
        'force_rms_mps2': float(np.sqrt(np.mean(error[:, :3] ** 2))),
        'rate_rms_radps': float(np.sqrt(np.mean(error[:, 3:] ** 2))),
        'false_cues': found.cues.count,
        'false_seconds': found.cues.seconds,
        'processor_s_per_s': spent / float(found.time[-1]),
    }


def main() -> int:
    """Play it, if it is there; 1 if it is not, or if a setpoint was refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', nargs='?', type=Path, default=Path('build/public_drive'))
    path = checked(parser.parse_args().folder, PHONE)
    if path is None:
        return 1
    about, ride = machine(['numpy', 'scipy', 'daqp']), read_drive(path)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    played = np.column_stack([ride.time, ride.samples])
    write_table(str(OUTPUT / 'public_drive.csv'), ('time_s', *COLUMNS), played)
    found = [study(ride, name, method) for name in ('srs', 'vigo') for method in METHODS]
    for row in found:
        values = (f'{v:.3g}' if isinstance(v, float) else str(v) for v in row.values())
        print(', '.join(f'{key} {value}' for key, value in zip(row, values, strict=True)))
    save('public_drive', {'machine': about, 'rate_hz': RATE, 'drives': found})
    return int(any(row['refused'] for row in found))


if __name__ == '__main__':
    sys.exit(main())
