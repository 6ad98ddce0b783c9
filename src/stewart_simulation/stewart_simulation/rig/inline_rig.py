# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig in this process, on a clock that the caller steps."""

from __future__ import annotations

from collections.abc import Callable
import datetime
from math import ceil
from pathlib import Path
import tempfile
from typing import Any

from stewart_driver.daq.card_type import CallersTime
from stewart_driver.errors import ConfigurationError
from stewart_driver.rig_file import save_rig
from stewart_driver.witmotion import reader
from stewart_driver.witmotion.reader import ReaderSettings
from stewart_simulation.daq_card import wire
from stewart_simulation.daq_card.card import Card
from stewart_simulation.ethercat.master.bus import InlineWire as EthercatWire
from stewart_simulation.rig import directory as places
from stewart_simulation.rig.faults import RigFaults
from stewart_simulation.rig.parts import Clocks, Parts
from stewart_simulation.rig.settings import RigSettings
from stewart_simulation.rig.truth import sample, Truth
from stewart_simulation.serial_imu.inline_port import InlinePort
from stewart_simulation.serial_imu.inline_sensor import InlineReader
from stewart_simulation.ship import MovingBase

# Of the calibration: the same on every run.
DAY = datetime.date(2026, 1, 1)
NANOSECONDS = 1e9


class InlineRig(Parts):
    """The plant behind segment, card and sensor, without a socket, a thread or a clock.

    The segment's wire is found by the driver's ``ethercat.wires``, the card by the
    card type ``simulated``, the sensor's port by `witmotion.reader`.

    Args:
        steady_ns: Simulated time [ns]; also the clock of the message stamps.
        base: What moves the base instead of what the settings say.

    Attributes:
        interface, card: Names under which they are opened; empty without one.
        port: Where the sensor is plugged in.
        rig_file: The machine's sheet, in a folder of its own.
        ends: All of them by name, without those that there are not.
        alive: It runs as long as this process.

    Raises:
        ConfigurationError: If the settings ask for a script of faults.
    """

    alive = True

    def __init__(
        self,
        settings: RigSettings,
        steady_ns: Callable[[], int],
        base: MovingBase | None = None,
    ) -> None:
        if settings.script:
            expected = 'empty: a script of faults runs on the wall clock'
            raise ConfigurationError('script', settings.script, expected)
        super().__init__(settings, Clocks(steady_ns, lambda: steady_ns() / 1e9), base)
        self._ahead_ns = 0
        self.interface = self.card = ''
        self.port: InlinePort | None = None
        if settings.ethercat:
            line = self._make_segment(self._now_ns, self._go)
            self._wire = EthercatWire(line, self._now_ns, self._let_pass)
            self.interface = self._wire.interface
        if settings.card:
            self.card = self._offer(self._make_card())
        if self.has_sensor:
            self.port = InlinePort(reader.OFFERS.offer(self._listen))
            self._make_sensor(self.port).begin()
        self.faults = RigFaults(self.tables)
        self._folder = tempfile.TemporaryDirectory(prefix='rig-')
        self.rig_file = Path(self._folder.name, places.RIG_FILE)
        port = '' if self.port is None else self.port.path
        save_rig(self.rig_file, self.sheet(DAY))
        ends = {'rig_file': str(self.rig_file), 'card': self.card, 'imu': port}
        self.ends = {name: end for name, end in ends.items() if end}
        if self.interface:
            self.ends |= {'interface': self.interface, 'namespace': ''}

    @property
    def facts(self) -> dict[str, Any]:
        """What diagnostics tell of it: the same on every run, unlike the name of a folder."""
        return {name: end for name, end in self.ends.items() if name != 'rig_file'}

    def exit_reason(self) -> str:
        """Return nothing: it runs."""
        return ''

    def advance(self) -> None:
        """Bring the plant to the present time."""
        self.tick()
        self.mechanics.advance(self.now())

    def tick(self) -> None:
        """Let drives go on by themselves that no frame has reached for a while."""
        if self.segment is not None and self.now() >= self.segment.due:
            self.segment.tick()

    def now(self) -> float:
        """Return the present time [s]; who drives may be ahead, as in a slow call of the card."""
        return self._now_ns() / NANOSECONDS

    def truth(self) -> InlineRig:
        """Return who knows what really happens."""
        return self

    def read(self) -> Truth:
        """Return the present instant."""
        self.advance()
        return Truth.of(sample(self.mechanics, 0.0))

    def call(self, fault: str, /, **arguments: Any) -> Any:
        """Break or mend something; raises `FaultError` where fault or arguments do not fit."""
        self.advance()
        return self.faults.call(fault, **arguments)

    def end(self) -> None:
        """Take wire, card and sensor away, and remove the sheet."""
        if self.interface:
            self._wire.withdraw()
        wire.OFFERS.withdraw(self.card)
        if self.port is not None:
            reader.OFFERS.withdraw(self.port.path)
        self._folder.cleanup()

    def _offer(self, card: Card) -> str:
        time = CallersTime(self.now, self._come_to)
        return wire.OFFERS.offer(
            wire.InlineCard(lambda: wire.InlineWire(card, self.advance), time)
        )

    def _come_to(self, instant: float) -> None:
        self._ahead_ns = max(self._ahead_ns, round(instant * NANOSECONDS))

    def _now_ns(self) -> int:
        return max(self._clocks.steady_ns(), self._ahead_ns)

    def _let_pass(self, duration: float) -> None:
        self._ahead_ns = self._now_ns() + ceil(duration * NANOSECONDS)

    def _go(self, instant: float) -> None:
        """Bring the plant to an instant; ahead of the clock the sensor has nothing to say yet."""
        self.mechanics.advance(min(instant, self._clocks.now()))
        self.mechanics.go(instant)

    def _listen(self, settings: ReaderSettings) -> InlineReader:
        assert self.sensor is not None
        return InlineReader(self.sensor, settings, self.now, self.advance)
