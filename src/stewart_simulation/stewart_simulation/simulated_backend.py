# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The back end ``simulated``: six drives with lag and encoders, and no metal."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from stewart_driver.backend import Measurement, Targets
from stewart_driver.errors import ConfigurationError, HomingError
from stewart_driver.legs import Array, LegLimits
from stewart_simulation.drives import DriveSettings, LaggingDrives
from stewart_simulation.encoders import Encoders

STARTS = ('neutral', 'retracted')
STANDSTILL = 1e-3
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
    bandwidth: float = _option(20.0, 'natural frequency of the position loops [Hz]')
    damping: float = _option(0.8, 'damping ratio of the position loops [-]')
    reserve: float = _option(1.25, 'what the drives can do, in units of the leg limits [-]')
    force_limit: float = _option(5000.0, 'largest force of a drive [N]')
    moved_mass: float = _option(60.0, 'mass that one drive accelerates [kg]')
    enable_delay: float = _option(0.2, 'time from enabling to operation [s]')
    encoder_resolution: float = _option(0.01 / 2**23, 'stroke of one count [m]')
    encoder_noise: float = _option(1e-6, 'standard deviation of a reading [m]')
    rate_bandwidth: float = _option(100.0, 'corner frequency of the measured rate [Hz]')
    homed: bool = _option(default=True, description='absolute encoders that know their zero')

    def __post_init__(self) -> None:
        """Check."""
        if self.start not in STARTS:
            raise ConfigurationError('start', self.start, ' or '.join(STARTS))
        if self.seed < 0:
            raise ConfigurationError('seed', self.seed, 'an integer >= 0')
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(value, float):
                continue
            zero_allowed = item.name in {'enable_delay', 'encoder_noise'}
            if not np.isfinite(value) or value < 0.0 or (value == 0.0 and not zero_allowed):
                raise ConfigurationError(item.name, value, 'a positive number')


class SimulatedBackend:
    """
    Six simulated drives in cyclic synchronous position mode.

    Given the options and the instants of the exchanges, everything it reports is determined. No
    force is measured: the drives move no plant.

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
        from stewart_simulation.start_strokes import leg_limits, neutral_strokes

        platform = Platform.from_yaml(options.platform)
        self._options = options
        self._limits = leg_limits(platform)
        retracted = options.start == 'retracted'
        self._start = self._limits.stroke_lower if retracted else neutral_strokes(platform)
        self._homed = options.homed

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
        """Put the legs where they start."""
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
        self._drives = LaggingDrives(self._start, settings)
        self._encoders = Encoders(
            options.encoder_resolution,
            options.encoder_noise,
            options.rate_bandwidth,
            np.random.default_rng(options.seed),
        )
        self._now = now
        self._on_at: float | None = None
        self._rates: Array = np.zeros_like(self._start)

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
        self._drives.command(targets.strokes, targets.rates)
        strokes, self._rates = self._encoders.read(self._drives.strokes, elapsed)
        return Measurement(
            stamp=now,
            strokes=strokes,
            rates=self._rates,
            forces=None,
            enabled=self._drives.on,
            true_strokes=self._drives.strokes.copy(),
        )
