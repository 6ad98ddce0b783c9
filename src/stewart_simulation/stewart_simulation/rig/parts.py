# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What every rig is made of, whoever owns its time: plant, card, sensor and their faults.

No two rigs are quite alike: their seed decides where encoders stand, and what the sensors and
amplifiers of the card make of volts. Their sheet, ``calibration.yaml``, says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
import datetime
import time

import numpy as np
from stewart_driver.control.clock_bridge import ClockBridge
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.legs import Array, LEGS
from stewart_driver.rig_file import (
    Channel,
    DaqCalibration,
    DriveCalibration,
    DriveIdentity,
    geometry_digest,
    Rig,
)
from stewart_kinematics.model.platform import Platform
from stewart_simulation.control import FaultTable
from stewart_simulation.daq_card.analog_rig import AnalogRig, AnalogSettings, Mode
from stewart_simulation.daq_card.card import Card, CardSettings
from stewart_simulation.encoders import drawn
from stewart_simulation.ethercat.drive_model import AxisCommand
from stewart_simulation.ethercat.faults import Faults
from stewart_simulation.ethercat.segment import Line, Segment
from stewart_simulation.rate_ramp import RateRamp
from stewart_simulation.rig.faults import CardFaults, ImuFaults, PlantFaults
from stewart_simulation.rig.inertial_feed import InertialFeed
from stewart_simulation.rig.mechanics import Mechanics, Watched
from stewart_simulation.rig.settings import CARD, ETHERCAT, RigSettings
from stewart_simulation.rigid_drives import RigidDrives
from stewart_simulation.serial_imu.device import Sensor
from stewart_simulation.serial_imu.inline_port import InlinePort
from stewart_simulation.serial_imu.measurement import Imperfections
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor
from stewart_simulation.serial_imu.pty_port import PtyPort
from stewart_simulation.ship import MovingBase
from stewart_simulation.start import leg_limits, start_pose, strokes_at

# The next target may come a little late before the axis stops at this one.
TOLERANCE = 1.25


class Axes:
    """Mechanics behind six drives; fulfils ``drive_model.DriveModel``.

    Args:
        counts_per_metre: Of the encoders, per stroke; negative where counts fall [1/m].
        zeros (6,): Readings at stroke zero [count].
        rated_force: What the rated torque pushes with, signed like the counts [N].
        hold_after: How long a stopping drive goes on without being asked again [s].
        noise: Standard deviation of a reading [m].
        connected: Whether the drives move the plant; if not, they only measure.
        advance: Brings the plant to an instant [s]; that of the mechanics by default.
    """

    def __init__(
        self,
        mechanics: Mechanics[RigidDrives],
        *,
        counts_per_metre: float,
        zeros: Sequence[int],
        rated_force: float,
        hold_after: float,
        noise: float,
        rng: np.random.Generator,
        connected: bool = True,
        advance: Callable[[float], None] | None = None,
    ) -> None:
        self._mechanics, self._bring = mechanics, advance or mechanics.advance
        self._counts, self._zeros = counts_per_metre, np.array(zeros, dtype=np.float64)
        self._per_mille = 1e-3 * rated_force
        self._hold_after = hold_after
        self._noises, self._connected = drawn(rng, noise), connected
        self._time = mechanics.time
        self._last: list[AxisCommand] = []
        self.torque_off = mechanics.drives.sto
        self._ramp = RateRamp()
        self._measure()

    def command(self, commands: Sequence[AxisCommand]) -> None:
        """Take what the drives want from now on; what they only repeat grows older."""
        given = list(commands)
        if not self._connected or given == self._last:
            return
        self._last = given
        drives = self._mechanics.drives
        wanted = np.array(given, dtype=np.float64)
        falling = int(self._counts < 0.0)
        drives.allowed_forces[1 - falling] = wanted[:, 5] * abs(self._per_mille)
        drives.allowed_forces[falling] = wanted[:, 6] * abs(self._per_mille)
        drives.powered[:] = wanted[:, 0] != 0.0
        rates, ahead = wanted[:, 2] / self._counts, wanted[:, 4]
        # The rate is the mean over the way to the target, so it holds in the middle of it. No lead
        # (it would be half a cycle): after a lost frame it would push up to a third harder.
        change = self._ramp.accelerations(rates, ahead)
        drives.command(
            (wanted[:, 1] - self._zeros) / self._counts - rates * ahead,
            rates - 0.5 * change * ahead,
            wanted[:, 3] * self._per_mille,
            np.where(ahead > 0.0, TOLERANCE * ahead, self._hold_after),
            change,
        )

    def advance(self, duration: float) -> None:
        """Let some time pass [s]."""
        self._time += duration
        self._bring(self._time)
        self._measure()

    def _measure(self) -> None:
        drives, seen = self._mechanics.drives, np.empty((3, LEGS))
        noise = next(self._noises)
        drives.measure(noise, self._counts, self._zeros, self._per_mille, seen)
        self.positions: list[float]
        self.velocities: list[float]
        self.torques: list[float]
        self.positions, self.velocities, self.torques = seen.tolist()


