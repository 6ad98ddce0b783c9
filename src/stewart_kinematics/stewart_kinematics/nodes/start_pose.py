# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where a trajectory may start: what driver, platform and other sources say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from stewart_interfaces.msg import DriverState, PlatformSetpoint
from stewart_kinematics.arbitration import at_rest
from stewart_kinematics.errors import StewartError
from stewart_kinematics.motion import Motion, Pose
from stewart_node_support.conversions import motion_from_msg, pose_from_msg
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.stamps import to_nanoseconds

STATE_NAMES = {
    DriverState.DISABLED: 'DISABLED',
    DriverState.ENABLING: 'ENABLING',
    DriverState.ENABLED: 'ENABLED',
    DriverState.STOPPING: 'STOPPING',
    DriverState.FAULT: 'FAULT',
}


NOT_YET = 'not yet'
"""Begins the message of `NotYet`, so that whoever hears it in an answer can tell."""


class NotReady(StewartError):
    """A trajectory cannot start now."""


class NotYet(NotReady):
    """What a trajectory needs to start has not come in: it may when it is asked for again."""

    def __init__(self, reason: str) -> None:
        """Say what is missing."""
        super().__init__(f'{NOT_YET}: {reason}')


@dataclass(frozen=True, eq=False)
class Commanded:
    """A setpoint: who gave it, the sample, and when it holds [ns]."""

    source: str
    motion: Motion
    stamp: int


class StartPose:
    """
    Listen to driver, platform and inverse kinematics on behalf of a trajectory node.

    After every transition of the driver into ENABLED the start pose is the measured one; later it
    is the last setpoint, whoever gave it, if ``joint_commands`` shows that it was executed.
    Messages that come at the full rate and are needed once a motion are kept as bytes until then.

    Parameters
    ----------
    node : rclpy.node.Node
        Trajectory node.
    on_leave : callable
        Called with the reason when the driver leaves ENABLED.
    silence : float
        How long another source must have been silent [s].
    pose_age : float
        Oldest measured pose that is taken [s].

    """

    def __init__(
        self, node: Any, on_leave: Callable[[str], None], *, silence: float, pose_age: float
    ) -> None:
        """Open the subscriptions."""
        self._node = node
        self._on_leave = on_leave
        self._silence = round(silence * 1e9)
        self._pose_age = round(pose_age * 1e9)
        self._driver: DriverState | None = None
        self._pose: bytes | None = None
        self._setpoint: bytes | None = None
        self._command: bytes | None = None
        self._own: Commanded | None = None
        node.create_subscription(DriverState, 'driver/state', self._on_driver_state, STATE_QOS)
        node.create_subscription(PoseStamped, 'platform/pose', self._on_pose, SENSOR_QOS, raw=True)
        node.create_subscription(
            PlatformSetpoint, 'setpoint', self._on_setpoint, COMMAND_QOS, raw=True
        )
        node.create_subscription(
            JointState, 'joint_commands', self._on_command, COMMAND_QOS, raw=True
        )

    @property
    def enabled(self) -> bool:
        """Whether the driver follows commands."""
        return self._driver is not None and self._driver.state == DriverState.ENABLED

    def gave(self, motion: Motion, stamp: int) -> None:
        """Remember a setpoint that the node itself gave, with its stamp [ns]."""
        self._own = Commanded(self._node.get_name(), motion, stamp)

    def executed(self) -> int:
        """Return the stamp of the last setpoint that became a joint command [ns]; 0: none."""
        if self._command is None:
            return 0
        return to_nanoseconds(deserialize_message(self._command, JointState).header.stamp)

    def require(self) -> Pose:
        """
        Return the pose at which a motion has to start now.

        Returns
        -------
        Pose
            Start pose, at rest.

        Raises
        ------
        NotYet
            If the driver is not ENABLED, or no pose is known.
        NotReady
            If another source has the platform.

        """
        if self._driver is None:
            raise NotYet('no driver/state has been received')
        if not self.enabled:
            name = STATE_NAMES.get(self._driver.state, str(self._driver.state))
            raise NotYet(f'the driver is {name}, not ENABLED: {self._driver.reason}')
        now = self._node.get_clock().now().nanoseconds
        last = self._last_commanded()
        if last is None:
            return self._measured(now)
        if not at_rest(last.motion):
            raise NotReady(f'{last.source} is moving the platform')
        if last.source != self._node.get_name() and now - last.stamp < self._silence:
            raise NotReady(f'{last.source} gave a setpoint {(now - last.stamp) * 1e-9:.3f} s ago')
        return last.motion.pose

    def _last_commanded(self) -> Commanded | None:
        """Return the last setpoint, or None if there is none or it was not executed."""
        last, executed = self._own, self.executed()
        if self._setpoint is not None:
            message = deserialize_message(self._setpoint, PlatformSetpoint)
            stamp = to_nanoseconds(message.header.stamp)
            # The node's own setpoints come back here, but later than `gave` knows of them.
            if stamp <= executed and (last is None or stamp > last.stamp):
                last = Commanded(message.source, Motion(*motion_from_msg(message)), stamp)
        return last if last is not None and last.stamp <= executed else None

    def _measured(self, now: int) -> Pose:
        if self._pose is None:
            raise NotYet('no platform/pose has been received since the driver was enabled')
        message = deserialize_message(self._pose, PoseStamped)
        age = now - to_nanoseconds(message.header.stamp)
        if age > self._pose_age:
            raise NotYet(
                f'the last platform/pose is {age * 1e-9:.3f} s old, '
                f'allowed are {self._pose_age * 1e-9:g} s'
            )
        return Pose(*pose_from_msg(message.pose))

    def _on_driver_state(self, message: DriverState) -> None:
        was_enabled, self._driver = self.enabled, message
        if self.enabled == was_enabled:
            return
        self._pose = self._setpoint = self._command = self._own = None
        if was_enabled:
            name = STATE_NAMES.get(message.state, str(message.state))
            self._on_leave(f'the driver went to {name}: {message.reason}')

    def _on_pose(self, data: bytes) -> None:
        self._pose = data

    def _on_setpoint(self, data: bytes) -> None:
        self._setpoint = data

    def _on_command(self, data: bytes) -> None:
        self._command = data
