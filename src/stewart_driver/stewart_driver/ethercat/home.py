# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the counts of absolute encoders are strokes, and whether the platform is at home."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from stewart_driver.errors import HomingError
from stewart_driver.legs import Array
from stewart_driver.rig_file import DriveCalibration, DriveIdentity


def why_not(
    calibration: DriveCalibration | None, found: Sequence[DriveIdentity], rig_file: str
) -> str:
    """
    Say why the strokes are not absolute.

    Parameters
    ----------
    calibration : DriveCalibration or None
        What the rig file has.
    found : sequence of DriveIdentity
        The drives on the cable, legs 1 to 6.
    rig_file : str
        For the sentence.

    Returns
    -------
    str
        Empty if they are.

    """
    if calibration is None:
        where = f'in {rig_file}' if rig_file else 'because there is no rig_file'
        return f'there are no zero offsets {where}: run `stewart calibrate-drives`'
    for leg, (known, item) in enumerate(zip(calibration.identities, found, strict=True), 1):
        if known != item:
            return (
                f'drive of leg {leg} is another one than on {calibration.calibrated}: '
                f'{_text(item)} instead of {_text(known)}; run `stewart calibrate-drives`'
            )
    return ''


def check(calibration: DriveCalibration, strokes: Array, tolerance: float) -> str:
    """
    Check that the platform stands where it was calibrated, and level.

    The pose of the calibration is home: there the strokes are known from outside. At Vigo all are
    alike then, (h_0, l_0 of the paper), so their spread says how level the platform is.

    Parameters
    ----------
    calibration : DriveCalibration
        Strokes at home.
    strokes : ndarray, shape (6,)
        Measured [m].
    tolerance : float
        Largest deviation of a leg [m].

    Returns
    -------
    str
        What was verified.

    Raises
    ------
    HomingError
        If a leg is elsewhere.

    """
    leg, errors = _farthest(calibration, strokes)
    spread = float(np.ptp(errors))
    what = (
        f'height of the legs {1e3 * float(errors.mean()):+.3f} mm from home ({calibration.pose}), '
        f'level within {1e3 * spread:.3f} mm'
    )
    if abs(errors[leg]) > tolerance:
        raise HomingError(
            f'leg {leg + 1} is {1e3 * errors[leg]:+.3f} mm from home, allowed are '
            f'{1e3 * tolerance:g} mm; {what}: bring the platform there, or calibrate it again'
        )
    return f'{what}; calibrated {calibration.calibrated}, the drives are the same'


def standing(calibration: DriveCalibration, strokes: Array, tolerance: float) -> str:
    """
    Say at the start whether the zero offsets are confirmed by where the platform stands.

    It may rest anywhere, so that another place is no error.

    Parameters
    ----------
    calibration : DriveCalibration
        Strokes at home.
    strokes : ndarray, shape (6,)
        Measured [m].
    tolerance : float
        Largest deviation of a leg [m].

    Returns
    -------
    str
        What was verified, or how far from home the platform is.

    """
    leg, errors = _farthest(calibration, strokes)
    if abs(errors[leg]) <= tolerance:
        return check(calibration, strokes, tolerance)
    return (
        f'calibrated {calibration.calibrated}, not verified here: leg {leg + 1} stands '
        f'{1e3 * errors[leg]:+.3f} mm from home ({calibration.pose})'
    )


def _farthest(calibration: DriveCalibration, strokes: Array) -> tuple[int, Array]:
    """Return the leg, from 0, that is farthest from home, and how far all are [m]."""
    errors = strokes - np.array(calibration.strokes_m)
    return int(np.abs(errors).argmax()), errors


def _text(identity: DriveIdentity) -> str:
    return f'product 0x{identity.product:X} number {identity.serial}'
