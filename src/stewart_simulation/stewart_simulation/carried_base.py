# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A base on the platform of another rig, whose motion is told sample by sample."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from typing import NamedTuple

import numpy as np
from stewart_driver.legs import Array
from stewart_kinematics.spatial.rotations import (
    compose_quaternions,
    exp_quaternion,
    invert_quaternion,
    log_quaternion,
    matrix_from_quaternion,
)
from stewart_simulation.ship import BaseMotion

LAG = 0.01
"""The base is where the platform was this long ago, so that it lies between two samples [s]."""
KEPT = 0.2
"""How far back samples are kept: an IMU asks for the middle of its last interval [s]."""

STILL = np.zeros(3)


class Sample(NamedTuple):
    """The platform at an instant [s]: pose in the world, velocity in world, turn in its axes."""

    time: float
    position: Array
    quaternion_xyzw: Array
    velocity: Array
    turn: Array

    @classmethod
    def told(
        cls, time: float, position: Array, quaternion_xyzw: Array, velocity: Array, turn: Array
    ) -> Sample:
        """Return the sample of a twist that is in the platform's axes altogether."""
        turned = matrix_from_quaternion(quaternion_xyzw) @ velocity
        return cls(time, position, quaternion_xyzw, turned, turn)


class CarriedBase:
    """A base that does `LAG` later what a platform does: cubic in time between its samples.

    Before the first sample and after the last it stands still. The platform does not feel it.
    """

    def __init__(self) -> None:
        at_rest = Sample(-np.inf, STILL, np.array([0.0, 0.0, 0.0, 1.0]), STILL, STILL)
        self._samples = deque([at_rest])

    def put(self, sample: Sample) -> None:
        """Take a sample that is later than the one before."""
        self._samples.append(sample)
        while self._samples[1].time < sample.time - KEPT:
            self._samples.popleft()

    def at(self, time: float) -> BaseMotion:
        """Return the motion at a time [s]."""
        instant = time - LAG
        after = bisect_right(self._samples, instant, key=lambda sample: sample.time)
        known = 0 < after < len(self._samples) and np.isfinite(self._samples[after - 1].time)
        if not known:
            resting = self._samples[min(after, len(self._samples) - 1)]
            return BaseMotion(resting.position, resting.quaternion_xyzw, *[STILL] * 4)
        begin, end = self._samples[after - 1], self._samples[after]
        span = end.time - begin.time
        part = (instant - begin.time) / span
        way = end.position - begin.position
        turned = log_quaternion(
            compose_quaternions(invert_quaternion(begin.quaternion_xyzw), end.quaternion_xyzw)
        )
        place, velocity, acceleration = _cubic(part, span, way, begin.velocity, end.velocity)
        angle, turn, turn_change = _cubic(part, span, turned, begin.turn, end.turn)
        attitude = compose_quaternions(begin.quaternion_xyzw, exp_quaternion(angle))
        position = begin.position + place
        return BaseMotion(position, attitude, velocity, acceleration, turn, turn_change)


def _cubic(
    part: float, span: float, way: Array, first: Array, last: Array
) -> tuple[Array, Array, Array]:
    """Return value, rate and its change on the way from 0 to `way` with given rates at the ends.

    Over a few milliseconds a rotation vector's rate is the angular velocity.
    """
    bend = span * (first + last) - 2.0 * way
    slope = 3.0 * way - span * (2.0 * first + last)
    value = part * (span * first + part * (slope + part * bend))
    rate = first + part * (2.0 * slope + 3.0 * part * bend) / span
    return value, rate, (2.0 * slope + 6.0 * part * bend) / span**2
