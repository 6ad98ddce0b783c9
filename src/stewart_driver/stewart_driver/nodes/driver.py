# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Turn leg commands into motion of the drives, and drives into leg states."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.lifecycle import LifecycleState
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from stewart_driver.backend import find_backend, installed_backends
from stewart_driver.control.cycle_client import CycleClient, Waiting
from stewart_driver.control.cycle_link import CycleLink
from stewart_driver.control.inline_cycle import InlineCycle
from stewart_driver.control.state_machine import Request, State
from stewart_driver.errors import CycleError
from stewart_driver.nodes.drive_session import DriveSession
from stewart_driver.nodes.driver_parameters import DriverParameters
from stewart_interfaces.msg import DriverState, Jog, TrackingError
from stewart_interfaces.srv import SetSpeedScaling
from stewart_node_support.diagnostics import Diagnostics, Level, Report
from stewart_node_support.errors import MessageError
from stewart_node_support.inbox import Inbox
from stewart_node_support.lifecycle import DeviceNode, transition
from stewart_node_support.parameters import declare
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.running import run
from stewart_node_support.stamps import NANOSECONDS

CLOCK_PERIOD = 1.0
TRIGGERS = (Request.ENABLE, Request.DISABLE)
# These may take the drives seconds, and a quick stop must not wait behind them.
SLOW_TRIGGERS = (Request.HOME, Request.RESET_FAULT)
UNCONFIGURED = 'the driver node is not configured'
INACTIVE = 'the driver node is not active'
CLEANED_UP = 'the driver node was cleaned up meanwhile'

Act: TypeAlias = Callable[[DriveSession, Any], tuple[bool, str]]


