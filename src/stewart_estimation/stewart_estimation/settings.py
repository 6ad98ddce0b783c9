# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the filter is told about its sensors, assumptions where nobody says it, and refinements.

Every refinement is off unless it is given: `gate`, `delay`, `misalignment`, `adaptive_legs`,
`adaptive_imu`, `reinitialisation`, `external`, and the random walks of the biases.
"""

from __future__ import annotations

from dataclasses import dataclass, field
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.platform import Platform, STANDARD_GRAVITY
from stewart_kinematics.motion import Array, Pose, read_only

SPECIFIC_FORCE = 0.02
"""Assumption for a small MEMS sensor: 2 mg, standard deviation of one sample [m/s²]."""

ANGULAR_VELOCITY = 1e-3
"""Assumption for a small MEMS sensor: 0.06 deg/s, standard deviation of one sample [rad/s]."""

LENGTH = 2e-5
"""Assumption for an encoder with its gear: standard deviation of one length [m]."""


def _check(
    instance: Any, *names: str, lower: float = 0.0, upper: float = math.inf, above: bool = False
) -> None:
    """Refuse numbers, or arrays with a number, outside their bounds; NaN is outside."""
    for name in names:
        numbers = np.asarray(getattr(instance, name), dtype=np.float64)
        inside = numbers > lower if above else numbers >= lower
        if not np.all(inside & (numbers <= upper) & np.isfinite(numbers)):
            bound = '' if upper == math.inf else f' and at most {upper:g}'
            key, sign = f'{type(instance).__name__}.{name}', 'above' if above else 'at least'
            raise ConfigurationError(key, numbers.tolist(), f'finite, {sign} {lower:g}{bound}')


def _fill(instance: Any, size: int, *names: str) -> None:
    """Replace fields by read-only arrays; one number stands for all."""
    for name in names:
        try:
            value = np.asarray(getattr(instance, name), dtype=np.float64)
            values = np.broadcast_to(value, (size,))
        except ValueError as error:
            key = f'{type(instance).__name__}.{name}'
            raise ConfigurationError(key, getattr(instance, name), f'{size} numbers') from error
        object.__setattr__(instance, name, read_only(values))


@dataclass(frozen=True, eq=False)
class ImuNoise:
    """Noise of an IMU.

    Attributes:
        specific_force, angular_velocity (3,): Standard deviation of one sample, in sensor axes
            [m/s²], [rad/s].
        period: Time between samples for which these hold [s]. Over a shorter step the noise counts
            as white of the same density.
        accelerometer_walk, gyroscope_walk (3,): Random walk of the biases: standard deviation
            after one second [m/s²], [rad/s]; 0 keeps the biases constant.
    """

    specific_force: Array
    angular_velocity: Array
    period: float = 0.01
    accelerometer_walk: Array = field(default_factory=lambda: np.zeros(3))
    gyroscope_walk: Array = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self) -> None:
        _fill(self, 3, 'specific_force', 'angular_velocity')
        _fill(self, 3, 'accelerometer_walk', 'gyroscope_walk')
        _check(self, 'specific_force', 'angular_velocity', 'period', above=True)
        _check(self, 'accelerometer_walk', 'gyroscope_walk')


@dataclass(frozen=True)
class Gate:
    """Refusal of leg samples that do not fit.

    Attributes:
        probability: Of refusing a sound sample. The normalised innovation squared is held against
            χ²; where it is too large the leg that fits worst given the others is left out, until
            it fits. One leg given the others is held against χ² as well, with a sixth of this.
        fewest_legs: With fewer legs left the whole sample is refused.
        frozen: A leg that repeats its value to the last digit while `fewest_legs` others move is
            left out from where it lies so many standard deviations off what the others say, until
            it says something else; infinite switches that off.
        drift: A leg that stays on one side of what the others say is left out, too: what it lies
            off beyond so many standard deviations is summed up. 1 finds slow faults soon, but
            takes what is wrong with the model, like a late IMU, for a fault, too; infinite
            switches that off.
        doubt: With `drift`, a leg left out for long has to fit for so many samples before it is
            used again: a stuck leg is met now and then by the true length.
    """

    probability: float = 1e-6
    fewest_legs: int = 3
    frozen: float = 3.0
    drift: float = math.inf
    doubt: int = 10

    def __post_init__(self) -> None:
        _check(self, 'probability', upper=0.5, above=True)
        _check(self, 'fewest_legs', lower=1.0, upper=6.0)
        for name in ('frozen', 'drift'):
            if not getattr(self, name) > 0.0:
                raise ConfigurationError(f'Gate.{name}', getattr(self, name), 'above 0')
        _check(self, 'doubt')


@dataclass(frozen=True)
class Lateness:
    """How late a sensor is, a constant, as a further state.

    A sample with stamp t describes the motion at t − delay.

    Attributes:
        start, sigma: First guess and its standard deviation [s].
        moving: Speed from which the platform shows the delay [m/s]; at rest it keeps its value.
        lower, upper: The delay is held inside [s].
    """

    start: float = 0.0
    sigma: float = 0.03
    moving: float = 0.02
    lower: float = -0.02
    upper: float = 0.2

    def __post_init__(self) -> None:
        _check(self, 'sigma', above=True)
        _check(self, 'moving')
        _check(self, 'lower', lower=-1.0, upper=1.0)
        _check(self, 'upper', lower=self.lower, upper=1.0, above=True)
        _check(self, 'start', lower=self.lower, upper=self.upper)


@dataclass(frozen=True)
class DelayEstimation(Lateness):
    """The age of IMU samples at their stamp; the stamps of the legs are right.

    The estimate of a leg sample is the motion at that sample's stamp.

    Attributes:
        walk: Random walk while the platform moves: standard deviation after one second [s].
    """

    walk: float = 2e-5

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self, 'walk')


@dataclass(frozen=True)
class MisalignmentEstimation:
    """Three small angles between the real and the stated mounting of the IMU as further states.

    Attributes:
        sigma: Standard deviation at the start, about each axis [rad].
    """

    sigma: float = 0.02

    def __post_init__(self) -> None:
        _check(self, 'sigma', above=True)


@dataclass(frozen=True)
class Adaptation:
    """Noise learnt from the data, of legs or IMU, whether more or less than stated.

    Attributes:
        window: How many samples the estimate of a variance remembers.
        dead_band: A learnt variance of less than this many times the stated one, and of more than
            one over its square, counts as stated, so that nothing changes while the sensors are as
            they should be.
    """

    window: float = 15.0
    dead_band: float = 2.5

    def __post_init__(self) -> None:
        _check(self, 'window', 'dead_band', lower=1.0)


@dataclass(frozen=True)
class Reinitialisation:
    """Restart from forward kinematics where consistency is lost.

    Attributes:
        after: So many samples in a row that do not fit.
        probability: Of a sound sample not fitting, χ² of all legs.
    """

    after: int = 10
    probability: float = 1e-6

    def __post_init__(self) -> None:
        _check(self, 'after', lower=1.0)
        _check(self, 'probability', upper=0.5, above=True)


@dataclass(frozen=True)
class ExternalPose(Lateness):
    """A pose of ``platform_link`` in ``base_link`` that a tracker or camera gives, late.

    Attributes:
        probability: Of refusing a sound pose, by its normalised innovation squared.
        position, attitude: Standard deviations where the messages state none [m], [rad].
    """

    sigma: float = 0.1
    moving: float = 0.01
    upper: float = 0.4
    probability: float = 1e-6
    position: float = 1e-3
    attitude: float = 2e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self, 'moving', 'position', 'attitude', above=True)
        _check(self, 'probability', upper=0.5, above=True)


@dataclass(frozen=True, eq=False)
class FilterSettings:
    """All that the filter is told, besides the geometry.

    Attributes:
        imu_noise: Noise of the IMU.
        leg_noise (6,): Standard deviation of one length [m].
        imu: ``imu_link`` in ``platform_link``: any place, any mounting.
        gravity (3,): In base axes [m/s²].
        imu_timeout: Longest step over which IMU samples are joined by a straight line; after it
            the last one is held with the noise `arrangement.UNMEASURED`. Where the legs are silent
            for so long, too, the filter begins anew from the next six lengths [s].
        gate, delay, misalignment, adaptive_legs, adaptive_imu, reinitialisation, external:
            Refinements; None is off.
    """

    imu_noise: ImuNoise
    leg_noise: Array
    imu: Pose = field(default_factory=Pose.identity)
    gravity: Array = field(default_factory=lambda: np.array(STANDARD_GRAVITY))
    imu_timeout: float = 0.1
    gate: Gate | None = None
    delay: DelayEstimation | None = None
    misalignment: MisalignmentEstimation | None = None
    adaptive_legs: Adaptation | None = None
    adaptive_imu: Adaptation | None = None
    reinitialisation: Reinitialisation | None = None
    external: ExternalPose | None = None

    def __post_init__(self) -> None:
        _fill(self, 6, 'leg_noise')
        _fill(self, 3, 'gravity')
        _check(self, 'leg_noise', 'imu_timeout', above=True)
        _check(self, 'gravity', lower=-math.inf, above=True)

    @property
    def first_delay(self) -> float:
        """How late the IMU is before that is estimated [s]."""
        return 0.0 if self.delay is None else self.delay.start


def settings_for(
    platform: Platform,
    *,
    specific_force: ArrayLike | None = None,
    angular_velocity: ArrayLike | None = None,
    length: ArrayLike | None = None,
    period: float = 0.01,
    accelerometer_walk: ArrayLike = 0.0,
    gyroscope_walk: ArrayLike = 0.0,
    **options: Any,
) -> FilterSettings:
    """Make settings of what is known, and assumptions for the rest.

    Args:
        platform: Gives the place of its IMU and its gravity.
        specific_force, angular_velocity, length: Standard deviations of one sample, one for all
            or one each [m/s²], [rad/s], [m].
        period, accelerometer_walk, gyroscope_walk: As `ImuNoise` has them.
        **options: Refinements, as `FilterSettings` has them.

    Raises:
        ConfigurationError: If the platform has no IMU or a value cannot be used.
    """
    if platform.imu is None:
        place = f'where the IMU sits on the platform {platform.name}'
        raise ConfigurationError('imu', None, place)
    force, rate, legs = (
        np.asarray(assumed if value is None else value, dtype=np.float64)
        for value, assumed in (
            (specific_force, SPECIFIC_FORCE),
            (angular_velocity, ANGULAR_VELOCITY),
            (length, LENGTH),
        )
    )
    walks = np.asarray(accelerometer_walk), np.asarray(gyroscope_walk)
    noise = ImuNoise(force, rate, period, *walks)
    return FilterSettings(noise, legs, platform.imu, platform.gravity, **options)


def refinements(chosen: Any) -> dict[str, Any]:
    """Return the refinements of `FilterSettings` that flags choose.

    Args:
        chosen: Has the flags gate, delay, misalignment, adapt and restart.
    """
    adaptation = Adaptation() if chosen.adapt else None
    return {
        'gate': Gate() if chosen.gate else None,
        'delay': DelayEstimation() if chosen.delay else None,
        'misalignment': MisalignmentEstimation() if chosen.misalignment else None,
        'adaptive_legs': adaptation,
        'adaptive_imu': adaptation,
        'reinitialisation': Reinitialisation() if chosen.restart else None,
    }
