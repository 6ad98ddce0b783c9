# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The card as nothing but six position sensors, beside whatever drives the legs."""

from __future__ import annotations

from typing import ClassVar

from stewart_driver.daq.card import AnalogCard
from stewart_driver.daq.card_access import CardAccess, ORDINARY, require_callers_time
from stewart_driver.daq.card_type import find_card_type
from stewart_driver.daq.errors import SensorFault
from stewart_driver.daq.options import lines, SensorOptions
from stewart_driver.daq.sensors import PositionSensors, Scan


class DaqReader:
    """
    Read the position sensors; outputs are neither set nor locked.

    Parameters
    ----------
    options : SensorOptions
        Card and wiring.
    access : CardAccess
        How the card is opened.

    Attributes
    ----------
    label : str
        What kind of card it is.

    Raises
    ------
    ConfigurationError
        If the card type is unknown or there is no calibration.

    """

    name: ClassVar[str] = 'daq'
    options_type: ClassVar[type] = SensorOptions

    def __init__(self, options: SensorOptions, access: CardAccess = ORDINARY) -> None:
        """Find card type and calibration; nothing is opened."""
        self._options, self._access = options, access
        self.label = find_card_type(options.card).label
        self._calibration = lines(options.calibration().inputs)
        self._card: AnalogCard | None = None

    @property
    def is_open(self) -> bool:
        """Whether the card is open."""
        return self._card is not None

    def require_callers_time(self) -> None:
        """Refuse a card that lives in real time; raises `ConfigurationError`."""
        require_callers_time(self._options)

    def open(self) -> str:
        """Open the card and return its name; raises `CardError`."""
        options = self._options
        self._card = self._access.open(options, drives=False)
        self._sensors = PositionSensors(
            self._card, self._calibration, options.saturation_margin, options.rate_bandwidth
        )
        return self._card.board

    def read(self) -> tuple[Scan, SensorFault | None]:
        """Return what the sensors say, and which is saturated; raises `CardError`."""
        scan = self._sensors.scan()
        return scan, self._sensors.saturation(scan)

    def close(self) -> None:
        """Close the card; harmless when not open."""
        card, self._card = self._card, None
        if card is not None:
            card.close()
