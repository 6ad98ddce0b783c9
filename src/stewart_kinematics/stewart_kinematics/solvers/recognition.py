# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which of the described platforms a recording can be of, by its poses and by its strokes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from stewart_description import platform_names
from stewart_kinematics.errors import StewartError
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.inverse import leg_positions

CLOSE = 0.005
"""Recorded strokes and those of the poses differ by less, if the platform is the right one [m]."""
SAMPLES = 200
SLACK = 0.02
"""Of the range of a stroke, by which a leg may be outside its limits."""
MOST, LEAST = 0.99, 0.5
"""Share of the samples inside the limits of the right platform, and of one that it may be."""

Difference = Callable[[Geometry], float]
"""By how much recorded strokes differ from those that recorded poses need [m]; NaN: unknown."""


@dataclass(frozen=True)
class Outside:
    """Legs are outside the limits of a platform.

    Attributes:
        share: Of the samples that are inside all the same.
        text: What that says, as a clause.
    """

    share: float
    text: str


def described_platforms() -> Iterator[Platform]:
    """Give the described platforms."""
    for name in platform_names():
        try:
            yield Platform.from_yaml(name)
        except StewartError:
            continue  # One that somebody put beside ours.


def linear_platforms() -> Iterator[Platform]:
    """Give the described platforms whose legs are strokes."""
    return (item for item in described_platforms() if item.geometry.rods is None)


def share_inside(strokes: Array, platform: Platform) -> float:
    """Return the share of samples, shape (n, 6) [m], inside the limits; 0 if none is finite."""
    limits = platform.limits.stroke
    slack = SLACK * np.ptp(limits, axis=1)
    inside = (strokes >= limits[:, 0] - slack) & (strokes <= limits[:, 1] + slack)
    known = np.isfinite(strokes).all(axis=1)
    return float(inside[known].all(axis=1).mean()) if known.any() else 0.0


def fitting(values: Array, *, lengths: bool) -> list[str]:
    """Return the names of the platforms that strokes or lengths, shape (n, 6) [m], can be of."""
    return [
        platform.name
        for platform in linear_platforms()
        if share_inside(values - lengths * platform.geometry.retracted_length, platform) >= MOST
    ]


def outside_limits(values: Array, platform: Platform, *, lengths: bool = False) -> Outside | None:
    """Say that strokes or lengths, shape (n, 6) [m], are not a platform's, and which they fit.

    Returns:
        None where `MOST` of the samples are inside the limits, or nothing is known.
    """
    known = np.isfinite(values).all(axis=1)
    if platform.geometry.rods is not None or not known.any():
        return None
    retracted = lengths * platform.geometry.retracted_length
    share = share_inside(values - retracted, platform)
    if share >= MOST:
        return None
    low, high = np.nanmin(values), np.nanmax(values)
    limits = platform.limits.stroke + np.reshape(retracted, (-1, 1))
    return Outside(
        share,
        f'{"lengths" if lengths else "strokes"} from {low:.4g} to {high:.4g} m, outside '
        f'[{limits[:, 0].min():.4g}, {limits[:, 1].max():.4g}] m of {platform.name}: is this '
        f'recording of another platform, or not in m{_better(fitting(values, lengths=lengths))}?',
    )


def apart(difference: float, name: str) -> str:
    """Say by how much [m] strokes and poses differ that are not those of a platform."""
    return (
        f'its strokes and its poses differ by {1e3 * difference:.0f} mm, for {name} less than '
        f'{1e3 * CLOSE:g} mm'
    )


def disagreeing(difference: Difference, geometry: Geometry, name: str) -> str:
    """Say that poses and strokes of a recording are not a platform's, and which they fit.

    The clause is empty where they can be.
    """
    if not (found := difference(geometry)) >= CLOSE:
        return ''
    fits = [item.name for item in described_platforms() if difference(item.geometry) < CLOSE]
    return f'{apart(found, name)}{_better(fits)}'


def _better(names: list[str]) -> str:
    return f'; they fit {", ".join(names)}' if names else ''


def ways(geometry: Geometry, differences: Array) -> Array:
    """Return how far apart (..., 6) positions of the joints are that differ by so much [m], [rad].

    The way of a crank is along its arc [m].
    """
    radii = 1.0 if geometry.rods is None else geometry.rods.radii
    return np.abs(differences) * radii


def stroke_difference(
    geometry: Geometry,
    pose_times: ArrayLike,
    position: Array,
    quaternion_xyzw: Array,
    stroke_times: ArrayLike,
    strokes: Array,
) -> float:
    """Compare recorded strokes with those that the recorded poses need, at up to `SAMPLES` poses.

    Args:
        pose_times (n,): Ascending, in any unit.
        position, quaternion_xyzw (n, 3), (n, 4): Poses.
        stroke_times (m,): Ascending, in the same unit.
        strokes (m, 6): Positions of the legs' joints [m], [rad].

    Returns:
        Median over the poses of the worst leg's difference, of a crank along its arc [m]; NaN
        where nothing is known.
    """
    pose_times, stroke_times = np.asarray(pose_times), np.asarray(stroke_times)
    if not (pose_times.size and stroke_times.size):
        return float('nan')
    rows = np.unique(np.linspace(0, len(pose_times) - 1, SAMPLES).astype(int))
    following = np.searchsorted(stroke_times, pose_times[rows]).clip(max=len(stroke_times) - 1)
    needed = leg_positions(geometry, position[rows], quaternion_xyzw[rows])
    worst = ways(geometry, needed - strokes[following]).max(axis=1)
    return float(np.nanmedian(worst)) if np.isfinite(worst).any() else float('nan')
