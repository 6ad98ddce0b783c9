# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six simulated drives that move a rigid-body plant."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from stewart_driver.errors import TransportError
from stewart_driver.legs import Array, LegLimits, LEGS
from stewart_dynamics.forward_kernels import STATE_SIZE
from stewart_simulation import servo
from stewart_simulation.drives import END_MARGIN, SwitchedDrives
from stewart_simulation.encoders import round_off

if TYPE_CHECKING:
    from stewart_simulation.plant_options import PlantOptions
    from stewart_simulation.ship import MovingBase

LONGEST_STEP = 2.5e-4
PER_MILLE = 1e-3
# Makers build brakes to hold a little more than the rated torque.
BRAKE_SHARE = 1.1
# Of the time constant with which friction damps; at 1.0 a step becomes unstable (`servo.leap`).
SHARE_OF_DAMPING = 0.75
# Of the time constant with which a mechanical end damps the mass at one drive.
SHARE_OF_STOP = 0.3
# A platform without power stands still below these [N], [m/s], [m/s²] and [rad/s²].
LEAST_FORCE, SLOWEST, LEAST_ACCELERATION = 1e-6, 1e-3, 0.1


@dataclass(frozen=True, eq=False)
class Plant:
    """Plain arrays of a plant, ready for the kernels and for another process.

    Attributes:
        arguments: Leading arguments of ``forward_kernels.loaded_derivative``.
        cones (2, 6, 3): Middles of the cones of base and platform joints, in base and platform
            axes.
        joint_angles (2,): Their half angles, where a joint is at its end [rad].
        retracted (6,): Leg lengths at stroke 0 [m].
        start (13,): State at rest at the start pose.
        effective_mass: Largest mass that one drive feels along its leg at the start [kg].
        damping_rate: Fastest rate at which friction damps a motion there, next to standstill
            [1/s].
    """

    arguments: tuple[Array | float, ...]
    cones: Array
    joint_angles: Array
    retracted: Array
    start: Array
    effective_mass: float
    damping_rate: float


