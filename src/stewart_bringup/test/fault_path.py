# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The way that the legs of a rig are sent, and what the platform makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import make_interp_spline
from stewart_kinematics.model.geometry import Geometry
from stewart_kinematics.solvers.inverse import leg_lengths
from stewart_kinematics.spatial.rotations import matrix_from_quaternion
from stewart_node_support.stamps import to_seconds

# All legs up and down by so much in two seconds: 63 mm/s at most.
HEIGHT, OMEGA = 0.04, np.pi
FASTEST = 0.5 * np.pi / OMEGA
STILL, STILL_FOR = 5e-4, 0.3
# A period of the swing, finer than a leg moves 0.1 mm in [s].
PASTS = 0.0, 2.0 * np.pi / OMEGA, 1e-3
Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class Swing:
    """A raised cosine of all legs from where they stand, there and back, or just there."""

    begin: float
    duration: float
    start: Array
    travel: Array
    omega: float

    def at(self, time: float) -> tuple[Array, Array]:
        """Return strokes and rates at an instant."""
        phase = self.omega * min(max(time - self.begin, 0.0), self.duration)
        strokes = self.start + 0.5 * self.travel * (1.0 - np.cos(phase))
        return strokes, 0.5 * self.travel * self.omega * np.sin(phase)

    @property
    def end(self) -> float:
        """When the legs are at rest again."""
        return self.begin + self.duration


class Witness:
    """Whoever sees the platform itself.

    Args:
        geometry: Of the platform.
        truths: What ``simulation/truth`` has said; it grows.
    """

    def __init__(self, geometry: Geometry, truths: list[Any]) -> None:
        """Look."""
        self._geometry, self._truths = geometry, truths

    def strokes(self) -> Array:
        """Return the strokes of the last message [m]."""
        return self._strokes(self._truths[-1])

    def still(self, now: float) -> bool:
        """Tell whether the platform has been at rest for a while."""
        recent = [item for item in self._truths if stamp_of(item) > now - STILL_FOR]
        speeds = [
            getattr(part, axis)
            for item in recent
            for part in (item.twist.twist.linear, item.twist.twist.angular)
            for axis in 'xyz'
        ]
        return len(recent) > 3 and max(map(abs, speeds)) < STILL

    def lowest(self) -> float:
        """Return the least stroke of the last message [m]."""
        return float(self.strokes().min())

    def way(self, begin: float, end: float = np.inf) -> float:
        """Return how far the joint that moved furthest got from where it was at `begin` [m]."""
        stamps = np.array([stamp_of(item) for item in self._truths])
        joints = np.array(
            [
                position + self._geometry.platform_joints @ matrix_from_quaternion(attitude).T
                for position, attitude in (_pose(item) for item in self._truths)
            ]
        )
        instants = np.array([begin, *stamps[(begin < stamps) & (stamps < end)], end])
        # In the 10 ms between two messages legs move by 0.6 mm.
        places = make_interp_spline(stamps, joints, k=1)(np.clip(instants, *stamps[[0, -1]]))
        ways = places - places[0]
        return float(np.linalg.norm(ways, axis=2).max())

    def off_path(self, path: Swing | None, begin: float) -> float:
        """Return how far any leg was off its path after `begin` [m].

        Cycles that come late make the path later, for all legs alike: that is not off the path.
        """
        if path is None:
            return self.way(begin)
        wanted = np.array([path.at(path.begin + past)[0] for past in np.arange(*PASTS)])
        strokes = np.array(
            [self._strokes(item) for item in self._truths if stamp_of(item) > begin]
        )
        apart = np.abs(strokes[:, None, :] - wanted).max(axis=2)
        return float(apart.min(axis=1).max())

    def _strokes(self, truth: Any) -> Array:
        lengths = leg_lengths(self._geometry, *_pose(truth))
        return np.asarray(lengths - self._geometry.retracted_length)


def stamp_of(message: Any) -> float:
    """Return the stamp of a message [s]."""
    return to_seconds(message.header.stamp)


def _pose(truth: Any) -> tuple[Array, Array]:
    pose = truth.pose.pose
    return (
        np.array([getattr(pose.position, axis) for axis in 'xyz']),
        np.array([getattr(pose.orientation, axis) for axis in 'xyzw']),
    )
