# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""From a recording to an experiment: motion of the platform and forces of its drives.

The motion comes from the measured strokes: `LowPass` gives strokes, rates and accelerations
without lag, forward kinematics the poses, the Jacobian twists and accelerations. Or the strokes
are those of the poses of ``stewart estimate``, and all else is the same.

The forces pass the same low-pass, and so does what friction follows: directions, starts, loads.
The motion holds nothing beyond the pass band, while dry friction shakes the platform faster than
that, and a fit would blame the inertia for it. Filtered alike, forces, motion and the steps
of dry friction belong together; the residuals are coloured, which `confidence` reckons with. Where
the experiment is slower than the recording, samples are left out after that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from stewart_identification.errors import UnusableRecording
from stewart_identification.experiment import Experiment, joined
from stewart_identification.models.terms import friction_shapes
from stewart_identification.recording.checks import Remark
from stewart_identification.recording.clocks import clock_offset
from stewart_identification.recording.legs import leg_record, LegPiece, LegRecord
from stewart_identification.recording.low_pass import LowPass
from stewart_identification.recording.noise import leg_noise, LegNoise, Level
from stewart_identification.recording.recordings import check_platform, Recording
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.motion_csv import read_motion
from stewart_kinematics.solvers.forward import forward_batch
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.solvers.jacobian import jacobian, jacobian_derivative
from stewart_tables.columns import POSE, TIME
from stewart_tables.csv_tables import read_table, Table
from stewart_tables.settings import param

REST, REVERSAL = 2e-3, 0.1
"""Leg rate [m/s]; where all legs are slower for longer than this [s], the platform stands, and dry
friction has no known direction."""
LONGEST_SHIFT = 60.0
"""Between the zeros of an estimate's time and of a recording's [s]."""
SIGMAS = (*(f'sigma_{name}' for name in POSE[:3]), *(f'sigma_r{axis}_rad' for axis in 'xyz'))
"""Columns of an estimate: standard deviations of its poses [m], [rad]."""


@dataclass(frozen=True)
class Extraction:
    """How a recording becomes an experiment."""

    passband: float = param(
        5.0, 'of the derivatives; they stop at three times that [Hz]', min=0.1, max=100.0
    )
    rate: float = param(
        100.0,
        'of the experiment; a slower recording keeps its own [Hz]',
        min=1.0,
        max=10000.0,
    )
    instruments: bool = param(
        False,
        'take the commanded motion (joint_commands) as instruments: for encoders whose noise is '
        'above 0.05 mm, or which the drives feed back',
    )

    @property
    def stopband(self) -> float:
        """From here on nothing passes [Hz]."""
        return 3.0 * self.passband


