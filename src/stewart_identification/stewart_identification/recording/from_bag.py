# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""From a recording to an experiment: motion of the platform and forces of its drives.

The motion comes from the measured strokes: `LowPass` gives strokes, rates and accelerations
without lag, forward kinematics the poses, the Jacobian twists and accelerations. Or it comes from
the result file of ``stewart estimate``.

The forces pass the same low-pass, and so do the directions in which the legs go. The motion holds
nothing beyond the pass band, while dry friction that changes its sign shakes the platform faster
than that, and a fit would blame the inertia for it. Filtered alike, forces, motion and the steps
of dry friction belong together; the residuals are coloured, which `confidence` reckons with. Where
the experiment is slower than the recording, samples are left out after that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stewart_dynamics.forward_dynamics import FRICTIONLESS
from stewart_identification.experiment import Experiment
from stewart_identification.recording.checks import Remark
from stewart_identification.recording.clocks import clock_offset
from stewart_identification.recording.errors import UnusableRecording
from stewart_identification.recording.legs import leg_record, LegPiece, LegRecord
from stewart_identification.recording.low_pass import LowPass
from stewart_identification.recording.recordings import Recording
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.motion_csv import read_motion
from stewart_kinematics.solvers.forward import forward_batch
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.solvers.jacobian import jacobian, jacobian_derivative

REST, REVERSAL = 2e-3, 0.1
"""Leg rate [m/s]; where all legs are slower for longer than this [s], the platform stands, and dry
friction has no known direction."""
SHARPER, CARRIED = 6.0, 0.15
"""Pass band in which the directions are seen, in units of the derivatives' and of the sampling
rate: the less of both."""
LONGEST_SHIFT = 60.0
"""Between the zeros of an estimate's time and of a recording's [s]."""


@dataclass(frozen=True)
class Extraction:
    """How a recording becomes an experiment.

    Attributes:
        passband, stopband: Of the low-pass under the derivatives [Hz].
        rate: Of the experiment; a slower recording keeps its own [Hz].
    """

    passband: float = 5.0
    stopband: float = 15.0
    rate: float = 100.0


@dataclass(frozen=True, eq=False)
class Extracted:
    """An experiment and how it came about.

    Attributes:
        experiment: What to identify from.
        method: How the derivatives were made.
        remarks: What was odd or left out.
        duration: Time that the experiment covers [s].
        record: Legs as measured.
    """

    experiment: Experiment
    method: str
    remarks: tuple[Remark, ...]
    duration: float
    record: LegRecord


@dataclass(frozen=True, eq=False)
class MotionPiece:
    """Motion and forces of a stretch without a gap, n samples.

    Attributes:
        time (n,): Instants [s].
        motion: Of the platform, shape (n,).
        forces (n, 6): Of the drives, low-passed [N].
        directions (n, 6): Of the legs, low-passed, -1 to 1.
    """

    time: Array
    motion: Motion
    forces: Array
    directions: Array

    def __getitem__(self, index: Any) -> MotionPiece:
        """Select samples."""
        return MotionPiece(
            self.time[index], self.motion[index], self.forces[index], self.directions[index]
        )


