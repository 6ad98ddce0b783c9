# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Where a trajectory may start: what driver, platform and other sources say."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from geometry_msgs.msg import PoseStamped
import numpy as np
from rclpy.callback_groups import ReentrantCallbackGroup
from stewart_interfaces.msg import DriverState, Jog, PlatformSetpoint
from stewart_kinematics.control.admission import at_rest
from stewart_kinematics.errors import StewartError
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.spatial import apart
from stewart_node_support.codec import stamp_of
from stewart_node_support.conversions import PARKING, STATE_NAMES
from stewart_node_support.errors import MessageError
from stewart_node_support.hot_messages import pose_reader, setpoint_reader
from stewart_node_support.inbox import Inbox
from stewart_node_support.qos import (
    COMMAND_QOS,
    COMMANDED_QOS,
    EVERY_STATE_QOS,
    newest,
    SENSOR_QOS,
)
from stewart_node_support.stamps import NANOSECONDS, to_nanoseconds

NOT_YET = 'not yet'
"""Begins the message of `NotYet`, so that whoever hears it in an answer can tell."""
NOTHING_PLAYED = 'nothing is being played'
"""All that a stop is answered with where the last motion, if any, came to its end."""

# This far from where it was sent [m], of a small machine by this part of its legs' way, and this
# long after it should have been there [s], the platform was not brought there: the driver has
# refused the way.
FAR, FAR_SHARE, LONG_AFTER = 0.02, 1.0 / 8.0, 1.0
# As `FAR`, for the attitude [rad].
TURNED = 0.05
# A path that was played slowly is that far behind at most, once it is played at full speed [ns].
LONGEST_WAY = 20_000_000_000
# Of a jog that is stamped later than this from now nothing moves: the driver refuses it [ns].
JOG_AHEAD = 100_000_000
# So long after a jog the platform may still be coming to rest [ns].
JOGGED = 500_000_000


class NotReady(StewartError):
    """A trajectory cannot start now."""


class NotYet(NotReady):
    """What a trajectory needs to start has not come in: it may when it is asked for again."""

    def __init__(self, reason: str) -> None:
        super().__init__(f'{NOT_YET}: {reason}')


