# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Hold the jog key of one leg, or of one axis of the platform, for a time."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from geometry_msgs.msg import TwistStamped
import numpy as np
from sensor_msgs.msg import JointState
from stewart_bringup.errors import RequestRefused
from stewart_bringup.nodes.operator import Operator
from stewart_interfaces.msg import Jog
from stewart_kinematics.model.leg_kinds import LegKind, LINEAR
from stewart_node_support.conversions import twist_stamped
from stewart_node_support.qos import COMMAND_QOS, SENSOR_QOS
from stewart_node_support.rig_time import RigTime
from stewart_node_support.stop_signals import StopSignals

STATUS = 'driver: commands'
# A request counts for 100 ms.
PERIOD = 0.02
# After the last request: the dead man's time and the stop; then what the driver says of it.
REST, VERDICT = 0.5, 2.5
# Less than this is no motion [m], [rad].
MOVED = 1e-5


class JogOperator(Operator):
    """Publish jog requests while the driver is ENABLED, and see what comes of them."""

    def __init__(self, stop: StopSignals, **kwargs: Any) -> None:
        super().__init__(stop, 'jog_operator', **kwargs)
        self._strokes: np.ndarray | None = None
        self.create_subscription(JointState, 'actuator_states', self._on_legs, SENSOR_QOS)
        self.follow_status(STATUS)
        self._rig_time = RigTime(self)
        self.follow_platform()

    async def kind(self) -> LegKind:
        """Return the family of the legs, as the rig has it.

        Linear where no node tells, or its platform is not known here: a jog is the way back after
        a fault, and no leg becomes faster than a tenth of its limit.
        """
        with suppress(RequestRefused):
            await self.until(lambda: bool(self.platform_name), 'the platform', limit=VERDICT)
        platform = self.known_platform()
        return LINEAR if platform is None else platform.kind

    async def jog(
        self, duration: float, *, leg: int = 0, rate: float = 0.0, twist: Any = None
    ) -> np.ndarray:
        """Move for a time, and return how far each leg has moved, shape (6,) [m], [rad].

        Args:
            duration: How long requests are sent [s].
            leg: Leg, 1 to 6, where one is moved.
            rate: Of the leg, positive lengthens [m/s], [rad/s].
            twist (6,): Of the platform in ``base_link`` instead: [m/s], [rad/s].

        Raises:
            RequestRefused: If the driver is not, or no longer, ENABLED, or nothing moves.
            StopRequested: If a request to stop came; the legs come to rest.
        """
        topic, kind = ('driver/jog', Jog) if leg else ('platform/jog', TwistStamped)
        keys = self.create_publisher(kind, topic, COMMAND_QOS)
        await self.until(lambda: self.heard_driver, 'driver/state')
        self.require_enabled(topic, '`stewart drive enable` first')
        await self.until(lambda: self._strokes is not None, 'actuator_states')
        await self.until(lambda: keys.get_subscription_count() > 0, topic)
        start, end = self._strokes, self.now() + duration
        try:
            while self.now() < end:
                self.heed()
                # Whoever switches them on again does not ask for what this verb was asked for.
                self.require_enabled(topic)
                keys.publish(self._request(leg, rate, twist))
                await self.pause(PERIOD)
        finally:
            keys.publish(self._request(leg, 0.0, None if twist is None else np.zeros(6)))
        await self.pause(REST)
        moved = np.asarray(self._strokes) - np.asarray(start)
        if np.abs(moved).max() < MOVED:
            await self._explain(topic)
        return np.asarray(moved)

    def _request(self, leg: int, rate: float, twist: Any) -> Any:
        stamp = self._rig_time.now().to_msg()
        if not leg:
            return twist_stamped(stamp, twist)
        message = Jog()
        message.header.stamp, message.rates[leg - 1] = stamp, rate
        return message

    async def _explain(self, topic: str) -> None:
        """Raise RequestRefused with what the driver's diagnostics say, once a second."""
        end = self.now() + VERDICT
        while not self.trouble and self.now() < end:
            self.heed()
            await self.pause(PERIOD)
        raise RequestRefused(topic, self.trouble or 'nothing has moved')

    def _on_legs(self, message: JointState) -> None:
        self._strokes = np.array(message.position)
