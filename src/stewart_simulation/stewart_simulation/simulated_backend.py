# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The back end ``simulated``: six drives, a plant and encoders, and no metal."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TYPE_CHECKING

import numpy as np
from stewart_driver.backend import Measurement, Targets
from stewart_driver.errors import ConfigurationError, HomingError
from stewart_driver.legs import Array, LegLimits
from stewart_simulation.drives import DriveSettings, LaggingDrives
from stewart_simulation.encoders import Encoders

if TYPE_CHECKING:
    from stewart_simulation.rigid_drives import RigidDrives

STARTS = ('neutral', 'retracted')
MODELS = ('rigid', 'lagging')
STANDSTILL = 1e-3
MAY_BE_ZERO = {
    'enable_delay',
    'encoder_noise',
    'payload_mass',
    'joint_error',
    'viscous_friction',
    'coulomb_friction',
}
# The mechanical ends lie this far outside the stroke that may be used.
END_MARGIN = 5e-3


def _option(default: Any, description: str) -> Any:
    return field(default=default, metadata={'description': description})


@dataclass(frozen=True)
class SimulatedOptions:
    """
    How the simulated drives are made; every field is a parameter ``simulated.<field>``.

    Raises
    ------
    ConfigurationError
        If a value is out of range.

    """

    platform: str = _option('vigo', 'platform type: a name, or a path to its YAML file')
    start: str = _option('neutral', 'where the legs stand at first: neutral or retracted')
    cycle_time: float = _option(0.0025, 'time from one exchange to the next [s]')
    seed: int = _option(0, 'seed of the encoder noise')
    model: str = _option(
        'rigid',
        'rigid: servo drives move thirteen rigid bodies, which takes a platform with masses; '
        'lagging: drives that follow with a lag, without a plant',
    )
    force_limit: float = _option(5000.0, 'largest force of a drive [N]')
    rated_force: float = _option(1000.0, 'rated force of a drive; feedback in 1/1000 of it [N]')
    position_gain: float = _option(60.0, 'rigid: gain of the position loop [1/s]')
    rate_loop_bandwidth: float = _option(60.0, 'rigid: corner frequency of the rate loop [Hz]')
    integral_time: float = _option(0.02, 'rigid: integral time of the rate loop [s]')
    current_lag: float = _option(0.001, 'rigid: time constant of the current loop [s]')
    payload_mass: float = _option(0.0, 'rigid: a sphere that the description does not know [kg]')
    payload_position: tuple[float, ...] = _option(
        (0.0, 0.0, 0.0), 'rigid: its centre in platform_link [m]'
    )
    joint_error: float = _option(0.0, 'rigid: standard deviation of joint coordinates [m]')
    viscous_friction: float = _option(20.0, 'rigid: friction of an actuator [N s/m]')
    coulomb_friction: float = _option(2.0, 'rigid: friction of an actuator [N]')
    plant_seed: int = _option(0, 'rigid: seed of the joint errors')
    bandwidth: float = _option(20.0, 'lagging: natural frequency of the position loops [Hz]')
    damping: float = _option(0.8, 'lagging: damping ratio of the position loops [-]')
    reserve: float = _option(1.25, 'lagging: what drives can do, in units of the leg limits [-]')
    moved_mass: float = _option(60.0, 'lagging: mass that one drive accelerates [kg]')
    enable_delay: float = _option(0.2, 'time from enabling to operation [s]')
    encoder_resolution: float = _option(0.01 / 2**23, 'stroke of one count [m]')
    encoder_noise: float = _option(1e-6, 'standard deviation of a reading [m]')
    rate_bandwidth: float = _option(100.0, 'corner frequency of the measured rate [Hz]')
    homed: bool = _option(default=True, description='absolute encoders that know their zero')

    def __post_init__(self) -> None:
        """Check."""
        if self.start not in STARTS:
            raise ConfigurationError('start', self.start, ' or '.join(STARTS))
        if self.model not in MODELS:
            raise ConfigurationError('model', self.model, ' or '.join(MODELS))
        if len(self.payload_position) != 3:
            raise ConfigurationError('payload_position', self.payload_position, 'three numbers')
        for name in ('seed', 'plant_seed'):
            if getattr(self, name) < 0:
                raise ConfigurationError(name, getattr(self, name), 'an integer >= 0')
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(value, float):
                continue
            zero_allowed = item.name in MAY_BE_ZERO
            if not np.isfinite(value) or value < 0.0 or (value == 0.0 and not zero_allowed):
                raise ConfigurationError(item.name, value, 'a positive number')


