# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Ask for velocities of the platform for as long as somebody types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TYPE_CHECKING

from geometry_msgs.msg import TwistStamped
import numpy as np
from stewart_bringup.nodes.operator import Operator
from stewart_node_support.conversions import twist_stamped
from stewart_node_support.qos import COMMAND_QOS
from stewart_node_support.rig_time import RigTime
from stewart_node_support.stop_signals import StopSignals

if TYPE_CHECKING:
    from stewart_bringup.verbs.teleop import Keys

TWIST, STATUS = 'teleop/twist', 'teleop: steering'
# A velocity counts for 100 ms.
PERIOD = 0.02
# Nobody is told to stop for longer after the last key [s]: others may be steering.
STOPPING = 0.2


class TeleopOperator(Operator):
    """Publish velocities while the driver is ENABLED."""

    def __init__(self, stop: StopSignals, **kwargs: Any) -> None:
        super().__init__(stop, 'teleop_operator', **kwargs)
        self._twists = self.create_publisher(TwistStamped, TWIST, COMMAND_QOS)
        self.follow_status(STATUS)
        self._rig_time = RigTime(self)

    async def steer(
        self, keys: Keys, read: Callable[[], str], show: Callable[[str], None]
    ) -> None:
        """Ask for what the keys say until a request to stop comes.

        Args:
            read: Returns what was typed since its last call.

        Raises:
            RequestRefused: If the driver is not, or no longer, ENABLED.
        """
        await self.until(lambda: self.heard_driver, 'driver/state')
        await self.until(lambda: self._twists.get_subscription_count() > 0, TWIST)
        moved = -np.inf
        try:
            while not self.stopped:
                self.require_enabled(TWIST)
                now = self.now()
                keys.press(read(), now)
                twist = keys.twist(now)
                moved = now if np.any(twist) else moved
                if now - moved < STOPPING:
                    self._publish(twist)
                told = f'; {self.status.message}' if self.status else ''
                show(f'a key moves at {keys}{told}')
                await self.pause(PERIOD)
        finally:
            self._publish(np.zeros(6))

    def _publish(self, twist: np.ndarray) -> None:
        self._twists.publish(twist_stamped(self._rig_time.now().to_msg(), twist))
