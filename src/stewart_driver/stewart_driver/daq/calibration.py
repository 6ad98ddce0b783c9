# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Volts of a position sensor, or of an amplifier's input, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_driver.daq.errors import CalibrationError
from stewart_driver.legs import Array, LEGS, read_only

FEWEST_POINTS = 3
# A fit over less than this says little about the rest of ±10 V [V].
SMALLEST_SPAN = 1.0


@dataclass(frozen=True, eq=False)
class Calibration:
    """
    Six straight lines: value = gain × volts + offset.

    Attributes
    ----------
    gains : ndarray, shape (6,)
        Of legs 1 to 6 [m/V]; of an amplifier that takes a velocity [m/(s V)].
    offsets : ndarray, shape (6,)
        Value at 0 V [m] or [m/s].
    residuals : ndarray, shape (6,)
        Largest distance of a point from its line [m] or [m/s].

    Raises
    ------
    CalibrationError
        If a number is not finite, or a gain is zero.

    """

    gains: Array
    offsets: Array
    residuals: Array

    def __post_init__(self) -> None:
        """Copy and check."""
        for name in ('gains', 'offsets', 'residuals'):
            values = read_only(getattr(self, name))
            if values.shape != (LEGS,) or not np.isfinite(values).all():
                raise CalibrationError(f'{name} must be six finite numbers, not {values.tolist()}')
            if name == 'gains' and not values.all():
                leg = int(np.flatnonzero(values == 0.0)[0]) + 1
                raise CalibrationError(f'the gain of leg {leg} must not be 0')
            object.__setattr__(self, name, values)

    def values(self, volts: Array) -> Array:
        """Return what some volts mean, shape (..., 6)."""
        return np.asarray(self.gains * volts + self.offsets)

    def volts(self, values: Array) -> Array:
        """Return the volts for some values, shape (..., 6)."""
        return np.asarray((values - self.offsets) / self.gains)


@dataclass(frozen=True, eq=False)
class Fit:
    """
    A calibration and the points that it comes from.

    Attributes
    ----------
    calibration : Calibration
        The six lines.
    volts, values, errors : ndarray, shape (n, 6)
        Points, and how far the line is above them [m] or [m/s]; NaN where a point is missing.
    name : str
        What was calibrated, for messages: input or output.
    unit : str
        Of a thousandth of the values: mm or mm/s.

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
        """
        Refuse lines that are too far from their points.

        Parameters
        ----------
        bound : float
            Largest distance [m] or [m/s].

        Raises
        ------
        CalibrationError
            Naming the worst point.

        """
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
    """
    Fit six lines by least squares.

    Parameters
    ----------
    volts, values : ndarray, shape (n, 6)
        Points of legs 1 to 6 [V] and [m] or [m/s]; NaN where a leg has none.
    name, unit : str
        For messages, see `Fit`.

    Returns
    -------
    Fit
        Lines and residuals.

    Raises
    ------
    CalibrationError
        If a leg has less than three points, or they span less than 1 V.

    """
    if volts.shape != values.shape or volts.ndim != 2 or volts.shape[1] != LEGS:
        raise CalibrationError(
            f'volts and values must be tables of six columns, not {volts.shape}, {values.shape}'
        )
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
