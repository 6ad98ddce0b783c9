# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Take calibration points from a card while an operator types the strokes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from stewart_driver.daq.calibration import CalibrationTable, LARGEST
from stewart_driver.daq.card import AnalogCard
from stewart_driver.errors import CalibrationError
from stewart_driver.legs import Array, LEGS
from stewart_tables.numbers import is_plain

# While a point is taken the legs stand still; noise of a sensor is less than this [V].
LARGEST_SCATTER = 0.02


class Guide:
    """Ask for strokes and read the volts that belong to them.

    Args:
        scans: Readings that are averaged for a point.

    Attributes:
        strokes, volts: Of the points that were taken so far, each (6,) [m], [V].
    """

    def __init__(self, card: AnalogCard, scans: int, say: Callable[[str], None]) -> None:
        if scans < 1:
            raise CalibrationError(f'readings per point must be at least 1, not {scans}')
        self._card, self._scans, self._say = card, scans, say
        self.strokes: list[Array] = []
        self.volts: list[Array] = []

    def take(self, lines: Iterable[str]) -> CalibrationTable:
        """Take inputs and strokes until an empty line, or the end; raises `CardError`.

        Each line has strokes in mm, one for all legs or six. A point that is mistyped, saturated,
        or taken while a leg moved is only asked for again.
        """
        self._say(f'card {self._card.board}, inputs {self._card.inputs}')
        self._ask(1)
        for line in lines:
            if not line.strip():
                break
            try:
                wanted = _strokes(line)
                self.volts.append(self._measure())
                self.strokes.append(wanted)
            except _NotTaken as error:
                self._say(f'not taken: {error}')
            self._ask(len(self.strokes) + 1)
        return self.table

    @property
    def table(self) -> CalibrationTable:
        """The points that were taken so far."""
        inputs, strokes = (np.array(rows).reshape(-1, LEGS) for rows in (self.volts, self.strokes))
        return CalibrationTable(inputs=inputs, strokes=strokes)

    def _ask(self, number: int) -> None:
        self._say(f'point {number}: bring the legs to rest and type their strokes [mm]')

    def _measure(self) -> Array:
        ranges = self._card.inputs
        codes = np.array([self._card.read() for _ in range(self._scans)])
        volts = ranges.volts(codes)
        saturated = np.flatnonzero(((codes <= 0) | (codes >= ranges.last)).any(axis=0))
        if len(saturated):
            leg = int(saturated[0])
            raise _NotTaken(
                f'the input of leg {leg + 1}, {volts[-1, leg]:+.4f} V, is at the end of its range'
            )
        scatter = volts.std(axis=0)
        leg = int(scatter.argmax())
        if scatter[leg] > LARGEST_SCATTER:
            raise _NotTaken(
                f'the input of leg {leg + 1} scatters by {scatter[leg]:.4f} V, '
                f'allowed are {LARGEST_SCATTER:g} V: does it move?'
            )
        mean: Array = volts.mean(axis=0)
        self._say('volts ' + ' '.join(f'{value:+.4f}' for value in mean))
        return mean


class _NotTaken(Exception):
    """A point has to be taken again."""


def _strokes(line: str) -> Array:
    try:
        words = line.replace(',', ' ').split() if is_plain(line) else []
        values = 1e-3 * np.array([float(word) for word in words])
    except ValueError:
        values = np.empty(0)
    # Not "any beyond": NaN is refused too.
    if len(values) not in {1, LEGS} or not (np.abs(values) <= LARGEST).all():
        raise _NotTaken(
            f'expected one number or six, up to {1e3 * LARGEST:g} mm, got {line.strip()!r}'
        )
    return np.asarray(np.broadcast_to(values, LEGS))
