# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The back end ``simulated``: six drives, a plant and encoders, and no metal."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar, TYPE_CHECKING

import numpy as np
from stewart_driver.backend import Backend, Measurement
from stewart_driver.errors import ConfigurationError
from stewart_driver.legs import ALL_LEGS, Array, LEGS, require_rest
from stewart_driver.path.motion import LegMotion, NO_MOTION
from stewart_simulation.drives import LaggingDrives
from stewart_simulation.encoders import Encoders
from stewart_simulation.plant_options import PlantOptions
from stewart_simulation.rate_ramp import RateRamp
from stewart_simulation.rig.mechanics import Mechanics
from stewart_tables.settings import param, positive

if TYPE_CHECKING:
    from stewart_simulation.rigid_drives import RigidDrives


@dataclass(frozen=True)
class SimulatedOptions(PlantOptions):
    """How the simulated drives are made; every field is a parameter ``simulated.<field>``.

    Raises:
        ConfigurationError: If a value is out of range.
    """

    cycle_time: float = positive(0.0025, 'time from one exchange to the next [s]')
    seed: int = param(0, 'seed of the noise of encoders and forces', min=0)
    model: str = param(
        'rigid',
        'rigid: servo drives move thirteen rigid bodies, which takes a platform with masses; '
        'lagging: drives that follow with a lag, without a plant',
        choices=('rigid', 'lagging'),
    )
    bandwidth: float = positive(20.0, 'lagging: natural frequency of the position loops [Hz]')
    damping: float = positive(0.8, 'lagging: damping ratio of the position loops [-]')
    reserve: float = positive(1.25, 'lagging: what drives can do, in units of the leg limits [-]')
    sag_rate: float = positive(0.05, 'lagging: how fast a leg without power sinks [m/s]')
    moved_mass: float = positive(60.0, 'lagging: mass that one drive accelerates [kg]')
    enable_delay: float = param(0.2, 'time from enabling to operation [s]', min=0.0)
    enable_spread: float = param(
        0.0, 'the drives come on within this time after it, each at its own [s]', min=0.0
    )
    encoder_resolution: float = positive(0.01 / 2**23, 'stroke of one count [m]')
    encoder_noise: float = param(1e-6, 'standard deviation of a reading [m]', min=0.0)
    force_noise: float = param(0.0, 'rigid: standard deviation of a force reading [N]', min=0.0)
    rate_bandwidth: float = positive(100.0, 'corner frequency of the measured rate [Hz]')
    homed: bool = param(default=True, description='absolute encoders that know their zero')


class SimulatedBackend(Backend):
    """Six simulated drives in cyclic synchronous position mode.

    Servo drives interpolate in between: a target's rate goes on changing, and its acceleration is
    the one that the last targets make expect in the middle of the coming cycle. So neither the
    motion nor the force has a step at an exchange.
    Given the options and the instants of the exchanges, everything it reports is determined.
    Lagging drives move no plant, so they measure no force.

    Attributes:
        mechanics: The plant and its time, from `open` on; whoever shares this process may look at
            it, and put a sensor on it.
    """

    name: ClassVar[str] = 'simulated'
    # The plant takes a hundred times as long without.
    compiles = True
    simulated = True
    homed = True
    options_type: ClassVar[type] = SimulatedOptions

    def __init__(self, options: SimulatedOptions) -> None:
        # The cyclic process unpickles this object and never comes here, so it starts without
        # loading the kinematics.
        from stewart_kinematics.model.platform import Platform
        from stewart_simulation.start import leg_limits, start_pose, strokes_at

        platform = Platform.from_yaml(options.platform)
        self._options = options
        self.cycle_time, self.limits = options.cycle_time, leg_limits(platform)
        self.homed = options.homed
        pose = start_pose(platform, options.start)
        if options.model == 'lagging':
            self._start = strokes_at(platform, pose)
            return
        if platform.masses is None:
            expected = f'lagging, for {platform.name} has no masses'
            raise ConfigurationError('model', options.model, expected)
        self._plant = options.plant(platform, pose)
        # Compiles the kernels the first time, so that the cyclic process finds them on disk.
        self._rigid()

    @property
    def measures_forces(self) -> bool:
        """Whether the drives move a plant, and so measure forces."""
        return self._options.model == 'rigid'

    def open(self, now: float) -> None:
        """Put the platform where it starts."""
        options = self._options
        self._drives: LaggingDrives | RigidDrives
        if options.model == 'lagging':
            self._drives = LaggingDrives(self._start, options, self.limits)
        else:
            self._drives = self._rigid()
        self._encoders = Encoders(
            options.encoder_resolution,
            options.encoder_noise,
            options.rate_bandwidth,
            np.random.default_rng(options.seed),
        )
        self._force_rng = np.random.default_rng((options.seed, 1))
        self._ramp = RateRamp(lead=1.0)
        self.mechanics = Mechanics(self._drives, now, longest_gap=inf)
        self._now = now
        self._enable_rng = np.random.default_rng((options.seed, 2))
        self._on_at: Array | None = None
        self._rates: Array = np.zeros(6)

    def _rigid(self) -> RigidDrives:
        return self._options.drives(
            self._plant, self.limits, hold_after=2.0 * self._options.cycle_time
        )

    def close(self) -> None:
        """Do nothing more: `disable` has taken the power."""

    def enable(self) -> None:
        """Switch the drives on, which takes the enabling delay."""
        spread = self._enable_rng.uniform(0.0, self._options.enable_spread, LEGS)
        self._on_at = self._now + self._options.enable_delay + spread

    def withdraw(self) -> None:
        """Let the drives that are still off stay so."""
        self._on_at = None

    def disable(self) -> None:
        """Take the power from the drives; what no brake holds sinks."""
        self._on_at = None
        self._drives.on = False

    def home(self) -> str:
        """Verify that the strokes can be absolute, and say so; raises `HomingError`."""
        require_rest(self._drives.strokes, self._rates, self.limits)
        self.homed = True
        return 'the simulated encoders are absolute; all legs stand still inside their strokes'

    def reset_fault(self) -> None:
        """Do nothing: simulated drives have no faults of their own."""

    def exchange(self, targets: LegMotion, now: float) -> Measurement:
        """Let time pass until now [s], read the encoders, then take the new targets."""
        elapsed, self._now = now - self._now, now
        self.mechanics.advance(now)
        drives = self._drives
        if self._on_at is not None:
            drives.powered |= now >= self._on_at
            if drives.on:
                self._on_at = None
        powered, sto, braked = drives.bits()
        live = powered & ~sto
        if sto:
            # Torque that the safety circuit gives back does not come back by itself.
            drives.powered &= drives.live
        drives.command(
            targets.strokes,
            targets.rates,
            targets.forces,
            accelerations=self._ramp.accelerations(targets.rates, elapsed),
        )
        strokes, self._rates = self._encoders.read(drives.strokes, elapsed)
        return Measurement(
            stamp=now,
            strokes=strokes,
            rates=self._rates,
            forces=self._forces(),
            enabled=live == ALL_LEGS and not braked,
            live=live,
            braked=braked,
            sto=sto,
        )

    def _forces(self) -> Array | None:
        if isinstance(self._drives, LaggingDrives):
            return None
        sigma = self._options.force_noise
        noise = self._force_rng.normal(0.0, sigma, LEGS) if sigma else NO_MOTION
        return self._drives.read_forces(noise)