class SimulatedBackend:
    """
    Six simulated drives in cyclic synchronous position mode.

    Given the options and the instants of the exchanges, everything it reports is determined.
    Lagging drives move no plant, so they measure no force.

    Parameters
    ----------
    options : SimulatedOptions
        How they are made.

    """

    name: ClassVar[str] = 'simulated'
    simulated: ClassVar[bool] = True
    options_type: ClassVar[type] = SimulatedOptions

    def __init__(self, options: SimulatedOptions) -> None:
        """Look the platform up; nothing moves before `open`."""
        # The cyclic process unpickles this object and never comes here, so it starts without
        # loading the kinematics.
        from stewart_kinematics.platform import Platform
        from stewart_simulation.start import leg_limits, start_pose, strokes_at

        platform = Platform.from_yaml(options.platform)
        self._options = options
        self._limits = leg_limits(platform)
        self._homed = options.homed
        pose = start_pose(platform, options.start)
        if options.model == 'lagging':
            self._start = strokes_at(platform, pose)
            return
        if platform.masses is None:
            expected = f'lagging, for {platform.name} has no masses'
            raise ConfigurationError('model', options.model, expected)
        from stewart_simulation.differences import build_plant, Differences

        x, y, z = options.payload_position
        differences = Differences(
            options.payload_mass,
            (x, y, z),
            joint_error=options.joint_error,
            viscous_friction=options.viscous_friction,
            coulomb_friction=options.coulomb_friction,
            seed=options.plant_seed,
        )
        self._plant = build_plant(platform, pose, differences)
        # Compiles the kernels the first time, so that the cyclic process finds them on disk.
        self._rigid()

    @property
    def cycle_time(self) -> float:
        """Time from one exchange to the next [s]."""
        return self._options.cycle_time

    @property
    def limits(self) -> LegLimits:
        """What the platform type allows its legs."""
        return self._limits

    @property
    def homed(self) -> bool:
        """Whether the strokes are absolute."""
        return self._homed

    def open(self, now: float) -> None:
        """Put the platform where it starts."""
        options = self._options
        self._drives = self._lagging() if options.model == 'lagging' else self._rigid()
        self._encoders = Encoders(
            options.encoder_resolution,
            options.encoder_noise,
            options.rate_bandwidth,
            np.random.default_rng(options.seed),
        )
        self._now = now
        self._on_at: float | None = None
        self._rates: Array = np.zeros(6)

    def _lagging(self) -> LaggingDrives:
        options, limits = self._options, self._limits
        by_force = options.force_limit / options.moved_mass
        settings = DriveSettings(
            bandwidth=options.bandwidth,
            damping=options.damping,
            rate_limit=options.reserve * limits.rate,
            acceleration_limit=min(options.reserve * limits.acceleration, by_force),
            hold_after=2.0 * options.cycle_time,
            end_lower=limits.stroke_lower - END_MARGIN,
            end_upper=limits.stroke_upper + END_MARGIN,
        )
        return LaggingDrives(self._start, settings)

    def _rigid(self) -> RigidDrives:
        # Only here: who simulates without a plant need not load its kernels.
        from stewart_simulation.rigid_drives import RigidDrives, ServoSettings

        options, limits = self._options, self._limits
        settings = ServoSettings(
            position_gain=options.position_gain,
            rate_bandwidth=options.rate_loop_bandwidth,
            integral_time=options.integral_time,
            current_lag=options.current_lag,
            force_limit=options.force_limit,
            hold_after=2.0 * options.cycle_time,
            force_resolution=1e-3 * options.rated_force,
            end_lower=limits.stroke_lower - END_MARGIN,
            end_upper=limits.stroke_upper + END_MARGIN,
        )
        drives = RigidDrives(self._plant, settings)
        drives.warm_up()
        return drives

    def close(self) -> None:
        """Do nothing more: the brakes are on since `disable`."""

    def enable(self) -> None:
        """Switch the drives on, which takes the enabling delay."""
        self._on_at = self._now + self._options.enable_delay

    def disable(self) -> None:
        """Switch the drives off; the brakes hold the legs."""
        self._on_at = None
        self._drives.on = False

    def home(self) -> str:
        """
        Verify that the strokes can be absolute: at rest, inside the range.

        Returns
        -------
        str
            What was verified.

        Raises
        ------
        HomingError
            If a leg moves, or stands where it cannot.

        """
        fastest = float(np.abs(self._rates).max())
        if fastest > STANDSTILL:
            raise HomingError(f'a leg moves at {fastest:.4f} m/s while homing')
        strokes, limits = self._drives.strokes, self._limits
        outside = np.maximum(limits.stroke_lower - strokes, strokes - limits.stroke_upper)
        if outside.max() > END_MARGIN:
            leg = int(outside.argmax()) + 1
            raise HomingError(f'leg {leg} stands {outside.max():.4f} m outside its stroke')
        self._homed = True
        return 'the simulated encoders are absolute; all legs stand still inside their strokes'

    def reset_fault(self) -> None:
        """Do nothing: simulated drives have no faults of their own."""

    def exchange(self, targets: Targets, now: float) -> Measurement:
        """
        Let time pass, read the encoders, then take the new targets.

        Parameters
        ----------
        targets : Targets
            What the drives follow from now on, once they are on.
        now : float
            Instant of the exchange on the steady clock [s].

        Returns
        -------
        Measurement
            With the true strokes beside the measured ones.

        """
        elapsed, self._now = now - self._now, now
        self._drives.advance(elapsed)
        if self._on_at is not None and now >= self._on_at:
            self._drives.on = True
        self._drives.command(targets.strokes, targets.rates, targets.forces)
        strokes, self._rates = self._encoders.read(self._drives.strokes, elapsed)
        return Measurement(
            stamp=now,
            strokes=strokes,
            rates=self._rates,
            forces=self._drives.measured_forces,
            enabled=self._drives.on,
            true_strokes=self._drives.strokes.copy(),
        )
