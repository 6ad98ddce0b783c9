# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""Simulated measurements of the SIMONA Research Simulator with their analytic truth.

The truth of both motion profiles is a formula with exact derivatives; nothing here integrates and
nothing here knows the filter, so an estimate compared with it is compared with something
independent. An IMU sample is the value at its instant, as a sampled analogue sensor gives it:

.. math::

    f = R_{imu}^T R^T (a + \alpha \times r + \omega \times (\omega \times r) - g) + b_f + n_f,
    \qquad p = R_{imu}^T R^T \omega + b_p + n_p

with the sensor at :math:`r = R\, c_{imu}`.

References:
    [1] Miletovic et al. 2017, Control Engineering Practice 62, sections 4.1 and 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike
from stewart_estimation.series import ImuSeries, LegSeries
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion, Pose, read_only
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.spatial import matrix_from_quaternion
from stewart_kinematics.trajectories import Faded, MultiSine, Trajectory

SAMPLE_TIME = 0.01
"""Sampling of the paper: 100 Hz for IMU and legs [s]."""

LEAD_IN = 10.0
"""Before motion profile 1 runs at its full size [s]; motion profile 2 is given the same."""

RADIUS, TURN_TIME = 0.5, 5.0
"""Circle of motion profile 1 [m] and its period [s]."""

TILT_RATE, TILT_TIME = np.radians(10.0), 2.5
"""Amplitude of the roll and pitch rates of motion profile 1 [rad/s] and their period [s]."""

AT_JOINT_CENTRE = Pose.from_rpy(np.zeros(3), (np.pi, 0.0, 0.0))
"""
IMU in the upper gimbal point, z down, as everywhere in the paper before its section 5.2.

Anywhere else the velocity of the upper gimbal point contains the gyroscope's noise times the lever
arm: at the real place, 0.305 m away, 5.4e-5 m/s.
"""

MP2_PERIOD = 40.0
"""Time after which the sines of motion profile 2 repeat [s]."""

MP2_TERMS = {
    0: ((5, 0.016, 0.3), (13, 0.013, 1.9), (29, 0.0065, 4.1)),
    2: ((7, 0.012, 2.2), (17, 0.009, 0.7), (31, 0.0050, 5.0)),
    3: ((7, 0.0280, 1.1), (17, 0.0170, 3.6), (37, 0.0080, 0.4), (61, 0.0026, 2.8)),
    4: ((5, 0.0320, 4.4), (19, 0.0160, 0.9), (41, 0.0072, 3.0), (67, 0.0022, 1.5)),
}
"""
Motion profile 2: by axis of `MultiSine`, harmonic of 1 / `MP2_PERIOD`, amplitude, phase.

The paper's recording of a pilot is not published. Its sentences are kept: roll and pitch together,
up to about 7 deg/s and fast; legs up to about 10 cm from neutral; y and yaw hardly move.
"""


@dataclass(frozen=True, eq=False)
class SensorErrors:
    """Noises and biases of an IMU and six length sensors; by default those of the SRS.

    Attributes:
        specific_force, angular_velocity (3,): Standard deviations of one sample, in sensor axes
            [m/s²], [rad/s] (Table 2, whose rows four to six are p, q and r).
        length (6,): Standard deviations of one sample [m] (Table 2).
        accelerometer_bias, gyroscope_bias (3,): Constant biases, in sensor axes [m/s²], [rad/s]
            (Table 3).
    """

    specific_force: Array = field(
        default_factory=lambda: read_only([6.680e-4, 8.578e-4, 6.915e-4])
    )
    angular_velocity: Array = field(
        default_factory=lambda: read_only([1.545e-4, 1.770e-4, 1.791e-4])
    )
    length: Array = field(
        default_factory=lambda: read_only(
            [1.093e-5, 1.132e-5, 5.741e-6, 1.482e-5, 1.054e-5, 9.770e-6]
        )
    )
    accelerometer_bias: Array = field(
        default_factory=lambda: read_only([4.898e-1, -9.023e-3, -1.894e-1])
    )
    gyroscope_bias: Array = field(
        default_factory=lambda: read_only([-1.822e-2, -5.067e-3, -2.159e-2])
    )

    @classmethod
    def none(cls) -> SensorErrors:
        """Return perfect sensors."""
        return cls(*(read_only(np.zeros(size)) for size in (3, 3, 6, 3, 3)))


@dataclass(frozen=True, eq=False)
class SimulatedRun:
    """What the sensors said and what was true.

    Attributes:
        platform: Platform that moved; its `imu` is where the sensor sits.
        imu: Samples of the IMU, in sensor axes.
        legs: Samples of the six lengths.
        truth: Motion at the stamps of `legs`, shape (n,).
        errors: What the samples were spoilt with; its biases are the true ones.
    """

    platform: Platform
    imu: ImuSeries
    legs: LegSeries
    truth: Motion
    errors: SensorErrors


def motion_profile_1(centre: Pose) -> Faded:
    """Return MP1: a horizontal circle with roll and pitch, growing from rest.

    Args:
        centre: Middle of the circle and attitude about which the platform tilts.

    Returns:
        Endless motion; at its full size from `LEAD_IN` on.
    """
    turn, tilt = 2.0 * np.pi / TURN_TIME, 2.0 * np.pi / TILT_TIME
    amplitude = np.zeros((6, 1))
    amplitude[:, 0] = [RADIUS, RADIUS, 0.0, TILT_RATE / tilt, TILT_RATE / tilt, 0.0]
    frequency = np.array([turn, turn, 0.0, tilt, tilt, 0.0])[:, None]
    phase = np.array([0.5 * np.pi, 0.0, 0.0, 0.0, 0.5 * np.pi, 0.0])[:, None]
    return Faded(MultiSine(centre, 'XYZ', amplitude, frequency, phase), centre, LEAD_IN)


