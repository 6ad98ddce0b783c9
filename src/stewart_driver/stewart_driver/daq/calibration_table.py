# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of volts and what they mean, as CSV: the points of a calibration."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from reprlib import repr as shortened
from typing import IO, TextIO

import numpy as np
from stewart_driver.daq.errors import CalibrationError
from stewart_driver.legs import Array, LEGS

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
    """
    Points of a calibration, one a row; what was not measured is None, or NaN in single places.

    Attributes
    ----------
    inputs, outputs : ndarray, shape (n, 6), or None
        Volts at the inputs and outputs of legs 1 to 6 [V].
    strokes, rates : ndarray, shape (n, 6), or None
        What was measured meanwhile, by other means [m], [m/s].

    """

    inputs: Array | None = None
    outputs: Array | None = None
    strokes: Array | None = None
    rates: Array | None = None

    @classmethod
    def read(cls, stream: TextIO, name: str) -> CalibrationTable:
        """
        Read a CSV file with a header; comments begin with #.

        Parameters
        ----------
        stream : text file
            The table.
        name : str
            What messages call it.

        Returns
        -------
        CalibrationTable
            The points.

        Raises
        ------
        CalibrationError
            If it is no text or no table, naming the column that is missing, or the row and the
            value that is no number, or none that can have been measured.

        """
        lines = csv.DictReader(line for line in stream if not line.startswith('#'))
        try:
            header, rows = list(lines.fieldnames or ()), list(lines)
        except UnicodeDecodeError as error:
            wrong = f'the byte 0x{error.object[error.start]:02x}'
            raise CalibrationError(f'{name}: expected a table as text, got {wrong}') from None
        except csv.Error as error:
            raise CalibrationError(f'{name}: expected a table as text ({error})') from None
        known = [column for kind in KINDS for column in columns(kind)]
        for column in header:
            if column not in known:
                raise CalibrationError(
                    f'{name}: unknown column {shortened(column)}; there are input_1_v, '
                    'output_1_v, stroke_1_m, rate_1_mps and so on to leg 6'
                )
        for number, row in enumerate(rows, 1):
            if None in row or None in row.values():
                raise CalibrationError(f'{name}, row {number}: expected {len(header)} fields')
        tables: dict[str, Array] = {}
        for kind in KINDS:
            missing = [column for column in columns(kind) if column not in header]
            if len(missing) == LEGS:
                continue
            if missing:
                raise CalibrationError(f'{name}: column {missing[0]} is missing')
            tables[kind] = np.array(
                [
                    [_number(name, number, row, key) for key in columns(kind)]
                    for number, row in enumerate(rows, 1)
                ]
            ).reshape(-1, LEGS)
        return cls(**tables)

    def write(self, stream: IO[str]) -> None:
        """Write the CSV file that `read` reads."""
        present = {kind: getattr(self, kind) for kind in KINDS if getattr(self, kind) is not None}
        writer = csv.writer(stream, lineterminator='\n')
        writer.writerow([column for kind in present for column in columns(kind)])
        for row in np.hstack(list(present.values())).tolist():
            writer.writerow([f'{value:.15g}' for value in row])


def _number(name: str, row: int, values: dict[str, str], key: str) -> float:
    text = values[key]
    try:
        # An empty field is a point that this leg does not have, written as nan.
        number = float(text or 'nan')
    except ValueError:
        number = np.inf
    if abs(number) > LARGEST:
        raise CalibrationError(
            f'{name}, row {row}: expected a number from {-LARGEST:g} to {LARGEST:g} for {key}, '
            f'got {shortened(text)}'
        )
    return number
