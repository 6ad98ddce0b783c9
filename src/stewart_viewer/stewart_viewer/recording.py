# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A recorded motion as snapshots at any instant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from stewart_kinematics.errors import StewartError
from stewart_kinematics.motion import Array, Pose
from stewart_viewer.snapshot import DriveReport, Estimate, Snapshot, STALE


@dataclass(frozen=True, eq=False)
class Track:
    """Values with their ascending instants [s]: one item per instant each."""

    times: Array
    values: tuple[Array, ...]

    @cached_property
    def lasts(self) -> float:
        """How long a value counts while no newer one comes [s]."""
        steps = np.diff(self.times)
        return max(STALE, 3.0 * float(np.median(steps))) if steps.size else STALE

    def latest(self, time: float) -> tuple[float, tuple[Array, ...]] | None:
        """Return how old the latest values are at an instant [s], and them; None before any."""
        index = int(np.searchsorted(self.times, time, side='right')) - 1
        if index < 0:
            return None
        return time - float(self.times[index]), tuple(item[index] for item in self.values)

    def at(self, time: float) -> tuple[Array, ...] | None:
        """Return the values that counted at an instant; None before the first, and in gaps."""
        found = self.latest(time)
        return None if found is None or found[0] > self.lasts else found[1]


@dataclass(frozen=True, eq=False)
class Recording:
    """What a bag holds for a viewer.

    Attributes:
        poses, setpoints: Position (n, 3), quaternion (n, 4) as measured and as commanded.
        legs: Strokes (n, 6), forces (n, 6) with NaN where none was measured.
        estimates: Position, quaternion, covariance of the position (n, 3, 3).
        reports: Instant and state of the driver at every change.

    Raises:
        StewartError: If there is not one pose.
    """

    poses: Track
    setpoints: Track | None = None
    legs: Track | None = None
    estimates: Track | None = None
    reports: tuple[tuple[float, DriveReport], ...] = ()

    def __post_init__(self) -> None:
        if not len(self.poses.times):
            raise StewartError('the recording holds no pose of the platform: 0 samples')

    @property
    def start(self) -> float:
        """Instant of the first pose [s]."""
        return float(self.poses.times[0])

    @property
    def duration(self) -> float:
        """From the first pose to the last [s]."""
        return float(self.poses.times[-1]) - self.start

    def at(self, time: float) -> Snapshot:
        """Return what was known at an instant after the first pose [s]."""
        instant = self.start + time
        pose = self.poses.at(instant)
        legs, estimate = _at(self.legs, instant), _at(self.estimates, instant)
        told = [report for since, report in self.reports if since <= instant]
        report = told[-1] if told else None
        # A setpoint counts until the next one, but no drive that is off follows it.
        last = None
        if self.setpoints is not None and (report is None or report.state == 'ENABLED'):
            last = self.setpoints.latest(instant)
        if pose is None and report is not None and (known := self.poses.latest(instant)):
            silence = f'no pose for {known[0]:.0f} s'
            report = replace(report, reason=f'{report.reason}; {silence}')
        forces = None if legs is None or not np.isfinite(legs[1]).all() else legs[1]
        return Snapshot(
            time,
            pose=None if pose is None else Pose(*pose),
            commanded=None if last is None else Pose(*last[1]),
            strokes=None if legs is None else legs[0],
            forces=forces,
            estimate=None if estimate is None else Estimate(Pose(*estimate[:2]), estimate[2]),
            drives=report,
        )


def _at(track: Track | None, instant: float) -> tuple[Array, ...] | None:
    return None if track is None else track.at(instant)
