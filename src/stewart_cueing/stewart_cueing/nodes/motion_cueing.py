# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Let a person on the platform feel what a vehicle does."""

from __future__ import annotations

from typing import Any

import numpy as np
from rclpy.lifecycle import LifecycleState
from sensor_msgs.msg import Imu
from stewart_cueing.errors import VehicleInputError
from stewart_cueing.nodes.following_node import FollowingNode, Phase
from stewart_cueing.nodes.parameters import MotionCueingParameters
from stewart_cueing.vehicle.datagrams import DatagramSocket
from stewart_cueing.vehicle.inputs import doubt, DOUBTED, require_of_a_vehicle
from stewart_cueing.vehicle.live import LiveRide
from stewart_cueing.vehicle.ride import settings_for
from stewart_cueing.vehicle.washout import GRAVITY, LEVEL, WashoutSettings
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.motion import Array
from stewart_node_support.diagnostics import Level, Report
from stewart_node_support.errors import MessageError
from stewart_node_support.hot_messages import inertial_reader
from stewart_node_support.lifecycle import transition
from stewart_node_support.qos import FOREIGN_QOS
from stewart_node_support.stamps import NANOSECONDS

MEMORY = 100
"""Samples over which the mean specific force is learnt that tells wrong units and axes [-]."""

PAUSE = 2.0
"""After a longer silence another vehicle may be heard: its mean is learnt anew [s]."""

OFTEN = 0.1
"""A larger part of the last samples turns fast where rates are in deg/s [-]."""


class MotionCueing(FollowingNode):
    """Turn ``vehicle/motion`` into setpoints within every limit; see docs/motion_cueing.md.

    A sample counts from when it comes, whatever its stamp says. When samples stay away, the input
    goes to rest and the washout brings the platform back to the neutral pose, where it waits.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('motion_cueing', 'cueing', MotionCueingParameters, **kwargs)
        self._taken = self._refused = 0
        self._why, self._newest, self._mean, self._fast = '', LEVEL, GRAVITY, 0.0
        self._came = 0
        self._socket: DatagramSocket | None = None
        self._settings = WashoutSettings()
        self._reader = inertial_reader()
        self.create_subscription(Imu, 'vehicle/motion', self._on_motion, FOREIGN_QOS, raw=True)
        self.diagnostics.add('vehicle', self._report_vehicle)

    def prepare(self, guard: MotionGuard) -> None:
        """Read the settings, and listen to a flight simulator, if one is asked for.

        Raises:
            ConfigurationError: If the settings cannot be used.
            VehicleInputError: If the port cannot be had, or time is simulated.
        """
        self._close()
        parameters = self.parameters
        self._settings = settings_for(guard.platform.name, parameters.gain, parameters.washout)
        form, host, port = parameters.input, parameters.host, parameters.port
        if form == 'topic':
            return
        if self.get_clock().ros_time_is_active:
            raise VehicleInputError(f'input: {form} follows real time, and time is simulated')
        try:
            self._socket = DatagramSocket(form, port, host)
        except OSError as error:
            raise VehicleInputError(f'UDP port {port} of {host}: {error}') from error
        version = self._socket.version and f'; its version is {self._socket.version}'
        told = f'{form} is heard on UDP port {self._socket.port} of {host}'
        self.get_logger().info(told + version)

    @property
    def port(self) -> int:
        """UDP port on which a flight simulator is heard; 0: none."""
        return 0 if self._socket is None else self._socket.port

    def before_sample(self, now: int) -> None:
        """Take what has come and go on."""
        self._poll()
        super().before_sample(now)

    @transition
    def on_cleanup(self, state: LifecycleState) -> None:
        """Give the port back."""
        self._close()
        super().on_cleanup(state)

    def destroy_node(self) -> None:
        """Give the port back."""
        self._close()
        super().destroy_node()

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    def _poll(self) -> None:
        if self._socket is None:
            return
        sample = self._socket.mean()
        if sample is not None:
            self._take(sample, self._socket.came_ns)

    def make_follower(self, guard: MotionGuard) -> LiveRide:
        """Return the method with the settings of the platform.

        Raises:
            VehicleInputError: If what is heard is no specific force of a vehicle.
        """
        asked, complaint = self.parameters, doubt(self._mean)
        if complaint and not self._was_away(self.get_clock().now().nanoseconds):
            raise VehicleInputError(complaint)
        return LiveRide(guard, self._settings, 1.0 / asked.rate, asked.input_silence, asked.method)

    def _on_motion(self, data: bytes) -> None:
        if self._socket is not None:
            return
        try:
            sample = self._reader.read(data).values
            require_of_a_vehicle(sample)
            self._take(sample, self.get_clock().now().nanoseconds)
        except (VehicleInputError, MessageError) as error:
            self._refused, self._why = self._refused + 1, str(error)

    def _take(self, sample: Array, came: int) -> None:
        """Take a sample that came at an instant [ns]."""
        if self.phase is Phase.FOLLOW:
            assert self.playback is not None
            self.follower.input.put(sample, self.playback.elapsed(came))
        if self._was_away(came):
            self._mean, self._fast = GRAVITY, 0.0
        self._came = came
        self._taken += 1
        self._newest = sample
        self._mean += (float(sample[2]) - self._mean) / MEMORY
        self._fast += (float(np.abs(sample[3:]).max() > DOUBTED) - self._fast) / MEMORY

    def _was_away(self, now: int) -> bool:
        """Tell whether no sample came of late before an instant [ns]."""
        return now - self._came > PAUSE * NANOSECONDS

    def _report_vehicle(self) -> Report:
        self._poll()
        refused, why, version = self._refused, self._why, ''
        if self._socket is not None:
            refused, why = self._socket.refused, self._socket.refusal
            version = self._socket.version
        values = {'taken': self._taken, 'refused': refused, 'last refusal': why}
        if version:
            values['version'] = version
        values['newest [m/s², rad/s]'] = ' '.join(f'{value:.3g}' for value in self._newest)
        if self._socket is not None and self._socket.paused:
            text = 'the simulator repeats one sample, so it is paused: the input is rest'
            return Report(Level.WARN, text, values)
        if self._socket is not None and self._socket.other:
            return Report(Level.WARN, self._socket.other, values)
        heard = not self._was_away(self.get_clock().now().nanoseconds)
        if heard and (complaint := doubt(self._mean)):
            return Report(Level.WARN, complaint, values)
        if heard and self._fast > OFTEN:
            fast = f'{100.0 * self._fast:.0f} % of the last samples turn faster than {DOUBTED:g}'
            return Report(Level.WARN, f'{fast} rad/s: are the rates in deg/s?', values)
        if self.phase is Phase.FOLLOW and self.follower.input.silent():
            last = f' ({why})' if why else ''
            text = f'no motion of a vehicle is heard{last}: the input is rest'
            return Report(Level.WARN, text, values)
        if self._socket is not None and self._socket.doubt:
            return Report(Level.WARN, self._socket.doubt, values)
        return Report(Level.OK, f'{self._taken} samples', values)