class StartPose:
    """Ask driver, platform and inverse kinematics on behalf of a trajectory node.

    After every transition of the driver into ENABLED the start pose is the measured one; later it
    is the last setpoint that was executed, whoever gave it: ``platform/commanded``. Both topics
    come at the full rate and are needed once a motion, so they wait in the middleware until then.

    Args:
        on_leave: Called with the reason when the driver leaves ENABLED.
        silence: How long another source must have been silent [s].
        pose_age: Oldest measured pose that is taken [s].

    Attributes:
        travel: Way of the platform's legs [m]; infinite before the platform is known.
        not_followed: Stamp of the last setpoint of a motion that the platform has not followed,
            however short its way was [ns].
    """

    travel, not_followed = inf, 0

    def __init__(
        self, node: Any, on_leave: Callable[[str], None], *, silence: float, pose_age: float
    ) -> None:
        self._node = node
        self._on_leave = on_leave
        self._silence = round(silence * 1e9)
        self._pose_age = round(pose_age * 1e9)
        self._driver: DriverState | None = None
        # Stamp of the last jog [ns].
        self._jogged = -JOGGED
        # Poses and setpoints count from here on: enabled, or moved by a jog [ns].
        self._begun_at = 0
        # Last setpoint executed before, whose stamp may be later if the clock was set back [ns].
        self._before = 0
        # When the driver last played paths slowly [ns].
        self._slow_until = -LONGEST_WAY
        self._poses = Inbox(node, PoseStamped, 'platform/pose', newest(SENSOR_QOS))
        self._executed = Inbox(node, PlatformSetpoint, 'platform/commanded', newest(COMMANDED_QOS))
        self._pose_reader, self._setpoint_reader = pose_reader(), setpoint_reader()
        # Heard while a goal's callback still plans, too.
        always = ReentrantCallbackGroup()
        for kind, topic, heard, qos in (
            (DriverState, 'driver/state', self._on_driver_state, EVERY_STATE_QOS),
            (Jog, 'driver/jog', self._on_jog, COMMAND_QOS),
        ):
            node.create_subscription(kind, topic, heard, qos, callback_group=always)

    @property
    def _is_slow(self) -> bool:
        """Whether a path is played more slowly than it is sent; it may long be under way."""
        return self._driver is not None and 0.0 < self._driver.speed_scaling < 1.0

    @property
    def enabled(self) -> bool:
        """Whether the driver follows commands."""
        return self._driver is not None and self._driver.state == DriverState.ENABLED

    def executed(self) -> int:
        """Return the stamp of the last setpoint executed since ENABLED [ns]; 0: none."""
        stamp = self._newest_executed()
        return stamp if stamp > self._begun_at and stamp != self._before else 0

    def own_executed(self) -> int:
        """Return `executed`, or 0 if that setpoint was of another source than this node [ns]."""
        data, stamp = self._executed.newest(), self.executed()
        if data is None or not stamp:
            return 0
        try:
            return stamp if self._setpoint_reader.read(data).source == self._node.get_name() else 0
        except MessageError:
            return 0

    @property
    def far(self) -> float:
        """How far from where it was sent a platform was not brought there [m]."""
        return far_of(self.travel)

    @property
    def moved(self) -> tuple[int, int]:
        """When the platform was last let go of, or jogged, and when last commanded [ns]."""
        return self._begun_at, self.executed()

    def _newest_executed(self) -> int:
        data = self._executed.newest()
        return 0 if data is None else stamp_of(data)

    def require(self) -> Pose:
        """Return the pose, at rest, at which a motion has to start now.

        Raises:
            NotYet: If the driver is not ENABLED, or no pose is known.
            NotReady: If another source has the platform.
            MessageError: If a message does not carry what its type promises.
        """
        if self._driver is None:
            raise NotYet('no driver/state has been received')
        if not self.enabled:
            name = STATE_NAMES.get(self._driver.state, str(self._driver.state))
            raise NotYet(f'the driver is {name}, not ENABLED: {self._driver.reason}')
        if self._driver.reason == PARKING:
            raise NotReady(f'the driver is {PARKING}')
        now = self._node.get_clock().now().nanoseconds
        if abs(now - self._jogged) < JOGGED:
            raise NotReady('the platform is being jogged')
        # The clock may have been set back since.
        self._begun_at = min(self._begun_at, now)
        data = self._executed.newest()
        if data is None or not self.executed():
            return self._measured(now)
        last = self._setpoint_reader.read(data)
        motion = Motion(*last.motion)
        if not at_rest(motion):
            if not self.over(last.stamp):
                raise NotReady(f'{last.source} is moving the platform')
            # Who moved it has died; the driver has stopped it, or never begun.
            return self._measured(now)
        if last.source != self._node.get_name() and 0 <= now - last.stamp < self._silence:
            raise NotReady(f'{last.source} gave a setpoint {(now - last.stamp) * 1e-9:.3f} s ago')
        self._require_followed(motion.pose, now, last.stamp)
        return motion.pose

    def _require_followed(self, sent: Pose, now: int, stamp: int) -> None:
        """Raise `NotReady` if the driver has not brought the platform to where it was sent."""
        if not self.over(stamp):
            return
        away, angle = apart(sent, self._measured(now))
        if away > self.far or angle > TURNED or stamp == self.not_followed:
            raise NotReady(
                f'the platform is {1e3 * away:.3g} mm and {np.degrees(angle):.1f}° from where it '
                'was sent: the driver has refused the way (why: "driver: commands" of its '
                'diagnostics); jog it, or disable and enable, to begin where it is'
            )

    def over(self, stamp: int) -> bool:
        """Tell whether the driver has long played what is stamped so [ns]."""
        driver, late = self._driver, LONG_AFTER
        assert driver is not None
        if self._is_slow:
            late += LONGEST_WAY / NANOSECONDS / driver.speed_scaling
        elif self.may_be_behind:
            return False
        return self.since_played(stamp) >= late

    @property
    def may_be_behind(self) -> bool:
        """Whether the driver plays slowly, or did lately and may still be where it was then."""
        now = self._node.get_clock().now().nanoseconds
        return self._is_slow or 0 <= now - self._slow_until < LONGEST_WAY

    @property
    def still_played(self) -> str:
        """What to say where the driver plays what was said before more slowly; else empty."""
        if self._driver is None or not self._is_slow:
            return ''
        return (
            'no more is sent, but the driver goes on with what it has, at '
            f'{100.0 * self._driver.speed_scaling:.3g} % of its speed: driver/quick_stop ends that'
        )

    @property
    def playout_delay(self) -> float:
        """How long after its stamp the driver plays a setpoint [s]; 0 before it has said so."""
        return self._driver.playout_delay if self._driver is not None else 0.0

    def since_played(self, stamp: int) -> float:
        """Return how long ago [s] the driver should have played what is stamped so [ns]."""
        now = self._node.get_clock().now().nanoseconds
        return float((now - stamp) / NANOSECONDS - self.playout_delay)

    def measured_since(self, stamp: int) -> tuple[int, Pose] | None:
        """Return the newest measured pose, and its stamp [ns]; None before `stamp` is played."""
        data = self._poses.newest()
        assert self._driver is not None
        if data is None or stamp_of(data) < stamp + self._driver.playout_delay * NANOSECONDS:
            return None
        taken, position, quaternion = self._pose_reader.read(data)
        return taken, Pose(position, quaternion)

    def _measured(self, now: int) -> Pose:
        data = self._poses.newest()
        if data is None or stamp_of(data) <= self._begun_at:
            raise NotYet('no platform/pose has been received since the driver was enabled')
        stamp, position, quaternion = self._pose_reader.read(data)
        age = now - stamp
        if age > self._pose_age:
            most = f'allowed are {self._pose_age * 1e-9:g} s'
            raise NotYet(f'the last platform/pose is {age * 1e-9:.3f} s old, {most}')
        return Pose(position, quaternion)

    def _on_driver_state(self, message: DriverState) -> None:
        known, was_enabled = self._driver is not None, self.enabled
        if self._is_slow:
            self._slow_until = to_nanoseconds(message.header.stamp)
        self._driver = message
        if self.enabled and not was_enabled:
            self._begun_at = to_nanoseconds(message.header.stamp)
            self._before = self._newest_executed() if known else 0
        elif was_enabled and not self.enabled:
            name = STATE_NAMES.get(message.state, str(message.state))
            self._on_leave(f'the driver went to {name}: {message.reason}')
        elif self.enabled and message.reason == PARKING:
            self._on_leave(f'the driver is {PARKING}')

    def _on_jog(self, message: Jog) -> None:
        stamp = to_nanoseconds(message.header.stamp)
        if stamp <= self._node.get_clock().now().nanoseconds + JOG_AHEAD:
            self._begun_at, self._jogged = max(self._begun_at, stamp), stamp


def far_of(travel: float) -> float:
    """Return `StartPose.far` of a platform by the way of its legs [m]."""
    return min(FAR, FAR_SHARE * travel)
