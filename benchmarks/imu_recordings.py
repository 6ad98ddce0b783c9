# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Noise of two public recordings of IMUs, beside what their authors state.

    python benchmarks/imu_recordings.py [FOLDER]

The recordings are not part of this repository. Fetch them yourself from the GitHub repositories
below at the commit named, and put them into FOLDER; each file is checked by its SHA-256.

Xsens MTi at rest and moved by hand between rests (imu_tk, BSD licence, in the head of its
sources): raw counts at 100 Hz, over 500 s. Its authors state the scale of the gyroscope, the size
of gravity, and that the beginning is at rest (Tedaldi, Pretto, Menegatti, ICRA 2014); the
manufacturer states 0.002 m/s²/√Hz and 0.05 °/s/√Hz.

VectorNav VN-100 beside a Bosch BMX160 at rest (Low_Grade_High_Grade_IMU_dataset; an earlier
version of its page says CC BY 4.0, the newest names no licence); the files are in Git LFS. The
manufacturer states 0.14 mg/√Hz and 0.0035 °/s/√Hz. Columns are read as that page lists them.
"""

from __future__ import annotations

import argparse
from hashlib import sha256
from pathlib import Path
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from stewart_estimation.allan import allan_deviation, AllanDeviation

GRAVITY = 9.80665


class Source(NamedTuple):
    """Where a file is, and its SHA-256."""

    repository: str
    commit: str
    path: str
    sha256: str


XSENS = ('Kyle-ak/imu_tk', '7780270fb9a227c79323199303f23989e689a89d')
ACCELEROMETER = Source(
    *XSENS,
    'bin/test_data/xsens_acc.mat',
    '335a234736ff4dd8741118283d5d4cd389ac54b04d00e6cd8d48ca3e532b7510',
)
GYROSCOPE = Source(
    *XSENS,
    'bin/test_data/xsens_gyro.mat',
    'e0d6cc7ccbc996aba3dae5063e97360a8b765ad1dffd02eae8ec69820eb37c1d',
)
AT_REST = Source(
    'cmsahu97/Low_Grade_High_Grade_IMU_dataset',
    '910cca9bd078a49889a60f9e5db9523fd6dfcd8a',
    'Real/IMU1_BMX160/real_sensor_data_stat_11_BMX160_VN100.csv',
    'b2e9bbaed4a95cf2eb28c1794185b2515fdc7ff70ccb2347726e33bd69190fdf',
)

REST = 30.0
"""Beginning of the Xsens recording that is surely at rest; its authors use 50 s [s]."""

GYROSCOPE_SCALE = 1.0 / 6258.0
"""Of imu_tk's own calibration of this sensor [rad/s per count]."""


def checked(folder: Path, source: Source) -> Path | None:
    """Return a file that has the right content; say where to get it if it is not there."""
    path = folder / Path(source.path).name
    if not path.is_file():
        print(f'{path} is not there: {source.path} of {source.repository} at {source.commit}')
        return None
    found = sha256(path.read_bytes()).hexdigest()
    if found != source.sha256:
        print(f'{path} has SHA-256 {found}, expected is {source.sha256}')
        return None
    return path


def xsens(folder: Path) -> bool:
    """Judge the Xsens MTi; False if its files are not there."""
    paths = checked(folder, ACCELEROMETER), checked(folder, GYROSCOPE)
    if paths[0] is None or paths[1] is None:
        return False
    counts = [np.loadtxt(path) for path in paths]
    still = [rows[rows[:, 0] < REST] for rows in counts]
    period = float(np.median(np.diff(still[0][:, 0])))
    # Every axis has a zero of 2**15; gravity, 9.81744 m/s² there by its authors, gives the scale.
    gravity = np.linalg.norm(still[0][:, 1:].mean(axis=0) - 2**15)
    tell('Xsens MTi, accelerometer', still[0][:, 1:] * 9.81744 / gravity, period, 0.002)
    tell('Xsens MTi, gyroscope', still[1][:, 1:] * GYROSCOPE_SCALE, period, np.radians(0.05))
    return True


def vectornav(folder: Path) -> bool:
    """Judge the VectorNav VN-100; False if its file is not there."""
    path = checked(folder, AT_REST)
    if path is None:
        return False
    rows = np.genfromtxt(path, delimiter=',', skip_header=1)
    period = float(np.median(np.diff(rows[:, 0])))
    tell('VN-100, accelerometer', rows[:, 10:13], period, 0.14e-3 * GRAVITY)
    tell('VN-100, gyroscope', np.radians(rows[:, 13:16]), period, np.radians(0.0035))
    return True


def tell(name: str, samples: NDArray[np.float64], period: float, stated: float) -> None:
    """Print the density of each axis beside what the manufacturer states."""
    found: list[AllanDeviation] = [allan_deviation(column, period) for column in samples.T]
    densities = ', '.join(f'{item.density:.3g} ± {item.density_error:.1g}' for item in found)
    print(f'{name}: {len(samples)} samples, {period:.4g} s apart')
    print(f'  density {densities}, stated {stated:.3g} (SI units per √Hz)')
    print(f'  bias instability {", ".join(f"{item.instability:.3g}" for item in found)}')


def main() -> int:
    """Judge what is there; 1 if nothing is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', nargs='?', type=Path, default=Path('build/imu_recordings'))
    folder = parser.parse_args().folder
    return 0 if any([xsens(folder), vectornav(folder)]) else 1


if __name__ == '__main__':
    sys.exit(main())