@dataclass(frozen=True, eq=False)
class Extracted:
    """An experiment and how it came about.

    Attributes:
        method: How the derivatives were made.
        remarks: What was odd or left out.
        duration: Time that the experiment covers [s].
        record: Legs as measured.
        path, sha256, topics: Of the bag, of its files, and which of its topics were read.
        blind: Why nothing counts as determined by it, in a sentence; empty otherwise.
    """

    experiment: Experiment
    method: str
    remarks: tuple[Remark, ...]
    duration: float
    record: LegRecord
    path: Path = Path()
    sha256: str = ''
    topics: tuple[str, ...] = ()
    blind: str = ''


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
        estimate: Result of ``stewart estimate``: the motion is taken from there.
        forces: Whether drive forces are needed; otherwise they may be NaN.

    Raises:
        UnusableRecording: If nothing can be used; says why.
        ConfigurationError, OSError: If the estimate cannot be read.
    """
    extraction = extraction or Extraction()
    doubts = check_platform(recording, platform)
    record = leg_record(
        recording,
        forces=forces,
        shortest=2.0 * 3.0 / (extraction.stopband - extraction.passband),
        bridged=0.5 / extraction.stopband,
        instruments=extraction.instruments,
    )
    try:
        smoother = LowPass(record.period, extraction.passband, extraction.stopband)
    except UnusableRecording as error:
        raise UnusableRecording(f'{recording.path}: {record.topic}: {error}') from error
    stride = max(round(1.0 / (extraction.rate * record.period)), 1)
    noise, whole, pieces, left_out = _motion_pieces(
        record, platform.geometry, smoother, stride, forces=forces
    )
    if not pieces:
        why = '; '.join(map(str, left_out)) or (
            f'{record.topic}: {max(len(piece.time) for piece in record.pieces)} samples without '
            f'a gap at most, derivatives take {2 * _edge(smoother)} from each piece and of the '
            f'rest one in {stride} is used'
        )
        raise UnusableRecording(f'{recording.path}: nothing is left to identify from ({why})')
    method = f'{smoother}{"; instruments: the commanded motion" * extraction.instruments}'
    blind = noise.blind(record.topic, smoother)
    if estimate is not None:
        blind = ''
        legs, shift, sigmas = _estimated(pieces, whole, platform.geometry, estimate, record.begin)
        noise = replace(noise, strokes=Level(sigmas))
        made = (motion_piece(leg, platform.geometry, smoother, stride, noise) for leg in legs)
        pieces = [piece for piece, _ in made if piece is not None]
        if not pieces:
            raise UnusableRecording(f'{estimate}: too little time in common with the recording')
        method = f'from {estimate}, its time 0 at {shift:.6f} s of the recording'
    duration = sum(float(piece.stamps[-1] - piece.stamps[0]) for piece in pieces)
    count = sum(len(piece.time) for piece in record.pieces)
    about = [Remark(record.topic, float('nan'), count, text) for text in noise.said(record)]
    remarks = (*doubts, *recording.remarks, *record.remarks, *left_out, *about)
    origin = recording.path, recording.sha256, recording.topics
    return Extracted(joined(pieces), method, remarks, duration, record, *origin, blind)


def _motion_pieces(
    record: LegRecord, geometry: Geometry, smoother: LowPass, stride: int, *, forces: bool
) -> tuple[LegNoise, list[LegPiece], list[Experiment], list[Remark]]:
    """Turn the pieces of a record that move into experiments; say what was left out of them."""
    whole, pieces = list(record.pieces), []
    still, lost = np.empty(0), np.empty(0)
    if forces:
        whole, still = _without_rest(whole, smoother)
    noise = leg_noise(whole, smoother, record.held)
    for piece in whole:
        made, instants = motion_piece(piece, geometry, smoother, stride, noise)
        lost = np.append(lost, instants)
        if made is not None:
            pieces.append(made)
    low, high = (end([end(piece.strokes) for piece in record.pieces]) for end in (np.min, np.max))
    texts = (
        f'all legs slower than {1e3 * REST:g} mm/s, where dry friction has no direction, left out',
        f'strokes that no pose has (they go from {low:.4g} m to {high:.4g} m), left out',
    )
    remarks = [
        Remark(record.topic, float(instants[0]) + record.begin, instants.size, text)
        for instants, text in zip((still, lost), texts, strict=True)
        if instants.size
    ]
    return noise, whole, pieces, remarks


def motion_piece(
    piece: LegPiece,
    geometry: Geometry,
    smoother: LowPass,
    stride: int,
    noise: LegNoise | None = None,
) -> tuple[Experiment | None, Array]:
    """Filter a stretch and turn its strokes into a motion of the platform.

    Args:
        piece: Uniformly sampled.
        stride: Every so many samples one is kept.
        noise: Of strokes and forces; found in the piece alone if not given.

    Returns:
        None if the stretch is too short.
        (k,): Instants of samples left out because no pose has their strokes [s].
    """
    edge = _edge(smoother)
    if len(piece.time) <= 2 * edge + stride:
        return None, np.empty(0)
    # The sharper filter takes the outer samples, the smoother one the rest of the edge.
    inner = slice(edge - smoother.half_width, smoother.half_width - edge)
    forces = _of_whole_windows(smoother, piece.forces[inner])[::stride]
    noise = noise or leg_noise([piece], smoother)
    # Where the noise of the strokes is not known `Extracted.blind` says so, and what the forces
    # are off by is not known either.
    known = bool(np.isfinite(noise.strokes.sigmas).all())
    of_forces = smoother.white_gain * (noise.forces.sigmas if known else np.full(6, np.nan))
    sensor = np.tile(of_forces, (len(forces), 1))
    draw = np.random.default_rng(0).standard_normal(piece.strokes.shape)
    shake = (noise.strokes.sigmas if known else 0.0) * draw
    motion, shapes, good = _moving(piece, geometry, smoother, stride)
    again = replace(piece, strokes=piece.strokes + shake)
    moved, other_shapes, also = _moving(again, geometry, smoother, stride)
    time, both = piece.time[edge:-edge:stride], good & also
    asked = None
    if piece.commands is not None:
        asked = _moving(replace(piece, strokes=piece.commands), geometry, smoother, stride)
        both &= asked[2]
    if not both.any():
        return None, time
    made = Experiment(
        time[both],
        motion[both[good]],
        forces[both],
        shapes=shapes[both],
        sensor_noise=sensor[both],
    )
    shaken = replace(made, inputs=moved[both[also]], shapes=other_shapes[both])
    instruments = None
    if asked is not None:
        instruments = replace(made, inputs=asked[0][both[asked[2]]], shapes=asked[1][both])
    return replace(made, shaken=shaken if known else None, instruments=instruments), time[~good]


def _moving(
    piece: LegPiece, geometry: Geometry, smoother: LowPass, stride: int
) -> tuple[Motion, Array, NDArray[np.bool_]]:
    """Return the motion of the samples that have a pose, shapes of all, and which have one."""
    sharp = smoother.sharper
    rates = sharp.apply(piece.strokes, derivatives=1)[1]
    shapes = friction_shapes(rates, sharp.apply(np.nan_to_num(piece.forces))[0])
    filtered = smoother.apply(shapes.reshape(len(shapes), -1))[0, ::stride]
    lengths = geometry.retracted_length + piece.strokes[sharp.half_width : -sharp.half_width]
    made = smoother.apply(lengths, derivatives=2)[:, ::stride]
    motion, good = motion_of_legs(geometry, *made)
    return motion, filtered.reshape(-1, *shapes.shape[1:]), good


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
    return smoother.sharper.half_width + smoother.half_width


def motion_of_legs(
    geometry: Geometry, lengths: Array, rates: Array, accelerations: Array
) -> tuple[Motion, NDArray[np.bool_]]:
    """Turn leg lengths, rates and accelerations, each (n, 6), into a motion.

    Returns:
        Of the samples that have a pose.
        (n,): Which these are.
    """
    found = forward_batch(geometry, lengths)
    good = np.asarray(found.converged, dtype=np.bool_)
    position, quaternion = found.position[good], found.quaternion_xyzw[good]
    matrix = jacobian(geometry, position, quaternion)
    twist = _solved(matrix, rates[good])
    moving = Motion(position, quaternion, twist)
    change = (jacobian_derivative(geometry, moving) @ twist[..., None])[..., 0]
    acceleration = _solved(matrix, accelerations[good] - change)
    return replace(moving, acceleration=acceleration), good


def _solved(matrix: Array, right: Array) -> Array:
    """Solve (n, 6, 6) systems with right-hand sides (n, 6)."""
    return np.asarray(np.linalg.solve(matrix, right[..., None])[..., 0], dtype=np.float64)


def _without_rest(pieces: list[LegPiece], smoother: LowPass) -> tuple[list[LegPiece], Array]:
    """Cut out where the platform stands; return what is left and the instants that were cut."""
    sharp = smoother.sharper
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


def _estimated(
    pieces: list[Experiment], whole: list[LegPiece], geometry: Geometry, path: Path, zero: float
) -> tuple[list[LegPiece], float, Array]:
    """Return the legs of an estimate, whose time is found by their lengths, and what they lack.

    Args:
        zero: Time 0 of the pieces after the beginning of the bag, from which an estimate of the
            bag counts [s].

    Returns:
        Stretches of the recording with the strokes of the estimate.
        Instant of the recording at which the estimate begins [s].
        (6,): Noise of these strokes, as white as sampled like the recording [m].
    """
    estimate = read_motion(path)
    ours = joined(pieces)
    begin = ours.stamps[0]
    lengths = leg_lengths(geometry, ours.inputs.position, ours.inputs.quaternion_xyzw)
    time = np.arange(0.0, estimate.duration, float(np.median(np.diff(ours.stamps))))
    theirs = estimate.sample(time)
    other = leg_lengths(geometry, theirs.position, theirs.quaternion_xyzw)
    table = read_table(path, (TIME, *SIGMAS))
    expected = zero + float(begin) - float(table.take((TIME,))[0, 0])
    offset = _offset((ours.stamps - begin, lengths), (time, other), expected, str(path))
    shift = begin - offset
    made = []
    for piece in whole:
        moment = piece.time - shift
        inside = (moment >= 0.0) & (moment <= estimate.duration)
        if inside.any():
            there = estimate.sample(moment[inside])
            length = leg_lengths(geometry, there.position, there.quaternion_xyzw)
            strokes = length - geometry.retracted_length
            made.append(replace(piece[inside], strokes=strokes, commands=None))
    if not made:
        raise UnusableRecording(f'{path}: the estimate and the recording have no time in common')
    period = float(np.median(np.diff(made[0].time)))
    return made, shift, _length_sigmas(geometry, table, theirs, period)


def _offset(
    ours: tuple[Array, Array], theirs: tuple[Array, Array], expected: float, where: str
) -> float:
    """Return how far the clock of an estimate is ahead [s], sought first where it should be."""
    time, lengths = theirs

    def found(ahead: float) -> float:
        beside = clock_offset(*ours, time - ahead, lengths, longest=LONGEST_SHIFT, where=where)
        return beside.offset + ahead

    try:
        return found(expected)
    except UnusableRecording:
        # It may be of tables, whose time began elsewhere.
        return found(0.0)


def _length_sigmas(geometry: Geometry, table: Table, motion: Motion, period: float) -> Array:
    """Return the noise of an estimate's lengths, (6,) [m]; 0 where the file has no sigmas.

    Sampled every `period` it has the density that its columns have at the estimate's own rate.
    """
    if not table.has(SIGMAS):
        return np.zeros(6)
    sigma = np.sqrt(np.mean(table.take(SIGMAS) ** 2, axis=0))
    matrix = jacobian(geometry, motion.position, motion.quaternion_xyzw)
    # The turns are about the platform's axes.
    matrix[:, :, 3:] = matrix[:, :, 3:] @ Rotation.from_quat(motion.quaternion_xyzw).as_matrix()
    ratio = float(np.median(np.diff(table.take((TIME,))[:, 0]))) / period
    return np.asarray(np.sqrt(ratio * np.mean((matrix**2) @ sigma**2, axis=0)))
