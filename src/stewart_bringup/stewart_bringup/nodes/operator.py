# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a person does at the rig: ask for something, and see whether it comes true."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
import math
import time
from typing import Any, TYPE_CHECKING

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger
from stewart_bringup.errors import RequestRefused, StopRequested
from stewart_interfaces.msg import DriverState
from stewart_kinematics.errors import ConfigurationError, GeometryError
from stewart_node_support.diagnostics import in_namespace, TOPIC
from stewart_node_support.parameters import declare
from stewart_node_support.qos import STATE_QOS
from stewart_node_support.stamps import NANOSECONDS, to_nanoseconds
from stewart_node_support.stop_signals import StopSignals
from stewart_tables.settings import param

if TYPE_CHECKING:
    from stewart_kinematics.model.platform import Platform

STEP = 0.02
# A node that is there answers a request in milliseconds; one that has died never does [s].
ANSWER_LIMIT = 10.0
# These may start a bus anew, object by object, for which the driver allows 30 s.
SLOW_SERVICES, SLOW_LIMIT = ('driver/reset_fault', 'driver/home'), 35.0
DISCOVERY_LIMIT = 5.0
# The longest stroke there is, at a tenth of a slow leg's rate [s].
LONGEST_PARKING = 120.0
# The driver is DISABLED before the drives have said that they are without voltage [s].
LETTING_GO = 1.0
# Setpoints that stay away for so long have ended, or wait for a busy machine [s].
SILENCE = 0.5
# A wait that lasts longer is told meanwhile [s].
UNTOLD = 0.3
STATE = 'driver/state'
# What trajectory nodes say of themselves, with the platform that they were given.
OF_A_PLATFORM = ': motion'
OK = DiagnosticStatus.OK


@dataclass(frozen=True)
class OperatorParameters:
    """Parameters of every operator."""

    patience: float = param(
        30.0, 'longest wait for a service and for what it was asked for [s]', min=0.1, max=600.0
    )


