# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Carry out in the node's thread what a person asked for in the browser's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import TwistStamped
from rclpy.action import ActionClient
from rclpy.node import Node
from std_srvs.srv import Trigger
from stewart_interfaces.action import MovePlatform
from stewart_interfaces.msg import Jog
from stewart_node_support.conversions import pose_msg, twist_stamped
from stewart_node_support.diagnostics import in_namespace, TOPIC
from stewart_node_support.qos import COMMAND_QOS
from stewart_node_support.rig_time import RigTime
from stewart_node_support.stamps import to_nanoseconds
from stewart_viewer.controls import WAVES

LOOK = 0.05
"""Time from one look into the queue to the next [s]."""

SOURCES_EVERY = 0.5
"""Time from one look for what plays a wave to the next [s]."""

ANSWER_LIMIT = 10.0
"""After so long without an answer the person who asked is told [s]."""

SERVICES = (
    *(f'driver/{name}' for name in ('enable', 'disable', 'quick_stop', 'reset_fault')),
    *(f'{wave}/{name}' for wave in WAVES for name in ('start', 'stop')),
)

JOG_TAKER, FOLLOW_TAKER = 'driver: commands', 'teleop: steering'
"""Of the rig's diagnostics, which come once a second: who takes what a held button asks for."""

MOVER = 'cycloidal_trajectory: motion'
"""Who refuses goals, which have no result then: its next report has the reason."""

HELD = 1.5
"""So long after a button was held what its taker says is about that [s]."""

MOVING = {'driver/enable', *(f'{wave}/start' for wave in WAVES)}

ENDS = {
    MovePlatform.Result.REACHED: 'reached the target',
    MovePlatform.Result.CANCELED: 'came to rest before the target',
    MovePlatform.Result.ABORTED: 'aborted',
}


