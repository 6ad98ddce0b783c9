# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the counts of absolute encoders are strokes, and whether the platform is at home.

Functions that say why something is not so return an empty sentence where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isclose
from typing import NamedTuple

import numpy as np
from stewart_driver.errors import HomingError
from stewart_driver.ethercat import guards
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.gear import Gear
from stewart_driver.legs import Array, END_MARGIN, LegLimits
from stewart_driver.rig_file import DriveCalibration, DriveIdentity, load_rig, save_rig

# Further than this from where it was left, a leg has moved or its encoder has lost turns [m].
PARKED_TOLERANCE = 1e-3


class Known(NamedTuple):
    """What is known of the drives before they are asked.

    Attributes:
        seen: Where the drives stood last in this session [count], if it has only lost its bus.
        incremental: Whether positions mean nothing before the drives have homed.
        just_homed: Whether they have, and stand where they were seen.
        remembered: Whether a drive had its software limits before this session gave it any: it may
            keep them while it is off.
        disturbed: Whether another try to start has just given them limits.
        limits: Within which the driver keeps the legs; None: those of the drive type.
    """

    calibration: DriveCalibration | None
    rig_file: str
    seen: tuple[int, ...] | None = None
    incremental: bool = False
    just_homed: bool = False
    remembered: bool = False
    disturbed: bool = False
    limits: LegLimits | None = None

    @property
    def zeros(self) -> tuple[int, ...] | None:
        """Position of each drive at stroke zero [count]."""
        return None if self.calibration is None else self.calibration.zero_offsets_counts

    def ends(self, kind: DriveType, positions: Sequence[int | None]) -> list[tuple[int, int]]:
        """Return between which counts drives may be that stand at some; calibrated ones only."""
        assert self.zeros is not None
        limits = self.limits or kind.limits
        return [
            guards.software_limits(leg, kind.gear, limits, zero, position)
            for leg, (zero, position) in enumerate(zip(self.zeros, positions, strict=True), 1)
        ]

    def why_not_homed(
        self,
        found: Sequence[DriveIdentity],
        kind: DriveType,
        positions: Sequence[int | None],
        *,
        kept: bool,
    ) -> str:
        """Say why the positions of the drives are not proven to be strokes.

        They are, if these are the calibrated drives and stand where they stood when they were last
        switched off; before the first time, where they were calibrated. Absolute drives that have
        `kept` the limits of this session have not been off since, and need no new proof.
        """
        calibration = self.calibration
        reason = why_not(calibration, found, self.rig_file)
        if reason or calibration is None:
            return reason
        if reason := why_other_gear(calibration, kind.gear):
            return reason
        if self.incremental and not self.just_homed:
            return 'the encoders are incremental: nobody knows where the legs are before they home'
        if kept:
            return ''
        return why_elsewhere(calibration, positions, kind.gear, self.seen)


def why_not(
    calibration: DriveCalibration | None, found: Sequence[DriveIdentity], rig_file: str
) -> str:
    """Say why the drives on the cable, legs 1 to 6, are not those that were calibrated.

    Where a drive tells no serial number only its type is compared.
    """
    if calibration is None:
        where = f'in {rig_file}' if rig_file else 'because there is no rig_file'
        return f'there are no zero offsets {where}: run `stewart calibrate-drives`'
    known = calibration.identities
    for leg, (before, item) in enumerate(zip(known, found, strict=True), 1):
        unknown = None in (before.serial, item.serial)
        if before[:3] == item[:3] and (unknown or before.serial == item.serial):
            continue
        place = next((n for n, other in enumerate(known, 1) if item.serial and other == item), 0)
        what = (
            f', the one that was on leg {place}: were cables exchanged?'
            if place
            else '; run `stewart calibrate-drives`'
        )
        return (
            f'drive of leg {leg} is another one than on {calibration.calibrated}: '
            f'{_text(item)} instead of {_text(before)}{what}'
        )
    return ''


def why_other_gear(calibration: DriveCalibration, gear: Gear) -> str:
    """Say that zero offsets were found with another gear, for which alone they hold."""
    then, now = calibration.counts_per_metre, gear.counts_per_metre
    if then is None or isclose(then, now):
        return ''
    return (
        f'the gear is {now:.10g} counts/m, and was {then:.10g} when the drives were calibrated on '
        f'{calibration.calibrated}: the zero offsets are others now; run '
        '`stewart calibrate-drives`'
    )


def why_elsewhere(
    calibration: DriveCalibration,
    counts: Sequence[int | None],
    gear: Gear,
    seen: Sequence[int] | None = None,
) -> str:
    """Say which leg does not stand where it was left: then its encoder may have lost its turns.

    Args:
        seen: Where they stood last, if this session has seen them [count].
    """
    left, when = seen or calibration.parked_counts, 'when its drive was last switched off'
    if left is None:
        zeros = np.array(calibration.zero_offsets_counts)
        left = gear.counts(np.array(calibration.strokes_m), zeros)
        when = f'when it was calibrated on {calibration.calibrated}'
    for leg, (count, before) in enumerate(zip(counts, left, strict=True), 1):
        if count is None:
            return f'drive of leg {leg} does not tell where it stands (6064h)'
        away = (count - before) / gear.counts_per_metre
        if abs(away) > PARKED_TOLERANCE:
            return (
                f'leg {leg} stands {1e3 * away:+.3f} mm from where it was {when}: it was moved, '
                f'or its encoder has lost its turns; bring the platform to {calibration.pose} and '
                'home it, or run `stewart calibrate-drives`'
            )
    return ''


