# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""The noise of strokes and forces inside the pass band, told by what lies beyond all motion.

A sensor's noise is white, or has passed a filter of the drive; a platform moves below
`STILL_FROM`. So the density beyond that is the noise, and what it is inside the band follows if it
is flat, or falls as a filter of first order lets it: then :math:`1/S` is a straight line in
:math:`1 - \cos \omega T`, whatever is folded back by sampling. Forces hold more than noise there,
for dry friction turns round in steps: what the legs' accelerations, rates and directions explain
of them is taken off first, or, where strokes are too noisy for that, the band begins higher.
Values that a driver repeats until there are new ones count once, at the rate of the new ones.
Where samples end too early for a band of their own the noise is that of high differences, which
motion hardly reaches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray
from stewart_identification.models.terms import friction_shapes
from stewart_identification.recording.bands import (
    Band,
    Cleaning,
    CLEAR,
    density_of,
    first_order,
    NEAR,
    Spectra,
    STILL_FROM,
)
from stewart_identification.recording.legs import LegPiece, LegRecord
from stewart_identification.recording.low_pass import LowPass
from stewart_kinematics.motion import Array

UNSTUCK_FROM = 40.0, 25.0, STILL_FROM
"""Above these the steps of dry friction hardly show, the less the higher [Hz]."""
DIFFERENCES = 8
"""Order of the differences that tell the noise where no band does."""
FLAT = 1.5
"""Where the density falls by more from the part nearest the motion to the next one, what it is
inside the pass band is not known."""
FARTHER = 40.0 * NEAR, 40.0 * NEAR**2
"""Where the noise of strokes is looked for that is far below what is left of their motion [Hz]."""
STEEP = NEAR**4
"""Fall from the part nearest the motion to the next one, as behind a filter of second order."""
MOVING = 20.0
"""Density of strokes near the motion, in units of that farther out, from which on they explain
forces: what noise they have they put into these."""
WORTH = 1.21
"""From this factor on the density inside the band is extrapolated: less is 10 % of a noise."""
UNEVEN = 0.2
"""Share by which the samples that changed may be more or fewer than those counted on."""
EXPLAINED, UNKNOWNS = 4, 13
"""Independent values per unknown that it takes to tell motion from noise, and unknowns: rates and
accelerations of six legs, and the direction of the leg's own."""


@dataclass(frozen=True, eq=False)
class Level:
    """Noise of signals inside the pass band.

    Attributes:
        sigmas (m,): Standard deviations of white noise, sampled as the record is, as strong as
            theirs inside the band; NaN where it is not known.
        fall: By which their density falls next to the motion where they were filtered, else 1.
    """

    sigmas: Array
    fall: float = 1.0


@dataclass(frozen=True, eq=False)
class LegNoise:
    """Noise of six legs.

    Attributes:
        strokes, forces: Inside the pass band [m], [N].
    """

    strokes: Level
    forces: Level

    def blind(self, topic: str, smoother: LowPass) -> str:
        """Say why nothing counts as determined; empty where the strokes' noise is known."""
        if np.isfinite(self.strokes.sigmas).all():
            return ''
        return (
            f'{topic}: strokes come too slowly to tell the noise of the encoders from the motion: '
            f'record them at {2.0 * smoother.stopband:.4g} Hz or more, or lower the pass band'
        )

    def said(self, record: LegRecord) -> Iterator[str]:
        """Say what is odd about them, in clauses."""
        for name, unit, held, step in zip(
            ('strokes', 'efforts'), 'mN', record.held, record.steps, strict=True
        ):
            if np.isfinite(step):
                yield f'{name} are rounded to steps of {step:.3g} {unit} and repeat for that'
            if held > 1.0:
                yield (
                    f'{name} change only every {held:.3g} samples, at '
                    f'{1.0 / (held * record.period):.4g} Hz, and count so often'
                )
        unknown = bool(np.isnan(self.forces.sigmas).all())
        if self.forces.fall > 1.0:
            yield (
                'the noise of the efforts falls by '
                f'{10.0 * np.log10(self.forces.fall):.2g} dB next to the motion, as behind a '
                'filter or of much dry friction: inside the pass band it is '
                f'{"not known, so the model is not tested" if unknown else "extrapolated"}'
            )
        elif unknown and any(np.isfinite(piece.forces).any() for piece in record.pieces):
            yield 'efforts come too slowly to tell their noise, so the model is not tested'


