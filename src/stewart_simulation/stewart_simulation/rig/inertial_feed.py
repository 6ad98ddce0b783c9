# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the inertial sensor on the platform feels, at the instants at which it measures."""

from __future__ import annotations

import numpy as np
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.spatial import compose_quaternions, invert_quaternion, log_quaternion
from stewart_simulation.rig.mechanics import Mechanics
from stewart_simulation.rigid_drives import RigidDrives
from stewart_simulation.serial_imu.inertial import felt, InertialState

LONGEST_INTERVAL = 0.1
"""After a longer pause the sensor was off, and begins with the instant [s]."""


class InertialFeed:
    """
    The plant's motion as a sensor feels it; a motion for ``PluggedSensor``.

    Such a sensor does not take instants but filters: what it sends is the mean since the sample
    before, so it is half an interval old. Instants would show the steps of the drives' commands,
    folded down to any frequency; where both come 200 times a second, down to none: a platform that
    is pushed on by every command would seem to turn some percent slower or faster than it does.

    Parameters
    ----------
    mechanics : Mechanics
        The plant; its ``sensor`` is who asks.
    mounting : Pose
        Pose of the sensor in platform_link.
    gravity : ndarray, shape (3,)
        In base axes [m/s²].

    """

    def __init__(self, mechanics: Mechanics[RigidDrives], mounting: Pose, gravity: Array) -> None:
        """Take the plant."""
        self._mechanics, self._mounting, self._gravity = mechanics, mounting, gravity
        self._time, self._state = -np.inf, np.zeros(13)

    def __call__(self, _: float) -> InertialState:
        """Bring the plant to the sensor's instant and return what was felt until there."""
        mechanics = self._mechanics
        assert mechanics.sensor is not None
        time = mechanics.sensor.next_cycle
        mechanics.go(time)
        before, interval = self._state, time - self._time
        self._time, self._state = time, np.array(mechanics.drives.state)
        if not 0.0 < interval < LONGEST_INTERVAL:
            acceleration = mechanics.drives.acceleration()
            middle = self._state
        else:
            acceleration = (self._state[7:] - before[7:]) / interval
            # The two attitudes are so near that their mean is the one in the middle.
            middle = 0.5 * (self._state + before)
            turn = compose_quaternions(self._state[3:7], invert_quaternion(before[3:7]))
            middle[10:] = log_quaternion(turn) / interval
        motion = Motion(
            middle[0:3],
            middle[3:7] / np.linalg.norm(middle[3:7]),
            middle[7:10],
            middle[10:13],
            acceleration[:3],
            acceleration[3:],
        )
        return felt(motion, self._mounting, self._gravity)
