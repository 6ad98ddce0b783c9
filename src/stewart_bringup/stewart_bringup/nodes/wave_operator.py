# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Do what a person at the rig would do: switch on, start a wave, stop it, switch off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import time
from typing import Any

from geometry_msgs.msg import PoseStamped
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from std_srvs.srv import Trigger
from stewart_bringup.errors import RequestRefused, StopRequested
from stewart_interfaces.msg import DriverState, PlatformSetpoint
from stewart_node_support.errors import is_deliberate
from stewart_node_support.parameters import declare, param
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS, STATE_QOS
from stewart_node_support.running import spin
from stewart_node_support.stop_signals import StopSignals

STEP = 0.02
# A motion begins where the platform is after enabling: so many poses are waited for.
FIRST_POSES = 20
# Setpoints that stay away for so long have ended; longer than their period by far.
SILENCE = 0.5


@dataclass(frozen=True)
class WaveOperatorParameters:
    """Parameters of the operator."""

    services: str = param('ocean', 'prefix of the start and stop services of the wave')
    duration: float = param(
        15.0, 'how long the wave is played before it is stopped [s]', min=0.1, max=86400.0
    )
    patience: float = param(
        30.0, 'longest wait for a service and for what it was asked for [s]', min=0.1, max=600.0
    )


class Counter:
    """Count messages."""

    def __init__(self) -> None:
        """Begin at 0."""
        self.count = 0

    def take(self, _: bytes) -> None:
        """Count one."""
        self.count += 1


class WaveOperator(Node):
    """
    Call ``driver/enable``, ``<services>/start``, ``<services>/stop`` and ``driver/disable``.

    A request to stop makes it call ``driver/disable`` at once, which brings the legs to rest.
    Subscribes ``driver/state``, and while it waits for them ``platform/pose`` and ``setpoint``.

    Parameters
    ----------
    stop : StopSignals
        Where a request to stop comes from.
    **kwargs : object
        For rclpy's node.

    Attributes
    ----------
    phase : str
        What it is doing.
    driver_state : DriverState
        What the driver said last.

    """

    def __init__(self, stop: StopSignals, **kwargs: Any) -> None:
        """Declare parameters and listen."""
        super().__init__('wave_operator', **kwargs)
        self.settings = declare(self, WaveOperatorParameters)
        self.phase = 'starting'
        self._stop = stop
        self.driver_state = DriverState()
        self._began: float | None = None
        self._departure = ''
        self.create_subscription(DriverState, 'driver/state', self._on_state, STATE_QOS)

    @property
    def played(self) -> float:
        """How long the wave has been played [s]; 0 before and after."""
        return 0.0 if self._began is None else time.monotonic() - self._began

    async def play(self) -> bool:
        """
        Play the wave from power-on to power-off.

        Returns
        -------
        bool
            Whether it was played to its end; False if a stop was requested.

        Raises
        ------
        RequestRefused
            If a service refuses or does not answer, or the driver leaves ENABLED.

        """
        try:
            await self._play_wave()
        except StopRequested:
            self.phase, self._began = 'stopping', None
            if self.driver_state.state != DriverState.DISABLED:
                await self._call('driver/disable')
                await self._reach(DriverState.DISABLED, 'driver/disable', heedless=True)
            return False
        return True

    async def pause(self, seconds: float) -> None:
        """Let the executor do other things for a time [s]."""
        future = Future()
        timer = self.create_timer(seconds, lambda: future.set_result(None))
        await future
        self.destroy_timer(timer)

    async def _play_wave(self) -> None:
        services, duration = self.settings.services, self.settings.duration
        self.phase = 'enabling'
        await self._request('driver/enable')
        await self._reach(DriverState.ENABLED, 'driver/enable')
        self._departure = ''
        with self._counting(PoseStamped, 'platform/pose', SENSOR_QOS) as poses:
            await self._until(lambda: poses.count > FIRST_POSES, 'platform/pose')
        await self._request(f'{services}/start')
        self.phase, self._began = 'playing', time.monotonic()
        while self.played < duration:
            self._require_enabled()
            self._heed()
            await self.pause(STEP)
        self.phase, self._began = 'fading out, returning', None
        await self._request(f'{services}/stop')
        with self._counting(PlatformSetpoint, 'setpoint', COMMAND_QOS) as setpoints:
            await self._silence(setpoints)
        self.phase = 'switching off'
        await self._request('driver/disable')
        await self._reach(DriverState.DISABLED, 'driver/disable')

    def _heed(self) -> None:
        if self._stop.requested:
            raise StopRequested('a stop was requested')

    async def _request(self, service: str) -> None:
        self._heed()
        await self._call(service)

    async def _call(self, service: str) -> None:
        client = self.create_client(Trigger, service)
        await self._until(client.service_is_ready, service, heedless=True)
        response = await client.call_async(Trigger.Request())
        self.destroy_client(client)
        if not response.success:
            raise RequestRefused(service, response.message)

    async def _reach(self, state: int, service: str, *, heedless: bool = False) -> None:
        await self._until(
            lambda: self.driver_state.state in {state, DriverState.FAULT},
            service,
            heedless=heedless,
        )
        if self.driver_state.state != state:
            raise RequestRefused(service, self.driver_state.reason)

    async def _silence(self, setpoints: Counter) -> None:
        count, since = -1, time.monotonic()
        while time.monotonic() - since < SILENCE:
            if setpoints.count != count:
                count, since = setpoints.count, time.monotonic()
                self._require_enabled()
                self._heed()
            await self.pause(STEP)

    async def _until(
        self, condition: Callable[[], bool], what: str, *, heedless: bool = False
    ) -> None:
        end = time.monotonic() + self.settings.patience
        while not condition():
            if time.monotonic() > end:
                raise RequestRefused(
                    what, f'nothing came of it within {self.settings.patience:g} s'
                )
            if not heedless:
                self._heed()
            await self.pause(STEP)

    def _require_enabled(self) -> None:
        if self._departure:
            raise RequestRefused('driver', self._departure)

    def _on_state(self, message: DriverState) -> None:
        # Told on every change, and only the last one is kept: ENABLED again means that it was
        # away, too.
        if self.driver_state.state == DriverState.ENABLED:
            self._departure = message.reason
        self.driver_state = message

    @contextmanager
    def _counting(self, kind: Any, topic: str, qos: QoSProfile) -> Iterator[Counter]:
        """Count the messages on a topic for a while; nothing is decoded."""
        counter = Counter()
        subscription = self.create_subscription(kind, topic, counter.take, qos, raw=True)
        try:
            yield counter
        finally:
            self.destroy_subscription(subscription)


def operate(stop: StopSignals) -> str:
    """
    Play the wave of a rig that runs in other processes.

    Parameters
    ----------
    stop : StopSignals
        A request to stop ends it; the rig itself stops the platform when it goes down.

    Returns
    -------
    str
        Why the wave was not played to its end; empty if it was, or if a stop was requested.

    """
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = WaveOperator(stop)
        # It is the node that heeds the request, for it has to switch off first.
        spin([node], task=node.play, stop=StopSignals())
    except Exception as error:
        if not is_deliberate(error):
            raise
        return str(error)
    finally:
        rclpy.try_shutdown()
    return ''
