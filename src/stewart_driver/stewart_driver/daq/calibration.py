# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Volts and what they mean: points as CSV, lines, and what of it a calibration file keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
import datetime
from pathlib import Path

import numpy as np
from stewart_driver.errors import CalibrationError, ConfigurationError
from stewart_driver.legs import Array, LEGS, read_only
from stewart_driver.rig_file import Channel, DaqCalibration
from stewart_tables.csv_tables import read_table, write_table

FEWEST_POINTS = 3
# A fit over less than this says little about the rest of ±10 V [V].
SMALLEST_SPAN = 1.0


@dataclass(frozen=True, eq=False)
class Calibration:
    """Six straight lines: value = gain × volts + offset.

    Attributes:
        gains (6,): Of legs 1 to 6 [m/V]; of an amplifier that takes a velocity [m/(s V)].
        offsets (6,): Value at 0 V [m] or [m/s].
        residuals (6,): Largest distance of a point from its line [m] or [m/s].
    """

    gains: Array
    offsets: Array
    residuals: Array

    def __post_init__(self) -> None:
        for name in ('gains', 'offsets', 'residuals'):
            values = read_only(getattr(self, name))
            if values.shape != (LEGS,) or not np.isfinite(values).all():
                raise CalibrationError(f'{name} must be six finite numbers, not {values.tolist()}')
            if name == 'gains' and not values.all():
                leg = int(np.flatnonzero(values == 0.0)[0]) + 1
                raise CalibrationError(f'the gain of leg {leg} must not be 0')
            object.__setattr__(self, name, values)

    @classmethod
    def of(cls, channels: Sequence[Channel]) -> Calibration:
        """Return six channels of a calibration file."""
        return cls(*np.array([astuple(channel) for channel in channels]).T)

    @property
    def channels(self) -> tuple[Channel, ...]:
        """As they stand in a calibration file."""
        lines = np.column_stack((self.gains, self.offsets, self.residuals))
        return tuple(Channel(*line) for line in lines.tolist())

    def values(self, volts: Array) -> Array:
        """Return what some volts mean, shape (..., 6)."""
        return np.asarray(self.gains * volts + self.offsets)

    def volts(self, values: Array) -> Array:
        """Return the volts for some values, shape (..., 6)."""
        return np.asarray((values - self.offsets) / self.gains)


@dataclass(frozen=True, eq=False)
class Fit:
    """A calibration and the points that it comes from.

    Attributes:
        volts, values, errors (n, 6): Points, and how far the line is above them [m] or [m/s]; NaN
            where a point is missing.
        name: What was calibrated, for messages: input or output.
        unit: Of a thousandth of the values: mm or mm/s.
    """

    calibration: Calibration
    volts: Array
    values: Array
    errors: Array
    name: str
    unit: str

    @property
    def worst(self) -> tuple[int, int]:
        """Row (from 0) and leg (from 0) of the point furthest from its line."""
        place = int(np.nanargmax(np.abs(self.errors)))
        return place // LEGS, place % LEGS

    def check(self, bound: float) -> None:
        """Raise `CalibrationError` if a point is further than this [m] or [m/s] from its line."""
        row, leg = self.worst
        error = self.errors[row, leg]
        # Not "error > bound": NaN is refused too.
        if not abs(error) <= bound:
            raise CalibrationError(
                f'{self.name} of leg {leg + 1}, point {row + 1}: at '
                f'{self.volts[row, leg]:.4f} V the line is {1e3 * error:+.3f} {self.unit} from '
                f'{1e3 * self.values[row, leg]:.3f} {self.unit}, '
                f'allowed are {1e3 * bound:g} {self.unit}'
            )


