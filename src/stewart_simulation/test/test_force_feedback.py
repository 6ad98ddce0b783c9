# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The measured force is the plant's: sampled once per exchange it shows nothing of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_driver.legs import Array
from stewart_driver.path.motion import LegMotion
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.newton_euler import regressor
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Motion
from stewart_kinematics.solvers.forward import forward_batch
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.trajectories.fading import Faded
from stewart_kinematics.trajectories.multi_sine import MultiSine
from stewart_simulation.rate_ramp import RateRamp
from stewart_simulation.rigid_drives import LONGEST_STEP
from stewart_simulation.simulated_backend import SimulatedBackend, SimulatedOptions

# Of the teaching rig, and the stiff ones of a machine.
SOFT = {'position_gain': 30.0, 'rate_loop_bandwidth': 20.0, 'integral_time': 0.05}
STIFF: dict[str, float] = {}
FRICTIONLESS: dict[str, Any] = {
    'platform': 'ex800',
    'rated_force': 50.0,
    'viscous_friction': 0.0,
    'coulomb_friction': 0.0,
    'encoder_noise': 0.0,
    'enable_delay': 0.0,
}
FADE, SETTLED, PERIOD = 1.0, 3.0, 2.0
FORCE_NOISE = 0.5
"""Of a force sensor: what it lets be seen bounds what the drives may add [N]."""
VISCOUS = 0.03
"""A quarter of what ten seconds with such a sensor let be seen of friction [N s/m]."""


@pytest.fixture(scope='module')
def platform() -> Platform:
    return Platform.from_yaml('ex800')


def swing(platform: Platform) -> MultiSine:
    """Heave, then all three rotations, each with its own whole number of turns in `PERIOD`."""
    size = np.zeros((6, 6))
    size[2, 5], size[3, 2], size[4, 3], size[5, 4] = 8e-3, 0.08, 0.06, 0.06
    frequency = 2.0 * np.pi / PERIOD * np.arange(1, 7)
    home, nothing = platform.geometry.neutral_pose, np.zeros((6, 6))
    return MultiSine(home, 'ZYX', size, frequency, nothing, nothing[0], duration=60.0)


def periodic(platform: Platform, strokes: Array, step: float) -> Motion:
    """Return the motion behind strokes that repeat; a Fourier series has exact derivatives."""
    lengths = strokes + platform.geometry.retracted_length
    found = forward_batch(platform.geometry, lengths, platform.geometry.neutral_pose)
    count = len(strokes)
    omega = 2j * np.pi * np.fft.rfftfreq(count, step)[:, None]
    omega[60:] = 0.0  # what is up there are encoder counts

    def derivative(values: Array) -> Array:
        return np.asarray(np.fft.irfft(omega * np.fft.rfft(values, axis=0), count, axis=0))

    turn = Rotation.from_quat(found.quaternion_xyzw).as_matrix()
    spin = derivative(turn.reshape(count, 9)).reshape(count, 3, 3) @ turn.swapaxes(1, 2)
    angular = np.column_stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]])
    linear = derivative(found.position)
    return Motion.of_vectors(
        found.position,
        found.quaternion_xyzw,
        linear,
        angular,
        derivative(linear),
        derivative(angular),
    )


def recorded(platform: Platform, options: dict[str, float]) -> tuple[Motion, Array]:
    """Let the back end follow the swing, one exchange per cycle; return the last whole period."""
    backend = SimulatedBackend(SimulatedOptions(**FRICTIONLESS, **options))
    backend.open(0.0)
    step = backend.cycle_time
    time = step * np.arange(round((FADE + SETTLED + PERIOD) / step))
    course = Faded(swing(platform), platform.geometry.neutral_pose, FADE, duration=np.inf)
    legs = inverse(platform.geometry, course.sample(time))
    backend.enable()
    strokes, forces = [], []
    for row, now in enumerate(time):
        measured = backend.exchange(
            LegMotion(0.0, legs.stroke[row], legs.rate[row], np.zeros(6)), now
        )
        assert measured.forces is not None
        strokes.append(measured.strokes)
        forces.append(measured.forces)
    last = slice(-round(PERIOD / step), None)
    return periodic(platform, np.array(strokes[last]), step), np.array(forces[last])


