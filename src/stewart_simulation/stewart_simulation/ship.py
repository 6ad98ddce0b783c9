# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""A ship on a long-crested JONSWAP sea, as a moving base.

Heave, roll and pitch answer every wave component as oscillators of second order,

.. math:: \ddot q + 2\zeta\omega_n \dot q + \omega_n^2 q = \omega_n^2 e(t),

driven by the elevation (heave) or its slope across and along the ship (roll, pitch). The hull
averages the wave over its length L and beam B and feels it at its draught T (Smith):
:math:`\operatorname{sinc}(k L \cos\chi/2) \operatorname{sinc}(k B \sin\chi/2)\, e^{-kT}`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import cos, sin
from typing import Protocol

import numpy as np
from stewart_driver.legs import Array
from stewart_kinematics.spatial.rotations import matrix_from_quaternion, skew
from stewart_kinematics.trajectories.spectrum import Jonswap

HEAVE, ROLL, PITCH = range(3)
COMPONENTS = 60


@dataclass(frozen=True)
class Hull:
    """A ship at full scale; by default a crew boat of 25 m, its numbers assumed.

    Attributes:
        length, beam, draught: [m].
        periods, dampings: Natural periods [s] and damping ratios of heave, roll, pitch.
        arm: From the ship's centre of motion to ``base_link``'s origin, in ship axes [m].
        scale: Length of the ship over the model's; times scale with its root (Froude).
    """

    length: float = 25.0
    beam: float = 7.0
    draught: float = 1.8
    periods: tuple[float, float, float] = (3.5, 5.0, 3.5)
    dampings: tuple[float, float, float] = (0.35, 0.15, 0.35)
    arm: tuple[float, float, float] = (0.0, 0.0, 3.0)
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class BaseMotion:
    """How ``base_link`` moves in the world at one instant.

    Attributes:
        position (3,): Of the origin, in world axes [m].
        quaternion_xyzw (4,): Takes base to world axes.
        velocity, acceleration (3,): Of the origin, in world axes [m/s], [m/s²].
        turn, turn_change (3,): Angular velocity and acceleration, in base axes [rad/s], [rad/s²].
    """

    position: Array
    quaternion_xyzw: Array
    velocity: Array
    acceleration: Array
    turn: Array
    turn_change: Array

    @cached_property
    def rotation(self) -> Array:
        """The matrix (3, 3) that takes base to world axes."""
        return matrix_from_quaternion(self.quaternion_xyzw)

    def field(self, gravity: Array) -> Array:
        """Return the field (9,) of ``stewart_dynamics.moving_base`` for gravity in world axes."""
        pull = self.rotation.T @ (gravity - self.acceleration)
        return np.concatenate([pull, self.turn, self.turn_change])


class MovingBase(Protocol):
    """What moves a base."""

    def at(self, time: float) -> BaseMotion:
        """Return the motion at a time [s]."""


class Ship:
    """The motion of a ship: a pure function of time.

    Args:
        sea: Waves at full scale.
        heading: From the waves' direction of travel to the ship's bow; 0: following sea [rad].
    """

    def __init__(self, sea: Jonswap, seed: int, heading: float, hull: Hull = Hull()) -> None:
        waves = sea.components(COMPONENTS, seed, bins='equal_frequency', band=(0.4, 3.0))
        frequency = np.array([wave.angular_frequency for wave in waves])
        amplitude = np.array([wave.amplitude for wave in waves])
        phase = np.array([wave.phase for wave in waves])
        response = responses(frequency, heading, hull)
        along = 1.0 / hull.scale * np.array([1.0, hull.scale, hull.scale])
        phasors = (along[:, None] * response) * (amplitude * np.exp(-1j * phase))
        self._turning = 1j * frequency * np.sqrt(hull.scale)
        self._phasors = np.concatenate([phasors * self._turning**k for k in range(3)]).T
        self._arm = np.array(hull.arm) / hull.scale

    def coordinates(self, time: float | Array) -> Array:
        """Return heave, roll, pitch with first and second derivatives, shape (..., 3, 3)."""
        now = np.exp(np.multiply.outer(np.asarray(time), self._turning)) @ self._phasors
        return np.asarray(now.real.reshape(*np.shape(time), 3, 3))

    def at(self, time: float) -> BaseMotion:
        """Return the motion at a time [s]."""
        value, rate, change = self.coordinates(time)
        (heave, roll, pitch), (dz, dr, dp), (ddz, ddr, ddp) = value, rate, change
        c, s = cos(roll), sin(roll)
        (cr, sr), (cp, sp) = ((cos(angle / 2.0), sin(angle / 2.0)) for angle in (roll, pitch))
        turn = np.array([dr, dp * c, -dp * s])
        turn_change = np.array([ddr, ddp * c - dp * dr * s, -ddp * s - dp * dr * c])
        quaternion = np.array([sr * cp, cr * sp, -sr * sp, cr * cp])
        rotation, turning = matrix_from_quaternion(quaternion), skew(turn)
        swing = turning @ self._arm
        pull = skew(turn_change) @ self._arm + turning @ swing
        up = np.array([0.0, 0.0, 1.0])
        return BaseMotion(
            heave * up + rotation @ self._arm,
            quaternion,
            dz * up + rotation @ swing,
            ddz * up + rotation @ pull,
            turn,
            turn_change,
        )


def responses(frequency: Array, heading: float, hull: Hull) -> Array:
    """Return complex responses (3, n) to waves of unit amplitude at full scale [m/m], [rad/m].

    A wave is the real part of a e^{iωt} at the ship; a following wave's slope is a quarter behind.
    """
    number = frequency**2 / 9.80665
    along, across = number * cos(heading), number * -sin(heading)
    hull_factor = np.sinc(along * hull.length / (2.0 * np.pi))
    hull_factor *= np.sinc(across * hull.beam / (2.0 * np.pi)) * np.exp(-number * hull.draught)
    # d/dx of cos(k x - wt + phase); a slope upwards to port rolls positive, one ahead pitches up.
    drive = np.array([np.ones_like(number), -1j * across, 1j * along]) * hull_factor
    natural = 2.0 * np.pi / np.array(hull.periods)[:, None]
    ratio, damping = frequency / natural, np.array(hull.dampings)[:, None]
    return np.asarray(drive / (1.0 - ratio**2 + 2j * damping * ratio))


def at_scale(scale: float) -> Hull:
    """Return the default ship as a model."""
    return replace(Hull(), scale=scale)
