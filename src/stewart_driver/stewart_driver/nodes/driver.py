# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Turn leg commands into motion of the drives, and drives into leg states."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from rclpy.lifecycle import LifecycleState
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from stewart_driver.backend import find_backend
from stewart_driver.cycle import Request
from stewart_driver.errors import ConfigurationError
from stewart_driver.nodes.drive_session import DriveSession
from stewart_driver.nodes.driver_parameters import declare_options, DriverParameters
from stewart_driver.state_machine import State
from stewart_interfaces.msg import DriverState, TrackingError
from stewart_node_support.diagnostics import Diagnostics, Level, Report
from stewart_node_support.errors import MessageError
from stewart_node_support.lifecycle import DeviceNode, transition
from stewart_node_support.parameters import declare
from stewart_node_support.publishers import CountedPublisher
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.running import run

NANOSECOND = 1e-9
CLOCK_PERIOD = 1.0


class Driver(DeviceNode):
    """
    Own the cyclic process: configured it runs, active it may move.

    Subscribes ``joint_commands``, ``joint_efforts`` and ``platform/tracking_error``, publishes
    ``actuator_states`` and, on every change, ``driver/state``; services ``driver/enable``,
    ``disable``, ``home``, ``reset_fault`` and ``quick_stop``.

    """

    def __init__(self, **kwargs: Any) -> None:
        """Declare the parameters, also those of the back end, then open the interfaces."""
        super().__init__('driver', **kwargs)
        self._chosen = declare(self, DriverParameters)
        self._backend_type = find_backend(self._chosen.backend)
        self._options = declare_options(self, self._backend_type)
        self._session: DriveSession | None = None
        self._active = False
        self._periodic: list[Any] = []
        self.published: dict[str, CountedPublisher] = {}
        self._states = CountedPublisher(self, DriverState, 'driver/state', STATE_QOS)
        self._legs = CountedPublisher(self, JointState, 'actuator_states', SENSOR_QOS)
        self._diagnostics = Diagnostics(self, self._backend_type.name)
        for task in ('backend', 'cycle', 'commands'):
            self._diagnostics.add(task, partial(self._report, task))
        for kind, topic, callback in (
            (JointState, 'joint_commands', DriveSession.take_command),
            (JointState, 'joint_efforts', DriveSession.take_efforts),
            (TrackingError, 'platform/tracking_error', DriveSession.take_tracking_error),
        ):
            self.create_subscription(kind, topic, partial(self._take, callback), COMMAND_QOS)
        for request in Request:
            name = f'driver/{request.name.lower()}'
            self.create_service(Trigger, name, partial(self._answer, request))
        self.create_service(Trigger, 'driver/quick_stop', partial(self._answer, None))

    @transition
    def on_configure(self, state: LifecycleState) -> None:
        """Start the cyclic process, which opens the back end; the drives stay off."""
        if self.get_parameter('use_sim_time').value:
            raise ConfigurationError('use_sim_time', True, 'false: drives follow real time')
        backend = self._backend_type(self._options)
        self._session = DriveSession(
            backend,
            self._chosen.configuration(backend),
            self._chosen.start_timeout,
            self._chosen.stall_timeout,
            lambda: self.get_clock().now().nanoseconds * NANOSECOND,
        )
        self._periodic = [
            self.create_timer(1.0 / self._chosen.publish_rate, self._publish),
            self.create_timer(CLOCK_PERIOD, self._session.clock.refresh),
        ]
        self._publish()

    @transition
    def on_activate(self, state: LifecycleState) -> None:
        """Begin to publish the legs and to allow enabling."""
        self._active = True

    @transition
    def on_deactivate(self, state: LifecycleState) -> None:
        """Bring the legs to rest and switch the drives off."""
        self._active = False
        if self._session is not None:
            self._tell(self._session.come_to_rest())

    def let_go(self) -> None:
        """End the cyclic process and say what it said last."""
        self._active = False
        session, self._session = self._session, None
        while self._periodic:
            self.destroy_timer(self._periodic.pop())
        if session is None:
            return
        session.end()
        self._tell(session.states())

    def _tell(self, states: Iterable[DriverState]) -> None:
        """Publish states and log them: on the way down nobody may listen any more."""
        for message in states:
            self._states.publish(message)
            text = f'{State(message.state).name}: {message.reason}'
            if message.state == State.FAULT:
                self.get_logger().error(text)
            else:
                self.get_logger().info(text)

    def _publish(self) -> None:
        assert self._session is not None
        self._tell(self._session.states())
        for message in self._session.leg_states():
            if self._active:
                self._legs.publish(message)

    def _take(self, callback: Callable[[DriveSession, Any], None], message: Any) -> None:
        if self._session is None:
            return
        try:
            callback(self._session, message)
        except MessageError as error:
            self.get_logger().error(str(error), throttle_duration_sec=1.0)

    def _answer(
        self, request: Request | None, _: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        if self._session is None:
            response.success, response.message = False, 'the driver node is not configured'
        elif request is None:
            response.success, response.message = self._session.quick_stop()
        elif request is Request.ENABLE and not self._active:
            response.success, response.message = False, 'the driver node is not active'
        else:
            response.success, response.message = self._session.ask(request)
        return response

    def _report(self, task: str) -> Report:
        if self._session is None:
            return Report(Level.STALE, f'not configured (back end {self._backend_type.name})')
        return self._session.reports[task]()


def main() -> None:
    """Run the node until it is asked to stop."""
    run(Driver)


if __name__ == '__main__':
    main()