class Driver(DeviceNode):
    """Own the cyclic process: configured it runs, active it may move.

    Subscribes ``joint_commands``, ``joint_efforts``, ``driver/jog`` and
    ``platform/tracking_error``, publishes ``actuator_states`` and, on every change,
    ``driver/state``; services ``driver/enable``, ``disable``, ``home``, ``reset_fault``,
    ``quick_stop``, ``override`` and ``speed_scaling``.

    Attributes:
        alone: A second one in its namespace would answer every command, too.
    """

    alone = True

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('driver', **kwargs)
        self._chosen = declare(self, DriverParameters)
        self._backend_type = find_backend(self._chosen.backend)
        name = self._backend_type.name
        options: Any = declare(self, self._backend_type.options_type, f'{name}.')
        self._options = self._backend_type.placed(options, self.get_namespace())
        # A rig file may hold the options of several back ends, of which one is chosen.
        self.unused_parameters = tuple(
            f'{name}.' for name in installed_backends() if name != self._chosen.backend
        )
        self._session: DriveSession | None = None
        # Done when the control loop has been heard next, or is gone.
        self._turn = Future()
        self._logged = ''
        self.published: dict[str, CountedPublisher] = {}
        self._states = CountedPublisher(self, DriverState, 'driver/state', STATE_QOS)
        self._legs = CountedPublisher(self, JointState, 'actuator_states', SENSOR_QOS)
        self._diagnostics = Diagnostics(self, self._backend_type.name)
        for task in ('backend', 'cycle', 'commands'):
            self._diagnostics.add(task, partial(self._report, task))
        # Forces are needed beside a command, errors once in a period: neither wakes the node.
        self._efforts = Inbox(self, JointState, 'joint_efforts', COMMAND_QOS)
        self._errors = Inbox(self, TrackingError, 'platform/tracking_error', COMMAND_QOS)
        self.create_subscription(
            JointState, 'joint_commands', self._on_command, COMMAND_QOS, raw=True
        )
        self.create_subscription(
            Jog, 'driver/jog', partial(self._take, DriveSession.take_jog), COMMAND_QOS
        )
        for asked in TRIGGERS:
            self._serve(Trigger, asked.name.lower(), partial(self._ask, asked))
        for asked in SLOW_TRIGGERS:
            self._serve_slowly(asked)
        self._serve(Trigger, 'quick_stop', lambda session, _: session.quick_stop())
        self._serve(
            SetBool, 'override', lambda session, on: session.ask(Request.OVERRIDE, float(on.data))
        )
        self._serve(
            SetSpeedScaling,
            'speed_scaling',
            lambda session, to: session.ask(Request.SPEED_SCALING, to.speed_scaling),
        )

    @transition
    def on_configure(self, state: LifecycleState) -> None:
        """Start the control loop, which opens the back end; the drives stay off.

        In simulated time the loop runs here, a cycle per period of the node's clock; otherwise in
        a process of its own.
        """
        loop: CycleLink
        if self.get_clock().ros_time_is_active:
            backend = self._backend_type(self._options)
            configuration = self._chosen.configuration(backend)
            loop = inline = InlineCycle(backend, configuration, self._now())
            # Once the node is configured a client may enable: measure the legs before.
            inline.advance(self._now())
            self.every(backend.cycle_time, lambda: inline.advance(self._now()))
        else:
            with Waiting(self._backend_type) as waiting:
                backend = self._backend_type(self._options)
                configuration = self._chosen.configuration(backend)
                loop = CycleClient(backend, configuration, self._chosen.start_timeout, waiting)
        for inbox in (self._efforts, self._errors):
            inbox.newest()  # what came before belongs to no session
        self._session = DriveSession(
            backend, loop, self._chosen, lambda: self._now() / NANOSECONDS
        )
        self.every(1.0 / self._chosen.publish_rate, self._publish)
        self.every(CLOCK_PERIOD, self._session.clock.refresh)
        self._publish()

    @transition
    def on_deactivate(self, state: LifecycleState) -> None:
        """Bring the legs to rest and switch the drives off."""
        self.active = False
        try:
            if self._session is not None:
                self._tell(self._session.come_to_rest())
        except CycleError:
            # The lifecycle stays active, and so does what it stands for.
            self.active = True
            raise

    def let_go(self) -> None:
        """End the cyclic process and say what it said last."""
        session, self._session = self._session, None
        self._end_turn()
        if session is None:
            return
        session.end()
        self._tell(session.states())

    def _tell(self, states: Iterable[DriverState]) -> None:
        """Publish and log states: during shutdown there may be no subscriber left."""
        for message in states:
            self._states.publish(message)
            text = f'{State(message.state).name}: {message.reason}'
            if text == self._logged:  # a leg came on or went off, which the topic says
                continue
            self._logged = text
            if message.state == State.FAULT:  # rclpy refuses another severity from one line
                self.get_logger().error(text)
            else:
                self.get_logger().info(text)

    def _now(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    def _publish(self) -> None:
        assert self._session is not None
        self._take_efforts()
        for data in self._errors.take():
            self._take(DriveSession.take_tracking_error, data)
        self._tell(self._session.states())
        for data in self._session.leg_states():
            if self.active:
                self._legs.publish(data)
        self._session.go_on()
        self._end_turn()

    def _on_command(self, data: bytes) -> None:
        self._take_efforts()
        self._take(DriveSession.take_command, data)

    def _take_efforts(self) -> None:
        for data in self._efforts.take():
            self._take(DriveSession.take_efforts, data)

    def _take(self, callback: Callable[[DriveSession, Any], None], data: Any) -> None:
        if self._session is None:
            return
        try:
            callback(self._session, data)
        except MessageError as error:
            self.get_logger().error(str(error), throttle_duration_sec=1.0)

    def _serve(self, kind: Any, name: str, act: Act) -> None:
        """Offer a service whose answer is whether it is done, and one sentence."""

        def answer(request: Any, response: Any) -> Any:
            response.success, response.message = (
                act(self._session, request) if self._session else (False, UNCONFIGURED)
            )
            return response

        self.create_service(kind, f'driver/{name}', answer)

    def _serve_slowly(self, asked: Request) -> None:
        """Offer a service that keeps no other one waiting."""

        async def answer(_: Any, response: Any) -> Any:
            response.success, response.message = await self._ask_slowly(asked)
            return response

        name, group = f'driver/{asked.name.lower()}', ReentrantCallbackGroup()
        self.create_service(Trigger, name, answer, callback_group=group)

    def _ask(self, asked: Request, session: DriveSession, _: Any) -> tuple[bool, str]:
        if session.moves(asked) and not self.active:
            return False, INACTIVE
        return session.ask(asked)

    async def _ask_slowly(self, asked: Request) -> tuple[bool, str]:
        session = self._session
        if session is None:
            return False, UNCONFIGURED
        if session.moves(asked) and not self.active:
            return False, INACTIVE
        answer = session.begin(asked)
        while (said := answer()) is None:
            await self._turn
            if self._session is not session:
                return False, CLEANED_UP
        return said

    def _end_turn(self) -> None:
        """Let those go on who wait for the control loop."""
        turn, self._turn = self._turn, Future()
        turn.set_result(None)

    def _report(self, task: str) -> Report:
        if self._session is None:
            return Report(Level.STALE, f'not configured (back end {self._backend_type.name})')
        return self._session.reports[task]()


def main() -> None:
    """Run the node until it is asked to stop."""
    run(Driver)


if __name__ == '__main__':
    main()
