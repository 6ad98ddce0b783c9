# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six simulated drives that move a rigid-body plant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from stewart_driver.errors import TransportError
from stewart_driver.legs import Array
from stewart_simulation.plant import Plant
from stewart_simulation.servo import leg_motion, run_servos

LONGEST_STEP = 2.5e-4


@dataclass(frozen=True, eq=False)
class ServoSettings:
    """
    What the drives can do.

    Attributes
    ----------
    position_gain : float
        Of the position loop [1/s].
    rate_bandwidth : float
        Corner frequency of the rate loop [Hz].
    integral_time : float
        Of the rate loop [s].
    current_lag : float
        Time constant of the current loop [s].
    force_limit : float
        Largest force [N].
    hold_after : float
        A drive that hears nothing for this long stops following the rate of its last target [s].
    force_resolution : float
        Step of the force feedback: a thousandth of the rated force, as object 6077h has it [N].
    end_lower, end_upper : ndarray, shape (6,)
        Mechanical ends of the strokes [m].

    """

    position_gain: float
    rate_bandwidth: float
    integral_time: float
    current_lag: float
    force_limit: float
    hold_after: float
    force_resolution: float
    end_lower: Array
    end_upper: Array


class RigidDrives:
    """
    Drives in cyclic synchronous position mode on the thirteen-body plant.

    While the drives are off the brakes hold the plant where it stands.

    Parameters
    ----------
    plant : Plant
        Bodies, joints and friction.
    settings : ServoSettings
        What the drives can do.

    Attributes
    ----------
    strokes, rates : ndarray, shape (6,)
        True motion of the legs [m], [m/s].
    delivered : ndarray, shape (6,)
        True forces [N].
    state : ndarray, shape (13,)
        True pose and twist of the platform.
    on : bool
        Whether the drives follow their targets.

    """

    def __init__(self, plant: Plant, settings: ServoSettings) -> None:
        """Stand still, braked."""
        # Copies are writable. Pickling drops the read-only flag, and numba compiles for each.
        self._arguments = tuple(
            np.array(value) if isinstance(value, np.ndarray) else value
            for value in plant.arguments
        )
        self._retracted = np.array(plant.retracted)
        self._settings = settings
        rate_gain = 2.0 * np.pi * settings.rate_bandwidth * plant.effective_mass
        self._gains = (
            settings.position_gain,
            rate_gain,
            rate_gain / settings.integral_time,
            settings.force_limit,
            settings.current_lag,
            settings.hold_after,
        )
        self._ends = np.stack([settings.end_lower, settings.end_upper])
        self.state = np.array(plant.start)
        self.strokes, self.rates = np.empty(6), np.empty(6)
        self.delivered, self._integrals = np.zeros(6), np.zeros(6)
        self.on = False
        self._look()
        self._targets, self._target_rates = self.strokes.copy(), np.zeros(6)
        self._feed_forward = np.zeros(6)

    @property
    def measured_forces(self) -> Array:
        """Delivered forces in whole steps of the feedback [N]."""
        step = self._settings.force_resolution
        return np.asarray(step * np.round(self.delivered / step))

    def command(self, strokes: Array, rates: Array, forces: Array) -> None:
        """Take new targets [m], [m/s] and feed-forward forces [N]."""
        self._targets, self._target_rates = np.array(strokes), np.array(rates)
        self._feed_forward = np.array(forces)

    def advance(self, duration: float) -> None:
        """Let some time pass [s]."""
        if duration <= 0.0:
            return
        if not self.on:
            self.state[7:] = 0.0
            self.delivered[:] = 0.0
            self._integrals[:] = 0.0
            self._look()
            return
        count = int(np.ceil(duration / LONGEST_STEP))
        step = duration / count
        if not run_servos(
            self._arguments,
            self._retracted,
            self._ends,
            self._gains,
            self._targets,
            self._target_rates,
            self._feed_forward,
            self._integrals,
            self.delivered,
            self.state,
            step,
            count,
        ):
            raise TransportError('the simulated platform fell into a singular pose')
        self._look()

    def warm_up(self) -> None:
        """Compile or load the kernels now, not in the first cycle after enabling."""
        state, on = self.state.copy(), self.on
        self.on = True
        self.advance(LONGEST_STEP)
        self.on, self.state[:] = on, state
        self.delivered[:] = 0.0
        self._integrals[:] = 0.0
        self._look()

    def _look(self) -> None:
        leg_motion(self._arguments[0], self._arguments[1], self.state, self.strokes, self.rates)
        self.strokes -= self._retracted