# What the jerk changes in a cycle still steps, and stiff loops answer to it.
@pytest.mark.parametrize(('loops', 'share'), [(SOFT, 1e-3), (STIFF, 2e-3)], ids=['soft', 'stiff'])
def test_mass_and_inertia_of_the_platform_are_in_the_forces_and_nothing_more(
    platform: Platform, loops: dict[str, float], share: float
) -> None:
    model = InertialModel.from_platform(platform)
    motion, forces = recorded(platform, loops)

    # Without gravity the mass shows in the acceleration alone, and so does what only seems one.
    columns = regressor(replace(model, gravity=np.zeros(3)), motion)
    weight = (regressor(model, motion) - columns) @ model.parameters
    legs = columns[..., 10:] @ model.parameters[10:]
    unknown = columns[..., :10].reshape(-1, 10)
    found = np.linalg.lstsq(unknown, (forces - weight - legs).ravel(), rcond=None)[0]
    bound = FORCE_NOISE * np.sqrt(np.diag(np.linalg.inv(unknown.T @ unknown)))

    wrong = found - model.parameters[:10]
    assert abs(wrong[0]) < share * model.parameters[0]
    assert np.all(np.abs(wrong) < bound), wrong / bound


@pytest.mark.parametrize('loops', [SOFT, STIFF], ids=['soft', 'stiff'])
def test_no_friction_is_in_the_forces_of_a_plant_without(
    platform: Platform, loops: dict[str, float]
) -> None:
    model = InertialModel.from_platform(platform)
    motion, forces = recorded(platform, loops)

    # A force is read at the end of the step in which it acts, so it is half a step old.
    omega = 2j * np.pi * np.fft.rfftfreq(len(forces), PERIOD / len(forces))[:, None]
    spectrum = np.exp(0.5 * LONGEST_STEP * omega) * np.fft.rfft(forces, axis=0)
    acting = np.fft.irfft(spectrum, len(forces), axis=0)
    rates = inverse(platform.geometry, motion).rate
    rest = acting - regressor(model, motion) @ model.parameters
    viscous = np.sum(rest * rates, axis=0) / np.sum(rates**2, axis=0)

    assert np.all(np.abs(viscous) < VISCOUS), viscous


def test_an_acceleration_that_changes_evenly_is_that_of_the_middle_of_the_coming_cycle() -> None:
    ramp, jerk = RateRamp(lead=1.0), 800.0
    given = [
        ramp.accelerations(np.full(6, 0.1 + 0.5 * jerk * time**2), elapsed)
        for time, elapsed in ((0.0, 0.0), (0.002, 0.002), (0.005, 0.003))
    ]

    # Of a motion that has just begun only the last cycle is known.
    assert not given[0].any()
    assert given[1] == pytest.approx(0.001 * jerk)
    assert given[2] == pytest.approx(0.0065 * jerk)


def test_a_target_that_stood_tells_nothing_of_how_its_acceleration_changes() -> None:
    ramp, period = RateRamp(lead=1.0), 2.5e-3
    for rate in (0.1, 0.3, 0.0):
        stands = ramp.accelerations(np.full(6, rate), period)

    assert not stands.any()
    assert ramp.accelerations(np.full(6, 0.01), period) == pytest.approx(0.01 / period)


def test_targets_on_a_parabola_are_left_nowhere() -> None:
    ramp, period = RateRamp(), 2.5e-3
    ramp.accelerations(np.full(6, 0.1), period)

    assert ramp.accelerations(np.full(6, 0.1 + 4.0 * period), period) == pytest.approx(4.0)


def test_a_target_that_stands_or_comes_at_once_does_not_move_on() -> None:
    ramp = RateRamp()

    assert not ramp.accelerations(np.full(6, 0.1), 0.0).any()
    assert not ramp.accelerations(np.zeros(6), 2.5e-3).any()
