# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig with all its wires, and what they do when it is their turn."""

from __future__ import annotations

from math import inf
from pathlib import Path
import time

import numpy as np
from stewart_driver.clock_bridge import ClockBridge
from stewart_driver.ethercat.drive_type import DriveType
from stewart_kinematics.platform import Platform
from stewart_simulation.daq_card.analog_rig import AnalogRig
from stewart_simulation.daq_card.card import Card, CardSettings
from stewart_simulation.daq_card.faults import CardFaults
from stewart_simulation.daq_card.server import CardServer
from stewart_simulation.ethercat.control import ControlServer
from stewart_simulation.ethercat.faults import Faults
from stewart_simulation.ethercat.line import Line
from stewart_simulation.ethercat.omron_1s import DriveType as SlaveType
from stewart_simulation.ethercat.port import Port
from stewart_simulation.ethercat.script import Script
from stewart_simulation.ethercat.segment import Segment
from stewart_simulation.fault_table import FaultTable
from stewart_simulation.rig import directory as places
from stewart_simulation.rig.axes import Axes
from stewart_simulation.rig.faults import RigFaults
from stewart_simulation.rig.inertial_feed import InertialFeed
from stewart_simulation.rig.loop import Loop
from stewart_simulation.rig.machine import Machine
from stewart_simulation.rig.mechanics import Mechanics, Watched
from stewart_simulation.rig.plant_faults import PlantFaults
from stewart_simulation.rig.settings import CARD, ETHERCAT, RigSettings
from stewart_simulation.rig.truth import TruthWriter
from stewart_simulation.serial_imu.device import Sensor
from stewart_simulation.serial_imu.faults import ImuFaults
from stewart_simulation.serial_imu.measurement import Imperfections
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor
from stewart_simulation.serial_imu.pty_port import PtyPort
from stewart_simulation.start import leg_limits, start_pose

# Drives and plant go on at least so often, under power and without [s].
TICK, IDLE = 5e-3, 20e-3
CLOCK_PERIOD = 1.0


