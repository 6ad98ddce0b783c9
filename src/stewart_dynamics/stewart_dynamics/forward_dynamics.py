# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How the closed chain moves under actuator forces.

One inverse-dynamics evaluation at zero acceleration gives the bias, the platform's and the six
legs' inertias the mass matrix, and six equations the acceleration. Friction acts in the legs,
viscous and dry. Time is advanced by the classical Runge-Kutta method of order four with a
constant step; forces are held over a step, as a drive's current is over its cycle.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from stewart_dynamics.errors import refuse_not_finite, SingularPose
from stewart_dynamics.forward_kernels import (
    advance_in_place,
    loaded_derivative,
    Plant,
    POSITION,
    QUATERNION,
    STATE_SIZE,
)
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.leg_kernels import SMALLEST_PIVOT_RATIO
from stewart_kinematics.errors import ShapeError, StewartError
from stewart_kinematics.motion import Array, Pose, read_only


@dataclass(frozen=True, eq=False)
class Friction:
    """Friction of the six actuators.

    Attributes:
        viscous (6,): [N s/m].
        coulomb (6,): [N].
        stiction_rate: Rate at which tanh(rate / stiction_rate) has turned the Coulomb force round
            [m/s].
    """

    viscous: Array = field(default_factory=lambda: np.zeros(6))
    coulomb: Array = field(default_factory=lambda: np.zeros(6))
    stiction_rate: float = 1e-3

    def __post_init__(self) -> None:
        for name in ('viscous', 'coulomb'):
            values = read_only(np.broadcast_to(getattr(self, name), (6,)))
            if not np.all(values >= 0.0):
                raise StewartError(f'{name} friction must be at least 0, got {values.min():.6g}')
            object.__setattr__(self, name, values)
        if not self.stiction_rate > 0.0:
            raise StewartError(f'stiction_rate must be above 0 m/s, got {self.stiction_rate:.6g}')


FRICTIONLESS = Friction()


def initial_state(pose: Pose) -> Array:
    """Give the state, shape (13,), of a platform at rest at `pose`."""
    state = np.zeros(STATE_SIZE)
    state[POSITION], state[QUATERNION] = pose.position, pose.quaternion_xyzw
    return state


def kernel_arguments(model: InertialModel, friction: Friction) -> Plant:
    """Give the leading arguments of the kernels of ``forward_kernels``."""
    return (
        model.base_joints, model.platform_joints, model.universal_axes, model.gravity,
        model.parameters, friction.viscous, friction.coulomb, friction.stiction_rate,
    )  # fmt: skip


def state_derivative(
    model: InertialModel, state: Array, forces: Array, friction: Friction = FRICTIONLESS
) -> Array:
    """Return the time derivative (13,) of a state; the last six are the acceleration.

    Args:
        state (13,): Position [m], quaternion x, y, z, w, linear [m/s] and angular velocity
            [rad/s], base axes.
        forces (6,): Actuator forces, positive pushes apart [N].

    Raises:
        SingularPose: If the mass matrix cannot be inverted.
        StewartError: If a value is not finite.
    """
    _check(state, forces)
    out, plant = np.empty(STATE_SIZE), kernel_arguments(model, friction)
    if not loaded_derivative(*plant, state, forces, np.zeros(6), out) > SMALLEST_PIVOT_RATIO:
        raise SingularPose(np.inf)
    return out


def advance(
    model: InertialModel,
    state: Array,
    forces: Array,
    step: float,
    *,
    steps: int = 1,
    friction: Friction = FRICTIONLESS,
) -> Array:
    """Return the state (13,) `steps` integration steps [s] later, under constant forces [N].

    State and forces are those of `state_derivative`.

    Raises:
        SingularPose: If the mass matrix cannot be inverted on the way.
        StewartError: If a value is not finite or the step is not positive.
    """
    _check(state, forces)
    if not step > 0.0:
        raise StewartError(f'the integration step must be above 0 s, got {step:.6g}')
    after = np.array(state, dtype=np.float64)
    if not advance_in_place(*kernel_arguments(model, friction), after, forces, step, steps):
        raise SingularPose(np.inf)
    return after


def _check(state: Array, forces: Array) -> None:
    if np.shape(state) != (STATE_SIZE,):
        raise ShapeError('state', '(13,)', np.shape(state))
    if np.shape(forces) != (6,):
        raise ShapeError('forces', '(6,)', np.shape(forces))
    refuse_not_finite('state', state)
    refuse_not_finite('forces', forces)
