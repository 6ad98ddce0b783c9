# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the inertial sensor on the platform feels, at the instants at which it measures."""

from __future__ import annotations

import numpy as np
from stewart_dynamics.moving_base import absolute
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.spatial import compose_quaternions, matrix_from_quaternion
from stewart_simulation.rig.mechanics import Mechanics
from stewart_simulation.rigid_drives import RigidDrives
from stewart_simulation.serial_imu.inertial import felt, FIELD, InertialState
from stewart_simulation.serial_imu.inertial_kernels import mean_motion

LONGEST_INTERVAL = 0.1
"""After a longer pause the sensor was off, and begins with the instant [s]."""


class InertialFeed:
    """The plant's motion as a sensor feels it; a motion for ``PluggedSensor``.

    Such a sensor does not take instants but filters: what it sends is the mean since the sample
    before, so it is half an interval old. Instants would show the steps of the drives' commands,
    folded down to any frequency; where both come 200 times a second, down to none: a platform that
    is pushed on by every command would seem to turn some percent slower or faster than it does.

    Args:
        mechanics: The plant; its ``sensor`` is who asks.
        gravity (3,): In base axes [m/s²].
    """

    def __init__(self, mechanics: Mechanics[RigidDrives], mounting: Pose, gravity: Array) -> None:
        self._mechanics, self._mounting, self._gravity = mechanics, mounting, gravity
        self._time, self._state = -np.inf, np.zeros(13)

    def __call__(self, _: float) -> InertialState:
        """Bring the plant to the sensor's instant and return what was felt until there."""
        mechanics = self._mechanics
        assert mechanics.sensor is not None
        time = mechanics.sensor.next_cycle
        mechanics.go(time)
        before, interval = self._state, time - self._time
        self._time, self._state = time, mechanics.drives.state.copy()
        if not 0.0 < interval < LONGEST_INTERVAL:
            return self._felt(time, self._state, mechanics.drives.acceleration())
        middle, accelerations = np.empty(13), np.empty(6)
        mean_motion(before, self._state, interval, middle, accelerations)
        return self._felt(time - 0.5 * interval, middle, accelerations)

    def _felt(self, time: float, state: Array, accelerations: Array) -> InertialState:
        """Return what is felt with a motion on the base at an instant [s]."""
        mechanics = self._mechanics
        if mechanics.drives.ship is None:
            return felt(state, accelerations, self._mounting, self._gravity)
        base = mechanics.drives.ship.at(mechanics.drives.time - (mechanics.time - time))
        field, seen, change = base.field(self._gravity), np.empty(13), np.empty(6)
        absolute(field, state, accelerations, seen, change)
        sensed = felt(seen, change, self._mounting, field[:3].copy())
        world = compose_quaternions(base.quaternion_xyzw, np.array(sensed.quaternion_xyzw))
        to_sensor = matrix_from_quaternion(world).T
        x, y, z, w = world.tolist()
        fx, fy, fz = (to_sensor @ FIELD).tolist()
        return sensed._replace(quaternion_xyzw=(x, y, z, w), magnetic_field=(fx, fy, fz))
