# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a recording can be of the platform that it is said to be of."""

from __future__ import annotations

from stewart_identification.errors import UnusableRecording
from stewart_identification.recording.checks import Remark
from stewart_identification.recording.recordings import Recording
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.solvers.recognition import (
    disagreeing,
    LEAST,
    outside_limits,
    stroke_difference,
)


def check_platform(recording: Recording, platform: Platform) -> list[Remark]:
    """Check that a recording can be of a platform; return what makes that doubtful.

    Raises:
        UnusableRecording: If its poses and strokes are not this platform's, or most strokes lie
            outside its limits.
    """
    series, poses = recording.actuators, recording.poses
    if poses is not None:

        def difference(geometry: Geometry) -> float:
            return stroke_difference(
                geometry,
                *(poses.stamp_ns, poses.position, poses.quaternion_xyzw),
                *(series.stamp_ns, series.position),
            )

        if text := disagreeing(difference, platform.geometry, platform.name):
            raise UnusableRecording(
                f'{recording.path} is of another platform than {platform.name}: {text}'
            )
    outside = outside_limits(series.position, platform)
    if outside is None:
        return []
    if outside.share < LEAST:
        raise UnusableRecording(f'{recording.path}: {series.topic}: {outside.text}')
    count = round((1.0 - outside.share) * len(series))
    return [Remark(series.topic, float('nan'), count, outside.text)]
