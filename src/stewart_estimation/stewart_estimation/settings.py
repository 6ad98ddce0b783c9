# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the filter is told about its sensors, and which refinements it uses.

Every refinement is off unless it is given: `gate`, `delay`, `misalignment`, `adaptive_legs`,
`adaptive_imu`, `reinitialisation`, and the random walks of the biases.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.platform import STANDARD_GRAVITY
from stewart_kinematics.motion import Array, Pose, read_only
from stewart_kinematics.spatial import compose_quaternions, exp_quaternion

INFINITY = math.inf


def _check(instance: Any, name: str, lower: float, upper: float, *, open_below: bool) -> None:
    """Refuse a number, or an array with a number, outside its bounds; NaN is outside."""
    value = getattr(instance, name)
    numbers = np.asarray(value, dtype=np.float64)
    above = numbers > lower if open_below else numbers >= lower
    if not np.all(above & (numbers <= upper) & np.isfinite(numbers)):
        sign = 'above' if open_below else 'at least'
        bound = '' if upper == INFINITY else f' and at most {upper:g}'
        key = f'{type(instance).__name__}.{name}'
        raise ConfigurationError(key, numbers.tolist(), f'finite, {sign} {lower:g}{bound}')


def _positive(instance: Any, *names: str) -> None:
    for name in names:
        _check(instance, name, 0.0, INFINITY, open_below=True)


def _not_negative(instance: Any, *names: str) -> None:
    for name in names:
        _check(instance, name, 0.0, INFINITY, open_below=False)


def _fill(instance: Any, name: str, size: int) -> None:
    """Replace a field by a read-only array; one number stands for all."""
    try:
        values = np.broadcast_to(np.asarray(getattr(instance, name), dtype=np.float64), (size,))
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
        """Copy and check."""
        for item in fields(self):
            if item.name != 'period':
                _fill(self, item.name, 3)
        _positive(self, 'specific_force', 'angular_velocity', 'period')
        _not_negative(self, 'accelerometer_walk', 'gyroscope_walk')


@dataclass(frozen=True)
class Spread:
    """How the sigma points lie about the mean (Merwe's scaled unscented transform).

    Attributes:
        alpha, beta, kappa: The paper's section 4.4 has 0.1, 2 and 0. ``beta >= alpha²`` is
            demanded: then the predicted covariance is a sum of squares and cannot lose
            definiteness.
    """

    alpha: float = 0.1
    beta: float = 2.0
    kappa: float = 0.0

    def __post_init__(self) -> None:
        """Check."""
        _check(self, 'alpha', 0.0, 1.0, open_below=True)
        _check(self, 'beta', self.alpha**2, INFINITY, open_below=False)
        _check(self, 'kappa', 0.0, INFINITY, open_below=False)


@dataclass(frozen=True)
class StartUncertainty:
    """Standard deviations at a start from forward kinematics; those of the pose follow the legs'.

    Attributes:
        velocity: [m/s].
        accelerometer_bias, gyroscope_bias: [m/s²], [rad/s].
    """

    velocity: float = 1.0
    accelerometer_bias: float = 1.0
    gyroscope_bias: float = 0.1

    def __post_init__(self) -> None:
        """Check."""
        _positive(self, 'velocity', 'accelerometer_bias', 'gyroscope_bias')


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
    drift: float = INFINITY
    doubt: int = 10

    def __post_init__(self) -> None:
        """Check."""
        _check(self, 'probability', 0.0, 0.5, open_below=True)
        _check(self, 'fewest_legs', 1.0, 6.0, open_below=False)
        for name in ('frozen', 'drift'):
            if not getattr(self, name) > 0.0:
                raise ConfigurationError(f'Gate.{name}', getattr(self, name), 'above 0')
        _check(self, 'doubt', 0.0, INFINITY, open_below=False)


@dataclass(frozen=True)
class DelayEstimation:
    """The age of IMU samples at their stamp as a further state.

    An IMU sample with stamp t describes the motion at t − delay; the stamps of the legs are
    right. The estimate of a leg sample is the motion at that sample's stamp.

    Attributes:
        start, sigma: First guess and its standard deviation [s].
        walk: Random walk while the platform moves: standard deviation after one second [s].
        moving: Speed of the joints from which the platform counts as moving [m/s]; at rest the
            delay keeps its value.
        lower, upper: The delay is held inside [s].
    """

    start: float = 0.0
    sigma: float = 0.03
    walk: float = 2e-5
    moving: float = 0.02
    lower: float = -0.02
    upper: float = 0.2

    def __post_init__(self) -> None:
        """Check."""
        _positive(self, 'sigma')
        _not_negative(self, 'walk', 'moving')
        _check(self, 'lower', -1.0, 1.0, open_below=False)
        _check(self, 'upper', self.lower, 1.0, open_below=True)
        _check(self, 'start', self.lower, self.upper, open_below=False)