class Operator(Node):
    """Call services of a rig and follow the state of its driver.

    Subscribes ``driver/state``. What waits is a coroutine: give it to `running.spin` as a task.

    Args:
        stop: Where a request to stop comes from; `heed` raises it.
        parameters: Dataclass of its parameters, derived from OperatorParameters.

    Attributes:
        show: Takes a line about what is waited for, and an empty one when that is over.
    """

    show: Callable[[str], None] | None = None

    def __init__(
        self,
        stop: StopSignals,
        name: str = 'operator',
        parameters: type[OperatorParameters] = OperatorParameters,
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self.settings: Any = declare(self, parameters)
        self.driver_state = DriverState()
        self.heard_driver = False
        self.status: Any = None
        self.told, self.trouble = 0, ''
        self.platform_name = ''
        self._stop = stop
        self._rest: Future | None = None
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        # Of a rig in another process, which may end, and /clock with it.
        self._follows = bool(self.get_parameter('use_sim_time').value)
        clock = self._steady if self._follows else self.get_clock()
        self._alarm = self.create_timer(STEP, self._end_pause, clock=clock)
        self.create_subscription(DriverState, STATE, self.on_state, STATE_QOS)

    @property
    def stopped(self) -> bool:
        """Whether a request to stop has come."""
        return self._stop.requested

    def now(self) -> float:
        """Return simulated time where that passes, else the machine's steady clock [s]."""
        simulated = self.get_clock().ros_time_is_active
        return _seconds(self.get_clock() if simulated else self._steady)

    def _patience_clock(self) -> float:
        """Return the time that patience is measured by: for other processes it is real [s]."""
        return _seconds(self._steady) if self._follows else self.now()

    @property
    def _in_lock_step(self) -> bool:
        return not self._follows and bool(self.get_clock().ros_time_is_active)

    def heed(self) -> None:
        """Raise StopRequested if a request to stop has come."""
        if self.stopped:
            raise StopRequested('a stop was requested')

    async def pause(self, seconds: float) -> None:
        """Let the executor do other things for a time [s]."""
        self._rest = Future()
        # The one timer for all pauses: an executor lists everything anew for one that is new.
        self._alarm.timer_period_ns = round(seconds * NANOSECONDS)
        self._alarm.reset()
        await self._rest

    def _end_pause(self) -> None:
        self._alarm.cancel()
        if self._rest is not None:
            self._rest.set_result(None)

    async def until(
        self,
        condition: Callable[[], bool],
        what: str,
        *,
        heedless: bool = False,
        limit: float = math.inf,
        at_least: float = 0.0,
    ) -> None:
        """Wait until a condition, asked from time to time, is true.

        Args:
            what: What is waited for, for the message.
            heedless: Go on waiting although a request to stop has come.
            limit, at_least: Shortens, or for motions lengthens, the parameter ``patience`` [s].

        Raises:
            RequestRefused: If it has not become true in that time.
            StopRequested: If a request to stop came.
        """
        patience = max(min(self.settings.patience, limit), at_least)
        begun, told = self._patience_clock(), False
        try:
            while not condition():
                waited = self._patience_clock() - begun
                if waited > patience:
                    raise RequestRefused(what, self._reason_of_silence(patience))
                if not heedless:
                    self.heed()
                if self.show and not told and waited > UNTOLD:
                    self.show(f'{what}: waiting, {patience:g} s at most')
                    told = True
                await self.pause(STEP)
        finally:
            if self.show and told:
                self.show('')

    def _reason_of_silence(self, waited: float) -> str:
        """Say why nothing may have come of a request."""
        if self.count_publishers(STATE):
            return f'no answer within {waited:g} s'
        namespace = self.get_namespace()
        where = '' if namespace == '/' else f' in the namespace {namespace}'
        topics = [name for name, _ in self.get_topic_names_and_types()]
        rigs = sorted(name.removesuffix(STATE) for name in topics if name.endswith(f'/{STATE}'))
        others = [rig.rstrip('/') or '/' for rig in rigs if self.count_publishers(f'{rig}{STATE}')]
        if others:
            return (
                f'no rig runs in the namespace {namespace}, but in {", ".join(others)}: '
                'name its --namespace'
            )
        return (
            f'no rig runs{where}: nothing has published {STATE} for {waited:g} s; '
            'start one with `stewart run`, or name its --namespace'
        )

    async def answer(self, future: Future, what: str, *, heedless: bool = False) -> Any:
        """Wait for the answer to a request, and return it; `what` and `heedless` as of `until`.

        Raises:
            RequestRefused: If none came within 10 s, of a slow service within 35 s: the node that
                was asked may have died.
            StopRequested: If a request to stop came.
        """
        least = SLOW_LIMIT if what in SLOW_SERVICES else 0.0
        await self.until(future.done, what, heedless=heedless, limit=ANSWER_LIMIT, at_least=least)
        return future.result()

    async def _ready(self, client: Client, service: str, *, heedless: bool = False) -> None:
        """Wait until a service was discovered."""
        if self._in_lock_step:
            # Discovery is the middleware's, and takes real time: simulated time stands still.
            end = time.monotonic() + DISCOVERY_LIMIT
            while not client.service_is_ready() and time.monotonic() < end:
                time.sleep(1e-3)
        try:
            await self.until(client.service_is_ready, service, heedless=heedless)
        except RequestRefused as silence:
            if not self.count_publishers(STATE):
                raise
            reason = f'no node of this rig offers it ({silence.reason})'
            raise RequestRefused(service, reason) from silence

    async def offered(self, service: str) -> None:
        """Wait until a service of type Trigger is there."""
        client = self.create_client(Trigger, service)
        try:
            await self._ready(client, service)
        finally:
            self.destroy_client(client)

    async def request(
        self,
        service: str,
        kind: Any = Trigger,
        *,
        heedless: bool = False,
        undo: str = '',
        **fields: Any,
    ) -> str:
        """Call a service that answers with success and message; return what it says.

        Args:
            heedless: Go on waiting although a request to stop has come.
            undo: Service that is called if this one succeeds after its answer was given up.

        Raises:
            RequestRefused: If it refuses, is not there or does not answer, see `answer`.
            StopRequested: If a request to stop came.
        """
        if not heedless:
            self.heed()
        client = self.create_client(kind, service)
        try:
            await self._ready(client, service, heedless=heedless)
            future = client.call_async(kind.Request(**fields))
            try:
                response = await self.answer(future, service, heedless=heedless)
            except (RequestRefused, StopRequested):
                if undo:
                    await self._take_back(future, service, undo)
                raise
        finally:
            self.destroy_client(client)
        if not response.success:
            raise RequestRefused(service, response.message)
        return str(response.message)

    async def _take_back(self, future: Future, service: str, undo: str) -> None:
        """End what a request has begun whose answer nobody waits for any more."""
        try:
            await self.answer(future, service, heedless=True)
        except RequestRefused as silence:
            reason = f'{silence.reason}; it may still begin, `{undo}` ends it'
            raise RequestRefused(service, reason) from silence
        if future.result().success:
            await self.request(undo, heedless=True)

    async def switch_on(self) -> None:
        """Have the drives on; a request to stop while they come on has them off again.

        Raises:
            RequestRefused: If the driver refuses, or goes to FAULT.
            StopRequested: If a request to stop came before they were on.
        """
        self.heed()
        service, before = 'driver/enable', self.driver_state.state
        try:
            await self.request(service)
            await self.reach(DriverState.ENABLED, service)
        except StopRequested as stop:
            # What was on already, somebody else may use.
            if before != DriverState.DISABLED or not await self._come_on():
                raise
            await self.leave_off()
            raise StopRequested('stopped while the drives came on; they are off again') from stop

    async def _come_on(self) -> bool:
        """Wait a moment until the drives come on: the answer, and the state, may be on the way."""
        with suppress(RequestRefused):
            await self.until(
                lambda: self.driver_state.state != DriverState.DISABLED,
                STATE,
                heedless=True,
                limit=LETTING_GO,
            )
        return bool(self.driver_state.state != DriverState.DISABLED)

    async def switch_off(self) -> None:
        """Have the drives off, after their way to the park position if they have one."""
        service = 'driver/disable'
        await self.request(service)
        await self.reach(DriverState.DISABLED, service, at_least=LONGEST_PARKING)

    async def leave_off(self) -> None:
        """Have the drives off after a request to stop, which the rig may have had, too."""
        client = self.create_client(Trigger, 'driver/disable')
        request: Future | None = None

        def over() -> bool:
            nonlocal request
            if self.driver_state.state in {DriverState.DISABLED, DriverState.FAULT}:
                return True
            if not self.count_publishers(STATE):
                return True
            if request is None and client.service_is_ready():
                request = client.call_async(Trigger.Request())
            return False

        try:
            await self.until(over, 'driver/disable', heedless=True, limit=ANSWER_LIMIT)
            if self.count_publishers(STATE):
                await self.reach(
                    DriverState.DISABLED, 'driver/disable', heedless=True, at_least=LONGEST_PARKING
                )
        finally:
            self.destroy_client(client)

    async def without_voltage(self) -> bool:
        """Wait a moment until no leg is live; return whether that has come true."""
        with suppress(RequestRefused):
            await self.until(lambda: not any(self.driver_state.live), STATE, limit=LETTING_GO)
        return not any(self.driver_state.live)

    async def reach(
        self, state: int, service: str, *, heedless: bool = False, at_least: float = 0.0
    ) -> None:
        """Wait until the driver is in a state of DriverState; other arguments as of `until`.

        Raises:
            RequestRefused: If the driver goes to FAULT instead, or nowhere, after `service`.
        """
        await self.until(
            lambda: self.heard_driver and self.driver_state.state in {state, DriverState.FAULT},
            service,
            heedless=heedless,
            at_least=at_least,
        )
        if self.driver_state.state != state:
            raise RequestRefused(service, self.driver_state.reason)

    def require_enabled(self, topic: str, text: str = '') -> None:
        """Raise RequestRefused if the drives are not on, with the driver's reason or a text."""
        if self.driver_state.state != DriverState.ENABLED:
            reason = text or self.driver_state.reason
            raise RequestRefused(topic, f'the drives are not ENABLED: {reason}')

    def follow_status(self, name: str) -> None:
        """Keep what the rig's diagnostics say: `status`, when [ns], and the last `trouble`.

        Args:
            name: Of the status, ``<node>: <task>``; that of another namespace is another rig's.
        """
        own = in_namespace(self.get_namespace(), name)

        def take(message: DiagnosticArray) -> None:
            for status in message.status:
                if status.name == own:
                    self.status, self.told = status, to_nanoseconds(message.header.stamp)
                    self.trouble = self.trouble if status.level == OK else status.message

        self.create_subscription(DiagnosticArray, TOPIC, take, 10)

    def follow_platform(self) -> None:
        """Keep the name of the platform that the rig's trajectory nodes were given."""

        def take(message: DiagnosticArray) -> None:
            for status in message.status:
                own = in_namespace(self.get_namespace(), status.name.rpartition('/')[2])
                if status.name == own and own.endswith(OF_A_PLATFORM):
                    self.platform_name = status.hardware_id

        self.create_subscription(DiagnosticArray, TOPIC, take, 10)

    def known_platform(self) -> Platform | None:
        """Return that platform; None where no node has told, or where it is not known here."""
        # Late: most who operate do not ask for it.
        from stewart_kinematics.model.shared_platform import load_platform

        with suppress(ConfigurationError, GeometryError, OSError):
            return load_platform(self.platform_name) if self.platform_name else None
        return None

    def on_state(self, message: DriverState) -> None:
        """Take note of what the driver says."""
        self.driver_state, self.heard_driver = message, True


def _seconds(clock: Clock) -> float:
    return float(clock.now().nanoseconds / NANOSECONDS)
