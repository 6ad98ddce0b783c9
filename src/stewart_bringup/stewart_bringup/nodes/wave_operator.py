# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Do what a person at the rig would do: switch on, start a wave, stop it, switch off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from stewart_bringup.errors import RequestRefused, StopRequested
from stewart_bringup.nodes.operator import Operator, OperatorParameters, SILENCE, STEP
from stewart_bringup.rigs import ros_arguments
from stewart_interfaces.msg import DriverState, PlatformSetpoint
from stewart_kinematics.nodes.start_pose import NOT_YET
from stewart_node_support.errors import is_deliberate
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS
from stewart_node_support.running import middleware, spin
from stewart_node_support.stop_signals import StopSignals
from stewart_tables.settings import param

# A motion begins where the platform is after enabling: so many poses are waited for.
FIRST_POSES = 20
# A node whose services are seen finds the topics of the others later: mostly so much [s].
DISCOVERY = 1.0
# Nodes that are started together come up one after the other, mostly so soon [s].
SETTLED = 3.0


@dataclass(frozen=True)
class WaveOperatorParameters(OperatorParameters):
    """Parameters of the operator of waves."""

    services: str = param('ocean', 'prefix of the start and stop services of the wave')
    nodes: tuple[str, ...] = param(
        (), 'what has to be up in the namespace before anything is asked for'
    )
    duration: float = param(
        15.0, 'how long the wave is played before it is stopped [s]', min=0.1, max=86400.0
    )


class WaveOperator(Operator):
    """Call ``driver/enable``, ``<services>/start``, ``<services>/stop`` and ``driver/disable``.

    A request to stop makes it call ``driver/disable`` at once, which brings the legs to rest.
    While it waits for them it subscribes ``platform/pose`` and ``setpoint``; `phase` says what it
    is doing.
    """

    def __init__(self, stop: StopSignals, **kwargs: Any) -> None:
        super().__init__(stop, 'wave_operator', WaveOperatorParameters, **kwargs)
        self.phase = 'starting'
        self._began: float | None = None
        self._departure = ''

    @property
    def played(self) -> float:
        """How long the wave has been played [s]; 0 before and after."""
        return 0.0 if self._began is None else self.now() - self._began

    async def play(self) -> bool:
        """Play the wave from power-on to power-off; return whether to its end, False after a stop.

        Raises:
            RequestRefused: If a service refuses or does not answer, or the driver leaves ENABLED.
        """
        try:
            await self._play_wave()
        except StopRequested:
            self.phase, self._began = 'stopping', None
            await self.leave_off()
            return False
        return True

    async def wait_and_play(self) -> bool:
        """Play on a rig whose processes are still coming up; see `play`.

        A process that starts takes a core for seconds, and the commands of those that run already
        come late. So the wave waits until the nodes it was told of are up, and until no others
        have come for a while: whoever starts this node by hand tells it of none.
        """
        nodes = set(self.settings.nodes)
        try:
            await self.until(lambda: nodes <= self._seen(), ', '.join(sorted(nodes)))
            await self.offered(f'{self.settings.services}/start')
            await self._settle()
        except StopRequested:
            return False
        return await self.play()

    async def _settle(self) -> None:
        """Wait until no node has come for a while."""
        seen, since = self._seen(), self.now()
        while self.now() - since < SETTLED:
            self.heed()
            await self.pause(STEP)
            if not (present := self._seen()) <= seen:
                seen, since = present, self.now()

    def _seen(self) -> set[str]:
        return {
            name
            for name, namespace in self.get_node_names_and_namespaces()
            if namespace == self.get_namespace()
        }

    async def _play_wave(self) -> None:
        services, duration = self.settings.services, self.settings.duration
        self.phase = 'enabling'
        await self.switch_on()
        self._departure = ''
        with self._hearing(PoseStamped, 'platform/pose', SENSOR_QOS) as poses:
            await self.until(lambda: len(poses) > FIRST_POSES, 'platform/pose')
        await self._start(f'{services}/start')
        self.phase, self._began = 'playing', self.now()
        while self.played < duration:
            self._require_enabled()
            await self.pause(STEP)
        self.phase, self._began = 'fading out, returning', None
        await self.request(f'{services}/stop')
        with self._hearing(PlatformSetpoint, 'setpoint', COMMAND_QOS) as setpoints:
            await self._silence(setpoints)
        self.phase = 'switching off'
        await self.switch_off()

    async def _start(self, service: str) -> None:
        """Start the wave; a node that has not heard enough of the rig yet is asked again."""
        end = self.now() + self.settings.patience
        while True:
            try:
                await self.request(service)
            except RequestRefused as refusal:
                self._require_enabled()
                if not refusal.reason.startswith(NOT_YET) or self.now() > end:
                    raise
                await self.pause(DISCOVERY)
            else:
                return

    async def _silence(self, setpoints: list[bytes]) -> None:
        since = self.now()
        self._require_enabled()
        while self.now() - since < SILENCE:
            if setpoints:
                setpoints.clear()
                since = self.now()
                self._require_enabled()
            await self.pause(STEP)

    def _require_enabled(self) -> None:
        # Whoever wants this to stop may have stopped the rig, too, which is no trouble then.
        self.heed()
        if self._departure:
            raise RequestRefused('driver', self._departure)

    def on_state(self, message: DriverState) -> None:
        """Take note of what the driver says, and of its departure from ENABLED."""
        # Told on every change, and only the last one is kept: ENABLED again means that it was
        # away, too.
        if self.driver_state.state == DriverState.ENABLED:
            self._departure = message.reason
        super().on_state(message)

    @contextmanager
    def _hearing(self, kind: Any, topic: str, qos: QoSProfile) -> Iterator[list[bytes]]:
        """Collect the messages on a topic for a while; nothing is decoded."""
        heard: list[bytes] = []
        subscription = self.create_subscription(kind, topic, heard.append, qos, raw=True)
        try:
            yield heard
        finally:
            self.destroy_subscription(subscription)


def operator_of(
    files: Sequence[Path], duration: float, stop: StopSignals, namespace: str = ''
) -> WaveOperator:
    """Return the operator of a rig in this process, told by the rig's files what to start."""
    return WaveOperator(
        stop,
        namespace=namespace,
        use_global_arguments=False,
        start_parameter_services=False,
        cli_args=ros_arguments(files),
        parameter_overrides=[Parameter('duration', value=duration)],
    )


def operate(stop: StopSignals) -> str:
    """Play the wave of a rig that runs in other processes.

    A request to stop ends it; the rig itself stops the platform when it goes down.

    Returns:
        Why the wave was not played to its end; empty if it was, or if a stop was requested.
    """
    try:
        with middleware():
            node = WaveOperator(stop)
            # It is the node that heeds the request, for it has to switch off first.
            spin([node], task=node.wait_and_play, stop=StopSignals())
    except Exception as error:
        if not is_deliberate(error):
            raise
        return str(error)
    return ''