def experiment_from(
    recording: Recording,
    platform: Platform,
    extraction: Extraction | None = None,
    *,
    estimate: Path | None = None,
    forces: bool = True,
) -> Extracted:
    """Build the experiment of a recording.

    Args:
        recording: With actuator states.
        platform: Geometry of the machine that was recorded.
        extraction: Rates and bands.
        estimate: Result of ``stewart estimate``: the motion is taken from there.
        forces: Whether drive forces are needed; otherwise they may be NaN.

    Returns:
        Experiment and remarks.

    Raises:
        UnusableRecording: If nothing can be used; says why.
        ConfigurationError, OSError: If the estimate cannot be read.
    """
    extraction = extraction or Extraction()
    shortest = 2.0 * 3.0 / (extraction.stopband - extraction.passband)
    record = leg_record(recording, forces=forces, shortest=shortest)
    try:
        smoother = LowPass(record.period, extraction.passband, extraction.stopband)
    except UnusableRecording as error:
        raise UnusableRecording(f'{recording.path}: {record.topic}: {error}') from error
    stride = max(round(1.0 / (extraction.rate * record.period)), 1)
    pieces, left_out = _motion_pieces(record, platform.geometry, smoother, stride, forces=forces)
    if not pieces:
        why = '; '.join(map(str, left_out)) or (
            f'{record.topic}: {max(len(piece.time) for piece in record.pieces)} samples without '
            f'a gap at most, derivatives take {2 * _edge(smoother)} from each piece and of the '
            f'rest one in {stride} is used'
        )
        raise UnusableRecording(f'{recording.path}: nothing is left to identify from ({why})')
    remarks = [*recording.remarks, *record.remarks, *left_out]
    method = str(smoother)
    if estimate is not None:
        pieces, shift = _with_estimate(pieces, platform.geometry, estimate)
        method = f'from {estimate}, its time 0 at {shift:.6f} s of the recording'
    stamps = np.concatenate([piece.time for piece in pieces])
    motion = joined([piece.motion for piece in pieces])
    measured = np.concatenate([piece.forces for piece in pieces])
    source = f'{recording.path} ({recording.sha256[:12]}), {method}'
    directions = np.concatenate([piece.directions for piece in pieces])
    experiment = Experiment(stamps, motion, measured, source=source, directions=directions)
    duration = sum(float(piece.time[-1] - piece.time[0]) for piece in pieces)
    return Extracted(experiment, method, tuple(remarks), duration, record)


def _motion_pieces(
    record: LegRecord, geometry: Geometry, smoother: LowPass, stride: int, *, forces: bool
) -> tuple[list[MotionPiece], list[Remark]]:
    """Turn the pieces of a record into motions; say what was left out of them."""
    whole, pieces = list(record.pieces), []
    still, lost = np.empty(0), np.empty(0)
    if forces:
        whole, still = _without_rest(whole, smoother)
    for piece in whole:
        made, instants = motion_piece(piece, geometry, smoother, stride)
        lost = np.append(lost, instants)
        if made is not None:
            pieces.append(made)
    reach = [
        getattr(np, end)([getattr(piece.strokes, end)() for piece in record.pieces])
        for end in ('min', 'max')
    ]
    texts = (
        f'all legs slower than {1e3 * REST:g} mm/s, where dry friction has no direction, left out',
        f'strokes that no pose has (they go from {reach[0]:.4g} m to {reach[1]:.4g} m), left out',
    )
    remarks = [
        Remark(record.topic, float(instants[0]) + record.begin, instants.size, text)
        for instants, text in zip((still, lost), texts, strict=True)
        if instants.size
    ]
    return pieces, remarks


def motion_piece(
    piece: LegPiece, geometry: Geometry, smoother: LowPass, stride: int
) -> tuple[MotionPiece | None, Array]:
    """Filter a stretch and turn its strokes into a motion of the platform.

    Args:
        piece: Uniformly sampled.
        geometry: Joints.
        smoother: For the derivatives.
        stride: Every so many samples one is kept.

    Returns:
        None if the stretch is too short.
        (k,): Instants of samples left out because no pose has their strokes [s].
    """
    sharp = _sharper(smoother)
    outer, edge = sharp.half_width, _edge(smoother)
    if len(piece.time) <= 2 * edge + stride:
        return None, np.empty(0)
    directions = np.tanh(sharp.apply(piece.strokes, derivatives=1)[1] / FRICTIONLESS.stiction_rate)
    inner = slice(outer, -outer)
    lengths = geometry.retracted_length + piece.strokes[inner]
    made = smoother.apply(lengths, derivatives=2)[:, ::stride]
    forces = _of_whole_windows(smoother, piece.forces[inner])[::stride]
    steps = smoother.apply(directions)[0, ::stride]
    motion, good = motion_of_legs(geometry, *made)
    time = piece.time[edge:-edge:stride]
    lost = time[~good]
    if not good.any():
        return None, lost
    return MotionPiece(time[good], motion, forces[good], steps[good]), lost


def _of_whole_windows(smoother: LowPass, values: Array) -> Array:
    """Filter signals; NaN where the filter would need one that is missing."""
    missing = ~np.isfinite(values)
    filtered = smoother.apply(np.where(missing, 0.0, values))[0]
    if missing.any():
        so_far = np.cumsum(np.pad(missing, ((1, 0), (0, 0))), axis=0)
        width = 2 * smoother.half_width + 1
        filtered[so_far[width:] > so_far[:-width]] = np.nan
    return filtered


