# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Observer, prediction and setpoints of a platform on a moving base."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stewart_kinematics.control.stabilisation import levelling, Stabilisation
from stewart_kinematics.control.wave_observer import ACCELERATION, Channel
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.shared_platform import load_platform

PERIOD = 0.005


def waves(time, amplitudes, omega=2.6):
    """Values with two derivatives (3, 3) of sines, quarter a period apart."""
    angle = omega * time + 0.25 * np.arange(3)
    return np.array(
        [np.sin(angle), omega * np.cos(angle), -(omega**2) * np.sin(angle)]
    ) * np.array(amplitudes)


def test_levelling_is_level_at_its_height_and_differentiated_right():
    step = 1e-3
    times = 0.7 + step * np.arange(-3, 4)
    motion = levelling(np.array([waves(t, [0.2, 0.15, 0.1]) for t in times]), 1.6)
    roll, pitch, heave = waves(0.7, [0.2, 0.15, 0.1])[0]
    base = Rotation.from_euler('ZYX', [0.0, pitch, roll])
    attitudes = Rotation.from_quat(motion.quaternion_xyzw)
    assert (base * attitudes[3]).magnitude() < 1e-9
    assert base.apply(motion.position[3])[2] + heave == pytest.approx(1.6, abs=1e-12)
    stencil = np.array([-1 / 60, 3 / 20, -3 / 4, 0.0, 3 / 4, -3 / 20, 1 / 60]) / step
    assert stencil @ motion.position == pytest.approx(motion.linear_velocity[3], abs=1e-8)
    assert stencil @ motion.linear_velocity == pytest.approx(
        motion.linear_acceleration[3], abs=1e-8
    )
    turned = (attitudes * attitudes[3].inv()).as_rotvec()
    assert stencil @ turned == pytest.approx(motion.angular_velocity[3], abs=1e-8)
    assert stencil @ motion.angular_velocity == pytest.approx(
        motion.angular_acceleration[3], abs=1e-8
    )


def test_observer_is_as_good_as_it_says_on_a_sea_as_expected():
    channel = Channel(2.6, PERIOD, ACCELERATION, 0.05, 0.02, 0.0)
    rng = np.random.default_rng(1)
    # The expected spectrum itself, as a sum of sines.
    omega = np.linspace(0.3, 12.0, 400) + rng.uniform(0.0, 0.02, 400)
    spectrum = omega**4 / ((2.6**2 - omega**2) ** 2 + (2 * 0.35 * 2.6 * omega) ** 2) ** 3
    amplitude = 0.05 * np.sqrt(2.0 * spectrum / spectrum.sum())
    phase = rng.uniform(0.0, 2.0 * np.pi, 400)
    times = PERIOD * np.arange(16_000)
    ahead, wrong = 16, []
    value = np.array([amplitude @ np.cos(omega * t + phase) for t in times])
    felt = np.array([-(amplitude * omega**2) @ np.cos(omega * t + phase) for t in times])
    felt += rng.normal(0.0, 0.02, len(felt))
    for n in range(len(times) - ahead):
        channel.update(felt[n])
        wrong.append(channel.predict(ahead * PERIOD)[0] - value[n + ahead])
    said = channel.deviation(ahead * PERIOD)
    assert np.std(wrong[5000:]) == pytest.approx(said, rel=0.25)
    assert said < 0.1 * 0.05


@pytest.mark.parametrize(('amplitudes', 'follows'), [([0.03, 0.02, 0.02], True),
                                                     ([0.15, 0.15, 0.35], False)])  # fmt: skip
def test_setpoints_follow_and_never_break_a_limit(amplitudes, follows):
    guard = MotionGuard(load_platform('vigo'))
    control, judge = Stabilisation(guard, PERIOD), MotionGuard(load_platform('vigo'))
    away = []
    for n in range(1200):
        time = PERIOD * n
        wanted = min(time / 3.0, 1.0) * waves(time, amplitudes)
        judge.admit(control.advance(wanted), time)
        away.append(control.x[0] - wanted[0])
    off = np.abs(away[700:]).max(axis=0) / amplitudes
    assert (off.max() < 0.01) == follows
    # Level goes before height.
    assert follows or off[2] > off[:2].max()
