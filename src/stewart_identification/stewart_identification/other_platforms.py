# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which of the described platforms a recording can be of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from stewart_description import platform_names
from stewart_kinematics.errors import StewartError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array

SLACK = 0.02
"""Of the range of a stroke, by which a leg may be outside its limits."""
MOST = 0.99
"""Share of the samples that lie inside the limits of the right platform."""


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
