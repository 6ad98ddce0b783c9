# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The platform's motion with the accelerations that an IMU measured.

Pose and place of the sensor come from the legs and the description. Specific force, angular
velocity and angular acceleration come from the sensor, through the same low-pass as the legs'
derivatives. A recording of its own is put on the clock of the legs first.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from imu_mounting import find_mounting, Mounting, predicted
import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import Akima1DInterpolator
from scipy.spatial.transform import Rotation
from stewart_bags.reading import Bag
from stewart_bags.series import ImuSeries, read_series
from stewart_identification.errors import UnusableRecording
from stewart_identification.recording.checks import glitches, Remark, usable
from stewart_identification.recording.clocks import clock_offset, ClockOffset
from stewart_identification.recording.from_bag import Extracted, Extraction
from stewart_identification.recording.low_pass import LowPass
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion, Pose

MISMOUNTED = np.radians(10.0)
"""Angle between measured and expected specific force above which a mounting is not believed."""
OTHER_RECORDER = 30.0
"""Largest difference of two recorders' clocks that is looked for [s]."""
SAME_RECORDER = 0.5
"""Largest delay looked for where one recorder stamped both [s]."""
GLITCH = 3.0
"""Share of its range by which a signal has to jump away and back to be a glitch."""
GRAVITY_WITHIN = 1.3
"""Factor by which a mean specific force may be off before it is in another unit."""

Piece = tuple[Array, Array]
"""A stretch without a gap: instants, (n,), and signals with their rates, (n, 2, 6)."""


@dataclass(frozen=True, eq=False)
class ImuRecording:
    """The IMU of a bag, and the bag time of its first message [ns]."""

    path: Path
    begin_ns: int
    imu: ImuSeries


def read_imu(path: str | Path) -> ImuRecording:
    """Read ``imu/data`` of a bag."""
    with Bag(Path(path)) as bag:
        return ImuRecording(Path(path), bag.start_ns, read_series(bag, 'imu/data', ImuSeries))


@dataclass(frozen=True, eq=False)
class MeasuredMotion:
    """What an IMU saw of an experiment's motion.

    Attributes:
        rows (k,): Samples of the experiment that the sensor covers.
        motion: Pose of the legs, rates and accelerations of the sensor, k samples.
        clock: Of the sensor's recorder against that of the legs; for one recorder the sensor's
            delay.
        mounting: Rotation used.
        described: Whether the rotation is the one of the description.
        remarks: What was odd.
    """

    rows: NDArray[np.intp]
    motion: Motion
    clock: ClockOffset
    mounting: Mounting
    described: bool
    remarks: tuple[Remark, ...]


def measured_motion(
    extracted: Extracted,
    recording: ImuRecording,
    platform: Platform,
    extraction: Extraction,
    *,
    other_recorder: bool,
) -> MeasuredMotion:
    """Give the motion of an experiment as an IMU measured it.

    Args:
        extracted: Experiment from the legs.
        recording: With IMU data; the legs' own, or another recorder's.
        platform: Says where the sensor is; its description's rotation is used unless it
            contradicts the measurement by more than 10 degrees.
        extraction: Bands, as for the legs.
        other_recorder: Whether the IMU has been stamped by another clock: then the offset found is
            taken out; otherwise it is only reported.

    Returns:
        At the samples that both cover.

    Raises:
        UnusableRecording: If there is no IMU, its recording does not overlap, or its mounting
            cannot be found.
    """
    series = recording.imu
    if not len(series):
        raise UnusableRecording(f'{recording.path}: there is no imu/data')
    expected = extracted.experiment.inputs
    place = platform.imu or Pose.identity()
    force, rate = predicted(expected, place.position, platform.gravity)
    stamps = extracted.experiment.stamps
    pieces, remarks = _filtered(series, recording, extracted, extraction)
    time, signals = max(pieces, key=lambda piece: len(piece[0]))
    clock = clock_offset(
        stamps,
        _features(force, rate),
        time,
        _features(signals[:, 0, :3], signals[:, 0, 3:]),
        longest=OTHER_RECORDER if other_recorder else SAME_RECORDER,
        where=f'{recording.path}: {series.topic} and the legs',
    )
    shift = clock.offset if other_recorder else 0.0
    remarks += _clock_remarks(series, clock, other=other_recorder)
    inside, sampled = _sampled(pieces, stamps + shift)
    if inside.size < 2:
        raise UnusableRecording(f'{recording.path}: {series.topic} covers no motion of the legs')
    _refuse_other_units(recording, series, force[inside], sampled[:, 0, :3])
    mounting, described, said = _mounting(
        series, place, force[inside], rate[inside], sampled[:, 0]
    )
    motion = _moved(expected[inside], sampled, mounting.rotation, place.position, platform)
    return MeasuredMotion(inside, motion, clock, mounting, described, (*remarks, *said))


