# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six position sensors on a card: codes in, strokes and rates out, and who only reads them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stewart_driver.daq.calibration import Calibration
from stewart_driver.daq.card import AnalogCard
from stewart_driver.daq.card_type import CardAccess, find_card_type, ORDINARY
from stewart_driver.daq.options import SensorOptions
from stewart_driver.errors import SensorFault
from stewart_driver.legs import Array, LEGS, smoothed


@dataclass(frozen=True, eq=False)
class Scan:
    """What the sensors say at one instant.

    Attributes:
        stamp: On the steady clock [s].
        elapsed: Time since the scan before; 0 for the first [s].
        volts, strokes, rates (6,): Of legs 1 to 6 [V], [m], [m/s].
        saturated (6,): Inputs at an end of their range, whose strokes mean nothing.
        fault: That of the first saturated input.
    """

    stamp: float
    elapsed: float
    volts: Array
    strokes: Array
    rates: Array
    saturated: NDArray[np.bool_]
    fault: SensorFault | None


class SensorScanner:
    """Read the sensors of an open card."""

    def __init__(self, card: AnalogCard, calibration: Calibration, options: SensorOptions) -> None:
        self._card, self._calibration = card, calibration
        self._margin, self._bandwidth = options.saturation_margin, options.rate_bandwidth
        self._previous: Scan | None = None

    def scan(self) -> Scan:
        """Read all six; raises `CardError`."""
        card = self._card
        volts = card.inputs.volts(card.read())
        strokes = self._calibration.values(volts)
        low, high = card.inputs.lower + self._margin, card.inputs.upper - self._margin
        elapsed, rates = 0.0, np.zeros(LEGS)
        if (previous := self._previous) is not None:
            elapsed = card.stamp - previous.stamp
            rates = smoothed(previous.rates, previous.strokes, strokes, elapsed, self._bandwidth)
        saturated, fault = (volts <= low) | (volts >= high), None
        if saturated.any():
            leg = int(saturated.argmax())
            said = f'{volts[leg]:+.4f} V is at the end of the range {card.inputs}'
            fault = SensorFault(leg + 1, said)
        self._previous = Scan(card.stamp, elapsed, volts, strokes, rates, saturated, fault)
        return self._previous


class DaqReader:
    """Read the position sensors; outputs are neither set nor locked.

    Raises:
        ConfigurationError: If the card type is unknown or there is no calibration.
    """

    def __init__(self, options: SensorOptions, access: CardAccess = ORDINARY) -> None:
        self._options, self._access = options, access
        self.label = find_card_type(options.card).label
        self._calibration = Calibration.of(options.calibration().inputs)
        self._card: AnalogCard | None = None

    @property
    def is_open(self) -> bool:
        """Whether the card is open."""
        return self._card is not None

    def open(self) -> str:
        """Open the card and return its name; raises `CardError`."""
        self._card = self._access.open(self._options, drives=False)
        self._sensors = SensorScanner(self._card, self._calibration, self._options)
        return self._card.board

    def read(self) -> Scan:
        """Return what the sensors say; raises `CardError`."""
        return self._sensors.scan()

    def close(self) -> None:
        """Close the card; harmless when not open."""
        card, self._card = self._card, None
        if card is not None:
            card.close()
