# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig in this process, on a clock that the caller steps."""

from __future__ import annotations

from collections.abc import Callable
import datetime
from pathlib import Path
import tempfile

from stewart_driver.errors import ConfigurationError
from stewart_driver.rig_file import save_rig
from stewart_simulation.daq_card import inline_cards
from stewart_simulation.daq_card.card import Card
from stewart_simulation.daq_card.inline_wire import InlineWire
from stewart_simulation.rig import directory as places
from stewart_simulation.rig.faults import RigFaults
from stewart_simulation.rig.parts import Clocks, Parts
from stewart_simulation.rig.settings import RigSettings
from stewart_simulation.serial_imu.inline_port import InlinePort

# Of the calibration: the same on every run.
DAY = datetime.date(2026, 1, 1)


class InlineRig(Parts):
    """
    The plant behind card and sensor, without a socket, a thread or a clock.

    The card is found by the card type ``simulated`` under the name `card`, the sensor's port is
    `port`. There is no EtherCAT segment: its master reads the wall clock.

    Parameters
    ----------
    settings : RigSettings
        What there is.
    steady_ns : callable
        Simulated time [ns]; also the clock of the message stamps.

    Attributes
    ----------
    faults : RigFaults
        Of all wires.
    card : str
        Name under which the card is opened; empty without one.
    port : InlinePort or None
        Where the sensor is plugged in.
    rig_file : Path
        The machine's sheet, in a folder of its own.

    Raises
    ------
    ConfigurationError
        If the settings ask for an EtherCAT segment, or a script of faults.

    """

    def __init__(self, settings: RigSettings, steady_ns: Callable[[], int]) -> None:
        """Build everything; the sensor is switched on."""
        expected = 'false, for its master follows no simulated time'
        if settings.ethercat:
            raise ConfigurationError('ethercat', True, expected)
        if settings.script:
            expected = 'empty: a script of faults runs on the wall clock'
            raise ConfigurationError('script', settings.script, expected)
        super().__init__(settings, Clocks(steady_ns, lambda: steady_ns() / 1e9))
        self._busy_until = 0.0
        self.card = ''
        self.port: InlinePort | None = None
        if settings.card:
            self.card = self._offer(self._make_card())
        if self.has_sensor:
            self.port = InlinePort()
            self._make_sensor(self.port).begin()
        self.faults = RigFaults.of(self.tables)
        self._folder = tempfile.TemporaryDirectory(prefix='rig-')
        self.rig_file = Path(self._folder.name, places.RIG_FILE)
        port = '' if self.port is None else self.port.path
        save_rig(self.rig_file, self.machine.sheet(settings, port, DAY))

    def advance(self) -> None:
        """Bring the plant to the present time."""
        self.mechanics.advance(self.now())

    def now(self) -> float:
        """Return the present time [s]; a slow call of the card goes on meanwhile."""
        return max(self._clocks.now(), self._busy_until)

    def close(self) -> None:
        """Take the card away, and remove the sheet."""
        if self.card:
            inline_cards.withdraw(self.card)
        self._folder.cleanup()

    def _offer(self, card: Card) -> str:
        return inline_cards.offer(
            inline_cards.InlineCard(
                lambda: InlineWire(card, self.advance), self.now, self._let_pass
            )
        )

    def _let_pass(self, duration: float) -> None:
        self._busy_until = self.now() + duration