def motion_profile_2(
    centre: Pose,
    *,
    scale: float = 1.0,
    tempo: float = 1.0,
    phases: np.random.Generator | None = None,
) -> Faded:
    """Return MP2: fast small roll and pitch with some surge and heave, growing from rest.

    Args:
        centre: Pose about which the platform moves.
        scale, tempo: Factors of all amplitudes and of all frequencies, for other motions of this
            class.
        phases: Draws the phases of another pilot.

    Returns:
        Endless motion; at its full size from `LEAD_IN` on.
    """
    table = np.zeros((3, 6, max(map(len, MP2_TERMS.values()))))
    for axis, terms in MP2_TERMS.items():
        table[:, axis, : len(terms)] = np.transpose(terms)
    harmonic, amplitude, phase = table
    if phases is not None:
        phase = phases.uniform(0.0, 2.0 * np.pi, phase.shape)
    frequency = 2.0 * np.pi * tempo * harmonic / MP2_PERIOD
    return Faded(MultiSine(centre, 'XYZ', scale * amplitude, frequency, phase), centre, LEAD_IN)


PROFILES = {'MP1': motion_profile_1, 'MP2': motion_profile_2}
"""The paper's motion profiles by name."""


def sensor_values(motion: Motion, mounting: Pose, gravity: ArrayLike) -> tuple[Array, Array]:
    """Return what a perfect IMU on the platform measures.

    Args:
        motion: Motion of ``platform_link``, shape (...).
        mounting: ``imu_link`` in ``platform_link``.
        gravity (3,): In base axes [m/s²].

    Returns:
        specific_force, angular_velocity (..., 3): In sensor axes [m/s²], [rad/s].
    """
    attitude = matrix_from_quaternion(motion.quaternion_xyzw)
    lever = attitude @ mounting.position
    rate = motion.angular_velocity
    acceleration = (
        motion.linear_acceleration
        + np.cross(motion.angular_acceleration, lever)
        + np.cross(rate, np.cross(rate, lever))
    )
    to_sensor = np.swapaxes(attitude @ mounting.rotation, -1, -2)
    force = acceleration - np.asarray(gravity, dtype=np.float64)
    return (to_sensor @ force[..., None])[..., 0], (to_sensor @ rate[..., None])[..., 0]


def simulate(
    motion: str | Trajectory,
    seed: int | np.random.Generator,
    *,
    platform: Platform | None = None,
    errors: SensorErrors | None = None,
    duration: float = 40.0,
    imu_period: float = SAMPLE_TIME,
    leg_period: float = SAMPLE_TIME,
    leg_offset: float = 0.0,
    imu_delay: float = 0.0,
    mounting: Pose | None = None,
) -> SimulatedRun:
    """Move a platform and measure it.

    Args:
        motion: ``'MP1'`` or ``'MP2'`` about the neutral pose, or any trajectory.
        seed: Of the noises; the same seed gives the same samples.
        platform: What moves, with an IMU; the SRS by default.
        errors: Noises and biases; those of the paper by default.
        duration: Length of the run [s].
        imu_period, leg_period: Sampling of the two sensors [s].
        leg_offset: Stamp of the first leg sample; the first IMU sample is at 0 [s].
        imu_delay: Age of what an IMU sample says when it is stamped [s].
        mounting: Where the IMU sits; by default where the platform says, which is the paper's
            section 5. In its section 4 the IMU is at `AT_JOINT_CENTRE`.

    Returns:
        Samples and truth.

    Raises:
        ConfigurationError: If the profile is unknown or the platform has no IMU.
    """
    platform = Platform.from_yaml('srs') if platform is None else platform
    errors = SensorErrors() if errors is None else errors
    if mounting is not None:
        platform = replace(platform, imu=mounting)
    if platform.imu is None:
        raise ConfigurationError('imu', None, f'the IMU of the platform {platform.name}')
    trajectory = _trajectory(motion, platform)
    generator = np.random.default_rng(seed)
    imu_stamps: Array = imu_period * np.arange(round(duration / imu_period) + 1.0)
    last = np.floor((duration - leg_offset) / leg_period + 1e-9)
    leg_stamps: Array = leg_offset + leg_period * np.arange(last + 1.0)
    force, rate = sensor_values(
        trajectory.sample(imu_stamps - imu_delay), platform.imu, platform.gravity
    )
    truth = trajectory.sample(leg_stamps)
    lengths = leg_lengths(platform.geometry, truth.position, truth.quaternion_xyzw)
    imu = ImuSeries(
        imu_stamps,
        _noise(generator, errors.specific_force, force) + (force + errors.accelerometer_bias),
        _noise(generator, errors.angular_velocity, rate) + (rate + errors.gyroscope_bias),
    )
    legs = LegSeries(leg_stamps, _noise(generator, errors.length, lengths) + lengths)
    return SimulatedRun(platform, imu, legs, truth, errors)


def _trajectory(motion: str | Trajectory, platform: Platform) -> Trajectory:
    """Return a named profile about the neutral pose, or the trajectory itself."""
    if not isinstance(motion, str):
        return motion
    if motion not in PROFILES:
        raise ConfigurationError('motion', motion, f'one of {", ".join(PROFILES)}')
    return PROFILES[motion](platform.geometry.neutral_pose)


def _noise(generator: np.random.Generator, deviation: Array, like: Array) -> Array:
    """Return white noise of the given standard deviations, shape of `like`."""
    return np.asarray(deviation * generator.standard_normal(like.shape), dtype=np.float64)
