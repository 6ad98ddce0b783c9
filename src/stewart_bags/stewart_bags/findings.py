# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is odd about a recorded series: said, with place and number, and never repaired."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray
from stewart_tables.errors import counted

GAP_FACTOR = 3.5
"""A step of more median periods is a gap; across shorter ones a curve can be drawn."""
ANOTHER_CLOCK_NS = 3_600_000_000_000
"""No message takes so long to be recorded: another clock made a stamp that is so far off."""
# An attitude whose norm is off by more is no rotation; float32 drivers stay below.
QUATERNION_TOLERANCE = 1e-3


class Kind(Enum):
    """What can be odd."""

    BACKWARDS = 'stamp goes backwards'
    DUPLICATE = 'stamp repeats'
    UNSET = 'stamp is zero'
    CLOCK = 'stamp is of another clock than the bag'
    OVERLAP = 'time that was recorded twice'
    GAP = 'gap'
    NOT_FINITE = 'not a finite number'
    NOT_A_ROTATION = 'quaternion is not of norm 1'
    FRAMES = 'several frames'
    MISSING_NAMES = 'names are missing'
    UNEXAMINED = 'not examined'


@dataclass(frozen=True)
class Finding:
    """One oddity of a series: samples concerned, index of the first, and the numbers behind it."""

    kind: Kind
    count: int
    first: int
    detail: str = ''

    def __str__(self) -> str:
        detail = f' ({self.detail})' if self.detail else ''
        samples = counted(self.count, 'sample')
        return f'{self.kind.value} at {samples}, first at index {self.first}{detail}'


def examine_stamps(stamp_ns: NDArray[np.int64], bag_time_ns: NDArray[np.int64]) -> list[Finding]:
    """Find zero, foreign, repeating and backward stamps, and steps above three median periods.

    Args:
        stamp_ns, bag_time_ns: Of each message, shape (n,) [ns].
    """
    findings = _where(Kind.UNSET, stamp_ns == 0)
    ahead = stamp_ns - bag_time_ns
    foreign = (np.abs(ahead) > ANOTHER_CLOCK_NS) & (stamp_ns != 0)
    if foreign.any():
        findings += _where(Kind.CLOCK, foreign, f'by {ahead[foreign][0] / 1e9:.6g} s')
    if len(stamp_ns) < 2:
        return findings
    steps = np.diff(stamp_ns)
    after = np.concatenate([[False], steps < 0])
    findings += _where(Kind.BACKWARDS, after, f'by up to {-steps.min() / 1e9:.6g} s')
    findings += _where(Kind.DUPLICATE, np.concatenate([[False], steps == 0]))
    forward = steps[steps > 0]
    if len(forward) > 1:
        period = float(np.median(forward))
        wide = np.concatenate([[False], steps > GAP_FACTOR * period])
        findings += _where(
            Kind.GAP, wide, f'up to {steps.max() / 1e9:.6g} s, the median is {period / 1e9:.6g} s'
        )
    return findings


def examine_values(name: str, values: NDArray[np.float64]) -> list[Finding]:
    """Find values that are no number, in an array that has at least one finite number."""
    finite = np.isfinite(values)
    if finite.all() or not finite.any():
        return []
    return _where(Kind.NOT_FINITE, ~finite.all(axis=tuple(range(1, values.ndim))), name)


def examine_quaternions(name: str, xyzw: NDArray[np.float64]) -> list[Finding]:
    """Find quaternions, shape (n, 4), that are not of norm 1."""
    off = np.abs(np.linalg.norm(xyzw, axis=1) - 1.0)
    detail = f'{name}, off by up to {np.max(off, initial=0):.3g}'
    return _where(Kind.NOT_A_ROTATION, np.greater(off, QUATERNION_TOLERANCE), detail)


def _where(kind: Kind, mask: ArrayLike, detail: str = '') -> list[Finding]:
    places = np.flatnonzero(mask)
    return [Finding(kind, len(places), int(places[0]), detail)] if len(places) else []
