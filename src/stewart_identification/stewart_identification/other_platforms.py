# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which of the described platforms a recording can be of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from stewart_description import platform_names
from stewart_identification.errors import UnusableRecording
from stewart_identification.recording.checks import Remark
from stewart_identification.recording.recordings import Recording
from stewart_kinematics.errors import StewartError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.recognition import CLOSE, stroke_difference

SLACK = 0.02
"""Of the range of a stroke, by which a leg may be outside its limits."""
MOST, LEAST = 0.99, 0.5
"""Share of the samples inside the limits of the right platform, and of one that it may be."""


def linear_platforms() -> Iterator[Platform]:
    """Give the described platforms whose legs are strokes."""
    for name in platform_names():
        try:
            platform = Platform.from_yaml(name)
        except StewartError:
            continue  # One that somebody put beside ours.
        if platform.geometry.rods is None:
            yield platform


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


def check_platform(recording: Recording, platform: Platform) -> list[Remark]:
    """Check that a recording can be of a platform; return what makes that doubtful.

    Raises:
        UnusableRecording: If its poses and strokes are not this platform's, or most strokes lie
            outside its limits.
    """
    series, poses = recording.actuators, recording.poses
    if poses is not None:

        def off(other: Platform) -> float:
            return stroke_difference(
                other.geometry,
                *(poses.stamp_ns, poses.position, poses.quaternion_xyzw),
                *(series.stamp_ns, series.position),
            )

        if (difference := off(platform)) >= CLOSE:
            fits = [other.name for other in linear_platforms() if off(other) < CLOSE]
            raise UnusableRecording(
                f'{recording.path} is of another platform than {platform.name}: its strokes and '
                f'its poses differ by {1e3 * difference:.0f} mm, for {platform.name} less than '
                f'{1e3 * CLOSE:g} mm{_better(fits)}'
            )
    if platform.geometry.rods is not None or not np.isfinite(series.position).all(axis=1).any():
        return []
    share, limits = share_inside(series.position, platform), platform.limits.stroke
    if share >= MOST:
        return []
    low, high = np.nanmin(series.position), np.nanmax(series.position)
    text = (
        f'strokes from {low:.4g} to {high:.4g} m, outside [{limits[:, 0].min():.4g}, '
        f'{limits[:, 1].max():.4g}] m of {platform.name}: is this recording of another platform, '
        f'or not in m{_better(fitting(series.position, lengths=False))}?'
    )
    if share < LEAST:
        raise UnusableRecording(f'{recording.path}: {series.topic}: {text}')
    count = round((1.0 - share) * len(series))
    return [Remark(series.topic, float('nan'), count, text)]


def _better(names: list[str]) -> str:
    return f'; they fit {", ".join(names)}' if names else ''
