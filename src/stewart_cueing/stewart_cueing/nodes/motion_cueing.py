# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Let a person on the platform feel what a vehicle does."""

from __future__ import annotations

from typing import Any

import numpy as np
from sensor_msgs.msg import Imu
from stewart_cueing.errors import VehicleInputError
from stewart_cueing.nodes.following_node import FollowingNode, Phase
from stewart_cueing.nodes.parameters import MotionCueingParameters
from stewart_cueing.vehicle.live import LiveRide
from stewart_cueing.vehicle.ride import settings_for
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Array
from stewart_node_support.conversions import vector_from_msg
from stewart_node_support.diagnostics import Level, Report
from stewart_node_support.errors import MessageError
from stewart_node_support.qos import SENSOR_QOS


class MotionCueing(FollowingNode):
    """Turn ``vehicle/motion`` into setpoints within every limit; see docs/motion_cueing.md.

    A sample counts from when it comes, whatever its stamp says. When samples stay away, the input
    goes to rest and the washout brings the platform back to the neutral pose, where it waits.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('motion_cueing', 'cueing', MotionCueingParameters, **kwargs)
        self._taken = self._refused = 0
        self._why = ''
        self.create_subscription(Imu, 'vehicle/motion', self._on_motion, SENSOR_QOS)
        self.diagnostics.add('vehicle', self._report_vehicle)

    def make_follower(self, guard: MotionGuard) -> LiveRide:
        """Return washout and governor with the preset of the platform."""
        parameters = self.parameters
        settings = settings_for(guard.platform.name, parameters.gain)
        return LiveRide(guard, settings, 1.0 / parameters.rate, parameters.input_silence)

    def _on_motion(self, message: Imu) -> None:
        parts = message.linear_acceleration, message.angular_velocity
        try:
            self._take(np.concatenate([vector_from_msg(part) for part in parts]))
        except (VehicleInputError, MessageError) as error:
            self._refuse(error)

    def _take(self, sample: Array) -> None:
        if self.phase is Phase.FOLLOW:
            self._follower.input.put(sample, self.moment()[1])
        self._taken += 1

    def _refuse(self, error: Exception) -> None:
        self._refused, self._why = self._refused + 1, str(error)

    def _report_vehicle(self) -> Report:
        values = {'taken': self._taken, 'refused': self._refused, 'last refusal': self._why}
        if self.phase is Phase.FOLLOW and self._follower.input.silent():
            return Report(Level.WARN, 'no motion of a vehicle is heard: the input is rest', values)
        return Report(Level.OK, f'{self._taken} samples', values)