@dataclass(frozen=True)
class MisalignmentEstimation:
    """Three small angles between the real and the stated mounting of the IMU as further states.

    Attributes:
        sigma: Standard deviation at the start, about each axis [rad].
    """

    sigma: float = 0.02

    def __post_init__(self) -> None:
        """Check."""
        _positive(self, 'sigma')


@dataclass(frozen=True)
class Adaptation:
    """Noise learnt from the data, of legs or IMU; it never falls below the stated one.

    Attributes:
        window: How many samples the estimate of a variance remembers.
        dead_band: Variances below this many times the stated one count as stated, so that nothing
            changes while the sensors are as they should be.
    """

    window: float = 15.0
    dead_band: float = 2.5

    def __post_init__(self) -> None:
        """Check."""
        _check(self, 'window', 1.0, INFINITY, open_below=False)
        _check(self, 'dead_band', 1.0, INFINITY, open_below=False)


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
        """Check."""
        _check(self, 'after', 1.0, INFINITY, open_below=False)
        _check(self, 'probability', 0.0, 0.5, open_below=True)


@dataclass(frozen=True, eq=False)
class FilterSettings:
    """All that the filter is told, besides the geometry.

    Attributes:
        imu_noise: Noise of the IMU.
        leg_noise (6,): Standard deviation of one length [m].
        imu: ``imu_link`` in ``platform_link``: any place, any mounting.
        gravity (3,): In base axes [m/s²].
        spread: Sigma points.
        start: Trust at the start.
        unmeasured_acceleration, unmeasured_rotation: What the platform may do while the IMU is
            silent: where no IMU sample has come for `imu_timeout`, the last one is held with these
            noises [m/s²], [rad/s].
        imu_timeout: Longest step over which IMU samples are joined by a straight line [s].
        gate, delay, misalignment, adaptive_legs, adaptive_imu, reinitialisation: Refinements; None
            is off.
    """

    imu_noise: ImuNoise
    leg_noise: Array
    imu: Pose = field(default_factory=Pose.identity)
    gravity: Array = field(default_factory=lambda: np.array(STANDARD_GRAVITY))
    spread: Spread = field(default_factory=Spread)
    start: StartUncertainty = field(default_factory=StartUncertainty)
    unmeasured_acceleration: float = 1.0
    unmeasured_rotation: float = 0.2
    imu_timeout: float = 0.1
    gate: Gate | None = None
    delay: DelayEstimation | None = None
    misalignment: MisalignmentEstimation | None = None
    adaptive_legs: Adaptation | None = None
    adaptive_imu: Adaptation | None = None
    reinitialisation: Reinitialisation | None = None

    def __post_init__(self) -> None:
        """Copy and check."""
        _fill(self, 'leg_noise', 6)
        _fill(self, 'gravity', 3)
        _positive(self, 'leg_noise', 'imu_timeout')
        _positive(self, 'unmeasured_acceleration', 'unmeasured_rotation')
        _check(self, 'gravity', -INFINITY, INFINITY, open_below=True)

    def scaled(self, imu: float = 1.0, legs: float = 1.0) -> FilterSettings:
        """Return settings with the variances Q of the IMU and R of the legs multiplied.

        Args:
            imu, legs: Factors; the paper has 1.1 for both (Eq. 21), and 1000 for the IMU (Eq. 24).

        Returns:
            The rest is as before.
        """
        factor = math.sqrt(imu)
        noise = replace(
            self.imu_noise,
            specific_force=factor * self.imu_noise.specific_force,
            angular_velocity=factor * self.imu_noise.angular_velocity,
        )
        return replace(self, imu_noise=noise, leg_noise=math.sqrt(legs) * self.leg_noise)

    def mounted(self, misalignment: ArrayLike) -> FilterSettings:
        """Return settings with the mounting corrected by what `misalignment` found.

        Args:
            misalignment (3,): Rotation vector from the real sensor axes to the stated ones [rad].

        Returns:
            Without the further states.
        """
        real = compose_quaternions(self.imu.quaternion_xyzw, exp_quaternion(misalignment))
        return replace(self, imu=Pose(self.imu.position, real), misalignment=None)