def fit(volts: Array, values: Array, name: str = 'input', unit: str = 'mm') -> Fit:
    """Fit six lines by least squares; raises `CalibrationError`.

    Args:
        volts, values (n, 6): Points of legs 1 to 6 [V] and [m] or [m/s]; NaN where a leg has none.
        name, unit: For messages, see `Fit`.
    """
    gains, offsets = np.zeros(LEGS), np.zeros(LEGS)
    for leg in range(LEGS):
        usable = np.isfinite(volts[:, leg]) & np.isfinite(values[:, leg])
        x, y = volts[usable, leg], values[usable, leg]
        if len(x) < FEWEST_POINTS:
            raise CalibrationError(
                f'{name} of leg {leg + 1} has {len(x)} points, at least {FEWEST_POINTS} are needed'
            )
        span = float(np.ptp(x))
        if span < SMALLEST_SPAN:
            raise CalibrationError(
                f'{name} of leg {leg + 1}: the points span {span:.4f} V, '
                f'at least {SMALLEST_SPAN:g} V are needed'
            )
        centre = x - x.mean()
        gains[leg] = centre @ y / (centre @ centre)
        offsets[leg] = y.mean() - gains[leg] * x.mean()
    errors = gains * volts + offsets - values
    residuals = np.nanmax(np.abs(errors), axis=0)
    return Fit(Calibration(gains, offsets, residuals), volts, values, errors, name, unit)


# No leg reaches further and no terminal takes more [V], [m], [m/s].
LARGEST = 1e3
KINDS = {
    'inputs': 'input_{}_v',
    'outputs': 'output_{}_v',
    'strokes': 'stroke_{}_m',
    'rates': 'rate_{}_mps',
}


def columns(kind: str) -> list[str]:
    """Return the names of the six columns of a kind."""
    return [KINDS[kind].format(leg) for leg in range(1, LEGS + 1)]


@dataclass(frozen=True, eq=False)
class CalibrationTable:
    """Points of a calibration, one a row; what was not measured is None, or NaN in single places.

    Attributes:
        inputs, outputs (n, 6): Volts at the inputs and outputs of legs 1 to 6 [V].
        strokes, rates (n, 6): What was measured meanwhile, by other means [m], [m/s].
    """

    inputs: Array | None = None
    outputs: Array | None = None
    strokes: Array | None = None
    rates: Array | None = None

    @classmethod
    def read(cls, source: str) -> CalibrationTable:
        """Read a CSV file, or standard input, ``-``; comments begin with #.

        An empty field is a point that this leg does not have.

        Raises:
            ConfigurationError: If it is no table, a column is unknown or missing, or a value is no
                number, or none that can have been measured.
        """
        every = [column for kind in KINDS for column in columns(kind)]
        found = read_table(source, every, gaps=every)
        if found.others:
            expected = 'input_1_v, output_1_v, stroke_1_m, rate_1_mps and so on to leg 6'
            raise ConfigurationError(f'{found.source}: column', found.others[0], expected)
        tables = {kind: found.take(columns(kind)) for kind in KINDS if found.has(columns(kind))}
        for kind, values in tables.items():
            for row, leg in np.argwhere(np.abs(values) > LARGEST):
                where = f'{found.source}:{found.lines[row]}: {columns(kind)[leg]}'
                expected = f'a number from {-LARGEST:g} to {LARGEST:g}'
                raise ConfigurationError(where, float(values[row, leg]), expected)
        return cls(**tables)

    def write(self, target: str | Path) -> None:
        """Write the CSV file that `read` reads, as a whole or not at all."""
        present = {kind: getattr(self, kind) for kind in KINDS if getattr(self, kind) is not None}
        names = [column for kind in present for column in columns(kind)]
        write_table(target, names, np.hstack(list(present.values())))


def fit_table(
    table: CalibrationTable, mode: str, bound: float, rate_bound: float
) -> list[tuple[Fit, float]]:
    """Fit the inputs and the outputs that a table has points for; return each with its bound.

    Args:
        mode: What the amplifiers take: position or velocity.
        bound, rate_bound: Residual that is allowed [m], and of amplifiers that take a velocity
            [m/s]; nothing is checked against it.

    Raises:
        CalibrationError: If there is nothing to fit, or too few points.
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
    """Return new lines for the calibration file, and those of before where there are none.

    Where no output was fitted, `mode` is that of before, too. Raises `CalibrationError` if the
    position sensors have never been calibrated.
    """
    found = {item.name: item.calibration.channels for item in fits}
    inputs = found.get('input', before.inputs if before else ())
    if not inputs:
        raise CalibrationError('the position sensors have never been calibrated: begin with them')
    if 'output' not in found and before:
        return DaqCalibration(inputs, before.outputs, date, before.mode)
    return DaqCalibration(inputs, found.get('output', ()), date, mode)
