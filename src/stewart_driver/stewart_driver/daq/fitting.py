# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""From the points of a table to the calibration of a card."""

from __future__ import annotations

from collections.abc import Sequence
import datetime

from stewart_driver.daq.calibration import Fit, fit
from stewart_driver.daq.calibration_table import CalibrationTable
from stewart_driver.daq.errors import CalibrationError
from stewart_driver.rig_file import Channel, DaqCalibration


def fit_table(
    table: CalibrationTable, mode: str, bound: float, rate_bound: float
) -> list[tuple[Fit, float]]:
    """
    Fit everything that a table has points for.

    Parameters
    ----------
    table : CalibrationTable
        The points.
    mode : str
        What the amplifiers take: position or velocity.
    bound, rate_bound : float
        Residual that is allowed [m], and of amplifiers that take a velocity [m/s].

    Returns
    -------
    list of (Fit, float)
        Of the inputs and of the outputs, each with its bound; nothing is checked against it.

    Raises
    ------
    CalibrationError
        If there is nothing to fit, or too few points.

    """
    fits = []
    if table.inputs is not None and table.strokes is not None:
        fits.append((fit(table.inputs, table.strokes), bound))
    if table.outputs is not None and mode == 'position' and table.strokes is not None:
        fits.append((fit(table.outputs, table.strokes, 'output'), bound))
    if table.outputs is not None and mode == 'velocity' and table.rates is not None:
        fits.append((fit(table.outputs, table.rates, 'output', 'mm/s'), rate_bound))
    if not fits:
        raise CalibrationError(
            f'nothing to fit for {mode} mode: a table has volts, and strokes or rates'
        )
    return fits


def merged(
    before: DaqCalibration | None, fits: Sequence[Fit], mode: str, date: datetime.date
) -> DaqCalibration:
    """
    Return new lines, and those of before where there are none.

    Parameters
    ----------
    before : DaqCalibration or None
        What the rig file has.
    fits : sequence of Fit
        New lines.
    mode : str
        What the amplifiers take; outputs calibrated for another mode are forgotten.
    date : datetime.date
        Today.

    Returns
    -------
    DaqCalibration
        For the rig file.

    Raises
    ------
    CalibrationError
        If the position sensors have never been calibrated.

    """
    found = {item.name: _channels(item) for item in fits}
    inputs = found.get('input', before.inputs if before else ())
    if not inputs:
        raise CalibrationError('the position sensors have never been calibrated: begin with them')
    outputs = found.get('output', before.outputs if before and before.mode == mode else ())
    return DaqCalibration(inputs, outputs, date, mode)


def _channels(item: Fit) -> tuple[Channel, ...]:
    lines = item.calibration
    columns = (lines.gains.tolist(), lines.offsets.tolist(), lines.residuals.tolist())
    return tuple(Channel(*column) for column in zip(*columns, strict=True))
