# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Move the platform by hand: from a gamepad, or with any program that asks for velocities."""

from __future__ import annotations

import math
from typing import Any

from geometry_msgs.msg import TwistStamped
import numpy as np
from sensor_msgs.msg import Joy
from stewart_kinematics.control.steering import Steering, TIMEOUT
from stewart_kinematics.errors import StewartError
from stewart_kinematics.nodes.parameters import TeleopParameters
from stewart_kinematics.nodes.trajectory_node import TrajectoryNode
from stewart_node_support.conversions import BASE_FRAME, vector_from_msg
from stewart_node_support.diagnostics import Level, Report
from stewart_node_support.errors import MessageError
from stewart_node_support.qos import FOREIGN_QOS
from stewart_node_support.stamps import to_nanoseconds

TWIST, JOY = 'teleop/twist', 'joy'
PLATFORM_FRAME = 'platform_link'
# What was wrong is said so often at most, for it comes with every message [s].
COMPLAINTS = 1.0
# A refusal stands in the diagnostics, which come once a second, for so long [s].
TOLD_FOR = 1.5
# A gamepad that was away for so long comes back as a new one, a program has let go [s].
AWAY = 1.0


class Teleop(TrajectoryNode):
    """Follow ``teleop/twist`` and ``joy`` within every limit; at rest soon after the last message.

    A velocity counts for 0.1 s. It begins a motion where the platform rests and no other source
    has it, as the other trajectory nodes do, and the motion ends when the platform has come to
    rest and nothing is asked for. Towards a limit the platform becomes slower and stops before it.
    What is held while the drives come on moves nothing until it was let go: a velocity of 0, or
    silence; the dead man's button of a gamepad must have been seen released, with no axis at its
    end. While one topic asks for a motion the other is not heard; asked for nothing,
    it does not disturb.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('teleop', TeleopParameters, **kwargs)
        self._steering: Steering | None = None
        # Topics that were let go since a motion of theirs could not begin, or was cut off.
        self._free = {TWIST}
        self._heard = {TWIST: -math.inf, JOY: -math.inf}
        # Axes that were at their end while the button was released.
        self._pushed: list[int] = []
        # Axes that the gamepad lacks.
        self._missing: list[int] = []
        # Who asked last for a motion, and when [s].
        self._source, self._asked = '', -math.inf
        # When something was refused last [s].
        self._refused = -math.inf
        self.create_subscription(TwistStamped, TWIST, self._on_twist, FOREIGN_QOS)
        self.create_subscription(Joy, JOY, self._on_joy, FOREIGN_QOS)
        self.diagnostics.add('steering', self._report_steering)

    def before_sample(self, now: int) -> None:
        """Let the trajectory go on as it is asked to now [ns]."""
        assert self._steering is not None
        assert self.playback is not None
        self._steering.advance(self.playback.elapsed(now))
        self.continue_with(self._steering.plan)

    def on_rest(self) -> None:
        """Begin anew with the next velocity."""
        self._steering = None

    def on_abort(self, reason: str) -> None:
        """Begin anew with the next velocity, once what is held was let go."""
        self._steering = None
        self._free.discard(self._source)

    def _on_twist(self, message: TwistStamped) -> None:
        frame = message.header.frame_id
        if self._was_away(TWIST):
            self._free.add(TWIST)
        try:
            if frame not in {'', BASE_FRAME, PLATFORM_FRAME}:
                frames = f'{BASE_FRAME} or {PLATFORM_FRAME}'
                raise MessageError(f'a velocity in {frame!r}: expected {frames}')
            if self._is_old(message.header.stamp):
                return
            parts = message.twist.linear, message.twist.angular
            twist = np.concatenate([vector_from_msg(part) for part in parts])
            if not np.any(twist):
                self._free.add(TWIST)
            self._require_free(
                TWIST,
                f'{TWIST} asked for a motion before one could begin: let go first (a velocity of '
                f'0, or {AWAY:g} s of silence)',
            )
            if self._is_heard(TWIST, twist):
                self._ask(twist, message.header.stamp, in_platform=frame == PLATFORM_FRAME)
        except (StewartError, MessageError) as error:
            self._complain(error)

    def _on_joy(self, message: Joy) -> None:
        if self.guard is None:
            return
        limits, parameters = self.guard.platform.limits, self.parameters
        if self._was_away(JOY):
            self._free.discard(JOY)
        try:
            axes = parameters.asked(message.axes, message.buttons)
            self._tell_missing(parameters.missing(message.axes))
            if axes is None:
                self._pushed = parameters.pushed(message.axes)
                self._let_go()
                return
            if self._is_old(message.header.stamp):
                return
            if self._pushed:
                raise MessageError(
                    f"axis {self._pushed[0]} of {JOY} was at its end before the dead man's button "
                    'was pressed: let go of both once (a trigger that rests there is no axis)'
                )
            button = f"the dead man's button {parameters.dead_man_button}"
            self._require_free(
                JOY, f'{button} has been down from the beginning: let go of it once'
            )
            fastest = np.repeat([limits.linear_velocity, limits.angular_velocity], 3)
            twist = min(parameters.speed_scale, self.guard.scale) * fastest * axes
            if self._is_heard(JOY, twist):
                self._ask(twist, message.header.stamp)
        except (StewartError, MessageError) as error:
            # What was held before the rig was ready moves nothing once it is.
            if self._steering is None:
                self._free.discard(JOY)
            self._complain(error)

    def _tell_missing(self, missing: list[int]) -> None:
        if missing and missing != self._missing:
            numbers = ', '.join(map(str, missing))
            self.get_logger().warning(
                f'the gamepad on {JOY} has no axes {numbers}: they count as 0, see parameter axes'
            )
        self._missing = missing

    def _let_go(self) -> None:
        """Stop what the gamepad moves; one that lies there does not stop what others move."""
        self._free.add(JOY)
        if self._steering is not None and self._source == JOY:
            self._steering.release()

    def _was_away(self, source: str) -> bool:
        """Take note that a topic is heard; tell whether it was away for `AWAY` before."""
        now = self.get_clock().now().nanoseconds * 1e-9
        before, self._heard[source] = self._heard[source], now
        return now - before >= AWAY

    def _require_free(self, source: str, sentence: str) -> None:
        """Raise `MessageError` if a topic was not let go, or `NotReady` if no motion can begin."""
        if source in self._free:
            return
        if self._steering is None:
            self.require_start()
        raise MessageError(sentence)

    def _is_heard(self, source: str, twist: np.ndarray) -> bool:
        """Tell whether a topic steers now; a velocity of another one counts for `TIMEOUT`.

        Raises:
            MessageError: If it asks for a motion while another one does.
        """
        now = self.get_clock().now().nanoseconds * 1e-9
        moving = bool(np.any(twist))
        if source != self._source and 0.0 <= now - self._asked < TIMEOUT:
            if moving:
                raise MessageError(f'{self._source} moves the platform: {source} is not heard')
            return False
        if moving:
            self._source, self._asked = source, now
        return True

    def _ask(self, twist: np.ndarray, stamp: Any, *, in_platform: bool = False) -> None:
        """Take a velocity (6,) [m/s, rad/s] of an instant; it begins a motion where none is.

        Raises:
            StewartError: If it is not finite, or no motion can begin now.
        """
        sent, now = to_nanoseconds(stamp), self.get_clock().now().nanoseconds
        if self._steering is None or self.playback is None:
            if not np.any(twist):
                return
            try:
                start, guard = self.require_start()
            except StewartError:
                self._free.discard(self._source)
                raise
            period, scale = 1.0 / self.parameters.rate, self.parameters.speed_scale
            self._steering = Steering(guard, start, period=period, scale=scale)
            self.play(self._steering.plan, min(sent, now))
        if self.playback is None:  # aborted with its first setpoint
            return
        asked_at = self.playback.elapsed(min(sent, now))
        self._steering.command(twist, asked_at, in_platform=in_platform)

    def _is_old(self, stamp: Any) -> bool:
        """Tell whether a velocity's stamp is not of now, and complain if so.

        In a burst of late messages the last one is new, so an old one changes nothing else.
        """
        age = (self.get_clock().now().nanoseconds - to_nanoseconds(stamp)) * 1e-9
        if -TIMEOUT < age < TIMEOUT:
            return False
        most = f'allowed are {TIMEOUT:g} s'
        self._complain(MessageError(f'a velocity is {age:.3f} s old, {most}: stamp it anew'))
        return True

    def _complain(self, error: StewartError | MessageError) -> None:
        self.refusal = str(error)
        self._refused = self.get_clock().now().nanoseconds * 1e-9
        self.get_logger().warning(f'refused: {error}', throttle_duration_sec=COMPLAINTS)

    def _report_steering(self) -> Report:
        steering, values = self._steering, {}
        if self._missing:
            values['axes that the gamepad lacks'] = ', '.join(map(str, self._missing))
        if 0.0 <= self.get_clock().now().nanoseconds * 1e-9 - self._refused < TOLD_FOR:
            return Report(Level.WARN, f'refused: {self.refusal}', values)
        if steering is None:
            return Report(Level.OK, 'nothing is asked for', values)
        values['share of the velocity'] = f'{steering.share:.2f}'
        if steering.limited_by:
            return Report(Level.OK, f'slower, because of the {steering.limited_by}', values)
        return Report(Level.OK, 'as fast as asked', values)
