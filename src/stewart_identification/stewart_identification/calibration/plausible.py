# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether measured poses can be those of a platform at all: units, order of columns, pairs."""

from __future__ import annotations

import numpy as np
from stewart_identification.calibration.machine import Machine
from stewart_identification.calibration.observations import Observations
from stewart_identification.errors import ConfigurationError, FitError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array

BEYOND = 0.1
"""Share of its range by which a stroke may lie outside its limits."""
TURNED = 0.05
"""Angle that half the poses may be off before a fit [rad]; a joint's errors make some 0.001."""
MOVED = 0.05
"""Distance that half the poses may be off before a fit, in units of the base's radius."""

PULLED, LEANING = 0.2, 0.8
"""What an accelerometer at rest may differ from gravity, as a share of it, and by an angle [rad];
half of the rows count. A mounting that is farther off is to be described, not found."""


def check_strokes(platform: Platform, seen: Observations) -> None:
    """Refuse strokes that are missing or far outside the limits.

    Raises:
        ConfigurationError: If there are some; where the first stands and its leg are named.
    """
    missing = np.argwhere(~np.isfinite(seen.strokes))
    if missing.size:
        row, leg = missing[0]
        where = f'{seen.source[row]}: stroke of leg {leg + 1}'
        raise ConfigurationError(where, float(seen.strokes[row, leg]), 'a measured stroke')
    low, high = platform.limits.stroke.T
    slack = BEYOND * (high - low)
    outside = (seen.strokes < low - slack) | (seen.strokes > high + slack)
    if outside.any():
        row, leg = np.argwhere(outside)[0]
        raise ConfigurationError(
            f'{seen.source[row]}: stroke of leg {leg + 1}',
            float(seen.strokes[row, leg]),
            f'{low[leg]:g} to {high[leg]:g} m, the limits of {platform.name}; strokes count from '
            'the retracted leg, and columns in millimetres are called stroke_1_mm',
        )


def check_placed(machine: Machine, off: Array, turn: Array, seen: Observations) -> None:
    """Refuse poses that differ from those of the strokes by more than a machine can be wrong.

    Args:
        machine: As described, with the tracker where it fits best.
        off (k,), turn (k,): Distances [m] and angles [rad] of the tracked poses.
        seen: What was measured.

    Raises:
        FitError: If half of the poses are off too far.
    """
    radius = float(np.linalg.norm(machine.base[:, :2], axis=1).mean())
    far, twisted = float(np.median(off)), float(np.median(turn))
    if far <= MOVED * radius and twisted <= TURNED:
        return
    tracked = seen[np.flatnonzero(seen.tracked)]
    described = machine.poses(tracked)[0]
    across = (described - described.mean(axis=0)).T @ tracked.position
    mirrored = (
        ' They are mirrored: is the frame of the tracker left-handed, or are the legs numbered '
        'the other way round?'
        if np.linalg.det(across) < 0.0
        else ''
    )
    spread = float(np.ptp(tracked.position, axis=0).max())
    wide = f' They spread over {spread:.4g} m: are they in millimetres?' if spread > 20.0 else ''
    raise FitError(
        'wherever tracker and target are, half of the poses are more than '
        f'{1e3 * far:.4g} mm and {1e3 * twisted:.4g} mrad from those of the strokes: check the '
        'order of the quaternion (x, y, z, w), the order of the legs, the units, and which pose '
        f'belongs to which strokes.{mirrored}{wide}'
    )


def check_felt(machine: Machine, seen: Observations) -> None:
    """Refuse specific forces at rest that are not gravity as the described IMU would have it.

    Raises:
        FitError: If they are in another unit, of another sign, or of an IMU mounted otherwise.
    """
    rows = seen[np.flatnonzero(seen.felt)]
    upwards = -np.einsum('nji,j->ni', machine.poses(rows)[1], machine.gravity)
    expected, force = upwards @ machine.mounting, rows.specific_force
    gravity, sizes = float(np.linalg.norm(machine.gravity)), np.linalg.norm(force, axis=1)
    size = float(np.median(sizes))
    if abs(size - gravity) > PULLED * gravity:
        raise FitError(
            f'at rest the accelerometer tells {size:.4g} m/s², and gravity is {gravity:.4g}: '
            'specific forces are in m/s², with gravity in them'
        )
    cosines = np.einsum('ni,ni->n', expected, force) / (gravity * sizes)
    angle = float(np.median(np.arccos(np.clip(cosines, -1.0, 1.0))))
    if angle > LEANING:
        raise FitError(
            f'at rest the accelerometer has gravity {np.degrees(angle):.0f}° from where poses and '
            'mounting have it: correct imu.rpy_deg of the platform first, or the signs (at rest '
            'specific forces are upwards)'
        )
