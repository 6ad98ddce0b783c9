# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The platform file of a calibrated machine, and the picture of its poses before and after."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_identification.calibration.fit import Calibration
from stewart_identification.calibration.machine import Machine
from stewart_identification.calibration.verdict import (
    Accuracy,
    Coordinate,
    coordinates,
    imu_unknowns,
    remarks,
)
from stewart_identification.parameters_file import renewed
from stewart_kinematics.motion_csv import rpy_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEAD = """\
# Calibrated by `stewart calibrate`; see the block `calibration` below. Frames: base_link and
# platform_link are where the joints as a whole are where the description had them.
"""
LEVEL = 1.96
REPLACED = ('base_joints', 'platform_joints', 'pairing', 'legs.retracted_length_m')


def calibrated_document(
    found: Calibration, description: str | Path, source: str
) -> dict[str, Any]:
    """Make the content of a platform file.

    Args:
        description: Platform that the calibration began with, by name or path.
        source: Where the poses are from.

    Returns:
        As a platform file has it; the block ``calibration`` holds the intervals.
    """
    machine, felt = found.machine, imu_unknowns(found)
    content = renewed(description, 'calibrated', REPLACED)
    replaced = [*REPLACED, *_write_imu(content, machine, felt)]
    content['base_joints'] = {'points_m': machine.base.round(9).tolist()}
    content['platform_joints'] = {'points_m': machine.platform.round(9).tolist()}
    # The joints above are in the order of the legs already.
    content['pairing'] = [1, 2, 3, 4, 5, 6]
    content['legs']['retracted_length_m'] = machine.length.round(9).tolist()
    content['sources'] |= dict.fromkeys(replaced, f'calibrated from {source}')
    content['calibration'] = {
        'coordinates': {
            item.name: {
                'change_m': round(item.change, 9),
                'standard_deviation_m': float(f'{item.deviation:.3g}'),
                'shown': item.shown,
            }
            for item in coordinates(found)
        },
        'imu': {
            item.name: {
                'change': round(item.change, 9),
                'standard_deviation': float(f'{item.deviation:.3g}'),
                'unit': item.unit,
                'shown': item.shown,
            }
            for item in felt
        },
        'tracker_from_base': machine.tracker.round(9).tolist(),
        'platform_from_target': machine.target.round(9).tolist(),
        'remarks': remarks(found),
    }
    return content


def _write_imu(content: dict[str, Any], machine: Machine, felt: list[Coordinate]) -> list[str]:
    """Put what rows of an IMU tell into a platform file; return the keys of that."""
    keys = []
    # Where in the platform the sensor sits no row tells: a file without says nothing of it.
    if felt and 'imu' in content:
        quaternion = Rotation.from_matrix(machine.mounting).as_quat()
        content['imu']['rpy_deg'] = rpy_columns(quaternion[None])[0].round(6).tolist()
        keys.append('imu.rpy_deg')
    if any(item.name.startswith('base tilt') for item in felt):
        content.setdefault('masses', {})['gravity_mps2'] = machine.gravity.round(6).tolist()
        keys.append('masses.gravity_mps2')
    return keys


def draw_accuracy(before: Accuracy, after: Accuracy, title: str) -> Figure:
    """Draw how far the poses are off, before and after, two dots per pose."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(8.0, 5.0), layout='constrained')
    panels = figure.subplots(2, 1, sharex=True)
    rows = np.arange(1, len(before.position) + 1)
    for axes, one, other, what in (
        (panels[0], before.position, after.position, 'position is off by [mm]'),
        (panels[1], before.attitude, after.attitude, 'attitude is off by [mrad]'),
    ):
        axes.semilogy(rows, 1e3 * one, 'o', color='0.6', label='before')
        axes.semilogy(rows, 1e3 * other, 'o', color='C0', label='after')
        axes.set_ylabel(what)
        axes.grid(visible=True, which='both', alpha=0.3)
    panels[0].set_title(title, pad=24.0)
    panels[0].legend(ncols=2, loc='lower center', bbox_to_anchor=(0.5, 1.0), frameon=False)
    panels[1].xaxis.set_major_locator(MaxNLocator(integer=True))
    panels[1].set_xlabel('pose')
    return figure