# The encoders stand anywhere within this at stroke zero [count].
FURTHEST_ZERO = 100_000_000


@dataclass(frozen=True)
class Clocks:
    """The time of a rig: steady clock [ns], and clock of the message stamps [s]."""

    steady_ns: Callable[[], int] = time.monotonic_ns
    wall: Callable[[], float] = time.time

    def now(self) -> float:
        """Return the present time of the steady clock [s]."""
        return self.steady_ns() / 1e9


REAL_TIME = Clocks()


class Parts:
    """The plant, and makers of what stands between it and the wires.

    Attributes:
        zeros: Readings of the encoders at stroke zero [count].
        analog: Position sensors and amplifiers of the card.
        tables: Faults by wire.
    """

    def __init__(
        self, settings: RigSettings, clocks: Clocks, base: MovingBase | None = None
    ) -> None:
        self._settings, self._clocks = settings, clocks
        self._rngs = iter(np.random.default_rng(settings.seed).spawn(8))
        self._platform = Platform.from_yaml(settings.platform)
        limits = leg_limits(self._platform)
        zeros = np.random.default_rng(settings.seed).integers(
            -FURTHEST_ZERO, FURTHEST_ZERO, LEGS, endpoint=True
        )
        self.zeros: tuple[int, ...] = tuple(zeros.tolist())
        self.analog = replace(
            AnalogSettings.for_legs(limits, Mode(settings.card_mode), seed=settings.seed),
            sensor_noise=settings.sensor_noise,
            enable_channel=settings.enable_channel,
        )
        plant = settings.plant(self._platform, start_pose(self._platform, settings.start))
        drives = settings.drives(plant, limits, hold_after=settings.hold_after, base=base)
        self._bridge = ClockBridge(clocks.wall, clocks.now)
        self.mechanics = Mechanics(drives, clocks.now(), self._on_step)
        self.segment: Segment | None = None
        self.sensor: PluggedSensor | None = None
        self.tables: dict[str, FaultTable] = {'plant': PlantFaults(drives)}

    def sheet(self, today: datetime.date) -> Rig:
        """Return the calibration file that a perfect calibration of this rig would write.

        Its sections are those of the wires that there are.
        """
        settings, platform, analog = self._settings, self._platform, self.analog
        strokes = strokes_at(platform, start_pose(platform, settings.start))
        drives = daq = None
        if settings.ethercat:
            drives = DriveCalibration(
                self.zeros,
                # A date of its own, for YAML would write the second as a reference to the first.
                today.replace(),
                settings.start,
                tuple(strokes.tolist()),
                tuple(DriveIdentity(*astuple(kind.identity)) for kind in settings.drive_types()),
            )
        if settings.card:
            daq = DaqCalibration(
                _channels(analog.sensor_gains, analog.sensor_offsets),
                _channels(analog.command_gains, analog.command_offsets),
                today,
                settings.card_mode,
            )
        return Rig(settings.platform, geometry_digest(settings.platform), drives, daq)

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
            zeros=self.zeros,
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
            self.analog,
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


def _channels(gains: Array, offsets: Array) -> tuple[Channel, ...]:
    pairs = zip(gains.tolist(), offsets.tolist(), strict=True)
    return tuple(Channel(gain, offset, 0.0) for gain, offset in pairs)