class GraphOperator:
    """Call services and send goals of a node; all answers go to `tell`, for the person who asked.

    Attributes:
        obstacle: Why nothing that moves the platform is sent; empty where it is.
        sources: Those of `WAVES` that a node of the rig plays.
    """

    def __init__(self, node: Node, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self.obstacle = ''
        self.sources: tuple[str, ...] = WAVES
        self._now = RigTime(node).now
        self._leg_keys = node.create_publisher(Jog, 'driver/jog', COMMAND_QOS)
        self._axis_keys = node.create_publisher(TwistStamped, 'platform/jog', COMMAND_QOS)
        self._hand = node.create_publisher(TwistStamped, 'teleop/twist', COMMAND_QOS)
        self._queue: SimpleQueue[Callable[[], None]] = SimpleQueue()
        # What has been asked for and when, by the monotonic clock, until it is answered.
        self._asked: dict[Any, tuple[str, float]] = {}
        self._offered: dict[str, Any] = {
            name: node.create_client(Trigger, name) for name in SERVICES
        }
        self._action: Any = ActionClient(node, MovePlatform, 'move_platform')
        # The goal that has not been answered yet, and the one that is being carried out.
        self._sent: Any = None
        self._goal: Any = None
        # When a goal was refused whose reason is not known yet [ns].
        self._refused: int | None = None
        # When each was asked for something last, by the monotonic clock.
        self._takers = dict.fromkeys((JOG_TAKER, FOLLOW_TAKER), -HELD)
        self._namespace = node.get_namespace()
        node.create_subscription(DiagnosticArray, TOPIC, self._on_diagnostics, 10)
        node.create_timer(LOOK, self._work)
        node.create_timer(SOURCES_EVERY, self._look_for_sources)

    def move(self, position: Any, quaternion_xyzw: Any, speed: float) -> None:
        """Move to a pose with a part of the limits' speed."""
        self._queue.put(partial(self._move, position, quaternion_xyzw, speed))

    def cancel(self) -> None:
        """Come to rest before the target."""
        self._queue.put(self._cancel)

    def call(self, service: str) -> None:
        """Call a service of type Trigger."""
        self._queue.put(partial(self._call, service))

    def jog(self, rates: Any, leg: int | None) -> None:
        """Jog one leg, from 0, at the first of the rates; else the platform at all six [SI]."""
        # The stamp is that of the hand: a request that waits here for long moves nothing.
        self._queue.put(partial(self._jog, rates, leg, self._now().to_msg()))

    def steer(self, twist: Any) -> None:
        """Ask teleop for a velocity (6,) in ``base_link`` [m/s, rad/s]; it counts for 0.1 s."""
        self._queue.put(partial(self._steer, twist, self._now().to_msg()))

    def _steer(self, twist: Any, stamp: Any) -> None:
        if self.obstacle:
            self._tell(f'**follow**: not sent: {self.obstacle}')
            return
        self._takers[FOLLOW_TAKER] = time.monotonic()
        self._hand.publish(twist_stamped(stamp, twist))

    def _jog(self, rates: Any, leg: int | None, stamp: Any) -> None:
        if self.obstacle:
            self._tell(f'**jog**: not sent: {self.obstacle}')
            return
        self._takers[JOG_TAKER] = time.monotonic()
        if leg is None:
            self._axis_keys.publish(twist_stamped(stamp, rates))
        else:
            message = Jog()
            message.header.stamp, message.rates[leg] = stamp, float(rates[0])
            self._leg_keys.publish(message)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        """Say why what is held, or was asked for, is refused."""
        now = time.monotonic()
        held = {self._full(taker) for taker, at in self._takers.items() if now - at < HELD}
        for status in message.status:
            if status.name in held and status.level != DiagnosticStatus.OK:
                self._tell(f'**{status.name}**: {status.message}')
            if status.name == self._full(MOVER) and self._is_since_refusal(message.header.stamp):
                self._refused = None
                why = [item.value for item in status.values if item.key == 'last_refusal']
                self._tell(f'move_platform: **refused**: {why[0] if why else "no reason given"}')

    def _full(self, name: str) -> str:
        return in_namespace(self._namespace, name)

    def _is_since_refusal(self, stamp: Any) -> bool:
        return self._refused is not None and to_nanoseconds(stamp) > self._refused

    def _work(self) -> None:
        self._tell_of_silence()
        while True:
            try:
                self._queue.get_nowait()()
            except Empty:
                return

    def _ask(self, what: str, future: Any, then: Callable[[Any], None]) -> None:
        self._asked[future] = what, time.monotonic()
        future.add_done_callback(then)

    def _tell_of_silence(self) -> None:
        """Say what nobody answers, once; an answer that comes after all is told, too."""
        now = time.monotonic()
        for future, (what, since) in list(self._asked.items()):
            late = now - since > ANSWER_LIMIT and not future.done()
            if late:
                self._tell(f'**{what}**: no answer within {ANSWER_LIMIT:g} s; it may still come')
            if late or future.done():
                del self._asked[future]

    def _look_for_sources(self) -> None:
        self.sources = tuple(
            wave for wave in WAVES if self._offered[f'{wave}/stop'].service_is_ready()
        )

    def _call(self, service: str) -> None:
        if self.obstacle and service in MOVING:
            self._tell(f'**{service}**: not sent: {self.obstacle}')
            return
        client = self._offered[service]
        if not client.service_is_ready():
            self._tell(f'**{service}**: no node offers it')
            return
        self._ask(service, client.call_async(Trigger.Request()), partial(self._answered, service))

    def _answered(self, service: str, future: Any) -> None:
        answer = future.result()
        word = 'done' if answer.success else '**refused**'
        self._tell(f'{service}: {word}: {answer.message}')

    def _move(self, position: Any, quaternion_xyzw: Any, speed: float) -> None:
        if self.obstacle:
            self._tell(f'**move_platform**: not sent: {self.obstacle}')
            return
        if not self._action.server_is_ready():
            self._tell('**move_platform**: no node offers it')
            return
        goal = MovePlatform.Goal(
            target=pose_msg(position, quaternion_xyzw), speed_scale=float(speed)
        )
        self._sent = self._action.send_goal_async(goal)
        self._ask('move_platform', self._sent, self._answered_goal)

    def _answered_goal(self, future: Any) -> None:
        if future is self._sent:
            self._sent = None
        goal = future.result()
        if not goal.accepted:
            # What was moving before moves on, and may still be stopped.
            self._refused = self._now().nanoseconds
            self._tell('move_platform: **refused**')
            return
        self._goal = goal
        self._tell('move_platform: moving')
        goal.get_result_async().add_done_callback(partial(self._ended, goal))

    def _ended(self, goal: Any, future: Any) -> None:
        if goal is self._goal:
            self._goal = None
        result = future.result().result
        self._tell(f'move_platform: {ENDS[result.code]}. {result.message}')

    def _cancel(self) -> None:
        if self._sent is None and self._goal is None:
            self._tell('no move is running from here: *Quick stop* ends whatever moves')
        if self._sent is not None:
            self._sent.add_done_callback(_cancel_if_accepted)
        if self._goal is not None:
            self._goal.cancel_goal_async()


def _cancel_if_accepted(future: Any) -> None:
    if future.result().accepted:
        future.result().cancel_goal_async()
