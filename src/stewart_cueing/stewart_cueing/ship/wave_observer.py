# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Heave, roll and pitch of a moving base from its IMU, now and a little later.

Each coordinate is white noise behind a filter that has the shape of the sea's spectrum, three
equal resonances with no mean: q = s² / (s² + 2ζω s + ω²)³. A Kalman filter finds its state
from the Euler rate (roll, pitch) or the vertical acceleration (heave), and the filter run on
without noise predicts. As the spectrum has no mean, heave is integrated twice without drift. The
estimator of the platform needs its legs, and a base has none.
"""

from __future__ import annotations

from math import atan2, cos, sin, tan

import numpy as np
from scipy.linalg import expm, solve_continuous_lyapunov
from stewart_kinematics.motion import Array
from stewart_kinematics.trajectories.waves import GRAVITY

DAMPING = 0.35
"""Of the resonances: how wide the spectrum is [-]."""
SIZE, VALUE = 6, 2
"""States of the filter, and which of them is the coordinate; the next two are its derivatives."""
ACCELERATION, RATE = 2, 1
BIAS, MEAN = 5.0, 1e-3
"""Standard deviations at first: of the bias in those of the noise [-], of a mean tilt [rad]."""
ACCELEROMETER_NOISE, GYROSCOPE_NOISE = 0.02, 1e-3
"""Standard deviations of a sample of the IMU [m/s²], [rad/s]."""
BIAS_WALKS, MEAN_WALK = {ACCELERATION: 5e-4, RATE: 3e-5}, 3e-5
"""How fast a bias wanders with temperature, in its unit, and a mean tilt [rad], both per √s.