class RigidDrives(SwitchedDrives):
    """Drives in cyclic synchronous position mode on the thirteen-body plant.

    Every drive has power or not; without it the leg gives way to its load, against friction and
    what brake there is, down to its mechanical end. While none has power and the platform stands,
    time passes without a step of the plant.

    Args:
        limits: Of the strokes; the mechanical ends lie a little outside.
        hold_after: A drive that hears nothing for this long stops following the rate of its last
            target [s].
        ship: What moves the base; without one it stands still.

    Attributes:
        ship: As given.
        time: What the ship has passed through [s].
        strokes, rates (6,): True motion of the legs [m], [m/s].
        delivered (6,): True forces of the drives [N].
        acting (6,): All that acts along the legs: drives, friction, brakes, ends [N].
        state (13,): True pose and twist of the platform.
        force_limits (6,): Largest forces; a fault may lower them [N].
        allowed_forces (2, 6): What the drives permit themselves, pulling and pushing [N].
        encoder_errors, stuck_encoders (6,): Faults of the drives' own encoders: what they add, and
            the reading of one that is stuck, otherwise nan [m].
    """

    def __init__(
        self,
        plant: Plant,
        options: PlantOptions,
        limits: LegLimits,
        *,
        hold_after: float,
        ship: MovingBase | None = None,
    ) -> None:
        super().__init__(brakes=options.brake)
        self._arguments, self._retracted = plant.arguments, plant.retracted
        self.ship, self.time = ship, 0.0
        if ship is not None:
            self._gravity = np.array(plant.arguments[3])
            self._field = ship.at(0.0).field(self._gravity)
            self._arguments = (*plant.arguments[:3], self._field, *plant.arguments[4:])
        self._joints = plant.cones, plant.joint_angles
        self._options, self._hold_after = options, hold_after
        rate_gain = 2.0 * np.pi * options.rate_loop_bandwidth * plant.effective_mass
        self._gains = (
            options.position_gain,
            rate_gain,
            rate_gain / options.integral_time,
            options.current_lag,
        )
        rated = options.rated_force
        self._drag = options.unpowered_friction * rated, options.unpowered_damping * rated
        brake_force = BRAKE_SHARE * rated if options.brake else 0.0
        self._brake = brake_force, options.brake_release_s, options.brake_apply_s
        damped = SHARE_OF_DAMPING / max(plant.damping_rate, 1e-9)
        # Only of platforms that are lighter than 1.7 kg at each drive: others are slower anyway.
        stopped = SHARE_OF_STOP * plant.effective_mass / servo.STOP_DAMPING
        self._longest_step = min(LONGEST_STEP, damped, stopped)
        self.state, self._before = np.array(plant.start), np.zeros(6)
        # One array for all that is known of the legs: a kernel takes each one for the price of
        # a tenth of a step. Everything below is rows of it.
        self._legs = legs = np.zeros((servo.ROWS, LEGS))
        self.strokes, self.rates = legs[servo.STROKE], legs[servo.RATE]
        self.delivered, self.acting = legs[servo.DELIVERED], legs[servo.ACTING]
        self.force_limits, self.allowed_forces = (
            legs[servo.LARGEST],
            legs[servo.ALLOWED_PULL : servo.ENCODER_ERROR],
        )
        self.encoder_errors, self.stuck_encoders = (
            legs[servo.ENCODER_ERROR],
            legs[servo.STUCK_READING],
        )
        self.force_limits[:], self.allowed_forces[:] = options.force_limit, np.inf
        self.stuck_encoders[:] = np.nan
        legs[servo.SWITCHING], legs[servo.HOLD] = options.brake_release_s, hold_after
        self._resting = self._supported = options.supported
        self._look()
        legs[servo.HELD] = legs[servo.TARGET] = self.strokes
        self._end = limits.stroke_lower - END_MARGIN
        legs[servo.LOWER_END] = self.strokes if options.supported else self._end
        legs[servo.UPPER_END] = limits.stroke_upper + END_MARGIN
        self._age = 0.0

    @property
    def force_limit(self) -> float:
        """Largest force of a drive without a fault [N]."""
        return self._options.force_limit

    def read_forces(self, noise: Array) -> Array:
        """Return what the feedback makes of the delivered forces and of some noise [N].

        It comes in thousandths of the rated force, as object 6077h has it.
        """
        steps = np.empty(LEGS)
        round_off(self.delivered, noise, PER_MILLE * self._options.rated_force, steps)
        return steps

    @property
    def encoder_strokes(self) -> Array:
        """What the drives' encoders give, shape (6,) [m]."""
        stuck = self.stuck_encoders
        return np.where(np.isnan(stuck), self.strokes + self.encoder_errors, stuck)

    def measure(
        self, noise: Array, counts: float, zeros: Array, per_mille: float, out: Array
    ) -> None:
        """Write what motors' own encoders and current loops read.

        Args:
            noise (6,): Of the readings [m].
            counts, zeros: Per stroke [1/m], and the readings (6,) at stroke zero [count].
            per_mille: Force of a thousandth of the rated torque [N].
            out (3, 6): Positions [count], velocities [count/s] and torques [‰].
        """
        servo.read_motors(self._legs, noise, counts, zeros, per_mille, out)

    def acceleration(self) -> Array:
        """Return the acceleration that the plant has now.

        Returns:
            (6,): Linear [m/s²] and angular [rad/s²], of the platform's origin in base axes, from
            the equations of motion with the forces that act.
        """
        if self._resting:
            return np.zeros(6)
        out = np.empty(STATE_SIZE)
        if self.ship is not None:
            self._field[:] = self.ship.at(self.time).field(self._gravity)
        servo.plant_derivative(self._arguments, *self._joints, self.state, self.acting, out)
        return out[7:]

    def command(
        self,
        strokes: Array,
        rates: Array,
        forces: Array,
        hold: Array | None = None,
        accelerations: Array | None = None,
    ) -> None:
        """Take new targets.

        Args:
            strokes, rates (6,): Where the legs shall be now, and how fast that moves [m], [m/s].
            forces (6,): Feed-forward [N].
            hold (6,): How long it moves, then it stays; default: `hold_after` [s].
            accelerations (6,): How the rates change meanwhile, as a drive's interpolator has it;
                default: not at all, as in an amplifier that holds its last command [m/s²].
        """
        legs = self._legs
        legs[servo.TARGET], legs[servo.TARGET_RATE], legs[servo.FEED_FORWARD] = (
            strokes,
            rates,
            forces,
        )
        legs[servo.TARGET_ACCELERATION] = 0.0 if accelerations is None else accelerations
        legs[servo.HOLD] = self._hold_after if hold is None else hold
        self._age = 0.0

    def advance(self, duration: float) -> None:
        """Let some time pass [s]."""
        if duration <= 0.0:
            return
        if self._supported and self.on:
            self._supported = False
            self._legs[servo.LOWER_END] = self._end
        if 1 not in self.powered.tobytes() and (self._resting or self._comes_to_rest()):
            self._rest()
            self.time += duration
            return
        self._resting = False
        if self.ship is not None:
            # The middle of the step is meant: the field changes by little in a cycle.
            self._field[:] = self.ship.at(self.time + 0.5 * duration).field(self._gravity)
            self.time += duration
        count = max(1, ceil(duration / self._longest_step - 1e-6))
        self._run(duration / count, count)
        self._age += duration

    def _run(self, step: float, count: int) -> None:
        """Let drives and plant run for some steps [s]."""
        sound = servo.run_servos(
            self._arguments,
            *self._joints,
            self._retracted,
            self._gains,
            self._drag,
            self._brake,
            self._legs,
            self._switched,
            self.state,
            self._before,
            self._age,
            step,
            count,
        )
        if not sound:
            raise TransportError('the simulated platform fell into a singular pose')

    def _comes_to_rest(self) -> bool:
        return (
            (not self._brake[0] or bool(self.braked.all()))
            and bool(np.abs(self.delivered).max() < LEAST_FORCE)
            and bool(np.abs(self.rates).max() < SLOWEST)
            and bool(np.abs(self.acceleration()).max() < LEAST_ACCELERATION)
        )

    def _rest(self) -> None:
        self._resting = True
        self.state[7:] = self._before[:] = 0.0
        self.delivered[:] = 0.0
        self._legs[servo.SWITCHING] = self._options.brake_release_s
        self._legs[servo.INTEGRAL] = 0.0
        self._look()

    def warm_up(self) -> None:
        """Compile or load the kernels now, not in the first cycle after enabling."""
        self._run(LONGEST_STEP, 0)
        self.acceleration()

    def _look(self) -> None:
        base_joints, platform_joints = self._arguments[:2]
        servo.leg_motion(
            base_joints, platform_joints, self._retracted, self.state, self.strokes, self.rates
        )
