# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Vigo, and Table 2 of Machines 2022, 10, 711 about it, for inverse and forward kinematics.

A conftest, because test modules cannot import each other. The signs that the print lost are put
back, and the sixth stroke of row 4, a misprint (213.64096), is replaced by what the paper's
geometry gives.
"""

from dataclasses import dataclass
from pathlib import Path
import sys

import numpy as np
import pytest
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Pose

# Tests are imported by path, and their helpers have to be found.
sys.path.insert(0, str(Path(__file__).parent))


@dataclass(frozen=True)
class Row:
    """One row: strokes [mm], displacement from the zero pose [mm], alpha, beta, gamma [deg]."""

    number: int
    strokes_mm: tuple[float, ...]
    displacement_mm: tuple[float, float, float]
    zyx_deg: tuple[float, float, float]

    def __str__(self):
        return f'row {self.number}'

    @property
    def tolerance_mm(self):
        """How far the printed strokes may be off [mm]."""
        return STROKE_TOLERANCE_MM.get(self.number, 2e-5)

    def pose(self, geometry):
        """Return the printed pose in ``base_link``."""
        yaw, pitch, roll = np.radians(self.zyx_deg)
        displacement = np.array(self.displacement_mm) * 1e-3
        return Pose.from_rpy(geometry.zero_pose.position + displacement, (roll, pitch, yaw))

    def lengths(self, geometry):
        """Return the printed strokes as lengths [m]."""
        return geometry.retracted_length + np.array(self.strokes_mm) * 1e-3


START = Row(0, (), (60.25, 85.0, 230.7), (0.0, 0.0, 3.75))
"""First iterate of every row."""

ROWS = (
    Row(
        1,
        (190.58543, 191.74641, 232.17754, 202.60028, 204.23010, 232.64683),
        (53.5, 100.4, 200.0),
        (0.0, 0.0, 0.0),
    ),
    Row(
        2,
        (194.37123, 191.72355, 226.90184, 204.78300, 201.05974, 225.82559),
        (53.5, 75.0, 200.0),
        (0.0, 0.0, 0.0),
    ),
    Row(
        3,
        (206.57170, 212.54965, 235.31636, 213.32994, 221.74836, 237.75779),
        (20.0, 75.0, 215.0),
        (0.0, 0.0, 0.0),
    ),
    Row(
        4,
        (88.751196, 114.18792, 142.30207, 85.435390, 104.90141, 136.409),
        (12.0, 110.0, 100.0),
        (0.0, 0.0, 2.0),
    ),
    Row(
        5,
        (227.31195, 273.36991, 310.48477, 242.15673, 236.84376, 251.03541),
        (53.5, 75.0, 250.0),
        (-1.0, 3.0, 4.0),
    ),
    Row(
        6,
        (118.04343, 148.09768, 108.92776, 161.43175, 170.51133, 104.51965),
        (-70.0, -47.6, 125.4),
        (1.7, 3.0, -3.0),
    ),
    Row(
        7,
        (216.86814, 247.66924, 287.35873, 219.87034, 214.73644, 245.96804),
        (60.24, 84.9, 230.66),
        (-0.708, 1.51, 3.73),
    ),
    Row(
        8,
        (226.37904, 244.56934, 280.69887, 214.94392, 209.04250, 257.25417),
        (60.3, 84.97, 230.64),
        (0.0, 0.0, 3.79),
    ),
)

STROKE_TOLERANCE_MM = {4: 5e-4, 7: 2e-3}
"""How far printed strokes may be off: these rows print rounded poses; the others 2e-5 mm."""


@pytest.fixture
def vigo():
    """Return the platform that most tests move."""
    return load_platform('vigo')


@pytest.fixture(params=ROWS, ids=str)
def table_row(request):
    """Return each row of the table in turn."""
    return request.param


@pytest.fixture(params=[r for r in ROWS if r.number not in STROKE_TOLERANCE_MM], ids=str)
def exact_row(request):
    """Return each row whose pose and strokes belong together to the last printed digit."""
    return request.param


@pytest.fixture
def table_start():
    """Return the first iterate of every row."""
    return START