Slower, and a warming accelerometer moves heave by several times what it is off otherwise; faster,
and a long swell is taken for bias.
"""

ACCELEROMETER_BIAS = 0.1
"""Most that an accelerometer is off by, constantly, if nothing else is said [m/s²]."""

LIST_MEMORY = 4.0
"""Peak periods over which a mean tilt is averaged that may be a list [-]."""


class Channel:
    """One coordinate, measured through its derivative of an order, with a bias that wanders.

    Args:
        peak: Frequency of the sea's peak [rad/s].
        period: Between samples [s].
        order: Of the derivative that is measured, 1 or 2.
        spread, noise: Standard deviations: of the coordinate, of a measurement.
        tilt_noise: Of a measurement of the coordinate itself with its mean; 0: there is none.
    """

    def __init__(
        self,
        peak: float,
        period: float,
        order: int,
        spread: float,
        noise: float,
        tilt_noise: float,
    ) -> None:
        # In the time of the peak, so that all states are alike in size.
        resonance = np.array([1.0, 2.0 * DAMPING, 1.0])
        self._peak, self._matrix = peak, np.eye(SIZE, k=1)
        self._matrix[-1] = -np.polymul(resonance, np.polymul(resonance, resonance))[:0:-1]
        noise_in = np.zeros((SIZE, SIZE))
        noise_in[-1, -1] = 1.0
        stationary = solve_continuous_lyapunov(self._matrix, -noise_in)
        self._strength = peak * spread**2 / stationary[VALUE, VALUE]
        first = np.diag(np.append(np.zeros(SIZE), np.square([BIAS * noise, MEAN])))
        first[:SIZE, :SIZE] = self._strength / peak * stationary
        # Then bias and mean, which change slowly.
        step = np.zeros((SIZE + 2, SIZE + 2))
        step[:SIZE, :SIZE] = self._turn(period)
        step[SIZE:, SIZE:] = (1.0 - 1e-6) * np.eye(2)
        walks = period * np.square([BIAS_WALKS[order], MEAN_WALK])
        driven = np.diag(np.append(np.zeros(SIZE), walks))
        driven[:SIZE, :SIZE] = self._added(period)
        rows = np.zeros((2, SIZE + 2))
        rows[0, VALUE + order], rows[0, SIZE] = peak**order, 1.0
        rows[1, VALUE] = rows[1, SIZE + 1] = 1.0
        self._covariance, self._driven = first, driven
        self._step, self._rows = step, rows if tilt_noise else rows[:1]
        self._noises = np.diag(np.square([noise, tilt_noise][: len(self._rows)]))
        self._ahead, self._coming = 0.0, np.eye(SIZE)
        self.state = np.zeros(SIZE + 2)

    def _turn(self, time: float) -> Array:
        return np.asarray(expm(self._matrix * (self._peak * time)))

    def _added(self, time: float) -> Array:
        """Return the covariance that noise adds in a time [s]."""
        nodes, weights = np.polynomial.legendre.leggauss(16)
        ways = np.array([self._turn(0.5 * time * (1.0 + x))[:, -1] for x in nodes])
        return np.asarray(ways.T * (0.5 * time * self._strength * weights) @ ways)

    def coast(self) -> None:
        """Go on by one sample that did not come."""
        self.state = self._step @ self.state
        self._covariance = self._step @ self._covariance @ self._step.T + self._driven

    def innovations(self, *measured: float) -> Array:
        """Return how far the next sample is from what is expected, in standard deviations."""
        rows, step = self._rows, self._step
        covariance = step @ self._covariance @ step.T + self._driven
        wrong = np.array(measured[: len(rows)]) - rows @ step @ self.state
        return wrong / np.sqrt(np.diag(rows @ covariance @ rows.T + self._noises))

    def update(self, *measured: float) -> None:
        """Go on by one sample and take what was measured."""
        self.coast()
        rows, covariance = self._rows, self._covariance
        seen = np.array(measured[: len(rows)])
        gain = np.linalg.solve(rows @ covariance @ rows.T + self._noises, rows @ covariance).T
        self.state += gain @ (seen - rows @ self.state)
        covariance = covariance - gain @ rows @ covariance
        self._covariance = 0.5 * (covariance + covariance.T)

    def predict(self, ahead: float) -> Array:
        """Return value, first and second derivative (3,) at a time after the last sample [s]."""
        state = self.state[:SIZE]
        if ahead:
            if ahead != self._ahead:
                self._ahead, self._coming = ahead, self._turn(ahead)
            state = self._coming @ state
        out = state[VALUE : VALUE + 3] * self._peak ** np.arange(3)
        out[0] += self.state[-1]
        return np.asarray(out)

    def deviation(self, ahead: float) -> float:
        """Return the standard deviation of the predicted value, if the sea is as expected."""
        turn = self._turn(ahead)
        coming = turn @ self._covariance[:SIZE, :SIZE] @ turn.T + self._added(ahead)
        return float(np.sqrt(coming[VALUE, VALUE]))


class WaveObserver:
    """Roll, pitch and heave of the base from specific force and rates.

    A mean tilt is a list of the ship where a bias of the accelerometer cannot explain it, and else
    is taken for that: nothing tells one from the other.

    Args:
        peak_period: Of the sea, roughly: the filter is made for it [s].
        period: Between samples of the IMU [s].
        accelerometer_bias: Most that the accelerometer is off by, constantly [m/s²].
        spreads (3,): Expected standard deviations of roll, pitch [rad], heave [m].
    """

    def __init__(
        self,
        peak_period: float,
        period: float,
        accelerometer_bias: float = ACCELEROMETER_BIAS,
        *,
        spreads: tuple[float, float, float] = (0.06, 0.04, 0.05),
    ) -> None:
        peak = 2.0 * np.pi / peak_period
        # A tilt is disturbed by all that the base accelerates sideways.
        angles = [Channel(peak, period, RATE, s, GYROSCOPE_NOISE, 0.3) for s in spreads[:2]]
        heave = Channel(peak, period, ACCELERATION, spreads[2], ACCELEROMETER_NOISE, 0.0)
        self.channels = (*angles, heave)
        self._explained = accelerometer_bias / GRAVITY
        self._memory, self._part = LIST_MEMORY * peak_period / period, 1.0
        self._slowly = period / peak_period
        self._sum, self._count = np.zeros(2), 0
        self._coming, self._lists = np.zeros(2), np.zeros(2, dtype=bool)

    def coast(self) -> None:
        """Go on by one sample that did not come."""
        for channel in self.channels:
            channel.coast()

    def update(self, specific_force: Array, rates: Array) -> None:
        """Take one sample of the IMU, in ``base_link`` axes at its origin."""
        seen = self._seen(specific_force, rates)
        self._learn_list(np.array([tilt for _, tilt in seen[:2]]))
        for channel, values in zip(self.channels, seen, strict=True):
            channel.update(*values)

    def _learn_list(self, tilts: Array) -> None:
        """Go on to a list that the mean of measured tilts (2,) [rad] tells of.

        The first one is there at once, for nothing follows yet; later ones come in over a period.
        """
        angles = self.channels[:2]
        waves = [channel.predict(0.0)[0] - channel.state[-1] for channel in angles]
        self._sum += tilts - waves
        self._count += 1
        part = self._part
        if self._count >= self._memory:
            mean, known = self._sum / self._count, self.mean[0, :2]
            lists = np.abs(mean) > self._explained * np.where(self._lists, 0.5, 1.0)
            self._coming = np.where(lists, mean - known, np.where(self._lists, -known, 0.0))
            self._lists, self._part = lists, self._slowly
            self._sum, self._count = np.zeros(2), 0
        for channel, step in zip(angles, part * self._coming, strict=True):
            channel.state[-1] += step
        # What a wrong tilt takes from gravity was bias so far.
        lost = 0.5 * GRAVITY * float(self._coming @ self._coming)
        self.channels[2].state[SIZE] += (1.0 - (1.0 - part) ** 2) * lost
        self._coming = (1.0 - part) * self._coming

    def innovations(self, specific_force: Array, rates: Array) -> Array:
        """Return how far the next sample is from what is expected, in standard deviations (5,)."""
        seen = zip(self.channels, self._seen(specific_force, rates), strict=True)
        return np.concatenate([channel.innovations(*values) for channel, values in seen])

    def _seen(self, specific_force: Array, rates: Array) -> list[tuple[float, float]]:
        """Return what each channel measures, and the coordinate itself."""
        (roll, *_), (pitch, *_) = (channel.predict(0.0) for channel in self.channels[:2])
        fx, fy, fz = specific_force.tolist()
        p, q, r = rates.tolist()
        c, s = cos(roll), sin(roll)
        down = s * fy + c * fz
        return [
            (p + tan(pitch) * (q * s + r * c), atan2(fy, fz)),
            (q * c - r * s, atan2(-fx, down)),
            (-sin(pitch) * fx + cos(pitch) * down - GRAVITY, 0.0),
        ]

    def predict(self, ahead: float) -> Array:
        """Return roll, pitch, heave (columns) with two derivatives (rows), shape (3, 3)."""
        return np.stack([channel.predict(ahead) for channel in self.channels], axis=1)

    @property
    def mean(self) -> Array:
        """Mean roll and pitch, as `predict` returns what moves (3, 3)."""
        found = np.zeros((3, 3))
        found[0, :2] = [channel.state[-1] for channel in self.channels[:2]]
        return found
