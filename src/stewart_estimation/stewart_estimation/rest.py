# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether an IMU rested while it was recorded, and says what it should."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from stewart_estimation.samples import ImuSeries
from stewart_kinematics.model.platform import STANDARD_GRAVITY
from stewart_kinematics.motion import Array

NEAR_GRAVITY = 0.1
"""Share by which the specific force at rest may differ from gravity: bias and scale."""

WINDOW, SURE = 1.0, 10.0
"""Time of an average that must not change [s], beyond so many of its standard deviations and"""
STILL = np.repeat([0.1, 0.02], 3)
"""this much, which a bias may walk [m/s²], [rad/s]."""

JUMP = 15.0
"""From one sample to the next, in usual steps: noise never goes so far."""

HELD = 0.2
"""Share of samples that may repeat the one before in all axes."""


def oddities(imu: ImuSeries, period: float) -> Iterator[str]:
    """Say what makes noise found in a recording doubtful, one sentence each.

    Args:
        imu: Complete samples by stamp, n of them.
        period: Time between two of them [s].
    """
    values = np.hstack([imu.specific_forces, imu.angular_velocities])
    norm = float(np.linalg.norm(np.median(imu.specific_forces, axis=0)))
    gravity = float(np.linalg.norm(STANDARD_GRAVITY))
    if abs(norm - gravity) > NEAR_GRAVITY * gravity:
        yield (
            f'the specific force is {norm:.3g} m/s² at rest, gravity is {gravity:.3g}: is it in '
            'another unit, or is gravity taken off?'
        )
    steps = np.abs(np.diff(values, axis=0))
    usual = np.median(steps, axis=0)
    usual = np.where(usual > 0.0, usual, steps.std(axis=0))
    jumps = int((steps > JUMP * usual).any(axis=1).sum())
    if jumps:
        yield f'{jumps} samples jump by more than {JUMP:g} usual steps, which is no noise'
    held = float(np.mean((steps == 0.0).all(axis=1)))
    if held > HELD:
        yield (
            f'{100.0 * held:.0f} % of the samples repeat the one before: the sensor is slower '
            'than its recording, and its noise is less than what is found'
        )
    yield from _moves(values, usual, period)


def _moves(values: Array, usual: Array, period: float) -> Iterator[str]:
    """Say that the mean of a second changes, by the median, which single samples do not move."""
    size = max(round(WINDOW / period), 1)
    whole = len(values) // size * size
    if whole < 2 * size:
        return
    medians = np.median(values[:whole].reshape(-1, size, values.shape[1]), axis=1)
    change = np.ptp(medians, axis=0)
    worst = int(np.argmax(change / (STILL + SURE * usual / np.sqrt(size))))
    if change[worst] > STILL[worst] + SURE * usual[worst] / np.sqrt(size):
        unit = 'm/s²' if worst < 3 else 'rad/s'
        name = ('fx', 'fy', 'fz', 'p', 'q', 'r')[worst]
        yield f'{name} changes by {change[worst]:.3g} {unit}: the IMU does not rest'
