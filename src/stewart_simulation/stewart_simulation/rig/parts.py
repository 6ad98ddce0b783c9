# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What every rig is made of, whoever owns its time: plant, card, sensor and their faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import time

import numpy as np
from stewart_driver.control.clock_bridge import ClockBridge
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.legs import LegLimits
from stewart_kinematics.model.platform import Platform
from stewart_simulation.daq_card.analog_rig import AnalogRig
from stewart_simulation.daq_card.card import Card, CardSettings
from stewart_simulation.daq_card.faults import CardFaults
from stewart_simulation.ethercat.faults import Faults
from stewart_simulation.ethercat.line import Line
from stewart_simulation.ethercat.segment import Segment
from stewart_simulation.fault_table import FaultTable
from stewart_simulation.rig.axes import Axes
from stewart_simulation.rig.inertial_feed import InertialFeed
from stewart_simulation.rig.machine import Machine
from stewart_simulation.rig.mechanics import Mechanics, Watched
from stewart_simulation.rig.plant_faults import PlantFaults
from stewart_simulation.rig.settings import CARD, ETHERCAT, RigSettings
from stewart_simulation.serial_imu.device import Sensor
from stewart_simulation.serial_imu.faults import ImuFaults
from stewart_simulation.serial_imu.inline_port import InlinePort
from stewart_simulation.serial_imu.measurement import Imperfections
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor
from stewart_simulation.serial_imu.pty_port import PtyPort
from stewart_simulation.start import leg_limits, start_pose


@dataclass(frozen=True)
class Clocks:
    """The time of a rig.

    Attributes:
        steady_ns: Steady clock [ns].
        wall: Clock of the message stamps [s].
    """

    steady_ns: Callable[[], int] = time.monotonic_ns
    wall: Callable[[], float] = time.time

    def now(self) -> float:
        """Return the present time of the steady clock [s]."""
        return self.steady_ns() / 1e9


REAL_TIME = Clocks()


class Parts:
    """The plant, and makers of what stands between it and the wires.

    Args:
        settings: What there is.
        clocks: Its time.

    Attributes:
        machine: As it was built.
        mechanics: The plant.
        segment: Six drives on EtherCAT.
        sensor: On the platform.
        tables: Faults by wire.
    """

    def __init__(self, settings: RigSettings, clocks: Clocks) -> None:
        """Build the plant, at rest."""
        self._settings, self._clocks = settings, clocks
        self._rngs = iter(np.random.default_rng(settings.seed).spawn(8))
        self._platform: Platform = Platform.from_yaml(settings.platform)
        limits: LegLimits = leg_limits(self._platform)
        self.machine = Machine.build(self._platform, limits, settings)
        plant = settings.plant(self._platform, start_pose(self._platform, settings.start))
        drives = settings.drives(plant, limits, hold_after=settings.hold_after)
        self._bridge = ClockBridge(clocks.wall, clocks.now)
        self.mechanics = Mechanics(drives, clocks.now(), self._on_step)
        self.segment: Segment | None = None
        self.sensor: PluggedSensor | None = None
        self.tables: dict[str, FaultTable] = {'plant': PlantFaults(drives)}

    @property
    def has_sensor(self) -> bool:
        """Whether the settings and the platform have an inertial sensor."""
        return self._settings.imu and self._platform.imu is not None

    def _on_step(self) -> None:
        """Take note that the plant has moved on."""

    def _make_segment(
        self,
        steady_ns: Callable[[], int],
        advance: Callable[[float], None] | None = None,
    ) -> Line:
        """Put an EtherCAT segment in front of the plant, on a clock; see `Axes` for `advance`."""
        settings = self._settings
        gear = DriveType.from_yaml(settings.drive).gear
        axes = Axes(
            self.mechanics,
            counts_per_metre=gear.counts_per_metre,
            zeros=self.machine.zeros,
            rated_force=gear.rated_force,
            hold_after=settings.hold_after,
            noise=settings.encoder_noise,
            rng=next(self._rngs),
            connected=settings.moved_by == ETHERCAT,
            advance=advance,
        )
        # Other wires move the plant, too: an instant later, the drives would lag behind for good.
        since = round(1e9 * self.mechanics.time)
        self.segment = Segment(settings.drive_types(), steady_ns, axes, since=since)
        line = Line(self.segment, settings.seed)
        self.tables['ethercat'] = Faults(self.segment, line)
        return line

    def _make_card(self) -> Card:
        """Put the card in front of the plant."""
        settings = self._settings
        # The way of the plant to now takes a while: what is measured is of then.
        card = Card(
            CardSettings(settings.card_noise, settings.seed, settings.card_late_share),
            lambda: self._bridge.to_wall(self.mechanics.time),
        )
        drives = self.mechanics.drives
        self.mechanics.mover = AnalogRig(
            card,
            drives if settings.moved_by == CARD else Watched(drives),
            self.machine.analog,
            next(self._rngs),
        )
        self.tables['card'] = CardFaults(card)
        return card

    def _make_sensor(self, port: PtyPort | InlinePort) -> PluggedSensor:
        """Put the sensor on the platform."""
        settings, platform = self._settings, self._platform
        assert platform.imu is not None
        assert platform.masses is not None
        flaws = Imperfections(
            acceleration_noise=settings.accelerometer_noise,
            angular_velocity_noise=settings.gyroscope_noise,
            acceleration_bias=settings.accelerometer_bias,
            angular_velocity_bias=settings.gyroscope_bias,
        )
        self.sensor = PluggedSensor(
            InertialFeed(self.mechanics, platform.imu, platform.masses.gravity),
            now=self._clocks.now,
            sensor=Sensor(flaws=flaws, rng=next(self._rngs)),
            port=port,
        )
        self.mechanics.sensor = self.sensor
        self.tables['imu'] = ImuFaults(self.sensor)
        return self.sensor