def why_pulled(
    calibration: DriveCalibration,
    counts: Sequence[int],
    gear: Gear,
    ends: Sequence[tuple[int, int] | None],
    live: Sequence[bool],
) -> str:
    """Say which leg its drive would pull inside its software limits as soon as it is switched on.

    Args:
        counts: Where legs 1 to 6 stand [count].
        ends: Limits that the drives have been given [count]; None: none.
        live: Whose drives hold their legs already.
    """
    zeros = calibration.zero_offsets_counts
    rows = enumerate(zip(counts, zeros, ends, live, strict=True), 1)
    for leg, (count, zero, limits, on) in rows:
        if on or limits is None or limits[0] <= count <= limits[1]:
            continue
        stroke, *told = (1e3 * (item - zero) / gear.counts_per_metre for item in (count, *limits))
        return (
            f'leg {leg} stands at {stroke:.1f} mm, outside of the {min(told):.1f} to '
            f'{max(told):.1f} mm that its drive was told at the start (607Dh), and would be '
            'pulled inside at once: with all motors off start the driver anew, or, where all legs '
            'rest on their lower ends, call driver/home'
        )
    return ''


def without_numbers(found: Sequence[DriveIdentity]) -> str:
    """Say which drives cannot be told from others of their type; empty if all can."""
    legs = [str(leg) for leg, item in enumerate(found, 1) if not item.serial]
    if not legs:
        return ''
    return (
        f'the drives of leg {", ".join(legs)} tell no serial number (1018h:4): only by their '
        'positions can it be seen whether they were exchanged'
    )


def park(rig_file: str, counts: Sequence[int]) -> None:
    """Save where the drives stand [count] while they are off; raises `ConfigurationError`."""
    rig = load_rig(rig_file)
    if rig.drives is not None and rig.drives.parked_counts != tuple(counts):
        save_rig(rig_file, replace(rig, drives=replace(rig.drives, parked_counts=tuple(counts))))


def save(rig_file: str, calibration: DriveCalibration) -> None:
    """Write a calibration into its file; raises `ConfigurationError`."""
    save_rig(rig_file, replace(load_rig(rig_file), drives=calibration))


def resting(strokes: Array, lower: Array) -> str:
    """Say that all legs stand on their lower mechanical ends, a position known from outside.

    Legs without brakes sink there when their voltage goes, and can't be brought home without it.

    Args:
        strokes, lower (6,): Where the legs are, and the lower ends of their strokes [m].

    Returns:
        Empty if one does not.
    """
    below = lower - strokes
    if not np.all((below > -PARKED_TOLERANCE) & (below < END_MARGIN)):
        return ''
    return (
        f'all legs rest on their lower ends, up to {1e3 * below.max():.3f} mm below their strokes'
    )


def check(calibration: DriveCalibration, strokes: Array, tolerance: float) -> str:
    """Check that the platform stands where it was calibrated, and level; say what was verified.

    The pose of the calibration is home: there the strokes are known from outside. At Vigo all are
    alike then, (h_0, l_0 of the paper), so their spread says how level the platform is.

    Args:
        strokes (6,): Measured [m].
        tolerance: Largest deviation of a leg [m]; raises `HomingError` beyond it.
    """
    leg, errors = _farthest(calibration, strokes)
    what = (
        f'height of the legs {1e3 * float(errors.mean()):+.3f} mm from home ({calibration.pose}), '
        f'level within {1e3 * float(np.ptp(errors)):.3f} mm'
    )
    if abs(errors[leg]) > tolerance:
        raise HomingError(
            f'leg {leg + 1} is {1e3 * errors[leg]:+.3f} mm from home, allowed are '
            f'{1e3 * tolerance:g} mm; {what}: bring the platform there, or calibrate it again'
        )
    return f'{what}; calibrated {calibration.calibrated}, the drives are the same'


def check_homed(calibration: DriveCalibration, counts: Sequence[int], kind: DriveType) -> None:
    """Raise `HomingError` unless legs that have just found home stand in their strokes.

    Zero offsets from before the drives homed for the first time count from somewhere else.
    """
    strokes = kind.gear.strokes(np.array(counts), np.array(calibration.zero_offsets_counts))
    beyond = kind.limits.beyond(strokes)
    leg = int(beyond.argmax())
    if beyond[leg] > END_MARGIN:
        raise HomingError(
            f'all legs have homed, but leg {leg + 1} would stand at {1e3 * strokes[leg]:.1f} mm, '
            f'outside its stroke: the zero offsets of {calibration.calibrated} are from before a '
            f'homing; stop the driver, and run `stewart calibrate-drives` now that they are home'
        )


def standing(calibration: DriveCalibration, strokes: Array, tolerance: float) -> str:
    """Say at the start what `check` says, or how far from home the platform is: it may be."""
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
    number = 'without a number' if identity.serial is None else f'number {identity.serial}'
    return f'product 0x{identity.product:X} {number}'