def leg_noise(
    pieces: Sequence[LegPiece], smoother: LowPass, held: tuple[float, float] = (1.0, 1.0)
) -> LegNoise:
    """Return the noise of six legs.

    Args:
        pieces: Stretches without a gap, moving.
        smoother: Of derivatives and forces, sampled as the pieces.
        held: Samples from one new stroke to the next, and of forces.
    """
    return LegNoise(
        stroke_level(pieces, smoother, held[0]), force_level(pieces, smoother, held[1])
    )


def stroke_level(pieces: Sequence[LegPiece], smoother: LowPass, held: float = 1.0) -> Level:
    """Return the noise of strokes.

    Nearest the motion all counts as noise at most. It is less where the density is flat farther
    out, the farther the more surely it falls as no filter's does but as motion. Arguments as of
    `leg_noise`.
    """
    period = held * smoother.period
    parts = [piece.strokes[_fresh(piece.strokes, held)] for piece in pieces]
    band = Band.beyond(smoother.stopband, period)
    if band is None:
        return Level(_by_differences(parts, smoother, held))
    windows = [item for part in parts for item in band.spectra(part)]
    if not windows:
        return Level(np.full(6, np.nan))
    density = density_of(windows)
    most = _sigmas(band.near(density), smoother)
    tried = [Band.beyond(smoother.stopband, period, UNSTUCK_FROM) or band]
    if band.near(density).mean() > STEEP * band.following(density).mean():
        tried += [band for begin in FARTHER if (band := Band.beyond(begin, period))]
    for band in tried:
        windows = [item for part in parts for item in band.spectra(part)]
        found = _extrapolated(band, density_of(windows), band.values(parts), smoother)
        if np.isfinite(found.sigmas).all():
            return Level(np.minimum(found.sigmas, most))
    return Level(most)


def force_level(pieces: Sequence[LegPiece], smoother: LowPass, held: float = 1.0) -> Level:
    """Return the noise of forces; arguments as of `leg_noise`."""
    period, sharp = held * smoother.period, smoother.sharper
    edge = sharp.half_width
    band = Band.beyond(smoother.stopband, period)
    whole = [piece for piece in pieces if len(piece.time) > 2 * edge]
    if band is None:
        parts = [piece.forces[_fresh(piece.forces, held)] for piece in whole]
        return Level(_by_differences(parts, smoother, held))
    moving = _moving(band, [piece.strokes[_fresh(piece.forces, held)] for piece in whole])
    if not moving:
        band = Band.beyond(smoother.stopband, period, UNSTUCK_FROM) or band
    parts = []
    for piece in whole:
        direction = friction_shapes(sharp.apply(piece.strokes, derivatives=1)[1], np.zeros(6))
        inner = slice(edge, len(piece.time) - edge)
        signals = piece.strokes[inner], direction[..., 0], piece.forces[inner]
        parts.append(np.concatenate(signals, axis=1)[_fresh(piece.forces[inner], held)])
    windows = [item for part in parts for item in band.spectra(part)]
    if not windows:
        return Level(np.full(6, np.nan))
    columns, forces = ([item[:, part] for item in windows] for part in (slice(12), slice(12, 18)))
    values = band.values(parts)
    density = density_of(forces, _motionless(band, forces, columns, values, moving=moving))
    # Of friction that nobody took off a little shows, and falls as well.
    return _extrapolated(band, density, values, smoother, least=1.0 if moving else WORTH)


def _fresh(values: Array, held: float) -> NDArray[np.intp]:
    """Return the rows (m,) of values (n, k) that are no repeats, one in `held` or so."""
    if held == 1.0:
        return np.arange(len(values))
    changed = (np.diff(np.nan_to_num(values), axis=0) != 0.0).any(axis=1)
    rows = np.flatnonzero(np.concatenate(([True], changed)))
    if abs(held * len(rows) / len(values) - 1.0) < UNEVEN:
        return rows
    # Between gaps of the recording values are interpolated, and none repeats another.
    rows = np.rint(np.arange(0.0, len(values) - 0.5, held)).astype(int)
    return np.asarray(rows[rows < len(values)])


def _sigmas(density: Array, smoother: LowPass) -> Array:
    return np.asarray(np.sqrt(0.5 * density / smoother.period))


