# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Which platform a recording is of: the one whose legs are as long as its poses ask for."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import partial

import numpy as np
from stewart_kinematics.errors import StewartError
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.solvers.inverse import leg_positions
from stewart_kinematics.solvers.recognition import (
    apart,
    CLOSE,
    disagreeing,
    stroke_difference,
    ways,
)
from stewart_viewer.recording import Recording

COMPARED = 20
"""Messages of a running rig that are compared."""


class WrongPlatform(StewartError, ValueError):
    """Poses and strokes of a recording do not belong to the platform."""


def mismatch(recording: Recording, geometry: Geometry) -> float:
    """Compare recorded strokes with those that the recorded poses need.

    Returns:
        Median over the recording of the worst leg's difference [m]; NaN without strokes.
    """
    poses, legs = recording.poses, recording.legs
    if legs is None:
        return float('nan')
    position, quaternion = poses.values
    return stroke_difference(
        geometry, poses.times, position, quaternion, legs.times, legs.values[0]
    )


def recognise(recording: Recording, geometries: Mapping[str, Geometry]) -> str:
    """Return the name of the platform, of those given, that fits a recording best.

    Raises:
        WrongPlatform: If none fits, or the recording has not what it takes to tell.
    """
    found = {name: mismatch(recording, geometry) for name, geometry in geometries.items()}
    fitting = {name: error for name, error in found.items() if error < CLOSE}
    if not fitting:
        raise WrongPlatform(
            f'the recording fits none of the platforms {", ".join(found)}: '
            'say with --platform which it is of'
        )
    return min(fitting, key=lambda name: fitting[name])


def check(recording: Recording, geometry: Geometry, name: str) -> None:
    """Raise `WrongPlatform` if the strokes of a recording are those of another platform."""
    if text := disagreeing(partial(mismatch, recording), geometry, name):
        raise WrongPlatform(f'the recording is not of {name}: {text}')


class LiveComparison:
    """Compare poses and strokes of a running rig with the platform that is shown."""

    def __init__(self, geometry: Geometry, name: str) -> None:
        self._geometry, self._name = geometry, name
        self._differences: deque[float] = deque(maxlen=COMPARED)
        self._strokes: Array | None = None

    def take_strokes(self, strokes: Array) -> None:
        """Note the measured strokes, shape (6,) [m], [rad]."""
        self._strokes = strokes

    def take_pose(self, pose: Pose) -> None:
        """Compare the measured pose with the strokes noted last."""
        if self._strokes is None:
            return
        strokes = leg_positions(self._geometry, pose.position, pose.quaternion_xyzw)
        self._differences.append(float(ways(self._geometry, strokes - self._strokes).max()))

    @property
    def verdict(self) -> str:
        """What is wrong, one sentence; empty while nothing is known to be."""
        if len(self._differences) < COMPARED:
            return ''
        error = float(np.median(self._differences))
        if not error >= CLOSE:
            return ''
        return (
            f'this rig is no {self._name}: {apart(error, self._name)}; '
            'start the viewer again without --platform'
        )