class Wires:
    """
    The plant behind segment, card and sensor.

    Parameters
    ----------
    settings : RigSettings
        What there is.
    directory : Path
        Where the ends of the wires are.
    interface : str
        Network interface of the segment; empty without one.

    Attributes
    ----------
    machine : Machine
        As it was built.
    mechanics : Mechanics
        The plant.
    faults : RigFaults
        Of all wires.

    """

    def __init__(self, settings: RigSettings, directory: Path, interface: str = '') -> None:
        """Build everything; nothing answers before `register`."""
        self._settings, self._directory = settings, directory
        self._rngs = iter(np.random.default_rng(settings.seed).spawn(8))
        platform = Platform.from_yaml(settings.platform)
        limits = leg_limits(platform)
        self.machine = Machine.build(platform, limits, settings)
        plant = settings.plant(platform, start_pose(platform, settings.start))
        drives = settings.drives(plant, limits, hold_after=settings.hold_after)
        self._bridge = ClockBridge(time.time, time.monotonic)
        self._clock_due = 0.0
        truth = TruthWriter(directory / places.TRUTH)
        self.mechanics = Mechanics(drives, truth, self._bridge, time.monotonic())
        self.sensor: PluggedSensor | None = None
        self._card: CardServer | None = None
        self._segment: Segment | None = None
        self._port: Port | None = None
        self._listened = -1
        tables: dict[str, FaultTable] = {}
        if settings.ethercat:
            tables['ethercat'] = self._make_segment(interface)
        if settings.card:
            tables['card'] = self._make_card()
        if settings.imu and platform.imu is not None:
            tables['imu'] = self._make_sensor(platform)
        tables['plant'] = PlantFaults(drives)
        self.faults = RigFaults(tables)
        self._script = Script.load(Path(settings.script), self.faults) if settings.script else None
        self._control = ControlServer(directory / places.CONTROL, self.faults)

    def _make_segment(self, interface: str) -> Faults:
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
        )
        kind = SlaveType(free_maps=settings.free_maps, needs_sync0=settings.needs_sync0)
        # Other wires move the plant, too: an instant later, the drives would lag behind for good.
        since = round(1e9 * self.mechanics.time)
        self._segment = Segment([kind] * 6, time.monotonic_ns, axes, since=since)
        line = Line(self._segment, settings.seed)
        self._port = Port(interface, line) if interface else None
        return Faults(self._segment, line)

    def _make_card(self) -> CardFaults:
        settings = self._settings
        # The way of the plant to now takes a while: what is measured is of then.
        card = Card(
            CardSettings(settings.card_noise, settings.seed),
            lambda: self._bridge.to_wall(self.mechanics.time),
        )
        drives = self.mechanics.drives
        self.mechanics.mover = AnalogRig(
            card,
            drives if settings.moved_by == CARD else Watched(drives),
            self.machine.analog,
            next(self._rngs),
        )
        self._card = CardServer(
            self._directory / places.CARD,
            card,
            lambda: self.mechanics.advance(time.monotonic()),
        )
        return CardFaults(card)

    def _make_sensor(self, platform: Platform) -> ImuFaults:
        settings = self._settings
        assert platform.imu is not None
        assert platform.masses is not None
        flaws = Imperfections(
            acceleration_noise=settings.accelerometer_noise,
            angular_velocity_noise=settings.gyroscope_noise,
            acceleration_bias=settings.accelerometer_bias,
            angular_velocity_bias=settings.gyroscope_bias,
        )
        feed = InertialFeed(self.mechanics, platform.imu, platform.masses.gravity)
        self.sensor = PluggedSensor(
            feed,
            now=time.monotonic,
            sensor=Sensor(flaws=flaws, rng=next(self._rngs)),
            port=PtyPort(self._directory / places.IMU),
        )
        self.mechanics.sensor = self.sensor
        return ImuFaults(self.sensor)

    def register(self, loop: Loop) -> None:
        """Answer from now on."""
        if self._port is not None:
            loop.watch(self._port.fileno(), self._port.answer)
        if self._card is not None:
            loop.serve(self._card)
        loop.serve(self._control)
        self._loop = loop
        if self.sensor is not None:
            self.sensor.begin()

    def in_use(self, now: float) -> bool:
        """Tell whether a program holds the card, or a master spoke not longer than a tick ago."""
        return (self._card is not None and bool(self._card.clients)) or (
            self._port is not None and now - self._port.heard < IDLE
        )

    def turn(self, now: float) -> float:
        """Do what is due; return when the next thing is [s]."""
        due = inf
        if self._port is not None:
            self._port.send_late()
            due = self._port.due
        if self._script is not None:
            self._script.play(now)
        if self.sensor is not None:
            due = min(due, self._attend(self.sensor, now))
        if now >= self._clock_due:
            self._bridge.refresh()
            self._clock_due = now + CLOCK_PERIOD
        return min(due, self._tick(now))

    def _attend(self, sensor: PluggedSensor, now: float) -> float:
        """Let the sensor measure and send, and hear on the port that it has now."""
        if sensor.due <= now:
            self.mechanics.advance(now)
            sensor.turn(now)
        descriptor = sensor.port.fileno()
        if descriptor != self._listened:
            self._loop.forget(self._listened)
            if descriptor >= 0:
                self._loop.watch(descriptor, lambda: sensor.turn(time.monotonic()))
            self._listened = descriptor
        return sensor.due

    def _tick(self, now: float) -> float:
        """Let drives and plant go on if no wire has done it."""
        patience = TICK if self.mechanics.drives.powered.any() else IDLE
        if self._segment is not None:
            if now - self._segment.ticked >= patience:
                self._segment.tick()
            return self._segment.ticked + patience
        if now - self.mechanics.time >= patience:
            self.mechanics.advance(now)
        return self.mechanics.time + patience

    def close(self) -> None:
        """Let go of every wire."""
        self._control.close()
        if self._card is not None:
            self._card.close()
        if self._port is not None:
            self._port.close()
        if self.sensor is not None:
            self.sensor.port.unplug()
