# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics and the plant's own truth in simulated time."""

from __future__ import annotations

import math

import numpy as np
from stewart_bringup.simulation.schedule import NANOSECONDS
from stewart_bringup.simulation.series import Rows
from stewart_driver.control.cycle_link import Sample
from stewart_driver.legs import Array
from stewart_kinematics.control.tracking import PoseTracking
from stewart_kinematics.errors import StewartError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.solvers.inverse import leg_positions
from stewart_kinematics.solvers.joint_states import joint_positions
from stewart_kinematics.spatial.rotations import matrix_from_quaternion

NO_COVARIANCE = np.zeros((1, 36))


class PoseStream:
    """What is measured of the legs, and what forward kinematics makes of it.

    Attributes:
        tracking: Forward kinematics and what was commanded.
        found: How many poses were found.
        worst (2,): Largest tracking error [m], [rad]; NaN if there was none.
        refusal: Why the last strokes without a pose have none; empty if all had one.
    """

    def __init__(
        self, platform: Platform, joint_states_rate: float, rows: dict[str, Rows]
    ) -> None:
        self._platform, self._rows = platform, rows
        # Tolerate 10 % of stamp jitter.
        self._joints_period = round(0.9 * NANOSECONDS / joint_states_rate)
        self._joints_stamp = 0
        self.tracking = PoseTracking(platform.geometry)
        self._at: Array | None = None
        self.found = 0
        self.worst, self.refusal = np.full(2, np.nan), ''
        self._samples: list[tuple[int, int, Sample]] = []
        self._poses: list[tuple[int, int, Array]] = []
        # Times, the commanded pose with the deviation from it, and measured strokes.
        self._errors: list[tuple[int, int, Array, Array]] = []

    @property
    def pose(self) -> Pose:
        """The pose found last; the neutral one before the first."""
        at = self._at
        return self._platform.geometry.neutral_pose if at is None else Pose(at[:3], at[3:])

    def measure(self, now: int, stamp: int, sample: Sample) -> tuple[float, float] | None:
        """Take measured legs, at present time and with their stamp [ns].

        Returns:
            Distance [m] and angle [rad] from what was commanded; None where nothing is, or where
            there is no pose.
        """
        self._samples.append((now, stamp, sample))
        try:
            pose = self.tracking.solve(sample.strokes)
        except StewartError as error:
            self.refusal = str(error)
            return None
        self._at = pose
        self.found += 1
        self._poses.append((now, stamp, pose))
        found = self.tracking.compare(sample.stamp, pose)
        if found is None:
            return None
        self._errors.append((now, stamp, found, sample.strokes))
        off = found.tolist()
        return math.hypot(*off[7:10]), math.hypot(*off[10:])

    def publish(self) -> None:
        """Publish what was measured since the last call."""
        if self._samples:
            times, stamps, samples = zip(*self._samples, strict=True)
            parts = [[sample.strokes for sample in samples], [sample.rates for sample in samples]]
            if samples[0].forces is not None:
                parts.append([sample.forces for sample in samples])
            self._rows['actuator_states'].add(times, stamps, *parts)
        if self._poses:
            times, stamps, poses = zip(*self._poses, strict=True)
            self._rows['platform/pose'].add(times, stamps, poses)
            self._publish_joints(np.array(times), np.array(stamps), np.array(poses))
        if self._errors:
            times, stamps, *errors = zip(*self._errors, strict=True)
            found, strokes = map(np.array, errors)
            off, geometry = found[:, 7:], self._platform.geometry
            away = leg_positions(geometry, found[:, 0:3], found[:, 3:7]) - strokes
            self._rows['platform/tracking_error'].add(times, stamps, off, away)
            worst = [np.linalg.norm(part, axis=1).max() for part in (off[:, :3], off[:, 3:])]
            self.worst = np.fmax(self.worst, worst)
        for kept in (self._samples, self._poses, self._errors):
            kept.clear()

    def _publish_joints(self, times: Array, stamps: Array, poses: Array) -> None:
        chosen = []
        for k, stamp in enumerate(stamps.tolist()):
            if stamp - self._joints_stamp >= self._joints_period:
                self._joints_stamp = stamp
                chosen.append(k)
        if chosen:
            seen = poses[chosen]
            joints = joint_positions(self._platform, seen[:, :3], seen[:, 3:])
            self._rows['joint_states'].add(times[chosen], stamps[chosen], joints)


class Truth:
    """Where the platform really is."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._seen: list[tuple[int, int, Array]] = []

    def look(self, now: int, stamp: int, state: Array) -> None:
        """Take note at present time [ns] of pose and twist of the platform (13,) at a stamp."""
        self._seen.append((now, stamp, state.copy()))

    def publish(self) -> None:
        """Publish what was seen since the last call."""
        if not self._seen:
            return
        times, stamps, seen = zip(*self._seen, strict=True)
        states = np.array(seen)
        back = matrix_from_quaternion(states[:, 3:7]).swapaxes(1, 2)
        twist = [(back @ states[:, part, None])[..., 0] for part in (slice(7, 10), slice(10, 13))]
        none = np.broadcast_to(NO_COVARIANCE, (len(states), 36))
        self._rows.add(times, stamps, states[:, :7], none, *twist, none)
        self._seen.clear()
