# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six servo drives acting on the rigid-body plant, one kernel for both.

Cascade of every drive: a proportional position loop with the target rate fed forward, a
proportional-integral rate loop with the feed-forward force added, a current loop of first order.
Between two targets of the bus position and rate go on along a parabola. Rates that stood still
for a bus cycle would put a sawtooth into the force, in proportion to the acceleration and in step
with whoever samples it once per cycle: that looks like an inertia, and no real drive leaves it.
A drive without power leaves its leg to its load and to the friction of motor and screw; a brake,
where there is one, takes its time, and slips when it is asked for too much.
"""

from __future__ import annotations

import numpy as np
from stewart_dynamics.forward_kernels import loaded_derivative, PLANT, Plant
from stewart_dynamics.leg_kernels import SMALLEST_PIVOT_RATIO
from stewart_dynamics.moving_base import add_base_wrench
from stewart_kinematics.kernels.compiled import (
    FLAG,
    FLAG_ROWS_OUT,
    inferred,
    INTEGER,
    kernel,
    MATRIX,
    MATRIX_OUT,
    SCALAR,
    STACK,
    tuple_of,
    VECTOR,
    VECTOR_OUT,
    VOID,
)
from stewart_kinematics.kernels.rotations import rotate, rotation
from stewart_kinematics.kernels.vectors import (
    cross,
    dot,
    minus,
    plus,
    put,
    row,
    times,
    triple,
)

# A mechanical end stop, dry friction or a brake: stiff, damped, slow enough for the servo's step
# [N/m], [N s/m].
STOP_STIFFNESS, STOP_DAMPING = 2e6, 2e3
# The end of a passive joint, where fork meets cross [N m/rad], [N m s/rad].
JOINT_STIFFNESS, JOINT_DAMPING = 2e4, 1e2

# Rows of the table of the six legs. What the drives shall do: stroke [m], its rate [m/s] and its
# acceleration [m/s²], and for how long these two are followed [s]; feed-forward [N].
TARGET, TARGET_RATE, TARGET_ACCELERATION, HOLD, FEED_FORWARD = range(5)
# What they can: largest force, what a drive permits itself, pulling and pushing [N].
LARGEST, ALLOWED_PULL, ALLOWED_PUSH = range(5, 8)
# What encoders add to the stroke, and the readings of those that are stuck, others nan [m]; the
# mechanical ends [m].
ENCODER_ERROR, STUCK_READING, LOWER_END, UPPER_END = range(8, 12)
# How long brakes still need to change [s], integrals [N], strokes that friction and brakes hold
# [m], forces of the drives, and those acting along the legs with friction, brakes and ends [N],
# strokes [m] and rates [m/s].
SWITCHING, INTEGRAL, HELD, DELIVERED, ACTING, STROKE, RATE = range(12, 19)
ROWS = 19


@kernel(VOID, MATRIX, MATRIX, VECTOR, VECTOR, VECTOR_OUT, VECTOR_OUT, fused=False)
def leg_motion(  # type: ignore[no-untyped-def]
    base_joints, platform_joints, retracted, state, strokes, rates
):  # fmt: skip
    """Fill strokes [m] and rates [m/s] of the six legs for a plant state."""
    r = rotation(state[3], state[4], state[5], state[6])
    position, velocity, omega = triple(state, 0), triple(state, 7), triple(state, 10)
    for i in range(6):
        arm = rotate(r, row(platform_joints, i))
        reach = minus(plus(position, arm), row(base_joints, i))
        length = np.sqrt(dot(reach, reach))
        strokes[i] = length - retracted[i]
        rates[i] = dot(reach, plus(velocity, cross(omega, arm))) / length


@inferred
def reading(legs, i):  # type: ignore[no-untyped-def]
    """Return stroke [m] and rate [m/s] of a leg, as the encoder of its motor has them."""
    if np.isnan(legs[STUCK_READING, i]):
        return legs[STROKE, i] + legs[ENCODER_ERROR, i], legs[RATE, i]
    return legs[STUCK_READING, i], 0.0


@kernel(VOID, MATRIX, VECTOR, SCALAR, VECTOR, SCALAR, MATRIX_OUT, fused=False)
def read_motors(legs, noise, counts, zeros, per_mille, out):  # type: ignore[no-untyped-def]
    """Fill what the drives read of their motors; see `RigidDrives.measure`."""
    for i in range(6):
        stroke, rate = reading(legs, i)
        out[0, i] = (stroke + noise[i]) * counts + zeros[i]
        out[1, i] = rate * counts
        out[2, i] = legs[DELIVERED, i] / per_mille


@inferred
def joint_torque(direction, axis, turning, largest, limit):  # type: ignore[no-untyped-def]
    """Return the torque of a joint's end on a leg in this direction [N m].

    `axis` is the middle of the joint's cone, `largest` its half angle [rad] and `limit` the cosine
    of that; `turning` is the angular rate of the leg against the joint [rad/s].
    """
    cosine = dot(direction, axis)
    if cosine > limit:
        return 0.0, 0.0, 0.0
    across = cross(direction, axis)
    sine = max(np.sqrt(dot(across, across)), 1e-9)
    inwards = times(1.0 / sine, across)
    over = np.arctan2(sine, cosine) - largest
    force = JOINT_STIFFNESS * over - JOINT_DAMPING * dot(turning, inwards)
    return times(max(force, 0.0), inwards)


@kernel(VOID, tuple_of(MATRIX, MATRIX), STACK, VECTOR, VECTOR, VECTOR_OUT, fused=False)
def joint_ends(joints, cones, angles, state, load):  # type: ignore[no-untyped-def]
    """Fill the wrench on the platform of all joints at their ends [N], [N m].

    `joints` are those of base and platform, `cones` the middles of their cones, in base and
    platform axes, `angles` their half angles [rad].
    """
    r = rotation(state[3], state[4], state[5], state[6])
    position, velocity, omega = triple(state, 0), triple(state, 7), triple(state, 10)
    base_limit, platform_limit = np.cos(angles[0]), np.cos(angles[1])
    load[:] = 0.0
    for i in range(6):
        arm = rotate(r, row(joints[1], i))
        reach = minus(plus(position, arm), row(joints[0], i))
        length = np.sqrt(dot(reach, reach))
        direction = times(1.0 / length, reach)
        swing = times(1.0 / length, cross(direction, plus(velocity, cross(omega, arm))))
        at_base = joint_torque(direction, row(cones[0], i), swing, angles[0], base_limit)
        middle = rotate(r, row(cones[1], i))
        turning = minus(swing, omega)
        at_platform = joint_torque(direction, middle, turning, angles[1], platform_limit)
        # The leg hangs in its base joint: at its other end it passes a torque on as a force.
        force = times(1.0 / length, cross(plus(at_base, at_platform), direction))
        put(load, 0, plus(triple(load, 0), force))
        torque = minus(cross(arm, force), at_platform)
        put(load, 3, plus(triple(load, 3), torque))


@kernel(SCALAR, tuple_of(*PLANT), STACK, VECTOR, VECTOR, VECTOR, VECTOR_OUT, fused=False)
def plant_derivative(  # type: ignore[no-untyped-def]
    plant: Plant, cones, angles, state, acting, out
):  # fmt: skip
    """Fill the time derivative of a plant state under forces along the legs [N]; see `leap`."""
    load = np.empty(6)
    joint_ends((plant[0], plant[1]), cones, angles, state, load)
    if plant[3].size > 3:
        add_base_wrench(*plant, state, load)
    return loaded_derivative(*plant, state, acting, load, out)


@inferred
def turn_on(state, rates, step, out):  # type: ignore[no-untyped-def]
    """Turn the orientation of a state at a rate [rad/s] for a step [s], into another state."""
    x, y, z, w = state[3], state[4], state[5], state[6]
    rate = np.sqrt(rates[0] * rates[0] + rates[1] * rates[1] + rates[2] * rates[2])
    angle = 0.5 * step * rate
    a = 0.5 * step if angle < 1e-12 else np.sin(angle) / rate
    b, c, d, e = a * rates[0], a * rates[1], a * rates[2], np.cos(angle)
    out[3] = e * x + b * w + c * z - d * y
    out[4] = e * y + c * w + d * x - b * z
    out[5] = e * z + d * w + b * y - c * x
    out[6] = e * w - b * x - c * y - d * z
    norm = np.sqrt(out[3] ** 2 + out[4] ** 2 + out[5] ** 2 + out[6] ** 2)
    for k in range(3, 7):
        out[k] /= norm


@inferred
def leap(  # type: ignore[no-untyped-def]
    plant: Plant, cones, angles, state, acting, before, step
):  # fmt: skip
    """Advance a plant state by one step under constant forces; False if the plant is singular.

    A midpoint rule that looks at the plant once: where the midpoint is, follows from the
    accelerations `before`, which are replaced by the new ones. So it is of second order, as one
    Adams-Bashforth step is, and forces act in the step in which they are given. A rate that
    friction damps with time constant T stays stable up to steps of T.
    """
    middle, slope = state.copy(), np.empty(13)
    half = 0.5 * step
    turn = np.empty(3)
    for k in range(3):
        middle[7 + k] += half * before[k]
        middle[10 + k] += half * before[3 + k]
        middle[k] += half * (state[7 + k] + 0.5 * half * before[k])
        turn[k] = state[10 + k] + 0.5 * half * before[3 + k]
    turn_on(state, turn, half, middle)
    ratio = plant_derivative(plant, cones, angles, middle, acting, slope)
    if not ratio > SMALLEST_PIVOT_RATIO:
        return False
    for k in range(3):
        state[k] += step * (state[7 + k] + half * slope[7 + k])
        turn[k] = state[10 + k] + half * slope[10 + k]
    turn_on(state, turn, step, state)
    for k in range(6):
        state[7 + k] += step * slope[7 + k]
        before[k] = slope[7 + k]
    return True


@inferred
def grip(held, stroke, rate, largest):  # type: ignore[no-untyped-def]
    """Return the force of dry friction or of a brake [N], and the stroke that it holds [m].

    Asked for more than its largest force it slips.
    """
    force = STOP_STIFFNESS * (held - stroke) - STOP_DAMPING * rate
    if abs(force) > largest:
        force = largest if force > 0.0 else -largest
        held = stroke + force / STOP_STIFFNESS
    return force, held


@inferred
def servo_force(legs, i, gains, age, step):  # type: ignore[no-untyped-def]
    """Return what the loops of a drive ask its motor for [N], and go on with their integral.

    `age` is how old the targets are [s]; for the gains see `run_servos`.
    """
    position_gain, rate_gain, integral_gain, _ = gains
    seen, seen_rate = reading(legs, i)
    hold, change = legs[HOLD, i], legs[TARGET_ACCELERATION, i]
    since, rate = min(age, hold), legs[TARGET_RATE, i]
    target = legs[TARGET, i] + since * (rate + 0.5 * change * since)
    target_rate = rate + change * since if age <= hold else 0.0
    error = target_rate + position_gain * (target - seen) - seen_rate
    asked = rate_gain * error + legs[INTEGRAL, i] + legs[FEED_FORWARD, i]
    most = legs[LARGEST, i]
    given = max(asked, -min(most, legs[ALLOWED_PULL, i]))
    given = min(given, most, legs[ALLOWED_PUSH, i])
    if asked == given:  # the integral rests while the force is at its limit
        legs[INTEGRAL, i] += integral_gain * error * step
    return given


@kernel(
    FLAG,
    *(tuple_of(*PLANT), STACK, VECTOR, VECTOR),
    *(tuple_of(*(SCALAR,) * 4), tuple_of(SCALAR, SCALAR), tuple_of(*(SCALAR,) * 3)),
    *(MATRIX_OUT, FLAG_ROWS_OUT, VECTOR_OUT, VECTOR_OUT, SCALAR, SCALAR, INTEGER),
    fused=False,
)
def run_servos(  # type: ignore[no-untyped-def]
    plant: Plant, cones, angles, retracted, gains, drag, brake, legs, switched, state, before, age,
    step, count,
):  # fmt: skip
    """Let drives and plant run for `count` steps; False if the plant became singular.

    `plant` are the leading arguments of ``forward_kernels.loaded_derivative``; `cones` and
    `angles` the ends of the joints, see `joint_ends`; `gains` are position
    gain [1/s], rate gain [N s/m], integral gain [N/m] and current lag [s]; `drag` is dry friction
    [N] and damping [N s/m] of a motor without torque; `brake` the force of the brakes, 0 without
    them [N], and their times to release and to apply [s]; `legs` has the rows that are named
    above, of which all from `SWITCHING` on change, as do which brakes hold in `switched`, see
    `SwitchedDrives`, and the plant state with its accelerations `before`. `age` is how old the
    targets are at first [s].
    """
    friction, damping = drag
    brake_force, release_time, apply_time = brake
    powered, sto, braked = switched[0], switched[1], switched[2]
    lower, upper = legs[LOWER_END], legs[UPPER_END]
    switching, integrals, held = legs[SWITCHING], legs[INTEGRAL], legs[HELD]
    forces, acting, strokes, rates = legs[DELIVERED], legs[ACTING], legs[STROKE], legs[RATE]
    follow = 1.0 - np.exp(-step / gains[3])
    for _ in range(count):
        for i in range(6):
            stroke, largest, live = strokes[i], 0.0, powered[i] and not sto[i]
            if brake_force > 0.0:
                if braked[i] != live:
                    switching[i] = release_time if braked[i] else apply_time
                else:
                    switching[i] -= step
                    braked[i] = live == (switching[i] > 0.0)
                if braked[i]:
                    largest = brake_force
            if live:
                forces[i] += follow * (servo_force(legs, i, gains, age, step) - forces[i])
                acting[i] = forces[i]
            else:
                integrals[i] = 0.0
                forces[i] -= follow * forces[i]
                acting[i] = forces[i] - damping * rates[i]
                largest += friction
            if largest > 0.0:
                held_back, held[i] = grip(held[i], stroke, rates[i], largest)
                acting[i] += held_back
            else:
                held[i] = stroke
            over = max(stroke - upper[i], 0.0) + min(stroke - lower[i], 0.0)
            if over != 0.0:
                acting[i] -= STOP_STIFFNESS * over + STOP_DAMPING * rates[i]
        if not leap(plant, cones, angles, state, acting, before, step):
            return False
        leg_motion(plant[0], plant[1], retracted, state, strokes, rates)
        age += step
    return True