def _edge(smoother: LowPass) -> int:
    """Return how many samples a piece loses at either end."""
    return _sharper(smoother).half_width + smoother.half_width


def _sharper(smoother: LowPass) -> LowPass:
    """Return the low-pass for the rates in which dry friction changes its sign."""
    passband = min(SHARPER * smoother.passband, CARRIED / smoother.period)
    passband = max(passband, smoother.passband)
    return LowPass(smoother.period, passband, min(3.0 * passband, 0.5 / smoother.period))


def motion_of_legs(
    geometry: Geometry, lengths: Array, rates: Array, accelerations: Array
) -> tuple[Motion, NDArray[np.bool_]]:
    """Turn lengths and their derivatives into a motion.

    Args:
        geometry: Joints.
        lengths, rates, accelerations (n, 6): Of the legs [m], [m/s], [m/s²].

    Returns:
        Of the samples that have a pose.
        (n,): Which these are.
    """
    found = forward_batch(geometry, lengths)
    good = np.asarray(found.converged, dtype=np.bool_)
    position, quaternion = found.position[good], found.quaternion_xyzw[good]
    matrix = jacobian(geometry, position, quaternion)
    twist = _solved(matrix, rates[good])
    zero = np.zeros_like(position)
    moving = Motion(position, quaternion, twist[:, :3], twist[:, 3:], zero, zero)
    change = (jacobian_derivative(geometry, moving) @ twist[..., None])[..., 0]
    acceleration = _solved(matrix, accelerations[good] - change)
    motion = Motion(
        position,
        quaternion,
        twist[:, :3],
        twist[:, 3:],
        acceleration[:, :3],
        acceleration[:, 3:],
    )
    return motion, good


def _solved(matrix: Array, right: Array) -> Array:
    """Solve (n, 6, 6) systems with right-hand sides (n, 6)."""
    return np.asarray(np.linalg.solve(matrix, right[..., None])[..., 0], dtype=np.float64)


def _without_rest(pieces: list[LegPiece], smoother: LowPass) -> tuple[list[LegPiece], Array]:
    """Cut out where the platform stands; return what is left and the instants that were cut."""
    sharp = _sharper(smoother)
    edge, shortest = sharp.half_width, REVERSAL / smoother.period
    left, still = [], np.empty(0)
    for piece in pieces:
        if len(piece.time) <= 2 * edge:
            continue
        rates = sharp.apply(piece.strokes, derivatives=1)[1]
        slow = np.pad((np.abs(rates) < REST).all(axis=1), edge, mode='edge')
        for run in _runs(slow):
            if len(run) <= shortest:
                slow[run] = False
        still = np.append(still, piece.time[slow])
        left += [piece[run] for run in _runs(slow) if not slow[run[0]]]
    return left, still


def _runs(flags: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Split the places into runs of equal flags."""
    return np.split(np.arange(len(flags)), np.flatnonzero(np.diff(flags)) + 1)


def joined(motions: list[Motion]) -> Motion:
    """Put motions behind each other."""
    return Motion(
        *(
            np.concatenate([getattr(motion, name) for motion in motions])
            for name in Motion.__dataclass_fields__
        )
    )


def _with_estimate(
    pieces: list[MotionPiece], geometry: Geometry, path: Path
) -> tuple[list[MotionPiece], float]:
    """Replace the motions by those of an estimate; its time is found by the leg lengths."""
    estimate = read_motion(path)
    begin = pieces[0].time[0]
    stamps = np.concatenate([piece.time for piece in pieces])
    ours = joined([piece.motion for piece in pieces])
    lengths = leg_lengths(geometry, ours.position, ours.quaternion_xyzw)
    time = np.arange(0.0, estimate.duration, float(np.median(np.diff(stamps))))
    theirs = estimate.sample(time)
    other = leg_lengths(geometry, theirs.position, theirs.quaternion_xyzw)
    found = clock_offset(
        stamps - begin, lengths, time, other, longest=LONGEST_SHIFT, where=str(path)
    )
    shift = begin - found.offset
    made = []
    for piece in pieces:
        moment = piece.time - shift
        inside = (moment >= 0.0) & (moment <= estimate.duration)
        if inside.any():
            made.append(replace(piece[inside], motion=estimate.sample(moment[inside])))
    if not made:
        raise UnusableRecording(f'{path}: the estimate and the recording have no time in common')
    return made, shift
