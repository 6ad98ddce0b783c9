# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""End a wave, and see the platform come to rest."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import Any

import numpy as np
from stewart_bringup.errors import RequestRefused
from stewart_bringup.nodes.operator import LONGEST_PARKING, SILENCE, STEP
from stewart_bringup.nodes.resting_operator import RestingOperator
from stewart_interfaces.msg import PlatformSetpoint
from stewart_kinematics.control.admission import at_rest
from stewart_kinematics.motion import Motion, Pose
from stewart_kinematics.nodes.start_pose import FAR, far_of, NOTHING_PLAYED, TURNED
from stewart_kinematics.spatial import apart
from stewart_node_support.conversions import pose_from_msg, vector_from_msg
from stewart_node_support.qos import COMMAND_QOS
from stewart_node_support.stop_signals import StopSignals


class StopOperator(RestingOperator):
    """Client of a trajectory node's ``stop``; subscribes its ``setpoint``, the last at rest."""

    def __init__(self, stop: StopSignals, **kwargs: Any) -> None:
        super().__init__(stop, 'stop_operator', **kwargs)
        self.follow_platform()
        self._source = ''
        self._last: PlatformSetpoint | None = None
        self._heard = 0.0
        self.create_subscription(PlatformSetpoint, 'setpoint', self._on_setpoint, COMMAND_QOS)

    async def stop(self, node: str, service: str, told: Callable[[str], None]) -> Pose:
        """Ask for the stop, and return where the platform has come to rest.

        Args:
            told: Takes the answer, when it comes.

        Raises:
            RequestRefused: If nothing is being played, or what is played is cut off on its way.
            StopRequested: If a request to stop came: the platform comes to rest all the same.
        """
        self._source = node
        told(await self.request(service))
        while not await self._ended():
            # Cut off, or only kept waiting: the node knows which.
            try:
                await self.request(service)
            except RequestRefused as refusal:
                if refusal.reason != NOTHING_PLAYED:
                    raise
                break
        place = await self.place_of_rest(at_least=LONGEST_PARKING)
        if self._last is not None:
            away, angle = apart(Pose(*pose_from_msg(self._last.pose)), place)
            platform = self.known_platform()
            far = FAR if platform is None else far_of(platform.travel)
            if away > far or angle > TURNED:
                off = f'{1e3 * away:.3g} mm and {math.degrees(angle):.1f}°'
                where = f'the platform rests {off} from where it was sent'
                raise RequestRefused(service, f'{where}: {self.driver_state.reason}')
        return place

    async def _ended(self) -> bool:
        """Wait until no more setpoints come; return whether the last one is at rest."""
        self._heard = self.now()
        while self.now() - self._heard < SILENCE:
            self.heed()
            await self.pause(STEP)
        return self._last is not None and at_rest(_motion(self._last))

    def _on_setpoint(self, message: PlatformSetpoint) -> None:
        if message.source == self._source:
            self._last, self._heard = message, self.now()


def _motion(setpoint: PlatformSetpoint) -> Motion:
    twist, accel = (
        np.concatenate([vector_from_msg(part.linear), vector_from_msg(part.angular)])
        for part in (setpoint.twist, setpoint.accel)
    )
    return Motion(*pose_from_msg(setpoint.pose), twist, accel)
