# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
How the closed chain moves under actuator forces.

One inverse-dynamics evaluation at zero acceleration gives the bias, the platform's and the six
legs' inertias the mass matrix, and six equations the acceleration. Friction acts in the legs,
viscous and dry. Time is advanced by the classical Runge-Kutta method of order four with a
constant step; forces are held over a step, as a drive's current is over its cycle.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from numba import njit
import numpy as np
from stewart_dynamics.errors import refuse_not_finite, SingularPose
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.leg_kernels import (
    add_tip_inertia,
    COLUMNS,
    platform_mass_matrix,
    rotation_matrix,
)
from stewart_dynamics.newton_euler import (
    CYLINDER,
    generalized_kernel,
    PLATFORM,
    ROD,
    SMALLEST_PIVOT_RATIO,
)
from stewart_dynamics.six_by_six import factor, substitute
from stewart_kinematics.errors import ShapeError, StewartError
from stewart_kinematics.motion import Array, Pose, read_only

# State vector of the platform.
POSITION, QUATERNION = slice(0, 3), slice(3, 7)
LINEAR_VELOCITY, ANGULAR_VELOCITY = slice(7, 10), slice(10, 13)
STATE_SIZE = 13


@dataclass(frozen=True, eq=False)
class Friction:
    """
    Friction of the six actuators.

    Attributes
    ----------
    viscous : ndarray, shape (6,)
        [N s/m].
    coulomb : ndarray, shape (6,)
        [N].
    stiction_rate : float
        Rate at which tanh(rate / stiction_rate) has turned the Coulomb force round [m/s].

    """

    viscous: Array = field(default_factory=lambda: np.zeros(6))
    coulomb: Array = field(default_factory=lambda: np.zeros(6))
    stiction_rate: float = 1e-3

    def __post_init__(self) -> None:
        """Check shapes and signs."""
        for name in ('viscous', 'coulomb'):
            values = read_only(np.broadcast_to(getattr(self, name), (6,)))
            if not np.all(values >= 0.0):
                raise StewartError(f'{name} friction must be at least 0, got {values.min():.6g}')
            object.__setattr__(self, name, values)
        if not self.stiction_rate > 0.0:
            raise StewartError(f'stiction_rate must be above 0 m/s, got {self.stiction_rate:.6g}')


FRICTIONLESS = Friction()


@njit(cache=True)
def _derivative(  # type: ignore[no-untyped-def]
    base_joints,
    platform_joints,
    axes,
    gravity,
    theta,
    viscous,
    coulomb,
    stiction_rate,
    state,
    forces,
    out,
):
    """Time derivative of the state; returns the pivot ratio of the mass matrix."""
    rotation, legs = np.empty((3, 3)), np.empty((6, COLUMNS))
    push, wrench = np.empty((6, 6)), np.empty(6)
    mass, order = np.empty((6, 6)), np.empty(6, np.int64)
    scratch, force = np.empty(COLUMNS), np.empty(10)
    velocity, omega, still = state[LINEAR_VELOCITY], state[ANGULAR_VELOCITY], np.zeros(3)
    rotation_matrix(state[QUATERNION], rotation)
    generalized_kernel(
        base_joints,
        platform_joints,
        axes,
        gravity,
        theta,
        state[POSITION],
        rotation,
        velocity,
        omega,
        still,
        still,
        legs,
        push,
        wrench,
    )
    platform_mass_matrix(theta[PLATFORM], rotation, mass)
    for i in range(6):
        add_tip_inertia(theta[CYLINDER], theta[ROD], legs[i], scratch, force, mass)
    for k in range(6):
        wrench[k] = -wrench[k]
    for i in range(6):
        rate = 0.0
        for k in range(6):
            rate += push[k, i] * state[7 + k]
        net = forces[i] - viscous[i] * rate - coulomb[i] * np.tanh(rate / stiction_rate)
        for k in range(6):
            wrench[k] += push[k, i] * net
    ratio = factor(mass, order)
    if not ratio > 0.0:
        return ratio
    substitute(mass, order, wrench, out[7:13])
    x, y, z, w = state[3], state[4], state[5], state[6]
    out[0], out[1], out[2] = velocity[0], velocity[1], velocity[2]
    out[3] = 0.5 * (omega[0] * w + omega[1] * z - omega[2] * y)
    out[4] = 0.5 * (omega[1] * w + omega[2] * x - omega[0] * z)
    out[5] = 0.5 * (omega[2] * w + omega[0] * y - omega[1] * x)
    out[6] = -0.5 * (omega[0] * x + omega[1] * y + omega[2] * z)
    return ratio