def _filtered(
    series: ImuSeries, recording: ImuRecording, extracted: Extracted, extraction: Extraction
) -> tuple[list[Piece], list[Remark]]:
    """Low-pass what lies between gaps, and differentiate it."""
    both = np.hstack([series.specific_force, series.angular_velocity])
    values = {
        'specific force': series.specific_force,
        'angular velocity': series.angular_velocity,
    }
    refused = {'values that jump away and back': glitches(both, GLITCH)}
    good = usable(series, values, extracted.record.origin_ns, recording.begin_ns, refused)
    if len(good.rows) < 4:
        why = '; '.join(map(str, good.remarks)) or 'there are no more'
        raise UnusableRecording(
            f'{recording.path}: {len(good.rows)} of the {len(series)} messages of {series.topic} '
            f'can be used ({why})'
        )
    # A slow sensor carries less than the legs.
    stopband = min(extraction.stopband, 0.45 / good.period)
    passband = min(extraction.passband, stopband / 3.0)
    smoother = LowPass(good.period, passband, stopband)
    remarks = list(good.remarks)
    if passband < extraction.passband:
        text = (
            f'{1e3 * good.period:.4g} ms apart, with a pass band of {passband:.3g} Hz where the '
        )
        text += f'legs have {extraction.passband:.3g} Hz'
        remarks.append(Remark(series.topic, float('nan'), len(good.rows), text))
    edge, pieces = smoother.half_width, []
    for part in good.pieces():
        stamps = good.stamps[part]
        grid = np.arange(stamps[0], stamps[-1], good.period)
        if len(stamps) < 4 or len(grid) < 2 * edge + 2:
            continue
        even = Akima1DInterpolator(stamps, both[good.rows[part]], axis=0)(grid)
        filtered = smoother.apply(even, derivatives=1)
        pieces.append((grid[edge:-edge], np.moveaxis(filtered, 0, 1)))
    if not pieces:
        raise UnusableRecording(
            f'{recording.path}: no piece of {series.topic} without a gap is longer than '
            f'{2.0 * edge * good.period:.4g} s, {len(good.rows)} samples in '
            f'{good.stamps[-1] - good.stamps[0]:.3g} s have {len(good.breaks) - 1} gaps'
        )
    return pieces, remarks


def _sampled(pieces: list[Piece], moments: Array) -> tuple[NDArray[np.intp], Array]:
    """Return which moments a piece covers, k of them, and the signals there, (k, 2, 6)."""
    rows, found = [], []
    for time, signals in pieces:
        inside = np.flatnonzero((moments >= time[0]) & (moments <= time[-1]))
        rows.append(inside)
        found.append(Akima1DInterpolator(time, signals, axis=0)(moments[inside]))
    return np.concatenate(rows), np.concatenate(found)


def _refuse_other_units(
    recording: ImuRecording, series: ImuSeries, expected: Array, measured: Array
) -> None:
    """Refuse a specific force that is not about as large as gravity makes it."""
    due, felt = (float(np.linalg.norm(item, axis=1).mean()) for item in (expected, measured))
    if not 1.0 / GRAVITY_WITHIN < felt / due < GRAVITY_WITHIN:
        raise UnusableRecording(
            f'{recording.path}: the mean specific force of {series.topic} is {felt:.4g} m/s² over '
            f'{len(measured)} samples, {due:.4g} m/s² are expected: its unit has to be m/s²'
        )


def _features(force: Array, rate: Array) -> Array:
    """Return what does not depend on how the sensor is mounted."""
    return np.stack([np.linalg.norm(force, axis=1), np.linalg.norm(rate, axis=1)], axis=1)


def _clock_remarks(series: ImuSeries, clock: ClockOffset, *, other: bool) -> list[Remark]:
    """Say what was found about the clocks."""
    said = f'{1e3 * clock.offset:+.2f} ms (correlation {clock.correlation:.4f})'
    if other:
        text = f'the clock of its recorder is {said} ahead, taken out'
    else:
        text = f'lags behind the legs by {said}, left as stamped'
    if clock.ambiguous:
        text += '; the motion repeats itself, and another offset fits as well'
    return [Remark(series.topic, float('nan'), len(series), text)]


def _mounting(
    series: ImuSeries, place: Pose, force: Array, rate: Array, sampled: Array
) -> tuple[Mounting, bool, list[Remark]]:
    """Return the rotation described, or where it contradicts the sensor the one found."""
    turned = sampled[:, :3] @ place.rotation.T
    cosine = np.sum(turned * force, axis=1) / (
        np.linalg.norm(turned, axis=1) * np.linalg.norm(force, axis=1)
    )
    off = float(np.sqrt(np.mean(np.arccos(np.clip(cosine, -1.0, 1.0)) ** 2)))
    if off <= MISMOUNTED:
        return Mounting(place.rotation, off, float('nan')), True, []
    found = find_mounting(force, rate, sampled[:, :3], sampled[:, 3:])
    roll, pitch, yaw = np.degrees(found.rpy)
    text = (
        f'gravity is {np.degrees(off):.1f}° off the mounting described; roll, pitch, yaw '
        f'{roll:.2f}°, {pitch:.2f}°, {yaw:.2f}° were found instead, '
        f'{np.degrees(found.residual):.2f}° left'
    )
    return found, False, [Remark(series.topic, float('nan'), len(series), text)]


def _moved(
    legs: Motion, sampled: Array, rotation: Array, place: Array, platform: Platform
) -> Motion:
    """Put the sensor's measurements in place of the legs' derivatives."""
    turn = Rotation.from_quat(legs.quaternion_xyzw)
    force = turn.apply(sampled[:, 0, :3] @ rotation.T)
    turning = turn.apply(sampled[:, 0, 3:] @ rotation.T)
    # A gyroscope's bias is constant in its own axes; the legs know none.
    bias = turn.inv().apply(turning - legs.angular_velocity).mean(axis=0)
    w = turning - turn.apply(bias)
    # d/dt (R p) = R p' + w x (R p), and w x w = 0 for the unbiased part.
    alpha = turn.apply(sampled[:, 1, 3:] @ rotation.T)
    arm = turn.as_matrix() @ place
    acceleration = force + platform.gravity - np.cross(alpha, arm)
    acceleration = acceleration - np.cross(w, np.cross(w, arm))
    return legs.replaced(
        angular_velocity=w, linear_acceleration=acceleration, angular_acceleration=alpha
    )