def _by_differences(parts: Sequence[Array], smoother: LowPass, held: float) -> Array:
    """Return what high differences of signals show; NaN where samples are slower than the band."""
    if 0.5 / (held * smoother.period) < smoother.stopband * (1.0 - 1e-6):
        return np.full(6, np.nan)
    changes = [np.diff(part, n=DIFFERENCES, axis=0) for part in parts]
    rows = np.concatenate([np.empty((0, 6)), *changes])
    known = np.isfinite(rows)
    count = known.sum(axis=0)
    squares = np.sum(np.where(known, rows, 0.0) ** 2, axis=0) / np.where(count > 0, count, np.nan)
    return np.asarray(np.sqrt(held * squares / comb(2 * DIFFERENCES, DIFFERENCES)))


def _moving(band: Band, strokes: Sequence[Array]) -> bool:
    """Tell whether strokes show more than their noise where forces are looked at, for long enough.

    What they explain of the forces takes `UNKNOWNS` factors to say.
    """
    windows = [item for part in strokes for item in band.spectra(part)]
    far = band.bins > band.next_to_motion[2]
    if not far.any() or band.values(strokes) < EXPLAINED * UNKNOWNS:
        return False
    density = density_of(windows)
    return bool(band.near(density).mean() > MOVING * density[far].mean())


def _motionless(
    band: Band,
    forces: Sequence[Spectra],
    columns: Sequence[Spectra],
    values: float,
    *,
    moving: bool,
) -> Cleaning | None:
    """Return what motion does not explain of the spectrum of a window and a leg.

    Where the strokes are noise themselves only the leg's direction is looked at: drives that feed
    the noise of the encoders back would lose theirs.

    Args:
        band: Of the spectra.
        forces (f, 6): Window by window.
        columns (f, 12): Strokes, then directions.
        values: Independent values per leg.
        moving: Whether strokes are more than noise.
    """
    size = UNKNOWNS if moving else 1
    if values < EXPLAINED * size:
        return None
    speed = 2j * np.pi * band.bins[:, None]

    def regressors(place: int, leg: int) -> Spectra:
        window = columns[place]
        direction = window[:, 6 + leg, None]
        if not moving:
            return direction
        return np.hstack([window[:, :6] * speed, window[:, :6] * speed**2, direction])

    found = []
    for leg in range(6):
        places = [k for k, window in enumerate(forces) if np.isfinite(window[:, leg]).all()]
        normal, right = np.zeros((size, size)), np.zeros(size)
        for place in places:
            rows, seen = regressors(place, leg), forces[place][:, leg]
            normal += (rows.conj().T @ rows).real
            right += (rows.conj().T @ seen).real
        scale = np.sqrt(np.maximum(np.diag(normal), 1e-300))
        scaled = normal / np.outer(scale, scale)
        found.append(np.linalg.lstsq(scaled, right / scale, rcond=1e-12)[0] / scale)
    grow = np.sqrt(values / (values - size))

    def clean(place: int, leg: int) -> Spectra:
        left = forces[place][:, leg] - regressors(place, leg) @ found[leg]
        return np.asarray(grow * left)

    return clean


def _extrapolated(
    band: Band, density: Array, values: float, smoother: LowPass, *, least: float = 1.0
) -> Level:
    """Return the level inside the pass band from a density, shape (f, m), beyond it.

    One that falls by no more than `least` next to the motion counts as flat.
    """
    known = np.isfinite(density).all(axis=0)
    means = np.where(known, density.mean(axis=0), np.nan)
    if not (means[known] > 0.0).any():
        return Level(_sigmas(means, smoother))
    chosen = known & (means > 0.0)
    # What filters do to the noise is the same for all legs.
    shape = np.mean(density[:, chosen] / means[chosen], axis=1)
    values *= int(chosen.sum())
    near = float(band.near(shape))
    fall = near / max(float(band.following(shape)), 1e-300)
    # Of few values both parts are known badly, and each has about as many.
    part = values * np.mean(band.bins <= band.next_to_motion[1])
    if fall > max(FLAT, 1.0 + np.sqrt(CLEAR * 4.0 / part)):
        return Level(np.full(len(means), np.nan), fall)
    inside = first_order(shape, band, values)
    if inside > WORTH and fall > least:
        return Level(_sigmas(inside * means, smoother), fall)
    # Lines and resonances farther out are not what is near.
    return Level(_sigmas(means * (near if near < 1.0 / FLAT else 1.0), smoother))
