# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether recorded poses and strokes belong to a platform: legs as long as its poses ask for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.inverse import leg_positions

CLOSE = 0.005
"""Recorded strokes and those of the poses differ by less, if the platform is the right one [m]."""
SAMPLES = 200


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
        geometry: Of the platform that is asked about.
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