@njit(cache=True)
def _advance(  # type: ignore[no-untyped-def]
    base_joints,
    platform_joints,
    axes,
    gravity,
    theta,
    viscous,
    coulomb,
    stiction_rate,
    state,
    forces,
    step,
    count,
):
    """Advance `state` in place by `count` Runge-Kutta steps with constant forces."""
    k1, k2, k3, k4 = np.empty(13), np.empty(13), np.empty(13), np.empty(13)
    for _ in range(count):
        ratio = np.inf
        for k, previous, weight in ((k1, k1, 0.0), (k2, k1, 0.5), (k3, k2, 0.5), (k4, k3, 1.0)):
            at = state + (weight * step) * previous if weight > 0.0 else state
            ratio = min(
                ratio,
                _derivative(
                    base_joints,
                    platform_joints,
                    axes,
                    gravity,
                    theta,
                    viscous,
                    coulomb,
                    stiction_rate,
                    at,
                    forces,
                    k,
                ),
            )
        if not ratio > SMALLEST_PIVOT_RATIO:
            return False
        for j in range(13):
            state[j] += step / 6.0 * (k1[j] + 2.0 * (k2[j] + k3[j]) + k4[j])
        norm = np.sqrt(state[3] ** 2 + state[4] ** 2 + state[5] ** 2 + state[6] ** 2)
        for j in range(3, 7):
            state[j] /= norm
    return True


def initial_state(pose: Pose) -> Array:
    """Give the state, shape (13,), of a platform at rest at `pose`."""
    state = np.zeros(STATE_SIZE)
    state[POSITION], state[QUATERNION] = pose.position, pose.quaternion_xyzw
    return state


def _arguments(model: InertialModel, friction: Friction) -> tuple[Array | float, ...]:
    return (
        model.base_joints,
        model.platform_joints,
        model.universal_axes,
        model.gravity,
        model.parameters,
        friction.viscous,
        friction.coulomb,
        friction.stiction_rate,
    )


def state_derivative(
    model: InertialModel, state: Array, forces: Array, friction: Friction = FRICTIONLESS
) -> Array:
    """
    Give the time derivative of a state.

    Parameters
    ----------
    model : InertialModel
        The platform.
    state : ndarray, shape (13,)
        Position [m], quaternion x, y, z, w, linear [m/s] and angular velocity [rad/s], base axes.
    forces : ndarray, shape (6,)
        Actuator forces, positive pushes apart [N].
    friction : Friction
        Of the actuators.

    Returns
    -------
    ndarray, shape (13,)
        Per second; entries 7 to 12 are the platform's acceleration.

    Raises
    ------
    SingularPose
        If the mass matrix cannot be inverted.
    StewartError
        If a value is not finite.

    """
    _check(state, forces)
    out = np.empty(STATE_SIZE)
    if not _derivative(*_arguments(model, friction), state, forces, out) > SMALLEST_PIVOT_RATIO:
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
    """
    Advance a state under constant actuator forces.

    Parameters
    ----------
    model : InertialModel
        The platform.
    state : ndarray, shape (13,)
        As in `state_derivative`; not changed.
    forces : ndarray, shape (6,)
        Actuator forces [N].
    step : float
        Integration step [s].
    steps : int
        How many of them.
    friction : Friction
        Of the actuators.

    Returns
    -------
    ndarray, shape (13,)
        State `steps` times `step` later.

    Raises
    ------
    SingularPose
        If the mass matrix cannot be inverted on the way.
    StewartError
        If a value is not finite or the step is not positive.

    """
    _check(state, forces)
    if not step > 0.0:
        raise StewartError(f'the integration step must be above 0 s, got {step:.6g}')
    after = np.array(state, dtype=np.float64)
    if not _advance(*_arguments(model, friction), after, forces, step, steps):
        raise SingularPose(np.inf)
    return after


def _check(state: Array, forces: Array) -> None:
    if np.shape(state) != (STATE_SIZE,):
        raise ShapeError('state', '(13,)', np.shape(state))
    if np.shape(forces) != (6,):
        raise ShapeError('forces', '(6,)', np.shape(forces))
    refuse_not_finite('state', state)
    refuse_not_finite('forces', forces)
